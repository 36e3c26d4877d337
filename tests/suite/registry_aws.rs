//! ECR's tokens, from a double of the Pod Identity agent, STS and ECR that takes no request unless its signature is right.
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, Request};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use jiff::Timestamp;
use kubectl_aicr::registry::{
    AwsConfig, ContentDigest, DockerConfig, EcrLogins, Error, Login, Logins as _, Reason, Timeouts,
};
use reqsign_core::hash::{hex_hmac_sha256, hmac_sha256};
use test_support::http::{Body, HttpServer, answer};

const HOST: &str = "123456789012.dkr.ecr.eu-west-1.amazonaws.com";
const ROLE: &str = "arn:aws:iam::123456789012:role/aicr";
const KEY: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const SESSION: &str = "session//token+==";
const EXPIRES: f64 = 1_900_000_000.25;

/// The signature by AWS's own description (Signature Version 4), written apart from what is tested.
fn is_signed(path: &str, headers: &HeaderMap, body: &[u8]) -> bool {
    let header = |name: &str| {
        headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().trim().to_owned()
    };
    let authorization = header("authorization");
    let Some(rest) = authorization.strip_prefix("AWS4-HMAC-SHA256 ") else { return false };
    let parts: BTreeMap<_, _> = rest.split(", ").filter_map(|part| part.split_once('=')).collect();
    let (time, signed) = (header("x-amz-date"), parts["SignedHeaders"]);
    let scope = format!("{}/eu-west-1/ecr/aws4_request", &time[..8]);
    for needed in ["host", "x-amz-date", "x-amz-target", "x-amz-security-token"] {
        if !signed.split(';').any(|name| name == needed) {
            return false;
        }
    }
    let lines: Vec<_> = signed.split(';').map(|name| format!("{name}:{}", header(name))).collect();
    let lines = lines.join("\n");
    let payload = ContentDigest::of(body).hex();
    let canonical = format!("POST\n{path}\n\n{lines}\n\n{signed}\n{payload}");
    let text =
        format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", ContentDigest::of(canonical.as_bytes()).hex());
    let secret = format!("AWS4{SECRET}").into_bytes();
    let key = scope.split('/').fold(secret, |key, part| hmac_sha256(&key, part.as_bytes()));
    parts["Credential"] == format!("{KEY}/{scope}")
        && parts["Signature"] == hex_hmac_sha256(&key, text.as_bytes())
}

fn is_now(headers: &HeaderMap) -> bool {
    let time = headers["x-amz-date"].to_str().unwrap();
    let civil = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", time).unwrap();
    let signed = civil.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp();
    let now = Timestamp::try_from(std::time::UNIX_EPOCH + std::time::UNIX_EPOCH.elapsed().unwrap()).unwrap();
    signed.duration_until(now).as_secs().abs() < 300
}

async fn aws(request: Request<Incoming>, given: Arc<AtomicUsize>) -> http::Response<Body> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let form = String::from_utf8_lossy(&body);
    match parts.uri.path() {
        "/v1/credentials" if parts.headers["authorization"] == "the-pods-token" => {
            let credentials = serde_json::json!({
                "AccessKeyId": KEY, "SecretAccessKey": SECRET, "Token": SESSION, "Expiration": "2099-01-01T00:00:00Z", "AccountId": "1",
            });
            answer(200, &[], credentials.to_string())
        }
        "/v1/credentials" => answer(403, &[], "no association"),
        "/sts"
            if form.contains("WebIdentityToken=the-pods-token&")
                && form.contains("RoleSessionName=aicr-operator") =>
        {
            answer(
                200,
                &[],
                format!(
                    "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleWithWebIdentityResult>\
                 <Credentials><AccessKeyId>{KEY}</AccessKeyId><SecretAccessKey>{SECRET}</SecretAccessKey><SessionToken>{SESSION}</SessionToken>\
                 <Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
                ),
            )
        }
        "/sts" => answer(
            403,
            &[],
            "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>Not authorized to perform \
             sts:AssumeRoleWithWebIdentity</Message></Error></ErrorResponse>",
        ),
        "/" if is_signed("/", &parts.headers, &body)
            && is_now(&parts.headers)
            && parts.headers["x-amz-target"]
                == "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken" =>
        {
            let token = STANDARD.encode(format!("AWS:token-{}", given.fetch_add(1, Ordering::SeqCst)));
            let data = serde_json::json!({"authorizationData": [{"authorizationToken": token, "expiresAt": EXPIRES}]});
            answer(200, &[], data.to_string())
        }
        _ => answer(400, &[], r#"{"__type": "InvalidSignatureException", "message": "wrong"}"#),
    }
}

/// The double, and a folder with the pod's token.
struct Double {
    server: HttpServer,
    folder: tempfile::TempDir,
}

