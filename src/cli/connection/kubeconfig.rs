//! Kubeconfig files: read, parsed, their paths resolved, merged as kubectl merges them.
//!
//! kube-rs reads them too, but refuses a list with a missing file and knows neither which file an entry came from nor
//! kubectl's treatment of empty values. The rules are those of the Kubernetes page "Organizing Cluster Access Using
//! kubeconfig Files" and of `clientcmd`.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::cli::env::Env;
use crate::cli::error::CliError;

/// Where a server is and how to know it.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct Cluster {
    #[serde(deserialize_with = "text")]
    pub(super) server: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) tls_server_name: Option<String>,
    #[serde(deserialize_with = "flag")]
    pub(super) insecure_skip_tls_verify: bool,
    #[serde(deserialize_with = "text")]
    pub(super) certificate_authority: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) certificate_authority_data: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) proxy_url: Option<String>,
    #[serde(deserialize_with = "flag")]
    pub(super) disable_compression: bool,
    #[serde(deserialize_with = "or_default")]
    pub(super) extensions: Vec<Extension>,
}

/// A named attachment of a cluster; one name carries configuration for credential plugins.
#[derive(Clone, Deserialize)]
pub(super) struct Extension {
    pub(super) name: String,
    #[serde(default)]
    pub(super) extension: serde_json::Value,
}

/// Who asks, and how that is proved. It has no `Debug`: it holds secrets.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct User {
    #[serde(deserialize_with = "text")]
    pub(super) client_certificate: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) client_certificate_data: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) client_key: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) client_key_data: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) token: Option<String>,
    #[serde(rename = "tokenFile", deserialize_with = "text")]
    pub(super) token_file: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) username: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) password: Option<String>,
    #[serde(rename = "as", deserialize_with = "text")]
    pub(super) acting_as: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) as_uid: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) as_groups: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) as_user_extra: BTreeMap<String, Vec<String>>,
    pub(super) auth_provider: Option<AuthProvider>,
    pub(super) exec: Option<Exec>,
}

impl User {
    /// Whether there is anything to prove oneself with.
    pub(super) fn has_credentials(&self) -> bool {
        [&self.token, &self.token_file, &self.username, &self.password].iter().any(|field| field.is_some())
            || [&self.client_certificate, &self.client_certificate_data].iter().any(|field| field.is_some())
            || self.exec.is_some()
            || self.auth_provider.is_some()
    }
}

/// A login built into kubectl, which this plugin has not.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct AuthProvider {
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
}

/// A program that provides credentials.
///
/// Source: Kubernetes page "Authenticating", section "client-go credential plugins".
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Exec {
    #[serde(deserialize_with = "text")]
    pub(super) api_version: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) command: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) args: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) env: Vec<Variable>,
    #[serde(deserialize_with = "text")]
    pub(super) install_hint: Option<String>,
    #[serde(deserialize_with = "flag")]
    pub(super) provide_cluster_info: bool,
    #[serde(deserialize_with = "text")]
    pub(super) interactive_mode: Option<String>,
}

/// An environment variable for a credential plugin.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Variable {
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) value: String,
}

/// A pair of cluster and user.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Context {
    #[serde(deserialize_with = "text")]
    pub(super) cluster: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) user: Option<String>,
}

/// Something named, and the file that it was read from.
#[derive(Clone)]
pub(super) struct Entry<T> {
    pub(super) value: T,
    pub(super) file: PathBuf,
}

/// What all files say together.
#[derive(Clone, Default)]
pub(super) struct Kubeconfig {
    pub(super) clusters: BTreeMap<String, Entry<Cluster>>,
    pub(super) users: BTreeMap<String, Entry<User>>,
    pub(super) contexts: BTreeMap<String, Entry<Context>>,
    pub(super) current_context: Option<String>,
    /// Every file that was looked for, found or not.
    pub(super) looked_for: Vec<PathBuf>,
}

/// A kubeconfig file as written.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Document {
    kind: Option<String>,
    #[serde(rename = "apiVersion")]
    api_version: Option<String>,
    #[serde(deserialize_with = "text")]
    current_context: Option<String>,
    #[serde(deserialize_with = "or_default")]
    clusters: Vec<NamedCluster>,
    #[serde(deserialize_with = "or_default")]
    users: Vec<NamedUser>,
    #[serde(deserialize_with = "or_default")]
    contexts: Vec<NamedContext>,
}

#[derive(Deserialize)]
struct NamedCluster {
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    cluster: Cluster,
}

#[derive(Deserialize)]
struct NamedUser {
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    user: User,
}

#[derive(Deserialize)]
struct NamedContext {
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    context: Context,
}

/// `null` reads as the default.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(input: D) -> Result<T, D::Error> {
    Option::deserialize(input).map(Option::unwrap_or_default)
}

/// `null` and the empty string read as not given.
fn text<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Option::<String>::deserialize(input).map(|value| value.filter(|text| !text.is_empty()))
}

/// A boolean in any of the spellings of YAML 1.1, which kubectl's reader knows and ours does not; `null` is false.
fn flag<'de, D: Deserializer<'de>>(input: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Plain(bool),
        Text(String),
    }
    match Option::deserialize(input)? {
        None => Ok(false),
        Some(Written::Plain(value)) => Ok(value),
        Some(Written::Text(text)) => match text.to_ascii_lowercase().as_str() {
            "y" | "yes" | "on" => Ok(true),
            "n" | "no" | "off" => Ok(false),
            _ => Err(D::Error::custom(format!("'{text}' is neither true nor false"))),
        },
    }
}

