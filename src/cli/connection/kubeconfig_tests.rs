use std::fs;

use super::*;

/// A folder with the given files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, content).expect("written");
    }
    folder
}

/// Loads `KUBECONFIG` with `{}` standing for the folder.
fn load_list(folder: &tempfile::TempDir, list: &str) -> Result<Kubeconfig, CliError> {
    let list = list.replace("{}", &folder.path().display().to_string());
    load(None, &[("KUBECONFIG", list)].into_iter().collect())
}

fn message(result: Result<Kubeconfig, CliError>) -> String {
    result.err().expect("an error").message
}

const A: &str = "
apiVersion: v1
kind: Config
current-context: ''
clusters:
- {name: red, cluster: {server: https://red-a, certificate-authority: ca.crt}}
users:
- name: alice
  user: {tokenFile: tokens/alice, client-certificate: /abs/a.crt, client-key: ../a.key}
- {name: bob, user: {exec: {command: ./login, apiVersion: v1}}}
- {name: carol, user: {exec: {command: login}}}
";
const B: &str = "
current-context: b
clusters:
- {name: red, cluster: {server: https://red-b, proxy-url: http://p}}
- {name: blue, cluster: {server: https://blue-b}}
contexts:
- {name: b, context: {cluster: blue, user: alice, namespace: x}}
users: null
extensions: null
unknown-field: {any: [thing]}
";

#[test]
fn a_missing_file_and_empty_entries_of_a_list_are_skipped() {
    let folder = folder(&[("b", B)]);
    let config = load_list(&folder, ":{}/missing::{}/b:").expect("loads");
    assert_eq!(config.current_context.as_deref(), Some("b"));
    assert_eq!(config.looked_for.len(), 2);
}

#[test]
fn the_first_file_that_names_something_wins_as_a_whole() {
    let folder = folder(&[("a", A), ("b", B)]);
    let config = load_list(&folder, "{}/a:{}/b").expect("loads");
    let red = &config.clusters["red"];
    assert_eq!(red.value.server.as_deref(), Some("https://red-a"));
    assert_eq!(red.value.proxy_url, None, "nothing of the later file is mixed in");
    assert_eq!(red.file, folder.path().join("a"));
    assert_eq!(config.clusters["blue"].file, folder.path().join("b"));
    let swapped = load_list(&folder, "{}/b:{}/a").expect("loads");
    assert_eq!(swapped.clusters["red"].value.server.as_deref(), Some("https://red-b"));
}

#[test]
fn the_first_file_with_a_current_context_that_is_not_empty_sets_it() {
    let folder = folder(&[("a", A), ("b", B), ("c", "current-context: c")]);
    assert_eq!(load_list(&folder, "{}/a:{}/b:{}/c").expect("loads").current_context.as_deref(), Some("b"));
    assert_eq!(load_list(&folder, "{}/c:{}/b").expect("loads").current_context.as_deref(), Some("c"));
    assert_eq!(load_list(&folder, "{}/a").expect("loads").current_context, None);
}

#[test]
fn relative_paths_are_resolved_against_the_folder_of_their_file() {
    let folder = folder(&[("deep/a", A)]);
    let config = load_list(&folder, "{}/deep/a").expect("loads");
    let at = |name: &str| Some(folder.path().join(name).display().to_string());
    assert_eq!(config.clusters["red"].value.certificate_authority, at("deep/ca.crt"));
    let alice = &config.users["alice"].value;
    assert_eq!(alice.token_file, at("deep/tokens/alice"));
    assert_eq!(alice.client_key, at("deep/../a.key"));
    assert_eq!(alice.client_certificate.as_deref(), Some("/abs/a.crt"));
    let command = |name: &str| config.users[name].value.exec.as_ref().and_then(|exec| exec.command.clone());
    assert_eq!(command("bob"), at("deep/./login"));
    assert_eq!(command("carol").as_deref(), Some("login"), "a bare command is found by PATH");
}

#[test]
fn every_broken_file_of_a_list_is_named() {
    let folder = folder(&[
        ("good", B),
        ("yaml", "clusters: [}"),
        ("kind", "kind: Pod"),
        ("version", "apiVersion: v2"),
        ("twice", "clusters: [{name: x}, {name: x}]"),
        ("bytes", "a"),
    ]);
    fs::write(folder.path().join("bytes"), [0xc3, 0x28]).expect("written");
    let text = message(load_list(&folder, "{}/good:{}/yaml:{}/kind:{}/version:{}/twice:{}/bytes:{}"));
    let here = folder.path().display();
    for expected in [
        format!("kubeconfig {here}/yaml: "),
        format!("kubeconfig {here}/kind: kind is 'Pod', a kubeconfig's is 'Config'"),
        format!("kubeconfig {here}/version: apiVersion is 'v2', a kubeconfig's is 'v1'"),
        format!("kubeconfig {here}/twice: cluster 'x' is there twice"),
        format!("kubeconfig {here}/bytes: is not UTF-8"),
        format!("kubeconfig {here}: cannot be read: Is a directory"),
    ] {
        assert!(text.contains(&expected), "no '{expected}' in {text}");
    }
    assert!(!text.contains("/good"), "{text}");
}

#[test]
fn the_file_named_by_the_flag_must_exist_and_replaces_the_list() {
    let folder = folder(&[("a", A), ("b", B)]);
    let env: Env = [("KUBECONFIG", folder.path().join("a"))].into_iter().collect();
    let path = folder.path().join("b");
    assert_eq!(load(Some(&path), &env).expect("loads").looked_for, [path]);
    let missing = folder.path().join("none");
    let text = message(load(Some(&missing), &env));
    assert_eq!(text, format!("kubeconfig {}: no such file; --kubeconfig names it", missing.display()));
    let unset = load(Some(Path::new("")), &env).expect("an empty flag counts as not given");
    assert_eq!(unset.looked_for, [folder.path().join("a")]);
}

#[test]
fn without_a_list_the_file_in_the_home_folder_is_read_if_there() {
    let folder = folder(&[(".kube/config", B)]);
    let home = |list: &str| -> Env {
        let path = folder.path().as_os_str();
        [("HOME", path), ("KUBECONFIG", list.as_ref())].into_iter().collect()
    };
    assert_eq!(load(None, &home("")).expect("loads").current_context.as_deref(), Some("b"));
    let elsewhere = load(None, &home("/missing/list")).expect("loads");
    assert!(
        elsewhere.current_context.is_none(),
        "a list replaces the home folder even when all of it is missing"
    );
    assert!(load(None, &Env::default()).expect("loads").looked_for.is_empty());
}

#[test]
fn what_is_null_or_empty_is_not_given_and_numbers_without_quotes_are_text() {
    let text = "\u{feff}
users:
- name: 1000
  user:
    token: 12345
    as: 7
    as-uid: 1000
    as-groups: [a, 5]
    as-user-extra: {scopes.example.com/a: [x, 'y']}
    username: ''
    password: null
    exec: null
- name: empty
  user: null
---
users: [{name: second-document}]
";
    let read = parse(text.as_bytes(), Path::new("f")).expect("parses");
    let user = &read.users["1000"].value;
    assert_eq!(user.token.as_deref(), Some("12345"));
    assert_eq!((user.acting_as.as_deref(), user.as_uid.as_deref()), (Some("7"), Some("1000")));
    assert_eq!(user.as_groups, ["a", "5"]);
    assert_eq!(user.as_user_extra["scopes.example.com/a"], ["x", "y"]);
    assert!(user.username.is_none() && user.password.is_none() && user.exec.is_none());
    assert!(!read.users.contains_key("second-document"), "kubectl reads the first document only");
    for empty in ["", "# nothing\n", "---\n", "null"] {
        assert!(parse(empty.as_bytes(), Path::new("f")).expect("parses").users.is_empty(), "{empty:?}");
    }
}

#[test]
fn a_boolean_may_be_spelt_as_in_yaml_1_1() {
    let read = |value: &str| {
        let text = format!("clusters: [{{name: c, cluster: {{insecure-skip-tls-verify: {value}}}}}]");
        parse(text.as_bytes(), Path::new("f")).map(|read| read.clusters["c"].value.insecure_skip_tls_verify)
    };
    for (value, expected) in [
        ("true", true),
        ("yes", true),
        ("On", true),
        ("false", false),
        ("NO", false),
        ("off", false),
        ("", false),
    ] {
        assert_eq!(read(value), Ok(expected), "{value}");
    }
    let problem = read("maybe").expect_err("refused");
    assert!(problem.contains("'maybe' is neither true nor false"), "{problem}");
}

#[test]
fn a_kubeconfig_may_be_written_as_json() {
    let text =
        r#"{"clusters":[{"name":"c","cluster":{"server":"https://h","insecure-skip-tls-verify":true}}]}"#;
    let read = parse(text.as_bytes(), Path::new("f")).expect("parses");
    assert!(read.clusters["c"].value.insecure_skip_tls_verify);
}
