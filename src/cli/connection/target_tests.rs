use std::fs;

use proptest::prelude::*;

use super::*;

const FILE: &str = "
current-context: prod
contexts:
- {name: prod, context: {cluster: prod, user: alice}}
- {name: lab, context: {cluster: lab, user: ''}}
- {name: dangling-user, context: {cluster: prod, user: nobody}}
- {name: dangling-cluster, context: {cluster: nowhere, user: alice}}
- {name: bare, context: {user: alice}}
clusters:
- name: prod
  cluster: {server: 'https://prod:6443/', certificate-authority-data: QQ==, tls-server-name: inner, proxy-url: 'http://p'}
- {name: lab, cluster: {server: 'https://lab', insecure-skip-tls-verify: true}}
- {name: empty, cluster: {}}
users:
- name: alice
  user:
    token: alice-token
    tokenFile: /run/token
    as: root
    as-groups: [admins]
    as-user-extra: {kept: [k], replaced: [old]}
- {name: robot, user: {exec: {command: login}, client-certificate-data: QQ==, client-key-data: QQ==}}
- {name: basic, user: {username: u, password: p}}
";

fn find_in(text: &str, args: &ConnectionArgs) -> Result<Target, CliError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("config");
    fs::write(&path, text).expect("written");
    let config = super::super::kubeconfig::load(Some(&path), &Env::default())?;
    Target::find_with(&config, args, &Env::default(), Path::new("/nowhere"))
        .map_err(|error| CliError { message: error.message.replace(&*path.to_string_lossy(), "F"), ..error })
}

fn find(args: &ConnectionArgs) -> Target {
    find_in(FILE, args).expect("a target")
}

fn refusal(text: &str, args: &ConnectionArgs) -> String {
    find_in(text, args).err().expect("a refusal").to_string()
}

/// Flags as on the command line.
fn args(line: &[&str]) -> ConnectionArgs {
    use clap::{Args, Command, FromArgMatches};
    let line = [&["kubectl-aicr"], line].concat();
    let matches = ConnectionArgs::augment_args(Command::new("kubectl-aicr")).get_matches_from(line);
    ConnectionArgs::from_arg_matches(&matches).expect("flags")
}

#[test]
fn the_current_context_chooses_and_flags_choose_otherwise() {
    for (line, server, user) in [
        (&[][..], "https://prod:6443/", Some("alice-token")),
        (&["--context", ""], "https://prod:6443/", Some("alice-token")),
        (&["--context", "lab"], "https://lab/", None),
        (&["--cluster", "lab"], "https://lab/", Some("alice-token")),
        (&["--context", "lab", "--user", "alice"], "https://lab/", Some("alice-token")),
        (&["--server", "https://other"], "https://other/", Some("alice-token")),
        (
            &["--context", "dangling-cluster", "--server", "https://other"],
            "https://other/",
            Some("alice-token"),
        ),
        (&["--context", "bare", "--cluster", "prod"], "https://prod:6443/", Some("alice-token")),
    ] {
        let target = find(&args(line));
        assert_eq!(target.server.to_string(), server, "{line:?}");
        assert_eq!(target.user.token.as_deref(), user, "{line:?}");
    }
}

#[test]
fn a_flag_can_choose_where_the_kubeconfig_chooses_nothing() {
    let text = FILE.replace("current-context: prod", "");
    let target = find_in(&text, &args(&["--cluster", "lab", "--user", "basic"])).expect("a target");
    assert_eq!(target.user.username.as_deref(), Some("u"));
    let target = find_in("", &args(&["-s", "localhost:8080"])).expect("a target");
    assert_eq!(target.server.to_string(), "http://localhost:8080/");
}

