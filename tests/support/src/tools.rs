//! Where the pinned tools lie.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::error::{Doing, Error, Result};

static FOUND: LazyLock<Mutex<HashMap<String, PathBuf>>> = LazyLock::new(Mutex::default);

/// The path of a pinned tool, built by `tests/tools/tool` first if the user's cache has none (its progress goes to
/// standard error). `name` is one of `tests/tools/tool --list`; "argocd-crds" is a folder.
///
/// # Errors
/// If there is no such tool or it cannot be built; the script has then said why on standard error.
pub fn path(name: &str) -> Result<PathBuf> {
    // Held while building, so that two tests do not start the script twice.
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = found.get(name) {
        return Ok(path.clone());
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/tool");
    let output = Command::new(&script)
        .arg(name)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .doing(|| format!("running {}", script.display()))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let path = PathBuf::from(printed.trim());
    if !output.status.success() || !path.exists() {
        return Err(Error::new(format!(
            "no tool '{name}': `tests/tools/tool {name}` ended with {}; what it printed above says why",
            output.status
        )));
    }
    found.insert(name.to_owned(), path.clone());
    Ok(path)
}

/// The `kubectl` to test with: the one on the PATH, else the pinned one.
///
/// # Errors
/// If there is none on the PATH and the pinned one cannot be built.
pub fn kubectl() -> Result<PathBuf> {
    match on_path("kubectl") {
        Some(path) => Ok(path),
        None => path("kubectl"),
    }
}

#[expect(clippy::disallowed_methods, reason = "the PATH decides which programs a test finds")]
fn on_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}
