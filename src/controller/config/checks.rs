//! The rules of each setting and of settings together.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use k8s_openapi::api::core::v1::Toleration;
use serde_json::Value;
use tracing::Level;

use super::settings::{Given, SETTINGS};
use super::{
    Access, Aicr, Build, ComponentNamespace, Config, Development, Engine, Image, Listen, LogFormat,
    Namespaces, Operator, Registry, RegistryCredentials, Validation,
};
use crate::aicr::version::Version;
use crate::registry::Repository;

/// Reads settings and gathers what is wrong with them.
pub(super) struct Reader<'a> {
    given: &'a Given,
    problems: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(given: &'a Given) -> Self {
        Self { given, problems: Vec::new() }
    }

    pub(super) fn problems(self) -> Vec<String> {
        self.problems
    }

    /// The setting as `parse` reads it; `None`, and a problem, if it is missing or wrong.
    fn read<T>(&mut self, flag: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let Some(text) = self.given.get(flag) else {
            self.wrong(flag, "is required");
            return None;
        };
        parse(text).map_err(|problem| self.wrong(flag, &format!("'{}' {problem}", shown(text)))).ok()
    }

    /// Notes what is wrong with a setting, by flag and, where it has one, by installation value.
    fn wrong(&mut self, flag: &str, problem: &str) {
        let value = SETTINGS.iter().find(|setting| setting.flag == flag).map_or("", |setting| setting.value);
        let value = if value.is_empty() { String::new() } else { format!(" ({value})") };
        self.problems.push(format!("--{flag}{value} {problem}"));
    }
}

/// The beginning of what was given, on one line.
fn shown(text: &str) -> String {
    const MOST: usize = 100;
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    let mut shown: String = text.chars().take(MOST).map(escape).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}

/// Every setting is read before one that is wrong ends the reading, so that all are named.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<Config> {
    let operator = operator(reader);
    let aicr = aicr(reader);
    let engine = engine(reader);
    let registry = registry(reader);
    let namespaces = namespaces(reader);
    let agent_requests = reader.read("discovery-agent-requests", requests);
    let validation = validation(reader);
    let bypass_approvals = reader.read("development-bypass-approvals", boolean);
    let skip_discovery = reader.read("development-skip-discovery", boolean);
    let kubeconfig = reader.read("kubeconfig", |path| Ok(given(path).map(Into::into)));
    let context = reader.read("context", |name| Ok(given(name).map(Into::into)));
    let (enabled, validation) = validation?;
    Some(Config {
        operator: operator?,
        aicr: aicr?,
        engine: engine?,
        registry: registry?,
        namespaces: namespaces?,
        agent_requests: agent_requests?,
        validation: enabled.then_some(validation),
        development: Development { bypass_approvals: bypass_approvals?, skip_discovery: skip_discovery? },
        access: Access { kubeconfig: kubeconfig?, context: context? },
    })
}

fn operator(reader: &mut Reader<'_>) -> Option<Operator> {
    let namespace = reader.read("namespace", namespace);
    let pod = reader.read("pod-name", subdomain);
    let image = reader.read("operator-image", Image::parse);
    let log_level = reader.read("log-level", level);
    let log_format = reader.read("log-format", |text| match text {
        "json" => Ok(LogFormat::Json),
        "text" => Ok(LogFormat::Text),
        _ => Err("must be json or text".into()),
    });
    let listen = reader.read("listen", listen);
    Some(Operator {
        namespace: namespace?,
        pod: pod?,
        image: image?,
        log_level: log_level?,
        log_format: log_format?,
        listen: listen?,
    })
}

fn aicr(reader: &mut Reader<'_>) -> Option<Aicr> {
    let version = reader.read("aicr-version", version);
    let image = reader.read("aicr-image", Image::parse);
    let validator_images = reader.read("aicr-validator-images", validator_images);
    let node_selector = reader.read("aicr-jobs-node-selector", node_selector);
    let tolerations = reader.read("aicr-jobs-tolerations", tolerations);
    Some(Aicr {
        version: version?,
        image: image?,
        validator_images: validator_images?,
        node_selector: node_selector?,
        tolerations: tolerations?,
    })
}