#[test]
fn an_unknown_name_is_refused_with_the_names_there_are_and_the_nearest() {
    for (line, expected) in [
        (
            &["--context", "prdo"][..],
            "no context 'prdo' in the kubeconfig (F); did you mean 'prod'?; its contexts: bare, dangling-cluster, dangling-user, lab, prod",
        ),
        (&["--cluster", "zzz"], "no cluster 'zzz' in the kubeconfig (F); its clusters: empty, lab, prod"),
        (
            &["--user", "alicia"],
            "no user 'alicia' in the kubeconfig (F); did you mean 'alice'?; its users: alice, basic, robot",
        ),
        (
            &["--context", "dangling-user"],
            "no user 'nobody' in the kubeconfig (F); its users: alice, basic, robot",
        ),
        (
            &["--context", "dangling-cluster"],
            "no cluster 'nowhere' in the kubeconfig (F); its clusters: empty, lab, prod",
        ),
        (&["--cluster", "nowhere", "--server", "https://x"], "no cluster 'nowhere' in the kubeconfig (F)"),
        (&["--context", "bare"], "context 'bare' names no cluster; give --context, --cluster or --server"),
        (&["--cluster", "empty"], "cluster 'empty' in F has no server; set it there or give --server"),
    ] {
        let text = refusal(FILE, &args(line));
        assert!(text.starts_with(&format!("[INVALID_REQUEST] {expected}")), "{line:?}: {text}");
    }
    let text = refusal("current-context: gone", &args(&[]));
    assert_eq!(text, "[INVALID_REQUEST] no context 'gone' in the kubeconfig (F); it has no contexts");
    let many: Vec<String> = (0..25).map(|n| format!("{{name: c{n:02}}}")).collect();
    let text = refusal(&format!("contexts: [{}]", many.join(", ")), &args(&["--context", "elsewhere"]));
    assert!(text.ends_with("c18, c19 and 5 more"), "{text}");
}

#[test]
fn when_nothing_chooses_a_cluster_the_error_says_what_was_looked_for() {
    let text = refusal(&FILE.replace("current-context: prod", ""), &args(&[]));
    assert!(text.contains("(F) has no current-context; give --context; its contexts: bare, "), "{text}");
    let text = refusal("", &args(&["--as", "bob"]));
    assert!(
        text.contains("no cluster to talk to: looked for F, and this is no pod with a service account"),
        "{text}"
    );
    let text = refusal("", &args(&["--user", "alice"]));
    assert!(text.contains("give --context, --cluster or --server"), "{text}");
    let error = Target::find_with(&Kubeconfig::default(), &args(&[]), &Env::default(), Path::new("/nowhere"));
    let text = error.err().expect("a refusal").message;
    assert!(text.contains("KUBECONFIG and HOME are not set"), "{text}");
}

#[test]
fn in_a_pod_its_service_account_is_used_unless_a_kubeconfig_or_a_flag_chooses() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("token"), "t").expect("written");
    let pod = |host: &str| -> Env {
        [("KUBERNETES_SERVICE_HOST", host), ("KUBERNETES_SERVICE_PORT", "443")].into_iter().collect()
    };
    let in_pod = |env: &Env, args: &ConnectionArgs| {
        Target::find_with(&Kubeconfig::default(), args, env, folder.path()).expect("a target")
    };
    let target = in_pod(&pod("10.0.0.1"), &args(&["--as", "bob"]));
    assert_eq!(target.server.to_string(), "https://10.0.0.1:443/");
    assert_eq!(target.user.token_file, folder.path().join("token").to_str().map(Into::into));
    assert_eq!(target.cluster.certificate_authority, folder.path().join("ca.crt").to_str().map(Into::into));
    assert_eq!(target.user.acting_as.as_deref(), Some("bob"), "flags hold inside a pod too");
    assert_eq!(in_pod(&pod("fd00::1"), &args(&[])).server.to_string(), "https://[fd00::1]:443/");
    let elsewhere = in_pod(&pod("10.0.0.1"), &args(&["--server", "https://other"]));
    assert!(elsewhere.user.token_file.is_none(), "the pod's token goes to the pod's own cluster only");

    let no_token =
        Target::find_with(&Kubeconfig::default(), &args(&[]), &pod("10.0.0.1"), Path::new("/nowhere"));
    assert!(no_token.is_err());
    let no_host = Target::find_with(&Kubeconfig::default(), &args(&[]), &Env::default(), folder.path());
    assert!(no_host.is_err());
}

