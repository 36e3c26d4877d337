//! Charts on their way from real upstreams into a real registry, judged by the real Helm.
use bytes::Bytes;
use kubectl_aicr::registry::{ChartSource, ContentDigest, Mirror, Published, Reason, Target, Upstreams};
use test_support::Registry;
use test_support::http::HttpServer;
use test_support::proxy::Proxy;

use crate::registry_kit::{Kit, chart, chart_files, login, prefix, repository, run, writes};

/// What the real Helm finds under the digest.
async fn helm_show(published: &Published, what: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let reference = format!("{}@{}", published.repository, published.digest);
    run("helm", folder.path(), &["show", what, &reference, "--plain-http"]).await
}

fn http(server: &HttpServer, chart: &str, version: &str) -> ChartSource {
    ChartSource::new(chart, &format!("{}/charts", server.url()), version).unwrap()
}

#[tokio::test]
async fn a_chart_is_mirrored_once_and_then_costs_one_head() {
    let registry = Registry::start().await.unwrap();
    let proxy = Proxy::before(registry.host()).await.unwrap();
    let archive = chart("gpu-operator", "v26.7.1+b1");
    let upstream =
        HttpServer::files(repository(&[("gpu-operator", "v26.7.1+b1", archive.clone())])).await.unwrap();
    let kit = Kit::anonymous(&[&proxy.host()]);
    let mirror = kit.mirror(&proxy.host());
    let source = http(&upstream, "gpu-operator", "v26.7.1+b1");

    let published = mirror.mirror(&source, None).await.unwrap();
    assert_eq!(published.repository, format!("oci://{}/aicr/charts/gpu-operator", proxy.host()));
    assert_eq!(published.tag, format!("v26.7.1_b1-{}", &published.digest.hex()[..12]));
    assert_eq!(published.archive, ContentDigest::of(&archive));
    assert!(published.verified);
    assert_eq!(published.facts.version, "v26.7.1+b1");
    assert!(helm_show(&published, "chart").await.contains("version: v26.7.1+b1\n"));
    assert_eq!(helm_show(&published, "values").await.trim(), "a: 1");

    proxy.take_asked();
    upstream.take_asked();
    let head = format!("HEAD /v2/aicr/charts/gpu-operator/manifests/{}", published.tag);
    assert_eq!(mirror.mirror(&source, Some(&published)).await.unwrap(), published);
    assert_eq!(proxy.take_asked(), [&*head]);
    assert!(upstream.asked().is_empty());

    // Without what was known before, the same bytes are made again, and nothing is written.
    assert_eq!(kit.mirror(&proxy.host()).mirror(&source, None).await.unwrap(), published);
    assert_eq!(proxy.take_asked(), [head]);
    assert_eq!(mirror.facts(&published).await.unwrap(), published.facts);
    kit.assert_nothing_left();
}

#[tokio::test]
async fn an_archive_that_is_not_what_the_index_says_is_never_pushed() {
    let registry = Registry::start().await.unwrap();
    let proxy = Proxy::before(registry.host()).await.unwrap();
    let mut files = repository(&[("a", "1.0.0", chart("a", "1.0.0"))]);
    let other = chart("a", "1.0.1");
    let listed = ContentDigest::of(&files["/charts/a-1.0.0.tgz"]);
    files.insert("/charts/a-1.0.0.tgz".to_owned(), other.clone());
    let upstream = HttpServer::files(files).await.unwrap();
    let kit = Kit::anonymous(&[&proxy.host()]);

    let error = kit.mirror(&proxy.host()).mirror(&http(&upstream, "a", "1.0.0"), None).await.unwrap_err();
    assert_eq!(error.reason, Reason::DigestMismatch);
    let got = ContentDigest::of(&other).to_string();
    assert!(error.message.contains(&listed.to_string()) && error.message.contains(&got), "{error}");
    assert!(proxy.asked().is_empty());
    kit.assert_nothing_left();
}

#[tokio::test]
async fn an_archive_of_another_version_than_it_is_listed_under_is_refused() {
    let registry = Registry::start().await.unwrap();
    let upstream = HttpServer::files(repository(&[("a", "2.0.0", chart("a", "1.0.0"))])).await.unwrap();
    let kit = Kit::anonymous(&[registry.host()]);
    let error = kit.mirror(registry.host()).mirror(&http(&upstream, "a", "2.0.0"), None).await.unwrap_err();
    assert_eq!(error.reason, Reason::ChartSourceUnsupported);
    assert!(error.message.ends_with("the archive holds version 1.0.0"), "{error}");
}

