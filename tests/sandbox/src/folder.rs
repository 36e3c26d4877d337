//! The sandbox's folder: claimed by one sandbox at a time, and gone when that ends.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::Result;

/// Marks a folder as a sandbox's, so that nobody's other folder is ever cleared.
const MARK: &str = "sandbox";
const MARK_TEXT: &str = "This folder belongs to a running sandbox of kubectl-aicr and is removed with it.\n";

/// A claimed folder. Dropping it removes it with everything in it.
pub(crate) struct Folder {
    path: PathBuf,
    /// Locked for as long as the claim lasts; the kernel lets go however the process ends.
    _lock: File,
}

impl Folder {
    /// Makes the folder, or takes over what a killed sandbox left, and locks it.
    ///
    /// # Errors
    /// When another sandbox runs in it, or it holds something that is not a sandbox's.
    pub(crate) fn claim(path: &Path) -> Result<Self> {
        let doing = |error: std::io::Error| format!("making {}: {error}", path.display());
        loop {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(doing)?;
            let path = fs::canonicalize(path).map_err(doing)?;
            let lock = File::open(&path).map_err(doing)?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(format!(
                        "a sandbox already runs in {0}: use it (`. {0}/env` in another terminal), or end it with \
                         Ctrl-C where it runs",
                        path.display()
                    )
                    .into());
                }
                Err(TryLockError::Error(error)) => return Err(doing(error).into()),
            }
            // Another sandbox may have removed the folder between our opening and our locking it.
            let is_still_there = fs::metadata(&path).is_ok_and(|now| {
                lock.metadata().is_ok_and(|locked| (now.dev(), now.ino()) == (locked.dev(), locked.ino()))
            });
            if is_still_there {
                clear(&path)?;
                fs::write(path.join(MARK), MARK_TEXT).map_err(doing)?;
                return Ok(Self { path, _lock: lock });
            }
        }
    }

    /// The folder's absolute path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file that only the user may read.
    pub(crate) fn keep_private(&self, name: &str) -> Result<()> {
        Ok(fs::set_permissions(self.path.join(name), fs::Permissions::from_mode(0o600))?)
    }

    /// Puts a program into the folder's `bin`, as a link.
    pub(crate) fn link_program(&self, name: &str, program: &Path) -> Result<()> {
        let bin = self.path.join("bin");
        fs::create_dir_all(&bin)?;
        symlink(program, bin.join(name))
            .map_err(|error| format!("linking {}: {error}", program.display()))?;
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The servers are gone by now; a kubectl that somebody just runs may still be writing its cache.
        for _ in 0..20 {
            match fs::remove_dir_all(&self.path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    std::thread::sleep(std::time::Duration::from_millis(100));
                }
                _ => break,
            }
        }
    }
}

/// Removes what a killed sandbox left behind.
fn clear(path: &Path) -> Result<()> {
    let entries = fs::read_dir(path)?.collect::<std::io::Result<Vec<_>>>()?;
    if !entries.is_empty() && !path.join(MARK).exists() {
        return Err(format!(
            "{} holds something that is not a sandbox's, so it is not touched: name another folder with --folder",
            path.display()
        )
        .into());
    }
    for entry in entries {
        let removed = if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())
        } else {
            fs::remove_file(entry.path())
        };
        match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(format!("removing {}: {error}", entry.path().display()).into());
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claimed_folder_refuses_a_second_claim_and_is_gone_when_it_is_given_up() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        let folder = Folder::claim(&path).unwrap();
        fs::write(folder.path().join("something"), "x").unwrap();
        let error = Folder::claim(&path).map(drop).unwrap_err().to_string();
        assert!(error.contains("a sandbox already runs in"), "{error}");
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_sandbox_left_is_cleared() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join(MARK), MARK_TEXT).unwrap();
        fs::create_dir(parent.path().join("old")).unwrap();
        let folder = Folder::claim(parent.path()).unwrap();
        assert!(!folder.path().join("old").exists());
    }

    #[test]
    fn a_folder_of_somebody_else_is_not_touched() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("thesis"), "x").unwrap();
        let error = Folder::claim(parent.path()).map(drop).unwrap_err().to_string();
        assert!(error.contains("is not touched"), "{error}");
        assert!(parent.path().join("thesis").exists());
    }
}