fn engine(reader: &mut Reader<'_>) -> Option<Engine> {
    let kind = reader.read("engine-type", |text| match text {
        "ArgoCD" => Ok(()),
        _ => Err("must be ArgoCD, the only engine".into()),
    });
    let namespace = reader.read("engine-namespace", namespace);
    let project = reader.read("engine-project", subdomain);
    kind?;
    Some(Engine { namespace: namespace?, project: project? })
}

fn registry(reader: &mut Reader<'_>) -> Option<Registry> {
    let repository = reader.read("registry-repository", repository);
    let plain_http = reader.read("registry-plain-http", boolean);
    let is_aws = reader.read("registry-auth-provider", |text| match text {
        "aws" => Ok(true),
        "static" => Ok(false),
        _ => Err("must be aws or static".into()),
    });
    let secret =
        reader.read("registry-auth-static-secret-ref", |text| given(text).map(subdomain).transpose());
    let repo_creds_secret = reader.read("registry-auth-repo-creds-secret", subdomain);
    let (is_aws, secret) = (is_aws?, secret?);
    Some(Registry {
        repository: repository?,
        plain_http: plain_http?,
        credentials: if is_aws { RegistryCredentials::Aws } else { RegistryCredentials::Static(secret) },
        repo_creds_secret: repo_creds_secret?,
    })
}

fn namespaces(reader: &mut Reader<'_>) -> Option<Namespaces> {
    let discovery = reader.read("namespaces-discovery", namespace);
    let jobs = reader.read("namespaces-jobs", namespace);
    let validation = reader.read("namespaces-validation", namespace);
    let components = reader.read("namespaces-components", components);
    Some(Namespaces { discovery: discovery?, jobs: jobs?, validation: validation?, components: components? })
}

/// Whether it is installed, and how.
fn validation(reader: &mut Reader<'_>) -> Option<(bool, Validation)> {
    let enabled = reader.read("validation-enabled", boolean);
    let signing_key = reader.read("validation-signing-key", signing_key);
    let transparency_log = reader.read("validation-transparency-log", boolean);
    Some((enabled?, Validation { signing_key: signing_key?, transparency_log: transparency_log? }))
}

/// What settings must be to each other.
pub(super) fn together(config: &Config, reader: &mut Reader<'_>) {
    let names = &config.namespaces;
    let mut own = BTreeMap::from([(config.operator.namespace.as_str(), "namespace")]);
    for (flag, name) in [
        ("engine-namespace", &config.engine.namespace),
        ("namespaces-discovery", &names.discovery),
        ("namespaces-jobs", &names.jobs),
        ("namespaces-validation", &names.validation),
    ] {
        if let Some(other) = own.insert(name, flag) {
            reader.wrong(flag, &format!("'{name}' is also --{other}; each needs a namespace of its own"));
        }
    }
    for component in &names.components {
        if let Some(other) = own.get(component.name.as_str()) {
            let problem = format!("has '{}', which is --{other}; no release may use it", component.name);
            reader.wrong("namespaces-components", &problem);
        }
    }
    if config.registry.plain_http && config.registry.credentials == RegistryCredentials::Aws {
        reader.wrong(
            "registry-plain-http",
            "cannot be true with the provider aws: ECR is served over TLS only",
        );
    }
    let Some(validation) = &config.validation else { return };
    if config.aicr.validator_images.is_empty() {
        reader.wrong(
            "aicr-validator-images",
            "is empty, but validation is enabled: name every validator image",
        );
    }
    // Source: api-reference, "Installation values".
    if validation.signing_key.is_some() && !config.aicr.version.signs_with_keys() {
        reader.wrong(
            "validation-signing-key",
            "needs an --aicr-version of v1.1.0 or newer; leave it empty or raise that",
        );
    }
}

