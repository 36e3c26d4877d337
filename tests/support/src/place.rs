//! Where a control plane keeps its files.
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

use crate::error::{Doing, Result};

/// Two folders. Both are removed when the servers end, the logs unless they are kept.
pub(crate) struct Place {
    /// For what the servers store.
    pub(crate) folder: PathBuf,
    /// For what the servers say.
    pub(crate) logs: PathBuf,
    /// Removes `folder` if no server got as far as to do it.
    _temporary: Option<TempDir>,
}

impl Place {
    /// A temporary folder, and one for logs beside cargo's output. `name` names the latter.
    pub(crate) fn temporary(name: &str) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("kubectl-aicr-")
            .tempdir()
            .doing(|| "making a temporary folder".to_owned())?;
        let logs = new_log_folder(name)?;
        Ok(Self { folder: folder.path().to_owned(), logs, _temporary: Some(folder) })
    }

    /// This folder, with the logs in it.
    pub(crate) fn fixed(folder: &Path) -> Result<Self> {
        let logs = folder.join("logs");
        std::fs::create_dir_all(&logs).doing(|| format!("making {}", logs.display()))?;
        Ok(Self { folder: folder.to_owned(), logs, _temporary: None })
    }
}

/// `<target folder>/test-logs/<name>-<process id>-<number>`, made anew.
fn new_log_folder(name: &str) -> Result<PathBuf> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let program = std::env::current_exe().doing(|| "looking for the target folder".to_owned())?;
    // Cargo marks its target folder with this file.
    let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    let root = target.map_or_else(std::env::temp_dir, Path::to_path_buf).join("test-logs");
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = root.join(format!("{name}-{}-{number}", std::process::id()));
    // Kept from an earlier process that had this id.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).doing(|| format!("making {}", folder.display()))?;
    Ok(folder)
}