/// Reads the files that kubectl would read: `explicit`, which must exist; else those `KUBECONFIG` lists, of which
/// some may be missing; else `~/.kube/config`, which may be missing.
pub(super) fn load(explicit: Option<&Path>, env: &Env) -> Result<Kubeconfig, CliError> {
    let explicit = explicit.filter(|path| !path.as_os_str().is_empty());
    let mut merged = Kubeconfig { looked_for: candidates(explicit, env), ..Kubeconfig::default() };
    let mut problems = Vec::new();
    for path in merged.looked_for.clone() {
        match std::fs::read(&path) {
            Ok(bytes) => match parse(&bytes, &path) {
                Ok(next) => merged.absorb(next),
                Err(problem) => problems.push(format!("kubeconfig {}: {problem}", path.display())),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if explicit.is_some() {
                    problems
                        .push(format!("kubeconfig {}: no such file; --kubeconfig names it", path.display()));
                }
            }
            Err(error) => problems.push(format!("kubeconfig {}: cannot be read: {error}", path.display())),
        }
    }
    if problems.is_empty() { Ok(merged) } else { Err(CliError::invalid(problems.join("; "))) }
}

/// The files to look for, in the order of their precedence, each once.
fn candidates(explicit: Option<&Path>, env: &Env) -> Vec<PathBuf> {
    if let Some(path) = explicit {
        return vec![path.to_owned()];
    }
    let Some(list) = env.raw("KUBECONFIG") else {
        return env.raw("HOME").map(|home| Path::new(home).join(".kube/config")).into_iter().collect();
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in std::env::split_paths(list) {
        if !path.as_os_str().is_empty() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// One file's content; relative paths in it are resolved against the file's folder. Like kubectl it reads the first
/// YAML document only.
fn parse(bytes: &[u8], path: &Path) -> Result<Kubeconfig, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("is not UTF-8: {error}"))?;
    let text = text.trim_start_matches('\u{feff}');
    let document = match serde_yaml::Deserializer::from_str(text).next() {
        Some(first) => Option::<Document>::deserialize(first).map_err(|error| error.to_string())?,
        None => None,
    };
    let document = document.unwrap_or_default();
    for (field, found, expected) in
        [("kind", &document.kind, "Config"), ("apiVersion", &document.api_version, "v1")]
    {
        if let Some(found) = found.as_deref().filter(|found| !found.is_empty() && *found != expected) {
            return Err(format!("{field} is '{found}', a kubeconfig's is '{expected}'"));
        }
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let resolve = |value: &mut Option<String>| resolve(value, folder);
    let mut read = Kubeconfig { current_context: document.current_context, ..Kubeconfig::default() };
    for NamedCluster { name, mut cluster } in document.clusters {
        resolve(&mut cluster.certificate_authority)?;
        insert(&mut read.clusters, "cluster", name, cluster, path)?;
    }
    for NamedUser { name, mut user } in document.users {
        for value in [&mut user.client_certificate, &mut user.client_key, &mut user.token_file] {
            resolve(value)?;
        }
        // A bare command is looked up in PATH.
        if let Some(exec) = &mut user.exec
            && exec.command.as_ref().is_some_and(|command| command.contains('/'))
        {
            resolve(&mut exec.command)?;
        }
        insert(&mut read.users, "user", name, user, path)?;
    }
    for NamedContext { name, context } in document.contexts {
        insert(&mut read.contexts, "context", name, context, path)?;
    }
    Ok(read)
}

/// Makes a relative path relative to `folder`.
fn resolve(value: &mut Option<String>, folder: &Path) -> Result<(), String> {
    if let Some(path) = value {
        let joined = folder.join(&*path);
        let joined = joined.to_str().ok_or_else(|| format!("path '{}' is not UTF-8", joined.display()))?;
        joined.clone_into(path);
    }
    Ok(())
}

fn insert<T>(
    map: &mut BTreeMap<String, Entry<T>>,
    kind: &str,
    name: String,
    value: T,
    path: &Path,
) -> Result<(), String> {
    if map.contains_key(&name) {
        return Err(format!("{kind} '{name}' is there twice; names must be unique within a file"));
    }
    map.insert(name, Entry { value, file: path.to_owned() });
    Ok(())
}

impl Kubeconfig {
    /// Adds a file of lower precedence: what is already there stays, entry by entry.
    fn absorb(&mut self, next: Self) {
        fn keep<T>(into: &mut BTreeMap<String, Entry<T>>, from: BTreeMap<String, Entry<T>>) {
            for (name, entry) in from {
                into.entry(name).or_insert(entry);
            }
        }
        keep(&mut self.clusters, next.clusters);
        keep(&mut self.users, next.users);
        keep(&mut self.contexts, next.contexts);
        if self.current_context.is_none() {
            self.current_context = next.current_context;
        }
    }

    /// The files that were looked for, in words.
    pub(super) fn files(&self) -> String {
        let files: Vec<String> = self.looked_for.iter().map(|path| path.display().to_string()).collect();
        files.join(", ")
    }
}

#[cfg(test)]
#[path = "kubeconfig_tests.rs"]
mod tests;
