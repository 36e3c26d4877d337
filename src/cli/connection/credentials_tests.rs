use std::fs;

use rcgen::{CertificateParams, KeyPair};

use super::*;
use crate::cli::connection::kubeconfig::{AuthProvider, Exec, User};

fn target(user: User) -> Target {
    Target {
        server: "https://h:6443".parse().expect("an address"),
        cluster: Cluster::default(),
        user,
        cluster_words: "cluster 'c' in f".into(),
        user_words: "user 'u' in f".into(),
    }
}

async fn obtain(user: User) -> Result<Credentials, CliError> {
    Credentials::obtain(&target(user), None, &mut Deadline::start(None)).await
}

async fn refusal(user: User) -> String {
    obtain(user).await.err().expect("a refusal").to_string()
}

/// A certificate and its key, in PEM.
fn certificate() -> (String, String) {
    let key = KeyPair::generate().expect("a key");
    let certificate =
        CertificateParams::new(["h".to_owned()]).expect("names").self_signed(&key).expect("a certificate");
    (certificate.pem(), key.serialize_pem())
}

fn base64(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

fn plugin(answer: &str) -> Exec {
    let status =
        format!("{{kind: ExecCredential, apiVersion: client.authentication.k8s.io/v1, status: {answer}}}");
    Exec {
        api_version: Some("client.authentication.k8s.io/v1".into()),
        command: Some("/bin/sh".into()),
        args: vec!["-c".into(), format!("cat <<'EOT'\n{status}\nEOT")],
        interactive_mode: Some("Never".into()),
        ..Exec::default()
    }
}

#[tokio::test]
async fn a_token_files_content_is_trimmed_and_comes_before_a_token() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), " from-file \n").expect("written");
    let path = file.path().to_str().map(str::to_owned);
    let user = User { token: Some("t".into()), token_file: path.clone(), ..User::default() };
    let credentials = obtain(user).await.expect("credentials");
    assert!(matches!(credentials.authorization, Authorization::Bearer(token) if token == "from-file"));

    fs::write(file.path(), "\n").expect("written");
    let text = refusal(User { token_file: path, ..User::default() }).await;
    assert!(
        text.starts_with("[INVALID_REQUEST] tokenFile /") && text.ends_with("of user 'u' in f is empty"),
        "{text}"
    );
    let missing = refusal(User { token_file: Some("/nowhere".into()), ..User::default() }).await;
    assert!(
        missing.contains("tokenFile /nowhere of user 'u' in f cannot be read: No such file"),
        "{missing}"
    );
}

#[tokio::test]
async fn a_token_that_cannot_be_sent_is_refused_without_showing_it() {
    for token in ["secret\n", "sec ret", "sec\u{7f}ret", "secr\u{e9}t"] {
        let text = refusal(User { token: Some(token.into()), ..User::default() }).await;
        assert_eq!(
            text,
            "[INVALID_REQUEST] token of user 'u' in f holds characters that no token has, such as a line end"
        );
    }
}

#[tokio::test]
async fn a_user_name_alone_is_sent_with_an_empty_password() {
    let user = User { username: Some("u".into()), ..User::default() };
    let credentials = obtain(user).await.expect("credentials");
    let Authorization::Basic { username, password } = credentials.authorization else { panic!("not basic") };
    assert_eq!((username.as_str(), password.as_str()), ("u", ""));
}

#[tokio::test]
async fn a_credential_plugin_runs_only_when_there_is_nothing_else() {
    let exec = Some(plugin("{token: from-plugin}"));
    let given = obtain(User { exec: exec.clone(), ..User::default() }).await.expect("credentials");
    assert!(matches!(given.authorization, Authorization::Bearer(token) if token == "from-plugin"));

    let user = User { exec: exec.clone(), token: Some("t".into()), ..User::default() };
    let given = obtain(user).await.expect("credentials");
    assert!(matches!(given.authorization, Authorization::Bearer(token) if token == "t"));

    let (certificate, key) = certificate();
    let user = User {
        client_certificate_data: Some(base64(&certificate)),
        client_key_data: Some(base64(&key)),
        exec,
        ..User::default()
    };
    let given = obtain(user).await;
    let given = given.expect("credentials");
    assert!(matches!(given.authorization, Authorization::None) && given.identity.is_some());
}

