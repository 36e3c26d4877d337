//! What goes wrong on the way to a real registry, and what comes of it.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::Method;
use kubectl_aicr::registry::{
    ChartSource, ContentDigest, DockerConfig, Error, Login, Logins, Patience, Published, Reason, Repository,
    Target,
};
use test_support::Registry;
use test_support::http::{HttpServer, answer};
use test_support::proxy::{Fault, Proxy};

use crate::registry_kit::{Kit, chart_files, large_chart, repository, writes};

fn fault(status: u16, headers: &[(&str, &str)], body: &str) -> Fault {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Fault::Answer(status, headers.collect(), body.to_owned())
}

/// A registry behind a proxy, and a client that knows only the proxy.
async fn behind_proxy() -> (Registry, Proxy, Kit) {
    let registry = Registry::start().await.unwrap();
    let proxy = Proxy::before(registry.host()).await.unwrap();
    let kit = Kit::anonymous(&[&proxy.host()]);
    (registry, proxy, kit)
}

async fn wrap(kit: &Kit, proxy: &Proxy) -> Result<Published, Error> {
    kit.mirror(&proxy.host()).wrap("gate", &chart_files("gate", "1.0.0")).await
}

/// What the registry holds under the tag, read past the proxy.
async fn held(registry: &Registry, published: &Published) -> Option<ContentDigest> {
    let path = published.repository.splitn(4, '/').nth(3).unwrap();
    let repository = Repository::parse(&format!("oci://{}/{path}", registry.host())).unwrap();
    let kit = Kit::anonymous(&[registry.host()]);
    kit.client.digest_of(&repository, &Target::Tag(published.tag.clone())).await.unwrap()
}

async fn upstream_of(archive: &Bytes) -> (HttpServer, ChartSource) {
    let server = HttpServer::files(repository(&[("large", "1.0.0", archive.clone())])).await.unwrap();
    let source = ChartSource::new("large", &format!("{}/charts", server.url()), "1.0.0").unwrap();
    (server, source)
}

#[tokio::test]
async fn an_interrupted_upload_goes_on_where_it_was() {
    let (registry, proxy, kit) = behind_proxy().await;
    let archive = large_chart("large", 8);
    let (_server, source) = upstream_of(&archive).await;
    proxy.fail(Method::PUT, "/blobs/uploads/", Fault::CutRequest(5_000_000));
    let published = kit.mirror(&proxy.host()).mirror(&source, None).await.unwrap();
    assert_eq!((proxy.unmet(), held(&registry, &published).await), (0, Some(published.digest)));
    let uploads: Vec<_> = proxy
        .asked()
        .into_iter()
        .filter(|asked| asked.method == Method::PUT && asked.path.contains("/blobs/"))
        .collect();
    let sent: Vec<u64> = uploads
        .iter()
        .map(|asked| asked.headers["content-length"].to_str().unwrap().parse().unwrap())
        .collect();
    // The archive, the rest of the archive, the config.
    assert_eq!(sent[0], archive.len() as u64);
    assert!(sent[1] < sent[0] && sent.len() == 3, "{sent:?}");
    assert!(uploads[1].headers.contains_key("content-range"));
}

