//! The recipe on disk: whole or not at all, and never through a symbolic link.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::api::Code;
use crate::cli::error::CliError;

/// Name of the file.
const NAME: &str = "recipe.json";

/// Writes `<dir>/recipe.json` and says where it is. The folder is made when it is missing.
///
/// A link in place of the folder or the file is refused, since it would send the recipe somewhere else; so is anything
/// that is no plain file. The text is written beside the old file and takes its name only when it is complete.
pub(super) fn write(dir: &Path, text: &str) -> Result<PathBuf, CliError> {
    let path = dir.join(NAME);
    place(dir).map_err(|problem| refused(dir, &problem))?;
    match fs::symlink_metadata(&path) {
        Ok(found) if found.is_symlink() => return Err(refused(&path, "it is a symbolic link")),
        Ok(found) if !found.is_file() => return Err(refused(&path, "it is no plain file")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(refused(&path, &error.to_string())),
    }
    replace(dir, &path, text).map_err(|error| refused(&path, &error.to_string()))?;
    Ok(path)
}

fn place(dir: &Path) -> Result<(), String> {
    match fs::symlink_metadata(dir) {
        Ok(found) if found.is_symlink() => Err("it is a symbolic link".to_owned()),
        Ok(found) if !found.is_dir() => Err("it is no folder".to_owned()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(dir).map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    }
}

fn replace(dir: &Path, path: &Path, text: &str) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".recipe-").tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(Permissions::from_mode(0o644))?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn refused(path: &Path, problem: &str) -> CliError {
    let message = format!("cannot write {}: {problem}; --dir names another folder", path.display());
    CliError::new(Code::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::write;

    #[test]
    fn the_recipe_is_written_into_a_new_folder_and_replaced_when_run_again() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("a/b");
        for text in ["{\"one\":1}", "{}"] {
            assert_eq!(write(&dir, text).unwrap(), dir.join("recipe.json"));
            assert_eq!(fs::read_to_string(dir.join("recipe.json")).unwrap(), text);
        }
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "nothing is left beside the recipe");
    }

    #[test]
    fn a_symbolic_link_is_never_written_through() {
        let root = tempfile::tempdir().unwrap();
        let (target, folder) = (root.path().join("target"), root.path().join("real"));
        fs::write(&target, "precious").unwrap();
        fs::create_dir(&folder).unwrap();
        symlink(&folder, root.path().join("link")).unwrap();
        symlink(&target, folder.join("recipe.json")).unwrap();
        let by_file = write(&folder, "{}").unwrap_err();
        assert!(by_file.message.contains("recipe.json: it is a symbolic link"), "{}", by_file.message);
        let by_folder = write(&root.path().join("link"), "{}").unwrap_err();
        assert!(by_folder.message.contains("link: it is a symbolic link"), "{}", by_folder.message);
        assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    }

    #[test]
    fn what_is_no_folder_or_no_plain_file_is_refused_and_kept() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "kept").unwrap();
        assert!(write(&file, "{}").unwrap_err().message.contains("it is no folder"));
        let dir = root.path().join("dir");
        fs::create_dir_all(dir.join("recipe.json")).unwrap();
        assert!(write(&dir, "{}").unwrap_err().message.contains("it is no plain file"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
    }
}