#[tokio::test]
async fn what_a_credential_plugin_gives_is_checked_like_the_kubeconfigs_own() {
    for (answer, expected) in [
        ("{token: \"sec\\nret\"}", "token that the credential plugin gave of user 'u' in f holds characters"),
        (
            "{clientCertificateData: x, clientKeyData: y}",
            "certificate that the credential plugin gave of user 'u' in f holds no certificate",
        ),
    ] {
        let text = refusal(User { exec: Some(plugin(answer)), ..User::default() }).await;
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn a_legacy_login_is_refused_unless_a_token_makes_it_needless() {
    let provider = Some(AuthProvider { name: "oidc".into() });
    let text = refusal(User { auth_provider: provider.clone(), ..User::default() }).await;
    assert_eq!(
        text,
        "[INVALID_REQUEST] auth-provider 'oidc' of user 'u' in f is not supported; use an exec credential plugin, or \
         give --token"
    );
    assert!(
        obtain(User { auth_provider: provider, token: Some("t".into()), ..User::default() }).await.is_ok()
    );
}

#[tokio::test]
async fn certificates_and_keys_are_read_from_files_or_in_place_and_checked() {
    let (certificate, key) = certificate();
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("written");
        path.to_str().map(str::to_owned)
    };
    let data = base64(&key);
    let wrapped = Some(format!("{}\n  {}", &data[..40], &data[40..]));
    let user =
        User { client_certificate: write("crt", &certificate), client_key_data: wrapped, ..User::default() };
    let identity = obtain(user).await.ok().and_then(|credentials| credentials.identity).expect("an identity");
    assert_eq!(
        (identity.certificate, identity.key),
        (certificate.clone().into_bytes(), key.clone().into_bytes())
    );

    let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nQQ==\n-----END ENCRYPTED PRIVATE KEY-----\n";
    for (certificate_data, key_data, expected) in [
        ("%".into(), base64(&key), "client-certificate-data of user 'u' in f is no base64"),
        (base64("x"), base64(&key), "client-certificate-data of user 'u' in f holds no certificate in PEM"),
        (base64(&key), base64(&key), "client-certificate-data of user 'u' in f holds no certificate in PEM"),
        (base64(&certificate), base64(&certificate), "client-key-data of user 'u' in f holds no private key"),
        (
            base64(&certificate),
            base64(&self::certificate().1),
            "client-key-data of user 'u' in f does not belong",
        ),
        (base64(&certificate), base64(encrypted), "client-key-data of user 'u' in f is encrypted"),
        (
            base64(&certificate.replace("-----END", "----")),
            base64(&key),
            "client-certificate-data of user 'u' in f is no PEM",
        ),
    ] {
        let user = User {
            client_certificate_data: Some(certificate_data),
            client_key_data: Some(key_data),
            ..User::default()
        };
        let text = refusal(user).await;
        assert!(text.contains(expected), "{text}");
    }
    let user = User {
        client_certificate: Some("/nowhere".into()),
        client_key: write("key", &key),
        ..User::default()
    };
    assert!(refusal(user).await.contains("client-certificate /nowhere of user 'u' in f cannot be read"));
}

#[test]
fn a_certificate_authority_that_holds_none_is_refused_by_field_and_file() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let path = file.path().to_str().expect("UTF-8").to_owned();
    let cluster = Cluster { certificate_authority: Some(path.clone()), ..Cluster::default() };
    let error = authorities(&cluster, "cluster 'c' in f").expect_err("refused");
    assert_eq!(
        error.message,
        format!("certificate-authority {path} of cluster 'c' in f holds no certificate in PEM")
    );
    let (one, _) = certificate();
    let (two, _) = certificate();
    fs::write(&path, format!("a comment\n{one}\n{two}")).expect("written");
    let found = authorities(&cluster, "cluster 'c' in f").expect("authorities").expect("some");
    assert_eq!(found.len(), 2);
    assert_eq!(authorities(&Cluster::default(), "c").expect("none to read"), None);
}

#[test]
fn a_credential_plugin_is_told_where_the_server_is_and_how_it_is_trusted() {
    let (ca, _) = certificate();
    let mut target = target(User::default());
    target.cluster = Cluster {
        tls_server_name: Some("n".into()),
        certificate_authority_data: Some(base64(&ca)),
        proxy_url: Some("http://p:3128".into()),
        disable_compression: true,
        extensions: serde_json::from_value(json!([
            {"name": "other", "extension": 1},
            {"name": PLUGIN_EXTENSION, "extension": {"audience": "x"}},
        ]))
        .expect("extensions"),
        ..Cluster::default()
    };
    let proxy = Proxy { uri: "http://p:3128".parse().expect("an address"), origin: "o".into() };
    let about = about_cluster(&target, Some(&proxy)).expect("a description");
    let expected = json!({
        "server": "https://h:6443",
        "tls-server-name": "n",
        "certificate-authority-data": base64(&ca),
        "proxy-url": "http://p:3128/",
        "disable-compression": true,
        "config": {"audience": "x"},
    });
    assert_eq!(about, expected);
}