#[tokio::test]
async fn an_upload_that_the_registry_has_forgotten_begins_anew() {
    let (registry, proxy, kit) = behind_proxy().await;
    proxy.fail(Method::PUT, "/blobs/uploads/", Fault::Drop);
    proxy.fail(
        Method::GET,
        "/blobs/uploads/",
        fault(404, &[], r#"{"errors": [{"code": "BLOB_UPLOAD_UNKNOWN"}]}"#),
    );
    let published = wrap(&kit, &proxy).await.unwrap();
    assert_eq!((proxy.unmet(), held(&registry, &published).await), (0, Some(published.digest)));
}

#[tokio::test]
async fn lost_answers_do_no_harm() {
    for (method, part) in [
        (Method::HEAD, "/manifests/"),
        (Method::HEAD, "/blobs/"),
        (Method::POST, "/blobs/uploads/"),
        (Method::PUT, "/blobs/uploads/"),
        (Method::PUT, "/manifests/"),
    ] {
        for fault in [Fault::DropAnswer, Fault::Drop, fault(503, &[], "")] {
            let (registry, proxy, kit) = behind_proxy().await;
            proxy.fail(method.clone(), part, fault.clone());
            let published = wrap(&kit, &proxy).await.unwrap();
            assert_eq!(proxy.unmet(), 0, "{method} {part} {fault:?}");
            assert_eq!(
                held(&registry, &published).await,
                Some(published.digest),
                "{method} {part} {fault:?}"
            );
        }
    }
}

#[tokio::test]
async fn an_interrupted_download_goes_on_where_it_was_or_begins_anew() {
    let archive = large_chart("large", 4);
    let (_registry, target, kit) = behind_proxy().await;
    // A chart repository that does not know ranges.
    let (server, _) = upstream_of(&archive).await;
    let proxy = Proxy::before(&server.host()).await.unwrap();
    let source = ChartSource::new("large", &format!("http://{}/charts", proxy.host()), "1.0.0").unwrap();
    proxy.fail(Method::GET, ".tgz", Fault::CutAnswer(1_000_000));
    let published = kit.mirror(&target.host()).mirror(&source, None).await.unwrap();
    assert_eq!(published.archive, ContentDigest::of(&archive));
    let asked = server.asked();
    let last = asked.last().unwrap();
    assert!(last.headers["range"].to_str().unwrap().starts_with("bytes="), "{last:?}");

    // A registry that does.
    target.fail(Method::GET, "/blobs/", Fault::CutAnswer(3_000_000));
    let facts = kit.mirror(&target.host()).facts(&published).await.unwrap();
    assert_eq!(facts, published.facts);
    let ranges: Vec<_> =
        target.asked().into_iter().filter_map(|asked| asked.headers.get("range").cloned()).collect();
    assert_eq!(ranges, ["bytes=3000000-"]);
}

#[tokio::test]
async fn a_registry_that_asks_for_time_gets_it() {
    let (_registry, proxy, kit) = behind_proxy().await;
    proxy.fail(Method::POST, "/blobs/uploads/", fault(429, &[("retry-after", "1")], ""));
    let started = Instant::now();
    wrap(&kit, &proxy).await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(1) && proxy.unmet() == 0);

    proxy.fail(Method::HEAD, "/manifests/", fault(503, &[("retry-after", "120")], ""));
    let error = wrap(&kit, &proxy).await.unwrap_err();
    assert_eq!((error.reason, error.retry_after), (Reason::Transient, Some(Duration::from_mins(2))));
}

#[tokio::test]
async fn a_registry_that_stays_away_is_given_up_as_transient() {
    let gone = HttpServer::start(|_| async { Ok(answer(503, &[], "")) }).await.unwrap();
    let silent = HttpServer::start(|_| std::future::pending()).await.unwrap();
    let patience = Patience { tries: 2, first_wait: Duration::from_millis(10), ..Patience::default() };
    for (host, why) in [
        (gone.host(), "HTTP 503 Service Unavailable"),
        (silent.host(), "was silent for 5 s"),
        ("127.0.0.1:1".to_owned(), "Connection refused"),
    ] {
        let kit = Kit::with_patience(&[&host], DockerConfig::default(), patience);
        let error = kit.mirror(&host).wrap("gate", &chart_files("gate", "1.0.0")).await.unwrap_err();
        assert_eq!(error.reason, Reason::Transient, "{error}");
        assert!(error.message.contains(why), "{error}");
    }
    assert_eq!(gone.asked().len(), 2);
}