/// A release build refuses what only development may do.
pub(super) fn development(reader: &mut Reader<'_>, build: Build) {
    if build == Build::Development {
        return;
    }
    for flag in ["development-bypass-approvals", "development-skip-discovery"] {
        if reader.given.get(flag) == Some("true") {
            reader.wrong(
                flag,
                "is honoured by development builds only, and this is a release build; set it to false",
            );
        }
    }
}

fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn boolean(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "must be true or false".into())
}

fn level(text: &str) -> Result<Level, String> {
    match text {
        "error" => Ok(Level::ERROR),
        "warn" => Ok(Level::WARN),
        "info" => Ok(Level::INFO),
        "debug" => Ok(Level::DEBUG),
        "trace" => Ok(Level::TRACE),
        _ => Err("must be error, warn, info, debug or trace".into()),
    }
}

/// `HOST:PORT`, or `:PORT` for every address.
fn listen(text: &str) -> Result<Listen, String> {
    let shape = "is no address to listen at; write IP:PORT, [IPv6]:PORT or :PORT";
    let (host, port) = text.rsplit_once(':').ok_or(shape)?;
    let port = port.parse().map_err(|_| shape)?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let host = given(host).map(str::parse::<IpAddr>).transpose().map_err(|_| shape)?;
    Ok(Listen { host, port })
}

/// A version in the range that this operator drives. A pre-release lies outside, as it does for Helm.
fn version(text: &str) -> Result<Version, String> {
    let rule = "must lie in >=1.0.0, <2.0.0, such as v1.1.2";
    let bare = semver::Version::parse(text.strip_prefix('v').unwrap_or(text));
    let in_range = bare.is_ok_and(|version| version.major == 1 && version.pre.is_empty());
    Version::parse(text).ok().filter(|_| in_range).ok_or_else(|| rule.into())
}

fn repository(text: &str) -> Result<Repository, String> {
    Repository::parse(text)
        .map_err(|_| "is no registry address; write oci://HOST[:PORT]/PATH, the path in lower case".into())
}

fn validator_images(text: &str) -> Result<Vec<Image>, String> {
    let texts: Vec<String> = json(text, "a JSON list of images")?;
    let image = |text: &String| {
        let image =
            Image::parse(text).map_err(|problem| format!("has '{}', which {problem}", shown(text)))?;
        let tagged = image.tag.is_some();
        tagged
            .then_some(image)
            .ok_or_else(|| format!("has '{}' without a tag; write repository:tag@sha256:…", shown(text)))
    };
    texts.iter().map(image).collect()
}

fn node_selector(text: &str) -> Result<BTreeMap<String, String>, String> {
    let labels: BTreeMap<String, String> = json(text, "a JSON object of label keys and values")?;
    for (key, value) in &labels {
        if !is_label_key(key) {
            return Err(format!("has '{}', which is no label key", shown(key)));
        }
        if !is_label_value(value) {
            return Err(format!("has '{}', which is no label value", shown(value)));
        }
    }
    Ok(labels)
}

fn tolerations(text: &str) -> Result<Vec<Toleration>, String> {
    let what = "a JSON list of tolerations";
    let tolerations: Vec<Toleration> = json(text, what)?;
    // What the type does not know it drops, and a toleration that lost a field may tolerate more.
    let understood = serde_json::to_value(&tolerations).unwrap_or_default();
    let all: Value = json(text, what)?;
    if understood != all {
        return Err(format!("is read as {understood}; a field is unknown or null"));
    }
    for toleration in &tolerations {
        let operator = toleration.operator.as_deref().unwrap_or("Equal");
        let effect = toleration.effect.as_deref().unwrap_or("NoSchedule");
        if !["Equal", "Exists"].contains(&operator) {
            return Err(format!("has the operator '{}'; write Equal or Exists", shown(operator)));
        }
        if !["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect) {
            return Err(format!("has the effect '{}', which is none", shown(effect)));
        }
        if toleration.key.as_deref().unwrap_or_default().is_empty() && operator == "Equal" {
            return Err("has a toleration without a key, which needs the operator Exists".into());
        }
    }
    Ok(tolerations)
}

