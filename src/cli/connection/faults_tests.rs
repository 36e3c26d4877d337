use std::collections::BTreeMap;
use std::time::Duration;

use super::*;

fn route() -> Route {
    Route {
        server: "https://h:6443".into(),
        cluster: "cluster 'c' in f".into(),
        proxy: None,
        impersonation: None,
        withheld: false,
    }
}

fn status(code: u16, reason: &str, message: &str) -> kube::Error {
    kube::Error::Api(Status::failure(message, reason).with_code(code).boxed())
}

const DENIED: &str = "runtimerollouts.operator.aicr.run \"r\" is forbidden: ValidatingAdmissionPolicy \
                      'aicr-operator-approval' with binding 'aicr-operator-approval' denied request: only an approver \
                      may set spec.approval";

#[test]
fn each_status_has_its_code_and_keeps_the_servers_words_whole() {
    for (status_code, reason, message, expected) in [
        (401, "Unauthorized", "Unauthorized", Code::Unauthorized),
        (403, "Forbidden", "User \"bob\" cannot get resource", Code::Unauthorized),
        (403, "Forbidden", DENIED, Code::Unauthorized),
        (422, "Invalid", DENIED, Code::Conflict),
        (422, "Invalid", "spec.approval: Invalid value: is set once", Code::InvalidRequest),
        (400, "BadRequest", "bad", Code::InvalidRequest),
        (404, "NotFound", "runtimerollouts \"r\" not found", Code::NotFound),
        (409, "Conflict", "the object has been modified", Code::Conflict),
        (413, "RequestEntityTooLarge", "too large", Code::InvalidRequest),
        (429, "TooManyRequests", "slow down", Code::RateLimitExceeded),
        (500, "InternalError", "boom", Code::Internal),
        (500, "ServerTimeout", "not yet", Code::Timeout),
        (503, "ServiceUnavailable", "starting", Code::ServiceUnavailable),
        (504, "Timeout", "took too long", Code::Timeout),
    ] {
        let error = route().explain(status(status_code, reason, message));
        assert_eq!((error.code, error.message.as_str()), (expected, message), "{status_code} {reason}");
        assert_eq!(error.status, Some(status_code));
    }
}

#[test]
fn a_denial_tells_whom_the_request_acted_as() {
    let bob = Impersonation { user: "bob".into(), uid: None, groups: Vec::new(), extra: BTreeMap::new() };
    let with = |groups: &[&str]| Route {
        impersonation: Some(Impersonation {
            groups: groups.iter().map(|&group| group.to_owned()).collect(),
            ..bob.clone()
        }),
        ..route()
    };
    let message = |route: Route, code| route.explain(status(code, "Forbidden", DENIED)).message;
    assert_eq!(
        message(with(&["a", "b"]), 403),
        format!("{DENIED} (acting as user 'bob' with groups 'a', 'b')")
    );
    assert_eq!(
        message(with(&[]), 403),
        format!("{DENIED} (acting as user 'bob' with no groups (--as alone presents none; add --as-group))")
    );
    assert_eq!(message(with(&["a"]), 422), DENIED, "a rule on the object does not depend on who asks");
    let withheld = Route { withheld: true, ..route() };
    assert!(message(withheld, 401).ends_with("; credentials are not sent over plain http"));
}

#[test]
fn an_answer_that_no_api_server_wrote_is_shown_by_its_first_line_with_the_servers_address() {
    let page = "<html><body>502 Bad Gateway</body></html>\n<p>more</p>";
    let error = route().explain(status(502, "Failed to parse error data", page));
    assert_eq!(
        error.to_string(),
        "[SERVICE_UNAVAILABLE] https://h:6443 answered with status 502: <html><body>502 Bad Gateway</body></html>"
    );
    let error = route().explain(status(404, "Failed to parse error data", "404 page not found"));
    assert_eq!(
        error.to_string(),
        "[NOT_FOUND] https://h:6443 does not serve the operator's API (operator.aicr.run): install the operator's chart \
         there, or name another cluster with --context"
    );
    let error = route().explain(status(404, "Failed to parse error data", "<html>nginx</html>"));
    assert_eq!(
        error.message,
        "https://h:6443 answered with status 404: <html>nginx</html>; is it a Kubernetes API server?"
    );
    let error = route().explain(status(500, "Failed to parse error data", &"x".repeat(1000)));
    assert!(error.message.len() < 300 && error.message.ends_with("x…"), "{error}");
    let error = route().explain(status(503, "", " "));
    assert_eq!(error.message, "the server answered with status 503 and no message");
}

/// An error with a cause.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Layer {
    text: &'static str,
    #[source]
    cause: io::Error,
}

fn layered(text: &'static str, cause: io::Error) -> kube::Error {
    kube::Error::Service(Box::new(Layer { text, cause }))
}

#[test]
fn causes_are_said_once_and_in_order() {
    for (text, cause, expected) in [
        ("client error (Connect)", "refused", "cannot reach https://h:6443: refused"),
        ("tcp connect error", "refused", "cannot reach https://h:6443: tcp connect error: refused"),
        ("dns error: no such host", "no such host", "cannot reach https://h:6443: dns error: no such host"),
        ("refused", "refused by peer", "cannot reach https://h:6443: refused by peer"),
    ] {
        let error = route().explain(layered(text, io::Error::other(cause)));
        assert_eq!((error.code, error.message.as_str()), (Code::ServiceUnavailable, expected));
    }
}

#[test]
fn a_timeout_below_the_deadline_is_a_timeout_too() {
    let error = route().explain(layered("client error (Connect)", io::Error::from(io::ErrorKind::TimedOut)));
    assert_eq!(error.to_string(), "[TIMEOUT] no answer from https://h:6443: timed out");
    let late = route().late(Duration::from_millis(1500));
    assert_eq!(late.to_string(), "[TIMEOUT] no answer from https://h:6443 within 1.5s");
}

#[test]
fn a_proxy_on_the_way_is_named_without_its_password() {
    let proxy =
        Proxy { uri: "http://u:secret@p:3128".parse().expect("an address"), origin: "HTTPS_PROXY".into() };
    let late = Route { proxy: Some(proxy), ..route() }.late(Duration::from_secs(30));
    assert_eq!(
        late.message,
        "no answer from https://h:6443 through the proxy http://p:3128 (HTTPS_PROXY) within 30s"
    );
}

#[test]
fn distrust_of_a_certificate_names_the_rule_and_the_way_out() {
    let explain = |problem: CertificateError| {
        let inner = rustls::Error::InvalidCertificate(problem);
        route()
            .explain(layered("client error (Connect)", io::Error::new(io::ErrorKind::InvalidData, inner)))
            .message
    };
    assert_eq!(
        explain(CertificateError::UnknownIssuer),
        "cannot trust https://h:6443: no certificate authority that is trusted for cluster 'c' in f signed its \
         certificate; see certificate-authority"
    );
    assert!(explain(CertificateError::NotValidForName).ends_with("or give one as tls-server-name"));
    assert_eq!(
        explain(CertificateError::Revoked),
        "cannot trust https://h:6443: its certificate does not hold: Revoked"
    );
}
