//! What commands read from and write to: files, ConfigMaps, standard output.

use std::path::Path;

use serde_json::Value;

use crate::cluster::{Cluster, Stored};
use crate::failure::{Code, Failure, Outcome, internal, invalid};
use crate::flags::Flags;

/// The scheme of ConfigMaps.
pub const CONFIG_MAP: &str = "cm://";

/// `namespace/name` of a ConfigMap reference.
///
/// # Errors
///
/// When it has another form.
pub fn config_map(reference: &str) -> Outcome<(&str, &str)> {
    let rest = reference.strip_prefix(CONFIG_MAP).unwrap_or_default();
    rest.split_once('/')
        .filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty() && !name.contains('/'))
        .ok_or_else(|| invalid(format!("invalid ConfigMap URI {reference:?}: expected cm://namespace/name")))
}

/// Reads a document in JSON or YAML: from a file, from a folder that holds `recipe.yaml`, or from a ConfigMap.
///
/// # Errors
///
/// `NOT_FOUND` when it does not exist, `INVALID_REQUEST` when it cannot be read.
pub fn read(flags: &Flags, what: &str, reference: &str) -> Outcome<Value> {
    let text = if reference.starts_with(CONFIG_MAP) {
        let (namespace, name) = config_map(reference)?;
        Cluster::connect(flags)?.read(namespace, name)?
    } else {
        let path = Path::new(reference);
        let path = if path.is_dir() { path.join("recipe.yaml") } else { path.to_owned() };
        std::fs::read_to_string(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                Failure::new(Code::NotFound, format!("{what} file not found: {}", path.display()))
            }
            _ => internal(format!("cannot access {what} file: {}: {error}", path.display())),
        })?
    };
    serde_yaml::from_str(&text)
        .map_err(|error| invalid(format!("failed to parse {what} {reference}: {error}")))
}

/// Writes a document where `--output` says.
///
/// # Errors
///
/// When the file system or the API server refuses.
pub fn write(flags: &Flags, stored: &Stored<'_>) -> Outcome<()> {
    match flags.one("output") {
        None | Some("-") => {
            use std::io::Write as _;
            std::io::stdout().write_all(stored.text.as_bytes()).map_err(internal)
        }
        Some(reference) if reference.starts_with(CONFIG_MAP) => {
            let (namespace, name) = config_map(reference)?;
            Cluster::connect(flags)?.write(namespace, name, stored)
        }
        Some(path) => std::fs::write(path, stored.text)
            .map_err(|error| internal(format!("failed to write {path}: {error}"))),
    }
}
