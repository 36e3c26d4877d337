//! What a test sees.
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use kube::Client;
use tempfile::TempDir;

use crate::audit::Audit;
use crate::chart::{self, HelmRun};
use crate::error::{Doing, Result};
use crate::identity::Identity;
use crate::plane::ControlPlane;
use crate::pool::{self, Pooled};

/// A real API server that one test has for itself. How that is guaranteed is told in the [crate's documentation](crate).
///
/// Its functions panic when the servers fail, since a test can do nothing about it. When a test that holds one panics,
/// the servers' logs are kept and their folder is printed.
pub struct Cluster {
    server: Option<Server>,
    test: String,
    /// Where the audit log ended when the test began, and when that was.
    audit_from: (u64, Timestamp),
    folder: TempDir,
}

enum Server {
    Shared(Box<Pooled>),
    Own(Box<ControlPlane>),
}

impl Server {
    fn plane(&self) -> &ControlPlane {
        match self {
            Self::Shared(pooled) => &pooled.plane,
            Self::Own(plane) => plane,
        }
    }
}

impl Cluster {
    /// A server of the pool, with the chart installed in `aicr-system` with [standard
    /// values](chart::standard_values), its policies in force, and Argo CD's CRDs. It is reset when dropped. A test
    /// holds at most one of these: two tests that each wait for a second would wait for ever.
    ///
    /// # Panics
    /// If no server can be started.
    pub async fn lease() -> Self {
        let test = test_name();
        let pooled = expect(pool::lease().await);
        expect(pooled.plane.keep_logs(&test));
        Self::new(Server::Shared(Box::new(pooled)), test)
    }

    /// A server of its own with the chart, as [`Self::lease`], that the test may ruin.
    ///
    /// # Panics
    /// If it cannot be started.
    pub async fn private() -> Self {
        let cluster = Self::bare().await;
        expect(chart::install_all(cluster.plane()).await);
        cluster
    }

    /// A server of its own with nothing installed, so without an operator and its namespace.
    ///
    /// # Panics
    /// If it cannot be started.
    pub async fn bare() -> Self {
        let test = test_name();
        let plane = expect(ControlPlane::start(&test).await);
        Self::new(Server::Own(Box::new(plane)), test)
    }

    fn new(server: Server, test: String) -> Self {
        let plane = server.plane();
        // In the servers' folder, so that it goes with them if the test's process is killed.
        let folder = tempfile::tempdir_in(plane.folder()).doing(|| "making the test's folder".to_owned());
        let log = plane.logs().join("audit.log");
        let audit_from = std::fs::metadata(&log).doing(|| format!("reading {}", log.display()));
        let (folder, audit_from) = (expect(folder), (expect(audit_from).len(), now()));
        Self { folder, server: Some(server), test, audit_from }
    }

    fn plane(&self) -> &ControlPlane {
        let Some(server) = &self.server else {
            unreachable!("the server is taken out only when the cluster is dropped")
        };
        server.plane()
    }

    fn audit_log(&self) -> PathBuf {
        self.plane().logs().join("audit.log")
    }

    /// The API server's address.
    pub fn url(&self) -> &str {
        self.plane().url()
    }

    /// The certificates that its clients trust, PEM.
    pub fn ca_pem(&self) -> &str {
        self.plane().ca_pem()
    }

    /// A folder of the test's own, removed with the cluster.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A new client without retries.
    ///
    /// # Panics
    /// For [`Identity::Operator`] if the chart is not installed.
    pub fn client(&self, identity: Identity) -> Client {
        expect(self.plane().client(identity))
    }

    /// The bearer token of an identity.
    ///
    /// # Panics
    /// For [`Identity::Operator`] if the chart is not installed.
    pub fn token(&self, identity: Identity) -> String {
        expect(self.plane().token(identity))
    }

    /// A kubeconfig file with a context for each of these identities, named by [`Identity::context`]; the first is
    /// current.
    ///
    /// # Panics
    /// As [`Self::client`].
    pub fn kubeconfig(&self, identities: &[Identity]) -> PathBuf {
        expect(self.plane().write_kubeconfig(self.folder.path(), identities))
    }

    /// What has been asked of the API server since the test has this cluster.
    ///
    /// # Panics
    /// If the audit log cannot be read.
    pub fn audit(&self) -> Audit {
        expect(Audit::read(&self.audit_log(), self.audit_from.0, self.audit_from.1))
    }

    /// Runs the pinned `helm` as the administrator; for a [private](Self::private) cluster. A failed run is returned
    /// like any other. Afterwards the operator has a token of the ServiceAccount that is there now.
    ///
    /// # Panics
    /// If `helm` cannot be run.
    pub async fn helm(&self, args: &[&str]) -> HelmRun {
        expect(chart::helm(self.plane(), args).await)
    }

    /// Waits until every policy of the chart is in force again, for instance after `helm upgrade` restored a binding.
    ///
    /// # Panics
    /// If one is not in force after a minute.
    pub async fn wait_for_policies(&self) {
        expect(chart::wait_until_in_force(self.plane()).await);
    }

    /// Applies the CRDs of Argo CD's Application and AppProject; all but a [bare](Self::bare) cluster have them.
    ///
    /// # Panics
    /// If they are not served after a minute.
    pub async fn apply_argocd_crds(&self) {
        expect(chart::apply_argocd_crds(self.plane()).await);
    }

    /// Starts the garbage collector and the namespace controller, each under its own ServiceAccount as in a real
    /// cluster. Since they make ServiceAccounts, a leased server is replaced afterwards.
    ///
    /// # Panics
    /// If they cannot be started.
    pub async fn start_controller_manager(&self) {
        expect(self.plane().start_controller_manager().await);
    }

    /// Process ids of the servers and of the shells that guard them.
    pub fn pids(&self) -> Vec<u32> {
        self.plane().pids()
    }

    /// The folder of the servers' logs and the audit log.
    pub fn logs(&self) -> &Path {
        self.plane().logs()
    }
}

impl Drop for Cluster {
    #[expect(clippy::print_stderr, reason = "a failed test names its logs")]
    fn drop(&mut self) {
        let failed = std::thread::panicking();
        if failed {
            eprintln!(
                "test-support: the servers' logs of {} are kept in {}",
                self.test,
                self.logs().display()
            );
        }
        match self.server.take() {
            Some(Server::Shared(pooled)) => pool::give_back(*pooled, std::mem::take(&mut self.test), failed),
            Some(Server::Own(plane)) if !failed => plane.drop_logs(),
            _ => {}
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "compared with the API server's own timestamps")]
fn now() -> Timestamp {
    Timestamp::now()
}

/// The test runner names each test's thread after the test.
fn test_name() -> String {
    std::thread::current().name().unwrap_or("unnamed").to_owned()
}

#[expect(
    clippy::panic,
    reason = "a test cannot go on without its servers, and the message says what is wrong"
)]
fn expect<T>(result: Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("test-support: {error}"))
}
