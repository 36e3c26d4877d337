use std::time::{Duration, Instant};

use super::*;
use crate::cli::connection::kubeconfig::Variable;

/// A plugin that is a shell script.
fn script(text: &str) -> Exec {
    Exec {
        api_version: Some(VERSIONS[0].into()),
        command: Some("/bin/sh".into()),
        args: vec!["-c".into(), text.into()],
        interactive_mode: Some("Never".into()),
        ..Exec::default()
    }
}

async fn run_plain(exec: &Exec) -> Result<Given, CliError> {
    run(exec, "user 'u' in f", json!({"server": "https://h"}), false, &mut Deadline::start(None)).await
}

async fn refusal(exec: &Exec) -> String {
    run_plain(exec).await.err().expect("a refusal").to_string()
}

const TOKEN: &str =
    r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t-1"}}"#;

#[tokio::test]
async fn a_plugin_gives_a_token_or_a_certificate_or_both() {
    let given = run_plain(&script(&format!("echo '{TOKEN}'"))).await.expect("credentials");
    assert_eq!((given.token.as_deref(), given.identity), (Some("t-1"), None));
    let yaml = "printf 'kind: ExecCredential\\napiVersion: client.authentication.k8s.io/v1\\nstatus:\\n  \
                clientCertificateData: C\\n  clientKeyData: K\\n'";
    let given = run_plain(&script(yaml)).await.expect("credentials");
    assert_eq!((given.token, given.identity), (None, Some(("C".into(), "K".into()))));
}

#[tokio::test]
async fn a_plugin_is_told_its_caller_and_gets_its_variables() {
    let check = format!(
        r#"[ "$ROLE" = approver ] && [ "$KUBERNETES_EXEC_INFO" = '{}' ] && ! read -r line && echo '{TOKEN}'"#,
        r#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"cluster":{"server":"https://h"},"interactive":false}}"#,
    );
    let exec = Exec {
        env: vec![Variable { name: "ROLE".into(), value: "approver".into() }],
        provide_cluster_info: true,
        ..script(&check)
    };
    assert_eq!(run_plain(&exec).await.expect("credentials").token.as_deref(), Some("t-1"));
    let without = Exec { provide_cluster_info: false, ..exec };
    assert!(
        refusal(&without).await.contains("failed: exit status: 1"),
        "the cluster is told on request only"
    );
}

#[test]
fn standard_input_is_shared_as_kubectl_shares_it() {
    let [v1, v1beta1] = VERSIONS;
    for (version, mode, at_terminal, expected) in [
        (v1, Some("Never"), true, Ok(false)),
        (v1, Some("IfAvailable"), true, Ok(true)),
        (v1, Some("IfAvailable"), false, Ok(false)),
        (v1, Some("Always"), true, Ok(true)),
        (v1, Some("Always"), false, Err("standard input is no terminal")),
        (v1, None, true, Err("interactiveMode is missing")),
        (
            v1,
            Some("Sometimes"),
            true,
            Err("interactiveMode 'Sometimes' is none of Never, IfAvailable, Always"),
        ),
        (v1beta1, None, true, Ok(true)),
        (v1beta1, None, false, Ok(false)),
        (v1beta1, Some("Never"), true, Ok(false)),
    ] {
        let exec = Exec {
            api_version: Some(version.into()),
            interactive_mode: mode.map(Into::into),
            ..script("true")
        };
        let plugin = Plugin::of(&exec, "user 'u' in f", at_terminal);
        match (plugin, expected) {
            (Ok(plugin), Ok(expected)) => assert_eq!(plugin.interactive, expected, "{version} {mode:?}"),
            (Err(error), Err(expected)) => assert!(error.message.contains(expected), "{error}"),
            (plugin, expected) => {
                panic!("{version} {mode:?}: {:?}, not {expected:?}", plugin.map(|p| p.interactive))
            }
        }
    }
}

#[tokio::test]
async fn a_plugin_that_is_not_installed_is_named_with_its_hint_and_no_escapes() {
    let exec = Exec {
        command: Some("no-such-login".into()),
        install_hint: Some("Run \u{1b}[1mbrew install login\u{1b}[0m\nor ask.".into()),
        ..script("")
    };
    assert_eq!(
        refusal(&exec).await,
        "[UNAUTHORIZED] credential plugin 'no-such-login' of user 'u' in f was not found; install it, or check \
         PATH\nRun [1mbrew install login[0m\nor ask."
    );
}

#[tokio::test]
async fn an_answer_that_is_no_credential_is_refused_without_showing_it() {
    let [v1, v1beta1] = VERSIONS;
    for (answer, expected) in [
        (String::new(), "printed no ExecCredential"),
        ("secret".into(), "printed no ExecCredential (line 1, column 1)"),
        (format!("{{kind: Secret, apiVersion: {v1}}}"), "printed kind 'Secret' of"),
        (format!("{{kind: ExecCredential, apiVersion: {v1beta1}, status: {{token: t}}}}"), "v1beta1, not"),
        (format!("{{kind: ExecCredential, apiVersion: {v1}}}"), "printed no status"),
        (format!("{{kind: ExecCredential, apiVersion: {v1}, status: {{token: ''}}}}"), "neither a token nor"),
        (
            format!("{{kind: ExecCredential, apiVersion: {v1}, status: {{clientKeyData: secret}}}}"),
            "printed a certificate without its key or a key without its certificate",
        ),
    ] {
        let text = refusal(&script(&format!("cat <<'EOT'\n{answer}\nEOT"))).await;
        assert!(text.starts_with("[UNAUTHORIZED] ") && text.contains(expected), "{answer}: {text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn a_plugin_that_fails_prints_too_much_or_is_misconfigured_is_refused() {
    for (exec, expected) in [
        (
            script("exit 3"),
            "[UNAUTHORIZED] credential plugin '/bin/sh' of user 'u' in f failed: exit status: 3",
        ),
        (script("yes"), "printed more than 1 MiB"),
        (Exec { command: None, ..script("") }, "[INVALID_REQUEST] exec of user 'u' in f: command is missing"),
        (Exec { api_version: None, ..script("") }, "apiVersion is missing"),
        (
            Exec { api_version: Some("client.authentication.k8s.io/v1alpha1".into()), ..script("") },
            "apiVersion 'client.authentication.k8s.io/v1alpha1' is not supported; use",
        ),
        (Exec { env: vec![Variable::default()], ..script("") }, "env holds a variable without a name"),
    ] {
        let text = refusal(&exec).await;
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn a_plugin_that_never_ends_is_stopped_at_the_deadline() {
    let began = Instant::now();
    let mut deadline = Deadline::start(Some(Duration::from_millis(200)));
    let result = run(&script("exec sleep 600"), "user 'u' in f", Value::Null, false, &mut deadline).await;
    let error = result.err().expect("a failure");
    assert_eq!(
        error.to_string(),
        "[TIMEOUT] credential plugin '/bin/sh' of user 'u' in f did not finish within 200ms"
    );
    assert!(began.elapsed() < Duration::from_secs(10));
}