#[tokio::test]
async fn charts_of_one_repository_share_one_fetch_of_its_index() {
    let registry = Registry::start().await.unwrap();
    let names: Vec<_> = (0..20).map(|number| format!("chart-{number}")).collect();
    let charts: Vec<_> = names.iter().map(|name| (name.as_str(), "1.0.0", chart(name, "1.0.0"))).collect();
    let upstream = HttpServer::files(repository(&charts)).await.unwrap();
    let kit = Kit::anonymous(&[registry.host()]);
    let mirror = kit.mirror(registry.host());
    let sources: Vec<_> = names.iter().map(|name| http(&upstream, name, "1.0.0")).collect();
    let all = futures_util::future::join_all(sources.iter().map(|source| mirror.mirror(source, None))).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    let indexes = upstream.take_asked().into_iter().filter(|asked| asked.ends_with("index.yaml")).count();
    assert_eq!(indexes, 1);
    kit.assert_nothing_left();
}

#[tokio::test]
async fn a_login_goes_to_its_own_host_only() {
    let registry = Registry::start().await.unwrap();
    let archive = chart("a", "1.0.0");
    let files = repository(&[("a", "1.0.0", archive)]);
    let other = HttpServer::files(files.clone()).await.unwrap();
    let (elsewhere, digest) = (other.url(), ContentDigest::of(&files["/charts/a-1.0.0.tgz"]).hex());
    let index = format!(
        "entries:\n  a:\n  - {{version: 1.0.0, digest: {digest}, urls: ['{elsewhere}/charts/a-1.0.0.tgz']}}\n  - \
         {{version: 1.0.0-redirected, digest: {digest}, urls: [moved.tgz]}}\n"
    );
    let upstream = HttpServer::start(move |request| {
        let answer = if request.uri().path() == "/charts/index.yaml" {
            test_support::http::answer(200, &[], index.clone())
        } else {
            let to = format!("{elsewhere}/charts/a-1.0.0.tgz");
            test_support::http::answer(302, &[("location", &to)], "")
        };
        async move { Ok(answer) }
    })
    .await
    .unwrap();
    let kit = Kit::new(&[registry.host()], login(&[&upstream.host()]));
    let mirror = kit.mirror(registry.host());
    mirror.mirror(&http(&upstream, "a", "1.0.0"), None).await.unwrap();
    // The archive's own version differs, which is only found out after the download.
    mirror.mirror(&http(&upstream, "a", "1.0.0-redirected"), None).await.unwrap_err();

    assert_eq!(other.asked().len(), 2);
    assert!(other.asked().iter().all(|asked| !asked.headers.contains_key("authorization")));
    assert!(upstream.asked().iter().all(|asked| asked.headers.contains_key("authorization")));
    assert!(upstream.asked().iter().all(|asked| !asked.headers.contains_key("accept-encoding")));
}

#[tokio::test]
async fn a_mirrored_upstream_is_asked_instead_and_digests_are_checked_all_the_same() {
    let registry = Registry::start().await.unwrap();
    let mut files = repository(&[("a", "1.0.0", chart("a", "1.0.0")), ("b", "1.0.0", chart("b", "1.0.0"))]);
    files.insert("/charts/b-1.0.0.tgz".to_owned(), Bytes::from_static(b"changed"));
    let inside = HttpServer::files(files).await.unwrap();
    let pair = ("https://helm.example/nvidia".to_owned(), format!("{}/charts", inside.url()));
    let kit = Kit::anonymous(&[registry.host()]);
    let mirror = Mirror::new(kit.client.clone(), prefix(registry.host()), Upstreams::new([pair]).unwrap());
    let source = |chart| ChartSource::new(chart, "https://helm.example/nvidia", "1.0.0").unwrap();
    mirror.mirror(&source("a"), None).await.unwrap();
    let error = mirror.mirror(&source("b"), None).await.unwrap_err();
    assert_eq!(error.reason, Reason::DigestMismatch, "{error}");
}

/// Pushes a chart with a provenance file as its publisher does.
async fn helm_push(host: &str, name: &str, version: &str) -> Bytes {
    let folder = tempfile::tempdir().unwrap();
    let archive = chart(name, version);
    let file = format!("{name}-{version}.tgz");
    std::fs::write(folder.path().join(&file), &archive).unwrap();
    std::fs::write(folder.path().join(format!("{file}.prov")), "signed").unwrap();
    run("helm", folder.path(), &["push", &file, &format!("oci://{host}/upstream"), "--plain-http"]).await;
    archive
}