#[test]
fn flags_on_trust_replace_what_the_kubeconfig_says_on_trust() {
    let cluster = |line: &[&str]| {
        let cluster = find(&args(line)).cluster;
        (
            cluster.tls_server_name,
            cluster.certificate_authority,
            cluster.certificate_authority_data,
            cluster.insecure_skip_tls_verify,
        )
    };
    let text = |text: &str| Some(text.to_owned());
    for (line, expected) in [
        (&[][..], (text("inner"), None, text("QQ=="), false)),
        (&["--server", "https://h"], (None, None, text("QQ=="), false)),
        (&["--server", "https://h", "--tls-server-name", "n"], (text("n"), None, text("QQ=="), false)),
        (&["--certificate-authority", "ca"], (text("inner"), text("ca"), None, false)),
        (&["--insecure-skip-tls-verify"], (text("inner"), None, None, true)),
        (&["--context", "lab", "--certificate-authority", "ca"], (None, text("ca"), None, false)),
        (&["--context", "lab"], (None, None, None, true)),
        (&["--context", "lab", "--insecure-skip-tls-verify=false"], (None, None, None, false)),
    ] {
        assert_eq!(cluster(line), expected, "{line:?}");
    }
    assert_eq!(find(&args(&["--proxy-url", "http://q"])).cluster.proxy_url.as_deref(), Some("http://q"));
}

#[test]
fn a_token_or_user_name_on_the_command_line_replaces_other_logins_but_no_certificate() {
    let user = find(&args(&["--token", "t"])).user;
    assert_eq!((user.token.as_deref(), user.token_file), (Some("t"), None));
    let user = find(&args(&["--user", "robot", "--token", "t"])).user;
    assert!(user.exec.is_none() && user.client_certificate_data.is_some());
    let user = find(&args(&["--user", "basic", "--token", "t"])).user;
    assert!(user.username.is_none() && user.password.is_none());
    let user = find(&args(&["--user", "basic", "--username", "v"])).user;
    assert_eq!((user.username.as_deref(), user.password.as_deref()), (Some("v"), Some("p")));
    let user = find(&args(&["--username", "v"])).user;
    assert!(user.token.is_none() && user.token_file.is_none());
    let user = find(&args(&["--user", "robot", "--client-certificate", "c", "--client-key", "k"])).user;
    assert_eq!((user.client_certificate.as_deref(), user.client_certificate_data), (Some("c"), None));
    assert_eq!((user.client_key.as_deref(), user.client_key_data), (Some("k"), None));
}

#[test]
fn flags_on_whom_to_act_as_override_field_by_field_and_key_by_key() {
    let user = find(&args(&[])).user;
    assert_eq!((user.acting_as.as_deref(), user.as_groups), (Some("root"), vec!["admins".to_owned()]));
    let line =
        ["--as", "bob", "--as-uid", "7", "--as-user-extra", "replaced=a", "--as-user-extra", "replaced=b"];
    let user = find(&args(&line)).user;
    assert_eq!((user.acting_as.as_deref(), user.as_uid.as_deref()), (Some("bob"), Some("7")));
    assert_eq!(user.as_groups, ["admins"], "as for kubectl, what no flag names stays");
    assert_eq!(user.as_user_extra["kept"], ["k"]);
    assert_eq!(user.as_user_extra["replaced"], ["a", "b"]);
    let user = find(&args(&["--as", "bob", "--as-group", "x", "--as-group", "y"])).user;
    assert_eq!(user.as_groups, ["x", "y"]);
}

