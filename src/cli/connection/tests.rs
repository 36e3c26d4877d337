//! The whole way to a server: stubs on loopback that keep what they were sent.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use super::*;
use crate::api::Code;

/// What a stub answers, by the number of the request.
type Answer = fn(usize) -> String;

/// A server that keeps the head of each request. It ends with the test process.
#[derive(Clone)]
struct Stub {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

/// What turns a stub's connections into plain HTTP.
#[derive(Clone)]
enum Layer {
    Plain,
    Tls(Arc<ServerConfig>),
    Socks,
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

impl Stub {
    fn start(layer: Layer, answer: Answer) -> Self {
        Self::start_with(layer, answer, Duration::from_mins(1))
    }

    /// A stub that closes a connection on which nothing was asked for `patience`.
    fn start_with(layer: Layer, answer: Answer, patience: Duration) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let stub = Self { address: listener.local_addr().expect("an address"), heads: Arc::default() };
        let shared = stub.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                stream.set_read_timeout(Some(patience)).expect("a timeout above zero");
                let (stub, layer) = (shared.clone(), layer.clone());
                std::thread::spawn(move || stub.serve(stream, layer, answer));
            }
        });
        stub
    }

    fn serve(&self, mut stream: TcpStream, layer: Layer, answer: Answer) {
        let mut stream: Box<dyn Stream> = match layer {
            Layer::Plain => Box::new(stream),
            Layer::Tls(config) => {
                let Ok(connection) = ServerConnection::new(config) else { return };
                Box::new(StreamOwned::new(connection, stream))
            }
            Layer::Socks => {
                if self.greet(&mut stream).is_none() {
                    return;
                }
                Box::new(stream)
            }
        };
        while let Some(head) = read_head(&mut *stream) {
            let connect = head.starts_with("CONNECT ");
            let number = self.keep(head);
            let text = if connect { "HTTP/1.1 200 OK\r\n\r\n".to_owned() } else { answer(number) };
            if stream.write_all(text.as_bytes()).and_then(|()| stream.flush()).is_err() {
                return;
            }
        }
    }

    /// The server's side of a SOCKS 5 handshake without password (RFC 1928); keeps the host and port asked for.
    fn greet(&self, stream: &mut TcpStream) -> Option<()> {
        let mut start = [0; 2];
        stream.read_exact(&mut start).ok()?;
        let mut methods = vec![0; usize::from(start[1])];
        stream.read_exact(&mut methods).ok()?;
        stream.write_all(&[5, 0]).ok()?;
        let mut request = [0; 5];
        stream.read_exact(&mut request).ok()?;
        let mut name = vec![0; usize::from(request[4]) + 2];
        stream.read_exact(&mut name).ok()?;
        let port = name.split_off(name.len() - 2);
        let port = u16::from_be_bytes([port[0], port[1]]);
        self.keep(format!("SOCKS {}:{port}", String::from_utf8_lossy(&name)));
        stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).ok()
    }

    /// Keeps a request and tells its number, from 1.
    fn keep(&self, head: String) -> usize {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        heads.push(head);
        heads.len()
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A request up to its empty line, `None` when the connection ended before.
fn read_head(stream: &mut dyn Stream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}

fn http(status: u16, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn found(_: usize) -> String {
    http(200, r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}"#)
}

fn silent(_: usize) -> String {
    String::new()
}

/// The values of a header, in order; its name is not case-sensitive.
fn header(head: &str, name: &str) -> Vec<String> {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned()).collect()
}

/// A folder with a kubeconfig of one cluster, one user and the context of both.
struct Setup {
    folder: tempfile::TempDir,
    args: ConnectionArgs,
    env: Vec<(&'static str, String)>,
}

impl Setup {
    fn new(server: &str, cluster: &str, user: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let text = format!(
            "current-context: x\ncontexts: [{{name: x, context: {{cluster: c, user: u}}}}]\n\
             clusters: [{{name: c, cluster: {{server: '{server}', {cluster}}}}}]\nusers: [{{name: u, user: {{{user}}}}}]"
        );
        let path = folder.path().join("config");
        fs::write(&path, text).expect("written");
        let args = ConnectionArgs { kubeconfig: Some(path), ..ConnectionArgs::default() };
        Self { folder, args, env: Vec::new() }
    }

    fn to(stub: &Stub) -> Self {
        Self::new(&format!("http://{}", stub.address), "", "")
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).expect("written");
        path
    }

    async fn open(&self) -> Result<Connection, CliError> {
        Connection::open(&self.args, &self.env.iter().cloned().collect()).await
    }

    async fn get(&self) -> Result<ConfigMap, CliError> {
        get(&self.open().await?).await
    }

    async fn failure(&self) -> CliError {
        self.get().await.expect_err("a failure")
    }
}

async fn get(connection: &Connection) -> Result<ConfigMap, CliError> {
    connection.call(Api::namespaced(connection.client(), "ns").get("x")).await
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_at_the_request_timeout() {
    let slow_body: Answer = |_| "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{".to_owned();
    for answer in [silent as Answer, slow_body] {
        let stub = Stub::start(Layer::Plain, answer);
        let mut setup = Setup::to(&stub);
        setup.args.request_timeout = Some(Duration::from_millis(300));
        let began = Instant::now();
        let error = setup.failure().await;
        assert_eq!(
            error.to_string(),
            format!("[TIMEOUT] no answer from http://{} within 300ms", stub.address)
        );
        assert!(began.elapsed() >= Duration::from_millis(300) && began.elapsed() < Duration::from_secs(10));
        assert_eq!(stub.heads().len(), 1);
    }
}

#[tokio::test]
async fn several_calls_share_one_deadline_and_waiting_for_a_person_does_not_count() {
    let stub = Stub::start(Layer::Plain, |number| if number == 1 { found(1) } else { silent(number) });
    let mut setup = Setup::to(&stub);
    setup.args.request_timeout = Some(Duration::from_millis(1500));
    let mut connection = setup.open().await.expect("opens");
    connection.while_asking(|| std::thread::sleep(Duration::from_secs(2)));
    get(&connection).await.expect("there is time left after the person's answer");
    assert_eq!(get(&connection).await.expect_err("late").code, Code::Timeout);
    let began = Instant::now();
    assert_eq!(get(&connection).await.expect_err("late").code, Code::Timeout);
    assert!(began.elapsed() < Duration::from_millis(1500), "the deadline has passed for good");
}

#[tokio::test]
async fn a_connection_that_was_idle_while_a_person_was_asked_does_not_fail_the_next_call() {
    for patience in [Duration::from_mins(1), Duration::from_millis(300)] {
        let stub = Stub::start_with(Layer::Plain, found, patience);
        let mut setup = Setup::to(&stub);
        setup.args.request_timeout = Some(Duration::from_millis(1500));
        let mut connection = setup.open().await.expect("opens");
        get(&connection).await.expect("an object");
        connection.while_asking(|| std::thread::sleep(Duration::from_secs(2)));
        get(&connection).await.expect("an object, over a new connection if need be");
        assert_eq!(stub.heads().len(), 2);
    }
}

#[tokio::test]
async fn an_error_answer_is_asked_for_once_only() {
    let unavailable: Answer =
        |_| http(503, r#"{"kind":"Status","message":"starting","reason":"ServiceUnavailable","code":503}"#);
    let busy: Answer = |_| {
        http(429, r#"{"kind":"Status","message":"slow down","code":429}"#).replacen(
            "\r\n",
            "\r\nRetry-After: 1\r\n",
            1,
        )
    };
    let gone: Answer = |_| http(504, "gateway");
    for (answer, expected) in [
        (unavailable, "[SERVICE_UNAVAILABLE] starting"),
        (busy, "[RATE_LIMIT_EXCEEDED] slow down"),
        (gone, "[TIMEOUT] http://"),
    ] {
        let stub = Stub::start(Layer::Plain, answer);
        let error = Setup::to(&stub).failure().await;
        assert!(error.to_string().starts_with(expected), "{error}");
        assert_eq!(stub.heads().len(), 1, "{expected}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_object_is_refused_with_the_servers_address() {
    let stub = Stub::start(Layer::Plain, |_| http(200, "<html>log in</html>"));
    let error = Setup::to(&stub).failure().await;
    let expected =
        format!("the answer of http://{} cannot be read, is it a Kubernetes API server?", stub.address);
    assert!(error.code == Code::Internal && error.message.starts_with(&expected), "{error}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable_and_named() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let error =
        Setup::new(&format!("https://{address}"), "insecure-skip-tls-verify: true", "").failure().await;
    let expected = format!(
        "[SERVICE_UNAVAILABLE] cannot reach https://{address}: tcp connect error: Connection refused"
    );
    assert!(error.to_string().starts_with(&expected), "{error}");
}

#[tokio::test]
async fn the_user_to_act_as_is_sent_whole_from_kubeconfig_and_flags() {
    let stub = Stub::start(Layer::Plain, found);
    let user = "as: alice, as-uid: '7', as-groups: [g1, g 2], as-user-extra: {example.com/a%: [v1, v2]}";
    let mut setup = Setup::new(&format!("http://{}", stub.address), "", user);
    setup.get().await.expect("an object");
    setup.args.as_user = Some("jürgen".into());
    setup.args.as_group = vec!["g3".into()];
    setup.args.as_user_extra = vec![("scopes".into(), "s".into())];
    let connection = setup.open().await.expect("opens");
    get(&connection).await.expect("an object");
    assert_eq!(connection.impersonation().map(|who| who.user.as_str()), Some("jürgen"));
    let heads = stub.heads();
    for (head, user, groups, scopes) in
        [(&heads[0], "alice", &["g1", "g 2"][..], &[][..]), (&heads[1], "jürgen", &["g3"], &["s"])]
    {
        assert_eq!(header(head, "Impersonate-User"), [user], "{head}");
        assert_eq!(header(head, "Impersonate-Uid"), ["7"], "{head}");
        assert_eq!(header(head, "Impersonate-Group"), groups, "{head}");
        assert_eq!(header(head, "Impersonate-Extra-Scopes"), scopes, "{head}");
        assert_eq!(header(head, "Impersonate-Extra-example.com%2fa%25"), ["v1", "v2"], "{head}");
        assert_eq!(header(head, "User-Agent"), [concat!("kubectl-aicr/", env!("CARGO_PKG_VERSION"))]);
    }
}

#[tokio::test]
async fn credentials_are_not_sent_over_plain_http_and_a_denial_says_so() {
    let denied: Answer =
        |_| http(401, r#"{"kind":"Status","message":"Unauthorized","reason":"Unauthorized","code":401}"#);
    let stub = Stub::start(Layer::Plain, denied);
    for user in ["token: t", "tokenFile: /nowhere", "username: u", "exec: {command: /nowhere}"] {
        let error = Setup::new(&format!("http://{}", stub.address), "", user).failure().await;
        assert_eq!(
            error.to_string(),
            "[UNAUTHORIZED] Unauthorized; credentials are not sent over plain http",
            "{user}"
        );
    }
    assert_eq!(Setup::to(&stub).failure().await.to_string(), "[UNAUTHORIZED] Unauthorized");
    assert!(stub.heads().iter().all(|head| header(head, "Authorization").is_empty()));
}

#[tokio::test]
async fn the_environments_proxy_is_used_and_asked_for_the_servers_port() {
    let proxy = Stub::start(Layer::Plain, found);
    let mut setup = Setup::new("http://api.invalid", "", "");
    setup.env = vec![("HTTP_PROXY", format!("u:p%40@{}", proxy.address))];
    setup.get().await.expect("an object, through the proxy");
    let heads = proxy.heads();
    assert!(heads[0].starts_with("CONNECT api.invalid:80 "), "{}", heads[0]);
    assert_eq!(header(&heads[0], "Proxy-Authorization"), ["Basic dTpwQA=="], "u:p@");
    assert!(heads[1].starts_with("GET /api/v1/namespaces/ns/configmaps/x "), "{}", heads[1]);
}

#[tokio::test]
async fn an_exempt_server_is_reached_directly_and_a_clusters_own_proxy_exempts_none() {
    let (proxy, server) = (Stub::start(Layer::Plain, found), Stub::start(Layer::Plain, found));
    let mut setup = Setup::to(&server);
    setup.env = vec![("HTTP_PROXY", format!("http://{}", proxy.address))];
    setup.get().await.expect("an object");
    assert_eq!(
        (proxy.heads().len(), server.heads().len()),
        (0, 1),
        "loopback is never reached through a proxy"
    );

    setup.args.proxy_url = Some(format!("http://{}", proxy.address));
    setup.env.push(("NO_PROXY", "*".into()));
    setup.get().await.expect("an object");
    assert_eq!((proxy.heads().len(), server.heads().len()), (2, 1));
    assert!(proxy.heads()[0].starts_with(&format!("CONNECT {} ", server.address)));
}

#[tokio::test]
async fn a_socks_proxy_is_given_the_servers_name() {
    let proxy = Stub::start(Layer::Socks, found);
    let cluster = format!("proxy-url: 'socks5://{}'", proxy.address);
    Setup::new("http://api.invalid:8080", &cluster, "").get().await.expect("an object");
    assert_eq!(proxy.heads()[0], "SOCKS api.invalid:8080");
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_named() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let error = Setup::new("http://api.invalid", &format!("proxy-url: 'http://u:secret@{address}'"), "")
        .failure()
        .await;
    let text = error.to_string();
    let expected = format!(
        "[SERVICE_UNAVAILABLE] cannot reach http://api.invalid through the proxy http://{address} (proxy-url of cluster 'c' in "
    );
    assert!(
        text.starts_with(&expected) && text.contains("Connection refused") && !text.contains("secret"),
        "{text}"
    );
}

/// A certificate authority, a server certificate for `api.test` and a client certificate, all in PEM.
struct Certificates {
    authority: String,
    server: (String, String),
    client: (String, String),
}

impl Certificates {
    fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new([]).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&key).expect("a certificate").pem();
        let issuer = Issuer::new(params, key);
        let signed = |names: &[&str]| {
            let key = KeyPair::generate().expect("a key");
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let certificate = CertificateParams::new(names).expect("names").signed_by(&key, &issuer);
            (certificate.expect("a certificate").pem(), key.serialize_pem())
        };
        Self { authority, server: signed(&["api.test"]), client: signed(&["alice"]) }
    }

    /// TLS for a stub that asks for a client certificate and takes connections without one.
    fn layer(&self) -> Layer {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(self.authority.as_bytes()).expect("PEM"))
            .expect("an authority");
        let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).allow_unauthenticated().build();
        let chain = vec![CertificateDer::from_pem_slice(self.server.0.as_bytes()).expect("PEM")];
        let key = PrivateKeyDer::from_pem_slice(self.server.1.as_bytes()).expect("PEM");
        let config = ServerConfig::builder().with_client_cert_verifier(verifier.expect("a verifier"));
        Layer::Tls(Arc::new(config.with_single_cert(chain, key).expect("a configuration")))
    }
}

/// A TLS stub, and a setup that trusts it.
fn tls(user: &str) -> (Certificates, Stub, Setup) {
    let certificates = Certificates::new();
    let stub = Stub::start(certificates.layer(), found);
    let server = format!("https://{}", stub.address);
    let setup = Setup::new(&server, "tls-server-name: api.test, certificate-authority: ca.crt", user);
    setup.file("ca.crt", &certificates.authority);
    (certificates, stub, setup)
}

#[tokio::test]
async fn over_tls_a_token_a_password_and_a_plugins_token_are_sent() {
    for (user, expected) in [
        ("token: t-1", "Bearer t-1"),
        ("tokenFile: token", "Bearer t-2"),
        ("username: u, password: p", "Basic dTpw"),
        (
            "exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}",
            "Bearer t-3",
        ),
    ] {
        let (_certificates, stub, setup) = tls(user);
        setup.file("token", "t-2\n");
        let login = setup.file(
            "login",
            "#!/bin/sh\necho run >> \"$0.log\"\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":\
             \"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"t-3\",\"expirationTimestamp\":\
             \"2020-01-01T00:00:00Z\"}}'\n",
        );
        make_executable(&login);
        setup.get().await.expect("an object");
        assert_eq!(header(&stub.heads()[0], "Authorization"), [expected], "{user}");
        if user.starts_with("exec") {
            let runs = fs::read_to_string(setup.folder.path().join("login.log")).expect("a log");
            assert_eq!(runs, "run\n", "a plugin runs once");
        }
    }
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
}

#[tokio::test]
async fn a_client_certificate_is_presented_and_a_wrong_key_is_refused_before_any_call() {
    let (certificates, stub, mut setup) = tls("");
    let write = |name, content| setup.file(name, content).to_str().map(str::to_owned);
    let certificate = write("client.crt", &certificates.client.0);
    let key = write("client.key", &certificates.client.1);
    let other_key = write("other.key", &certificates.server.1);
    setup.args.client_certificate = certificate;
    setup.args.client_key = key;
    setup.get().await.expect("an object, with a certificate that the server checked");
    setup.args.client_key = other_key;
    let error = setup.failure().await;
    assert!(error.to_string().starts_with("[INVALID_REQUEST] client-key /"), "{error}");
    assert!(error.to_string().ends_with("does not belong to the certificate"), "{error}");
    assert_eq!(stub.heads().len(), 1);
}

#[tokio::test]
async fn a_certificate_is_checked_unless_that_is_switched_off() {
    let (_certificates, stub, mut setup) = tls("");
    setup.get().await.expect("the name that tls-server-name gives is in the certificate");

    setup.args.server = Some(format!("https://{}", stub.address));
    let text = setup.failure().await.to_string();
    let expected = format!(
        "[SERVICE_UNAVAILABLE] cannot trust https://{}: certificate not valid for name",
        stub.address
    );
    assert!(text.starts_with(&expected), "--server drops the name: {text}");
    assert!(text.ends_with("or give one as tls-server-name"), "{text}");

    setup.args.tls_server_name = Some("api.test".into());
    setup.get().await.expect("the flag brings the name back");
    let stranger = Certificates::new();
    setup.file("ca.crt", &stranger.authority);
    let text = setup.failure().await.to_string();
    assert!(text.contains("no certificate authority that is trusted for cluster 'c' in "), "{text}");

    setup.args.insecure_skip_tls_verify = Some(true);
    setup.get().await.expect("unchecked");
}

#[tokio::test]
async fn without_an_authority_the_systems_decide() {
    let certificates = Certificates::new();
    let stub = Stub::start(certificates.layer(), found);
    let error =
        Setup::new(&format!("https://{}", stub.address), "tls-server-name: api.test", "").failure().await;
    assert!(matches!(error.code, Code::ServiceUnavailable | Code::InvalidRequest), "{error}");
    assert!(stub.heads().is_empty(), "nothing is sent to a server that nobody vouches for");
}

#[tokio::test]
async fn plain_http_behind_an_https_address_is_no_tls_connection() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let error =
        Setup::new(&format!("https://{address}"), "insecure-skip-tls-verify: true", "").failure().await;
    let expected =
        format!("[SERVICE_UNAVAILABLE] no TLS connection to https://{address}: received corrupt message");
    assert!(error.to_string().starts_with(&expected), "{error}");
}