#[tokio::test]
async fn refusals_that_no_waiting_helps_end_at_once_and_say_what_to_do() {
    let (_registry, proxy, kit) = behind_proxy().await;
    for (method, part, status, body, reason, advice) in [
        (
            Method::POST,
            "/uploads/",
            404,
            r#"{"errors": [{"code": "NAME_UNKNOWN", "message": "no such repository"}]}"#,
            Reason::NotFound,
            "create it",
        ),
        (
            Method::POST,
            "/uploads/",
            403,
            r#"{"errors": [{"code": "DENIED"}]}"#,
            Reason::Unauthorized,
            "grant it push and pull",
        ),
        (Method::PUT, "/uploads/", 413, "", Reason::QuotaExceeded, "raise its quota"),
        (Method::PUT, "/uploads/", 507, "", Reason::QuotaExceeded, "raise its quota"),
        (
            Method::PUT,
            "/manifests/",
            400,
            r#"{"errors": [{"code": "TAG_INVALID", "message": "the repository is immutable"}]}"#,
            Reason::Conflict,
            "immutable",
        ),
    ] {
        proxy.take_asked();
        proxy.fail(method, part, fault(status, &[], body));
        // Another chart each time, so that nothing is there yet.
        let release = format!("gate-{status}-{}", reason.as_str().to_lowercase());
        let error =
            kit.mirror(&proxy.host()).wrap(&release, &chart_files("gate", "1.0.0")).await.unwrap_err();
        assert_eq!(error.reason, reason, "{error}");
        let repository = format!("oci://{}/aicr/wrappers/{release}", proxy.host());
        assert!(error.message.contains(&repository) && error.message.contains(advice), "{error}");
        assert_eq!(proxy.unmet(), 0);
    }
}

#[tokio::test]
async fn a_tag_at_other_content_is_an_error_that_names_both_and_is_not_moved() {
    let (registry, proxy, kit) = behind_proxy().await;
    let published = wrap(&kit, &proxy).await.unwrap();
    let other = kit.mirror(&proxy.host()).wrap("gate", &chart_files("gate", "2.0.0")).await.unwrap();
    // Somebody moves the tag of the first to the second's manifest.
    let url = |target: &str| format!("http://{}/v2/aicr/wrappers/gate/manifests/{target}", registry.host());
    let client = reqwest::Client::new();
    let kind = "application/vnd.oci.image.manifest.v1+json";
    let manifest =
        client.get(url(&other.tag)).header("accept", kind).send().await.unwrap().bytes().await.unwrap();
    let moved =
        client.put(url(&published.tag)).header("content-type", kind).body(manifest).send().await.unwrap();
    assert!(moved.status().is_success());

    proxy.take_asked();
    let error = wrap(&kit, &proxy).await.unwrap_err();
    assert_eq!(error.reason, Reason::Conflict);
    for named in [&published.tag, &published.digest.to_string(), &other.digest.to_string()] {
        assert!(error.message.contains(named.as_str()), "{error}");
    }
    assert!(writes(&proxy.take_asked()).is_empty());
    assert_eq!(held(&registry, &published).await, Some(other.digest));
}

/// An immutable tag that another writer of the same bytes took first.
#[tokio::test]
async fn an_immutable_tag_that_holds_the_same_content_is_success() {
    let (_registry, proxy, kit) = behind_proxy().await;
    let published = wrap(&kit, &proxy).await.unwrap();
    proxy.fail(Method::HEAD, "/manifests/", fault(404, &[], ""));
    proxy.fail(Method::PUT, "/manifests/", fault(409, &[], ""));
    assert_eq!(wrap(&kit, &proxy).await.unwrap(), published);
    assert_eq!(proxy.unmet(), 0);
}

/// A registry with tokens before a real one: what a token may do ends with each call of `expire`.
struct TokenRegistry {
    server: HttpServer,
    given: Arc<AtomicUsize>,
    valid_from: Arc<AtomicUsize>,
}