#[test]
fn contradictions_are_refused_by_the_names_of_their_fields() {
    for (cluster, user, expected) in [
        (
            "certificate-authority: a, certificate-authority-data: QQ==",
            "",
            "cluster 'c' in F has both certificate-authority and certificate-authority-data",
        ),
        (
            "certificate-authority: a, insecure-skip-tls-verify: true",
            "",
            "cluster 'c' in F has both insecure-skip-tls-verify and a certificate authority",
        ),
        (
            "",
            "client-certificate: a, client-certificate-data: QQ==",
            "user 'u' in F has both client-certificate and client-certificate-data",
        ),
        (
            "",
            "client-certificate: a, client-key: a, client-key-data: QQ==",
            "user 'u' in F has both client-key and client-key-data",
        ),
        (
            "",
            "client-certificate: a",
            "user 'u' in F has half of a client certificate: client-key or client-key-data is missing",
        ),
        (
            "",
            "client-key: a",
            "user 'u' in F has half of a client certificate: client-certificate or client-certificate-data is missing",
        ),
        ("", "token: t, username: u", "user 'u' in F has both a token and username or password"),
        (
            "",
            "exec: {command: x}, auth-provider: {name: oidc}",
            "user 'u' in F has both exec and auth-provider",
        ),
        ("", "as-uid: 7", "user 'u' in F has as-uid but no 'as'"),
        ("", "as-groups: [g]", "user 'u' in F has as-groups but no 'as'"),
        ("", "as-user-extra: {k: [v]}", "user 'u' in F has as-user-extra but no 'as'"),
    ] {
        let text = format!(
            "current-context: x\ncontexts: [{{name: x, context: {{cluster: c, user: u}}}}]\n\
             clusters: [{{name: c, cluster: {{server: 'https://h', {cluster}}}}}]\nusers: [{{name: u, user: {{{user}}}}}]"
        );
        let refused = refusal(&text, &args(&[]));
        assert!(refused.starts_with(&format!("[INVALID_REQUEST] {expected}")), "{refused}");
    }
}

#[test]
fn a_server_is_an_http_or_https_address_with_an_optional_path() {
    for (text, expected) in [
        ("https://h", Ok("https://h/")),
        ("HTTPS://Host:6443/", Ok("https://Host:6443/")),
        ("https://h/k8s/clusters/c-1/", Ok("https://h/k8s/clusters/c-1")),
        ("https://h/a?b=c", Ok("https://h/a")),
        ("https://[::1]:6443", Ok("https://[::1]:6443/")),
        ("h:6443", Ok("http://h:6443/")),
        ("h", Ok("http://h/")),
        ("h/path", Err("has a path but no scheme")),
        ("ftp://h", Err("has scheme 'ftp'")),
        ("https://", Err("is no address")),
        ("https://u:p@h", Err("holds a user")),
        ("https://h:99999", Err("has an invalid port")),
        ("https://h:", Err("has an invalid port")),
        ("https://h:port", Err("has an invalid port")),
        ("https://a b", Err("is no address")),
        ("https://h\u{fc}", Err("is no address")),
    ] {
        match (parse_server(text), expected) {
            (Ok(uri), Ok(expected)) => assert_eq!(uri.to_string(), expected, "{text}"),
            (Err(problem), Err(expected)) => assert!(problem.starts_with(expected), "{text}: {problem}"),
            (result, expected) => panic!("{text}: {result:?}, not {expected:?}"),
        }
    }
}

#[test]
fn a_password_in_the_address_of_a_server_is_not_shown() {
    for (address, shown) in [
        ("https://u:hush@h", "https://h"),
        ("ftp://u:hush@h", "ftp://h"),
        ("https://u:hu sh@h", "https://h"),
        ("u:hush@h", "h"),
    ] {
        let args = ConnectionArgs { server: Some(address.into()), ..ConnectionArgs::default() };
        let error = find_in(FILE, &args).err().expect("refused").to_string();
        assert!(error.contains(&format!("server '{shown}' of ")) && !error.contains("hu"), "{error}");
    }
}

proptest! {
    #[test]
    fn no_server_address_panics(text in "\\PC{0,30}", scheme in "(https?://)?") {
        if let Ok(uri) = parse_server(&format!("{scheme}{text}")) {
            prop_assert!(uri.host().is_some_and(|host| !host.is_empty()));
        }
    }
}
