//! A real OCI registry: the pinned `registry` of the distribution project, plain HTTP, with its content in a temporary
//! folder.
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::error::{Doing, Error, Result};
use crate::tools;
use crate::watchdog::{Server, Spec};

/// How long it may take to listen on a busy machine; alone it takes 50 ms.
const READY_WITHIN: Duration = Duration::from_mins(1);

/// A running registry. Dropping it ends it and removes what it holds.
pub struct Registry {
    // Dropped first; its guard then removes the folder.
    _server: Server,
    folder: TempDir,
    host: String,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Registry {
    /// The user that [`Self::with_login`] knows.
    pub const USER: &'static str = "pusher";
    /// Another one, with the same password.
    pub const OTHER_USER: &'static str = "pusher-2";
    /// These users' password.
    pub const PASSWORD: &'static str = "not-a-secret";
    /// That password, as the registry's file has it: it takes bcrypt only.
    const HTPASSWD: &'static str = "$2y$05$abcdefghijklmnopqrstuuVPNOToLP9MHdthRCXkVoiIF0qNKnk2G";

    /// Starts a registry that lets everybody do everything.
    ///
    /// # Errors
    /// If it cannot be built or does not start; the message holds the end of its log.
    pub async fn start() -> Result<Self> {
        Self::launch(false).await
    }

    /// Starts a registry that asks for [`Self::USER`] and [`Self::PASSWORD`].
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn with_login() -> Result<Self> {
        Self::launch(true).await
    }

    async fn launch(asks: bool) -> Result<Self> {
        let program = tools::path("registry")?;
        let folder = tempfile::Builder::new()
            .prefix("kubectl-aicr-registry-")
            .tempdir()
            .doing(|| "making a temporary folder".to_owned())?;
        let config = folder.path().join("config.yml");
        write(&config, &configuration(folder.path(), asks))?;
        let hash = Self::HTPASSWD;
        write(
            &folder.path().join("htpasswd"),
            &format!("{}:{hash}\n{}:{hash}\n", Self::USER, Self::OTHER_USER),
        )?;
        let server = Server::start(&Spec {
            name: "registry",
            program: &program,
            args: vec!["serve".to_owned(), config.display().to_string()],
            logs: folder.path(),
            folder: folder.path(),
            removes_folders: true,
        })?;
        let log = folder.path().join("registry.log");
        let started = Instant::now();
        loop {
            server.check()?;
            if let Some(host) = listening(&log) {
                return Ok(Self { _server: server, folder, host });
            }
            if started.elapsed() > READY_WITHIN {
                return Err(Error::new(format!("the registry does not listen{}", server.log_tail())));
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// `127.0.0.1:<port>`.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Where its content lies.
    pub fn content(&self) -> PathBuf {
        self.folder.path().join("content")
    }
}

/// On a port of its own choice, so that nobody can take it in between.
fn configuration(folder: &Path, asks: bool) -> String {
    let content = folder.join("content");
    let auth = if asks {
        let file = folder.join("htpasswd");
        format!("auth: {{htpasswd: {{realm: test, path: '{}'}}}}\n", file.display())
    } else {
        String::new()
    };
    format!(
        "version: 0.1\nlog: {{level: info}}\nhttp: {{addr: '127.0.0.1:0', secret: test}}\n{auth}\
         storage: {{filesystem: {{rootdirectory: '{}'}}, delete: {{enabled: true}}}}\n",
        content.display()
    )
}

/// The address that the log says it listens on.
fn listening(log: &Path) -> Option<String> {
    let text = std::fs::read_to_string(log).ok()?;
    let (_, after) = text.split_once("listening on ")?;
    let end = after.find(|letter: char| !(letter.is_ascii_digit() || letter == '.' || letter == ':'))?;
    Some(after[..end].to_owned())
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).doing(|| format!("writing {}", path.display()))
}