impl TokenRegistry {
    async fn start() -> Self {
        let (given, valid_from) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(1)));
        let (giving, checking) = (Arc::clone(&given), Arc::clone(&valid_from));
        let server = HttpServer::start(move |request| {
            let host = request.headers()["host"].to_str().unwrap().to_owned();
            let path = request.uri().path().to_owned();
            let held = request
                .headers()
                .get("authorization")
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default();
            let number = held.strip_prefix("Bearer token-").and_then(|number| number.parse::<usize>().ok());
            let answer = if path == "/token" {
                let token = format!("token-{}", giving.fetch_add(1, Ordering::SeqCst) + 1);
                answer(200, &[], serde_json::json!({"token": token}).to_string())
            } else if number.is_some_and(|number| number >= checking.load(Ordering::SeqCst)) {
                answer(200, &[("docker-content-digest", &ContentDigest::of(b"x").to_string())], "")
            } else {
                let challenge = format!(r#"Bearer realm="http://{host}/token",service="test""#);
                answer(401, &[("www-authenticate", &challenge)], "")
            };
            async move { Ok(answer) }
        })
        .await
        .unwrap();
        Self { server, given, valid_from }
    }

    fn expire(&self) {
        self.valid_from.store(self.given.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn an_expired_token_is_renewed_once() {
    let registry = TokenRegistry::start().await;
    let kit = Kit::new(&[&registry.server.host()], crate::registry_kit::login(&[&registry.server.host()]));
    let repository = Repository::parse(&format!("oci://{}/a/b", registry.server.host())).unwrap();
    let tag = Target::Tag("t".to_owned());
    kit.client.digest_of(&repository, &tag).await.unwrap().unwrap();
    let token = "GET /token?service=test&scope=repository%3Aa%2Fb%3Apull";
    let head = "HEAD /v2/a/b/manifests/t";
    assert_eq!(registry.server.take_asked(), [head, token, head]);
    // A token is used as long as it is good.
    kit.client.digest_of(&repository, &tag).await.unwrap().unwrap();
    assert_eq!(registry.server.take_asked(), [head]);
    registry.expire();
    kit.client.digest_of(&repository, &tag).await.unwrap().unwrap();
    assert_eq!(registry.server.take_asked(), [head, token, head]);
    // Another repository of a known host begins with its token.
    let other = Repository::parse(&format!("oci://{}/c", registry.server.host())).unwrap();
    kit.client.digest_of(&other, &tag).await.unwrap().unwrap();
    assert_eq!(registry.server.take_asked().len(), 2);
    // One that takes no token at all is not asked for ever.
    registry.valid_from.store(usize::MAX, Ordering::SeqCst);
    let error = kit.client.digest_of(&repository, &tag).await.unwrap_err();
    assert_eq!(error.reason, Reason::Unauthorized);
    assert!(registry.server.take_asked().len() <= 5);
}

/// Logins that run out, as ECR's do: the first has, and each renewal gives another good one.
#[derive(Debug, Default)]
struct Renewing(AtomicUsize);

impl Logins for Renewing {
    fn login<'a>(
        &'a self,
        _host: &'a str,
        _path: &'a str,
        refused: Option<&'a Login>,
    ) -> BoxFuture<'a, Result<Option<Login>, Error>> {
        if refused.is_some() {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        let (username, password) = match self.0.load(Ordering::SeqCst) {
            0 => (Registry::USER, "expired"),
            renewals if renewals % 2 == 1 => (Registry::USER, Registry::PASSWORD),
            _ => (Registry::OTHER_USER, Registry::PASSWORD),
        };
        let login = Login { username: username.to_owned(), password: password.to_owned() };
        Box::pin(std::future::ready(Ok(Some(login))))
    }
}

#[tokio::test]
async fn an_expired_login_is_renewed_once_whether_the_registry_says_401_or_403() {
    let registry = Registry::with_login().await.unwrap();
    let proxy = Proxy::before(registry.host()).await.unwrap();
    // ECR's words, and a HEAD, which has none.
    let words = "Your authorization token has expired. Reauthenticate and try again.";
    for (release, method, fault) in [
        ("one", Method::HEAD, None),
        ("two", Method::HEAD, Some(fault(403, &[], ""))),
        ("three", Method::POST, Some(fault(403, &[], words))),
    ] {
        let kit = Kit::new(&[&proxy.host()], Renewing::default());
        if let Some(fault) = fault {
            if method == Method::HEAD {
                // The first is answered with what login is wanted.
                proxy.fail(Method::HEAD, "/manifests/", Fault::Delay(Duration::ZERO));
            }
            proxy.fail(method, "", fault);
        }
        kit.mirror(&proxy.host()).wrap(release, &chart_files("gate", "1.0.0")).await.unwrap();
        assert_eq!(proxy.unmet(), 0);
    }
}