#[tokio::test]
async fn a_chart_of_a_registry_is_taken_by_version_tag_or_digest_with_its_provenance() {
    let upstream = Registry::start().await.unwrap();
    let registry = Registry::start().await.unwrap();
    let archive = helm_push(upstream.host(), "a", "1.2.3+b1").await;
    let kit = Kit::anonymous(&[registry.host(), upstream.host()]);
    let mirror = kit.mirror(registry.host());
    let address = format!("oci://{}/upstream/a", upstream.host());
    let repository = kubectl_aicr::registry::Repository::parse(&address).unwrap();
    let digest =
        kit.client.digest_of(&repository, &Target::Tag("1.2.3_b1".to_owned())).await.unwrap().unwrap();

    let mut all = Vec::new();
    for (chart, version) in [
        (address.clone(), "1.2.3+b1"),
        (address.clone(), "v1.2.3+b1"),
        (format!("{address}:1.2.3_b1"), "1.2.3+b1"),
        (format!("{address}@{digest}"), ""),
    ] {
        let source = ChartSource::new(&chart, "", version).unwrap();
        all.push(mirror.mirror(&source, None).await.unwrap());
    }
    assert!(all.iter().all(|published| *published == all[0]), "{all:?}");
    assert_eq!(all[0].archive, ContentDigest::of(&archive));
    // Helm finds the provenance beside the chart.
    let folder = tempfile::tempdir().unwrap();
    let reference = format!("{}@{}", all[0].repository, all[0].digest);
    run("helm", folder.path(), &["pull", &reference, "--plain-http", "--prov"]).await;
    let pulled: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let signed = pulled.iter().find(|path| path.extension().is_some_and(|extension| extension == "prov"));
    assert_eq!(std::fs::read_to_string(signed.unwrap()).unwrap(), "signed");

    let missing = ChartSource::new(&address, "", "9.9.9").unwrap();
    let error = mirror.mirror(&missing, None).await.unwrap_err();
    assert_eq!(error.reason, Reason::NotFound);
    assert!(error.message.contains("manifest 9.9.9"), "{error}");
}

#[tokio::test]
async fn a_chart_of_the_same_registry_is_mounted_instead_of_uploaded() {
    let registry = Registry::start().await.unwrap();
    let proxy = Proxy::before(registry.host()).await.unwrap();
    helm_push(registry.host(), "a", "1.0.0").await;
    let kit = Kit::anonymous(&[&proxy.host()]);
    let source = ChartSource::new(&format!("oci://{}/upstream/a", proxy.host()), "", "1.0.0").unwrap();
    kit.mirror(&proxy.host()).mirror(&source, None).await.unwrap();
    let asked = proxy.take_asked();
    let writes = writes(&asked);
    assert_eq!(
        writes
            .iter()
            .filter(|asked| asked.contains("mount=sha256") && asked.contains("from=upstream/a"))
            .count(),
        3
    );
    // Only the config is ours, and the registry, asked to mount it, begins its upload.
    assert_eq!(
        writes.iter().filter(|asked| asked.starts_with("PUT ") && asked.contains("/blobs/")).count(),
        1,
        "{writes:?}"
    );
}

#[tokio::test]
async fn a_wrapper_is_the_same_chart_every_time() {
    let registry = Registry::start().await.unwrap();
    let proxy = Proxy::before(registry.host()).await.unwrap();
    let kit = Kit::anonymous(&[&proxy.host()]);
    let files = chart_files("gate", "1.0.0");
    let published = kit.mirror(&proxy.host()).wrap("gpu-operator-readiness", &files).await.unwrap();
    assert_eq!(published.repository, format!("oci://{}/aicr/wrappers/gpu-operator-readiness", proxy.host()));
    assert!(helm_show(&published, "chart").await.contains("name: gate\n"));
    proxy.take_asked();
    assert_eq!(kit.mirror(&proxy.host()).wrap("gpu-operator-readiness", &files).await.unwrap(), published);
    assert!(writes(&proxy.take_asked()).is_empty());
    let mut changed = files;
    changed.insert("values.yaml".to_owned(), Bytes::from_static(b"a: 2\n"));
    let other = kit.mirror(&proxy.host()).wrap("gpu-operator-readiness", &changed).await.unwrap();
    assert_ne!(other.digest, published.digest);
}

#[tokio::test]
async fn a_registry_that_asks_for_a_login_gets_it_and_one_head_stays_one_request() {
    let registry = Registry::with_login().await.unwrap();
    let proxy = Proxy::before(registry.host()).await.unwrap();
    let files = chart_files("gate", "1.0.0");
    let kit = Kit::new(&[&proxy.host()], login(&[&proxy.host()]));
    let mirror = kit.mirror(&proxy.host());
    mirror.wrap("one", &files).await.unwrap();
    mirror.wrap("two", &files).await.unwrap();
    proxy.take_asked();
    mirror.wrap("two", &files).await.unwrap();
    assert_eq!(proxy.take_asked().len(), 1);

    for (logins, what) in [
        (login(&["another.example"]), "anonymous"),
        (
            kubectl_aicr::registry::DockerConfig::parse(
                format!(
                    r#"{{"auths": {{"{}": {{"username": "pusher", "password": "s3cret"}}}}}}"#,
                    proxy.host()
                )
                .as_bytes(),
            )
            .unwrap(),
            "wrong",
        ),
    ] {
        let kit = Kit::new(&[&proxy.host()], logins);
        let error = kit.mirror(&proxy.host()).wrap("one", &files).await.unwrap_err();
        assert_eq!(error.reason, Reason::Unauthorized, "{what}");
        assert!(
            error.message.contains("check the registry's login") && !error.message.contains("s3cret"),
            "{error}"
        );
    }
}