fn components(text: &str) -> Result<Vec<ComponentNamespace>, String> {
    let components: Vec<ComponentNamespace> = json(text, "a JSON list of {name, podSecurity, create}")?;
    if components.is_empty() {
        return Err("is empty: no release could be placed; name the namespaces of the components".into());
    }
    let mut seen = BTreeSet::new();
    for component in &components {
        namespace(&component.name)
            .map_err(|problem| format!("has '{}', which {problem}", shown(&component.name)))?;
        if !seen.insert(&component.name) {
            return Err(format!("has '{}' twice", component.name));
        }
    }
    Ok(components)
}

/// `name=quantity,...`
fn requests(text: &str) -> Result<Vec<(String, String)>, String> {
    let Some(text) = given(text) else { return Ok(Vec::new()) };
    let mut seen = BTreeSet::new();
    let pair = |pair| {
        let (name, quantity) = str::split_once(pair, '=').ok_or("must be name=quantity,...")?;
        if !is_label_key(name) {
            return Err(format!("has '{}', which is no resource name", shown(name)));
        }
        if !is_quantity(quantity) {
            return Err(format!("has '{}', which is no quantity, such as 500m or 1Gi", shown(quantity)));
        }
        if !seen.insert(name) {
            return Err(format!("has '{name}' twice"));
        }
        Ok((name.to_owned(), quantity.to_owned()))
    };
    text.split(',').map(pair).collect()
}

/// Source: api-reference, "Installation values": the four schemes of `validation.signingKey`.
fn signing_key(text: &str) -> Result<Option<String>, String> {
    let Some(key) = given(text) else { return Ok(None) };
    let schemes = ["awskms://", "gcpkms://", "azurekms://", "hashivault://"];
    let rest = schemes.iter().find_map(|scheme| key.strip_prefix(scheme)).unwrap_or_default();
    if rest.is_empty() || !key.chars().all(|c| c.is_ascii_graphic()) {
        return Err(format!("is no KMS key; write {}…", schemes.join("…, ")));
    }
    Ok(Some(key.into()))
}

fn json<T: serde::de::DeserializeOwned>(text: &str, what: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("is not {what}: {error}"))
}

/// Source: Kubernetes page "Object Names and IDs", RFC 1123 label names.
fn namespace(text: &str) -> Result<String, String> {
    if text.len() <= 63 && is_label(text) {
        return Ok(text.into());
    }
    Err("is no namespace: at most 63 lower-case letters, digits and '-', a letter or digit at both ends"
        .into())
}

/// Source: Kubernetes page "Object Names and IDs", DNS subdomain names.
fn subdomain(text: &str) -> Result<String, String> {
    if is_subdomain(text) {
        return Ok(text.into());
    }
    Err("is no name: at most 253 lower-case letters, digits, '-' and '.', a letter or digit at both ends"
        .into())
}

fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.chars().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

/// An optional DNS prefix and `/`, then a name. Source: Kubernetes page "Labels and Selectors".
fn is_label_key(text: &str) -> bool {
    let (prefix, name) = text.split_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    prefix.is_none_or(is_subdomain) && !name.is_empty() && is_label_value(name)
}

fn is_label_value(text: &str) -> bool {
    let edge = |c: char| c.is_ascii_alphanumeric();
    let inner = |c: char| edge(c) || matches!(c, '-' | '_' | '.');
    text.is_empty()
        || (text.len() <= 63 && text.starts_with(edge) && text.ends_with(edge) && text.chars().all(inner))
}

/// Digits, perhaps with a point, then a suffix. Source: Kubernetes page "Quantity".
fn is_quantity(text: &str) -> bool {
    const SUFFIXES: [&str; 15] =
        ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi"];
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = &text[number.len()..];
    let digits = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let some = !whole.is_empty() || !part.is_empty();
    some && digits(whole) && digits(part) && (SUFFIXES.contains(&suffix) || suffix == "Ei")
}
