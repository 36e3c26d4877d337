//! What is right, and what is said about what is not.

use super::{Build, Config, Given, Listen, PodSecurity, RegistryCredentials, command};

/// The least that must be given.
fn least() -> Vec<(&'static str, String)> {
    let pinned = |name: &str| format!("{name}@sha256:{}", "a".repeat(64));
    vec![
        ("aicr-version", "v1.1.2".into()),
        ("aicr-image", pinned("ghcr.io/nvidia/aicr")),
        ("operator-image", pinned("ghcr.io/nvidia/aicr-operator")),
        ("registry-repository", "oci://registry.example.com/aicr/prod".into()),
        ("namespaces-components", r#"[{"name":"gpu-operator","podSecurity":"privileged"}]"#.into()),
    ]
}

fn check(changes: &[(&'static str, &str)], build: Build) -> Result<Config, String> {
    let mut settings = least();
    settings.retain(|(flag, _)| !changes.iter().any(|(changed, _)| changed == flag));
    settings.extend(changes.iter().map(|(flag, value)| (*flag, (*value).to_owned())));
    let arguments = settings.iter().map(|(flag, value)| format!("--{flag}={value}"));
    let matches =
        command().try_get_matches_from(std::iter::once("controller".into()).chain(arguments)).unwrap();
    Config::check(&Given::read(&matches, |_| None), build).map_err(|problems| problems.to_string())
}

#[test]
fn the_least_that_must_be_given_is_enough_and_the_rest_is_as_the_installation_page_says() {
    let config = check(&[], Build::Release).unwrap();
    assert_eq!(config.aicr.version, crate::aicr::version::Version::parse("v1.1.2").unwrap());
    assert_eq!(config.registry.repository.to_string(), "oci://registry.example.com/aicr/prod");
    assert_eq!((config.engine.namespace.as_str(), config.engine.project.as_str()), ("argocd", "aicr"));
    assert_eq!(config.registry.credentials, RegistryCredentials::Aws);
    assert_eq!(config.registry.repo_creds_secret, "aicr-registry");
    assert!(!config.registry.plain_http);
    assert_eq!(config.namespaces.discovery, "aicr-discovery");
    assert_eq!(config.namespaces.jobs, "aicr-jobs");
    assert_eq!(config.namespaces.validation, "aicr-validation");
    let component = &config.namespaces.components[0];
    assert_eq!((component.pod_security, component.create), (PodSecurity::Privileged, true));
    assert_eq!(config.operator.log_level, tracing::Level::INFO);
    assert_eq!(config.operator.listen, Listen { host: None, port: 8080 });
    assert_eq!(config.validation, None);
    assert!(!config.development.bypass_approvals && !config.development.skip_discovery);
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let problems = check(
        &[
            ("aicr-version", "v2.0.0"),
            ("aicr-image", "ghcr.io/nvidia/aicr:v1.1.2"),
            ("operator-image", "aicr-operator@sha256:abc"),
            ("engine-type", "Flux"),
            ("engine-namespace", "Argo"),
            ("engine-project", "-aicr"),
            ("registry-repository", "https://registry.example.com"),
            ("registry-auth-provider", "gcp"),
            ("registry-plain-http", "yes"),
            ("namespaces-jobs", "a.b"),
            ("namespaces-components", r#"[{"name":"gpu-operator","podSecurity":"lax"}]"#),
            ("aicr-jobs-node-selector", r#"{"-pool":"gpu"}"#),
            ("aicr-jobs-tolerations", r#"[{"key":"gpu","efect":"NoSchedule"}]"#),
            ("discovery-agent-requests", "cpu=1,memory=lots"),
            ("validation-signing-key", "file:///key"),
            ("development-bypass-approvals", "true"),
            ("development-skip-discovery", "true"),
            ("log-level", "loud"),
            ("log-format", "xml"),
            ("listen", "everywhere"),
        ],
        Build::Release,
    );
    insta::assert_snapshot!(problems.unwrap_err());
}

#[test]
fn what_is_missing_is_named() {
    let matches = command().try_get_matches_from(["controller"]).unwrap();
    let problems = Config::check(&Given::read(&matches, |_| None), Build::Release).unwrap_err();
    insta::assert_snapshot!(problems, @r"
    5 settings are wrong:
      --operator-image (operator.image) is required
      --aicr-version (aicr.version) is required
      --aicr-image (aicr.image) is required
      --registry-repository (registry.repository) is required
      --namespaces-components (namespaces.components) is required
    ");
}

#[test]
fn a_version_must_lie_in_the_range_and_be_no_pre_release() {
    for good in ["1.0.0", "v1.0.0", "v1.99.3", "1.2.3+build.5"] {
        assert!(check(&[("aicr-version", good)], Build::Release).is_ok(), "{good}");
    }
    for bad in ["v0.9.9", "2.0.0", "v2.0.0-rc1", "1.2.0-rc0", "1.0", "vv1.0.0", "latest", " 1.0.0", "1.0.0\n"]
    {
        assert!(check(&[("aicr-version", bad)], Build::Release).is_err(), "{bad}");
    }
}

#[test]
fn only_a_development_build_bypasses_approvals_and_skips_discovery() {
    for flag in ["development-bypass-approvals", "development-skip-discovery"] {
        let error = check(&[(flag, "true")], Build::Release).unwrap_err();
        assert!(error.contains("this is a release build"), "{error}");
        assert!(check(&[(flag, "true")], Build::Development).is_ok());
    }
    let both = [("development-bypass-approvals", "true"), ("development-skip-discovery", "true")];
    let development = check(&both, Build::Development).unwrap().development;
    assert!(development.bypass_approvals && development.skip_discovery);
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let operator_namespace = r#"[{"name":"aicr-system","podSecurity":"baseline"}]"#;
    let tagless = format!(r#"["v@sha256:{}"]"#, "b".repeat(64));
    let cases: [(&[(&'static str, &str)], &str); 11] = [
        (&[("namespaces-jobs", "aicr-discovery")], "'aicr-discovery' is also --namespaces-discovery"),
        (&[("namespaces-discovery", "aicr-system")], "'aicr-system' is also --namespace"),
        (&[("namespaces-components", operator_namespace)], "has 'aicr-system', which is --namespace"),
        (&[("namespaces-components", "[]")], "is empty"),
        (&[("registry-repository", "oci://host")], "is no registry address"),
        (&[("registry-repository", "oci://host/path:tag")], "is no registry address"),
        (&[("registry-plain-http", "true")], "ECR is served over TLS only"),
        (&[("validation-enabled", "true")], "name every validator image"),
        (&[("aicr-validator-images", &tagless)], "without a tag"),
        (&[("aicr-jobs-tolerations", r#"[{"effect":"NoSchedule"}]"#)], "needs the operator Exists"),
        (&[("discovery-agent-requests", "cpu=1,cpu=2")], "has 'cpu' twice"),
    ];
    for (changes, words) in cases {
        let error = check(changes, Build::Release).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn evidence_is_signed_only_by_an_aicr_that_can() {
    let images = format!(r#"["v:v1@sha256:{}"]"#, "b".repeat(64));
    let with = |version| {
        let key = ("validation-signing-key", "awskms:///alias/k");
        let changes = [
            ("validation-enabled", "true"),
            ("aicr-validator-images", &images),
            key,
            ("aicr-version", version),
        ];
        check(&changes, Build::Release)
    };
    let validation = with("v1.1.0").unwrap().validation.unwrap();
    assert_eq!(validation.signing_key.as_deref(), Some("awskms:///alias/k"));
    assert!(validation.transparency_log);
    assert!(with("v1.0.9").unwrap_err().contains("needs an --aicr-version of v1.1.0 or newer"));
}

#[test]
fn a_long_or_broken_input_is_shown_short_and_on_one_line() {
    let long = "x\n".repeat(10_000);
    let error = check(&[("engine-namespace", &long)], Build::Release).unwrap_err();
    assert_eq!(error.lines().count(), 2, "{error}");
    assert!(error.len() < 500, "{error}");
}

proptest::proptest! {
    #[test]
    fn no_input_makes_the_check_panic(flag in 0usize..super::settings::SETTINGS.len(), text in ".{0,40}") {
        let flag = super::settings::SETTINGS[flag].flag;
        let _ = check(&[(flag, &text)], Build::Release);
    }
}