impl Double {
    async fn start() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let given = Arc::new(AtomicUsize::new(0));
        let server = HttpServer::start(move |request| {
            let answer = aws(request, Arc::clone(&given));
            async move { Ok(answer.await) }
        })
        .await
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("token"), "the-pods-token\n").unwrap();
        Self { server, folder }
    }

    fn logins(&self, identity: &[(&str, &str)]) -> EcrLogins {
        let token = self.folder.path().join("token").display().to_string();
        let (ecr, sts) = (self.server.url(), format!("{}/sts", self.server.url()));
        let uri = format!("{}/v1/credentials", self.server.url());
        let all = [("AWS_ENDPOINT_URL_ECR", ecr.as_str()), ("AWS_ENDPOINT_URL_STS", &sts)];
        let environment = all
            .iter()
            .chain(identity)
            .map(|(name, value)| ((*name).to_owned(), value.replace("TOKEN", &token).replace("URI", &uri)))
            .collect();
        let others = br#"{"auths": {"other.example": {"username": "u", "password": "p"}}}"#;
        let config = AwsConfig::new(HOST, &environment).unwrap();
        EcrLogins::new(config, DockerConfig::parse(others).unwrap(), Timeouts::default()).unwrap()
    }
}

const POD: [(&str, &str); 2] =
    [("AWS_CONTAINER_CREDENTIALS_FULL_URI", "URI"), ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "TOKEN")];
const WEB: [(&str, &str); 2] = [("AWS_ROLE_ARN", ROLE), ("AWS_WEB_IDENTITY_TOKEN_FILE", "TOKEN")];

#[tokio::test]
async fn either_identity_gets_a_token_by_signed_requests() {
    let double = Double::start().await;
    for (identity, asked) in
        [(POD, ["GET /v1/credentials", "POST /", "POST /"]), (WEB, ["POST /sts", "POST /", "POST /"])]
    {
        let logins = double.logins(&identity);
        let token = logins.refresh().await.unwrap();
        assert_eq!(token.login.username, "AWS");
        assert_eq!(token.expires.as_millisecond(), 1_900_000_000_250);
        // AWS's own credentials live on.
        assert_ne!(logins.refresh().await.unwrap().login, token.login);
        assert_eq!(double.server.take_asked(), asked);
    }
}

async fn login(logins: &EcrLogins, host: &str, refused: Option<&Login>) -> Result<Option<Login>, Error> {
    logins.login(host, "aicr/charts/x", refused).await
}

#[tokio::test]
async fn a_token_is_kept_and_replaced_when_the_registry_refuses_it() {
    let double = Double::start().await;
    let logins = double.logins(&POD);
    let first = login(&logins, HOST, None).await.unwrap().unwrap();
    assert_eq!(first.password, "token-0");
    assert_eq!(login(&logins, HOST, None).await.unwrap(), Some(first.clone()));
    // One that was just obtained is not what is wrong.
    assert_eq!(login(&logins, HOST, Some(&first)).await.unwrap(), Some(first.clone()));
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_mins(2)).await;
    tokio::time::resume();
    let second = login(&logins, HOST, Some(&first)).await.unwrap().unwrap();
    assert_eq!(second.password, "token-1");
    // Somebody else has renewed it meanwhile.
    assert_eq!(login(&logins, HOST, Some(&first)).await.unwrap(), Some(second));
    assert_eq!(login(&logins, "other.example", None).await.unwrap().unwrap().password, "p");
    assert_eq!(login(&logins, "elsewhere.example", None).await.unwrap(), None);
}

#[tokio::test]
async fn what_aws_refuses_is_said_in_its_own_words_and_without_secrets() {
    let double = Double::start().await;
    let missing = double.folder.path().join("missing").display().to_string();
    std::fs::write(double.folder.path().join("wrong"), "a-wrong-token").unwrap();
    let wrong = double.folder.path().join("wrong").display().to_string();
    for (identity, file, why) in [
        (POD, &missing, "EKS Pod Identity"),
        (POD, &wrong, "no association"),
        (WEB, &missing, "No such file"),
        (WEB, &wrong, "Not authorized to perform sts:AssumeRoleWithWebIdentity"),
    ] {
        let logins = double.logins(&[identity[0], (identity[1].0, file)]);
        let error = logins.refresh().await.unwrap_err();
        assert_eq!(error.reason, Reason::RegistryCredentialsUnavailable, "{error}");
        assert!(error.message.starts_with(&format!("a login for {HOST}: ")), "{error}");
        assert!(error.message.contains(why) && !error.message.contains("a-wrong-token"), "{error}");
    }
    let gone = [POD[1], (POD[0].0, "http://127.0.0.1:1/")];
    assert_eq!(double.logins(&gone).refresh().await.unwrap_err().reason, Reason::Transient);
}
