//! The connection and impersonation flags of kubectl, as this plugin takes them.

use std::path::PathBuf;
use std::time::Duration;

use crate::api::GoDuration;

/// How to reach the API server, and as whom. Every flag overrides what the kubeconfig says; an empty value counts as
/// not given, as it does for kubectl.
///
/// Source: kubectl-aicr, "Usage", and kubectl's own global flags. `--cache-dir` and the log and profiling flags of
/// kubectl are not connection flags: this plugin keeps no cache and writes no log.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Connection flags (as kubectl)")]
pub struct ConnectionArgs {
    /// The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config
    #[arg(long, global = true, value_name = "PATH")]
    pub kubeconfig: Option<PathBuf>,
    /// The context to use instead of the current one
    #[arg(long, global = true, value_name = "NAME")]
    pub context: Option<String>,
    /// The cluster to use instead of the context's
    #[arg(long, global = true, value_name = "NAME")]
    pub cluster: Option<String>,
    /// The user to use instead of the context's
    #[arg(long, global = true, value_name = "NAME")]
    pub user: Option<String>,
    /// Address of the API server
    #[arg(long, short = 's', global = true, value_name = "URL")]
    pub server: Option<String>,
    /// Bearer token to authenticate with
    #[arg(long, global = true, value_name = "TOKEN")]
    pub token: Option<String>,
    /// User name for basic authentication
    #[arg(long, global = true, value_name = "NAME")]
    pub username: Option<String>,
    /// Password for basic authentication
    #[arg(long, global = true, value_name = "TEXT")]
    pub password: Option<String>,
    /// Act as this user
    #[arg(long = "as", global = true, value_name = "USER")]
    pub as_user: Option<String>,
    /// Act as a member of this group; repeat for more
    #[arg(long, global = true, value_name = "GROUP")]
    pub as_group: Vec<String>,
    /// Act with this UID
    #[arg(long, global = true, value_name = "UID")]
    pub as_uid: Option<String>,
    /// Act with this extra attribute; repeat for more
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = parse_extra)]
    pub as_user_extra: Vec<(String, String)>,
    /// File with the certificate authority that signs the server's certificate
    #[arg(long, global = true, value_name = "PATH")]
    pub certificate_authority: Option<String>,
    /// File with the client certificate
    #[arg(long, global = true, value_name = "PATH")]
    pub client_certificate: Option<String>,
    /// File with the client certificate's key
    #[arg(long, global = true, value_name = "PATH")]
    pub client_key: Option<String>,
    /// Do not check the server's certificate: anybody in between can read and change what is sent
    #[arg(long, global = true, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = parse_bool)]
    pub insecure_skip_tls_verify: Option<bool>,
    /// Name to expect in the server's certificate instead of the address's host
    #[arg(long, global = true, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// Proxy to reach the server through
    #[arg(long, global = true, value_name = "URL")]
    pub proxy_url: Option<String>,
    /// Wait at most this long for the server, if under 30s; seconds or a duration such as 10s
    #[arg(long, global = true, value_name = "DURATION", value_parser = parse_timeout)]
    pub request_timeout: Option<Duration>,
    /// Ask the server not to compress its answers; always so
    #[arg(long, global = true, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = parse_bool, hide = true)]
    pub disable_compression: Option<bool>,
    /// Refused: see [`ConnectionArgs::usage_problem`]
    #[arg(long, short = 'n', global = true, value_name = "NAME", hide = true)]
    pub namespace: Option<String>,
}

impl ConnectionArgs {
    /// What is wrong with the flags taken together: a usage error (exit 2), found before anything is read or called.
    ///
    /// clap's own `requires` judges one level of the command line at a time and would miss flags given before the
    /// command.
    pub fn usage_problem(&self) -> Option<String> {
        let given = |value: &Option<String>| value.as_ref().is_some_and(|text| !text.is_empty());
        if !given(&self.as_user) {
            let lone = [
                ("--as-group", !self.as_group.is_empty()),
                ("--as-uid", given(&self.as_uid)),
                ("--as-user-extra", !self.as_user_extra.is_empty()),
            ];
            if let Some((flag, _)) = lone.into_iter().find(|(_, is_given)| *is_given) {
                return Some(format!("{flag} needs --as: name the user to act as"));
            }
        }
        if given(&self.namespace) {
            return Some(
                "--namespace has no meaning here: rollouts belong to the cluster, and --operator-namespace says where \
                 plans and assessment reports live"
                    .into(),
            );
        }
        if given(&self.token) && (given(&self.username) || given(&self.password)) {
            return Some("--token and --username or --password exclude each other".into());
        }
        if self.insecure_skip_tls_verify == Some(true) && given(&self.certificate_authority) {
            return Some("--insecure-skip-tls-verify and --certificate-authority exclude each other".into());
        }
        None
    }
}

/// Booleans as Go's flags take them.
fn parse_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("write true or false".into()),
    }
}

/// `--request-timeout`: whole seconds or a Go duration; zero means no limit of its own.
fn parse_timeout(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Ok(Duration::from_secs(seconds));
    }
    let duration: GoDuration = text.parse().map_err(|error| format!("{error}"))?;
    if duration.is_negative() {
        return Err("must not be negative".into());
    }
    Ok(duration.to_unsigned())
}

/// `--as-user-extra`: a key, `=`, and a value that may be empty and may hold more `=`.
fn parse_extra(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        _ => Err("write KEY=VALUE".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};

    use super::*;

    /// Parses a command line like the plugin's: global flags, one command with one name.
    fn parse(line: &[&str]) -> Result<ConnectionArgs, clap::Error> {
        let command = ConnectionArgs::augment_args(Command::new("kubectl-aicr"))
            .subcommand(Command::new("describe").arg(clap::Arg::new("rollout")));
        let matches = command.try_get_matches_from([&["kubectl-aicr"], line].concat())?;
        let (_, matches) = matches.subcommand().expect("a command");
        ConnectionArgs::from_arg_matches(matches)
    }

    #[test]
    fn flags_are_taken_before_and_after_the_name_and_before_the_command() {
        let args =
            parse(&["--as", "bob", "describe", "--as-group=a", "r", "--as-group", "b", "-s", "https://h"])
                .expect("a valid line");
        assert_eq!(args.as_user.as_deref(), Some("bob"));
        assert_eq!(args.as_group, ["a", "b"]);
        assert_eq!(args.server.as_deref(), Some("https://h"));
        assert_eq!(args.usage_problem(), None);
    }

    #[test]
    fn groups_uid_and_extras_without_a_user_to_act_as_are_usage_errors() {
        for (flag, value) in [("--as-group", "g"), ("--as-uid", "7"), ("--as-user-extra", "k=v")] {
            let args = parse(&["describe", "r", flag, value]).expect("parses");
            assert_eq!(args.usage_problem(), Some(format!("{flag} needs --as: name the user to act as")));
            let with_user = parse(&["describe", "r", "--as", "bob", flag, value]).expect("parses");
            assert_eq!(with_user.usage_problem(), None);
        }
    }

    #[test]
    fn flags_that_exclude_each_other_or_mean_nothing_here_are_usage_errors() {
        let cases: [(&[&str], &str); 3] = [
            (&["describe", "-n", "default"], "--operator-namespace"),
            (&["describe", "--token", "t", "--username", "u"], "--token and --username"),
            (
                &["describe", "--insecure-skip-tls-verify", "--certificate-authority", "f"],
                "exclude each other",
            ),
        ];
        for (line, expected) in cases {
            let problem = parse(line).expect("parses").usage_problem();
            assert!(problem.as_deref().is_some_and(|text| text.contains(expected)), "{line:?}: {problem:?}");
        }
    }

    #[test]
    fn booleans_are_written_as_for_kubectl() {
        for (text, expected) in [
            ("--insecure-skip-tls-verify", Some(true)),
            ("--insecure-skip-tls-verify=true", Some(true)),
            ("--insecure-skip-tls-verify=F", Some(false)),
            ("--disable-compression", None),
        ] {
            let args = parse(&["describe", text, "r"]).expect("parses");
            assert_eq!(args.insecure_skip_tls_verify, expected, "{text}");
        }
        assert!(parse(&["describe", "--insecure-skip-tls-verify=maybe"]).is_err());
    }

    #[test]
    fn a_request_timeout_is_seconds_or_a_duration_and_never_negative() {
        for (text, expected) in [
            ("0", Some(0)),
            ("5", Some(5_000)),
            ("1m30s", Some(90_000)),
            ("250ms", Some(250)),
            ("-5", None),
            ("-5s", None),
            ("soon", None),
            ("", None),
        ] {
            let parsed = parse_timeout(text).ok().map(|duration| duration.as_millis());
            assert_eq!(parsed, expected, "{text}");
        }
    }

    #[test]
    fn an_extra_attribute_has_a_key_and_may_have_an_empty_value() {
        assert_eq!(parse_extra("a/b=c=d"), Ok(("a/b".into(), "c=d".into())));
        assert_eq!(parse_extra("a="), Ok(("a".into(), String::new())));
        assert!(parse_extra("a").is_err() && parse_extra("=v").is_err());
    }
}
