//! One control plane: an etcd and a kube-apiserver.
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{DeleteParams, PostParams};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};

use crate::error::{Doing, Error, Result};
use crate::identity::{self, Identity, Tokens};
use crate::place::Place;
use crate::tools;
use crate::watchdog::{Server, Spec};

/// Writes are evidence, and reads are counted. What the API server does for itself is left out.
const AUDIT_POLICY: &str = r#"{"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
  "omitStages": ["RequestReceived", "ResponseStarted"],
  "rules": [{"level": "None", "users": ["system:apiserver"]}, {"level": "Metadata"}]}"#;

/// How long the two servers may take to be ready on a busy machine; alone they take 3 s.
const READY_WITHIN: Duration = Duration::from_secs(90);

/// A running etcd and kube-apiserver. Dropping it kills both and removes its folder, and its logs unless they are
/// [kept](Self::keep_logs).
///
/// It belongs to no runtime: clients do, and are made where they are used.
pub struct ControlPlane {
    // Dropped in this order: the API server first, then etcd, whose watchdog removes the folders.
    controllers: Mutex<Option<Server>>,
    apiserver: Server,
    etcd: Server,
    place: Place,
    url: String,
    etcd_url: String,
    etcd_prefix: String,
    ca_pem: String,
    tokens: Tokens,
    operator_token: Mutex<Option<String>>,
}

impl ControlPlane {
    /// Starts the two servers and waits until the API server is ready. `name` is for people: it names the log folder.
    /// The logs are kept until [`Self::drop_logs`].
    ///
    /// # Errors
    /// If a tool cannot be built or a server does not become ready; the message holds the end of its log.
    pub async fn start(name: &str) -> Result<Self> {
        Self::start_on(|| Place::temporary(name), free_ports).await
    }

    /// As [`Self::start`], with everything in this folder, logs included; it is made, and removed when the servers end.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn start_in(folder: &Path) -> Result<Self> {
        Self::start_on(|| Place::fixed(folder), free_ports).await
    }

    /// As [`Self::start`], where `folders` says, on the ports for etcd's clients, etcd's peers and the API server that
    /// `ports` chooses.
    async fn start_on(
        mut folders: impl FnMut() -> Result<Place>,
        mut ports: impl FnMut() -> Result<[u16; 3]>,
    ) -> Result<Self> {
        let etcd = tools::path("etcd")?;
        let apiserver = tools::path("kube-apiserver")?;
        // Between choosing a free port and the server's listening on it, somebody else may take it.
        let mut attempts = 5;
        loop {
            attempts -= 1;
            let plane = Self::launch(folders()?, &etcd, &apiserver, ports()?)?;
            match plane.wait_until_ready().await {
                Ok(plane) => return Ok(plane),
                Err((plane, _))
                    if attempts > 0 && (plane.etcd.lost_its_port() || plane.apiserver.lost_its_port()) =>
                {
                    plane.drop_logs();
                }
                Err((_, error)) => return Err(error),
            }
        }
    }

    fn launch(place: Place, etcd: &Path, apiserver: &Path, ports: [u16; 3]) -> Result<Self> {
        let [etcd_port, peer_port, port] = ports;
        let (folder, logs) = (place.folder.as_path(), place.logs.as_path());
        write(&logs.join("keep"), "starting\n")?;
        let tokens = Tokens::new()?;
        write(&folder.join("tokens"), &tokens.file())?;
        write(&folder.join("audit-policy.json"), AUDIT_POLICY)?;
        write_service_account_keys(folder)?;

        let etcd_url = format!("http://127.0.0.1:{etcd_port}");
        // Of its own, so that an API server that meets another test's etcd on a port just lost changes nothing of it.
        let etcd_prefix = format!("/{}", identity::secret()?);
        let etcd = Server::start(&Spec {
            name: "etcd",
            program: etcd,
            args: etcd_args(folder, &etcd_url, peer_port),
            logs,
            folder,
            removes_folders: true,
        })?;
        let apiserver = Server::start(&Spec {
            name: "kube-apiserver",
            program: apiserver,
            args: apiserver_args(folder, logs, &etcd_url, &etcd_prefix, port),
            logs,
            folder,
            removes_folders: false,
        })?;
        Ok(Self {
            controllers: Mutex::new(None),
            apiserver,
            etcd,
            place,
            url: format!("https://127.0.0.1:{port}"),
            etcd_url,
            etcd_prefix,
            ca_pem: String::new(),
            tokens,
            operator_token: Mutex::new(None),
        })
    }

    async fn wait_until_ready(mut self) -> std::result::Result<Self, (Self, Error)> {
        let certificate = self.place.folder.join("certs/apiserver.crt");
        let key = self.place.folder.join("certs/apiserver.key");
        let started = Instant::now();
        let mut client = None;
        loop {
            if let Err(error) = self.check() {
                return Err((self, error));
            }
            // The key is written after the certificate, so with it the certificate is whole.
            if client.is_none() && key.exists() {
                self.ca_pem = std::fs::read_to_string(&certificate).unwrap_or_default();
                client = match self.client(Identity::Admin) {
                    Ok(client) => Some(client),
                    Err(error) => return Err((self, error)),
                };
            }
            if let Some(client) = &client
                && get(client, "/readyz").await.is_ok()
            {
                return Ok(self);
            }
            if started.elapsed() > READY_WITHIN {
                let error = Error::new(format!(
                    "kube-apiserver was not ready within {} s{}",
                    READY_WITHIN.as_secs(),
                    self.apiserver.log_tail()
                ));
                return Err((self, error));
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// The API server's address, `https://127.0.0.1:<port>`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The folder that holds the servers' logs and the audit log.
    pub fn logs(&self) -> &Path {
        &self.place.logs
    }

    /// A folder that lives as long as the servers.
    pub fn folder(&self) -> &Path {
        &self.place.folder
    }

    /// The certificates that clients trust, PEM.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// Process ids of the servers and of what guards them.
    pub fn pids(&self) -> Vec<u32> {
        let controllers = self.controllers.lock().unwrap_or_else(PoisonError::into_inner);
        let servers = [Some(&self.etcd), Some(&self.apiserver), controllers.as_ref()];
        servers.into_iter().flatten().flat_map(Server::pids).collect()
    }

    /// Whether all servers still run.
    ///
    /// # Errors
    /// The end of the log of the one that does not.
    pub fn check(&self) -> Result<()> {
        self.etcd.check()?;
        self.apiserver.check()?;
        self.controllers.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(Ok(()), Server::check)
    }

    /// The bearer token of an identity.
    ///
    /// # Errors
    /// For the operator, if the chart is not installed.
    pub fn token(&self, identity: Identity) -> Result<String> {
        if let Some(token) = self.tokens.of(identity) {
            return Ok(token.to_owned());
        }
        let token = self.operator_token.lock().unwrap_or_else(PoisonError::into_inner).clone();
        token.ok_or_else(|| {
            Error::new("the operator has no token: its ServiceAccount comes with the chart, which is not installed here")
        })
    }

    pub(crate) fn set_operator_token(&self, token: Option<String>) {
        *self.operator_token.lock().unwrap_or_else(PoisonError::into_inner) = token;
    }

    /// A new client for an identity, bound to the current runtime. It does not retry, so what a test counts is what it
    /// asked for.
    ///
    /// # Errors
    /// If the identity has no token (see [`Self::token`]).
    pub fn client(&self, identity: Identity) -> Result<Client> {
        connect(self.config(identity)?)
    }

    /// A client for the administrator acting as somebody else.
    pub(crate) fn client_as(&self, user: &str, group: &str) -> Result<Client> {
        let mut config = self.config(Identity::Admin)?;
        config.auth_info.impersonate = Some(user.to_owned());
        config.auth_info.impersonate_groups = Some(vec![group.to_owned()]);
        connect(config)
    }

    fn config(&self, identity: Identity) -> Result<kube::Config> {
        let certificates =
            pem::parse_many(&self.ca_pem).doing(|| "reading the API server's certificate".to_owned())?;
        let mut config = config(&self.url)?;
        config.root_cert = Some(certificates.into_iter().map(pem::Pem::into_contents).collect());
        config.auth_info.token = Some(self.token(identity)?.into());
        Ok(config)
    }

    /// A client for etcd's own HTTP interface, and the prefix under which the API server keeps everything.
    pub(crate) fn etcd(&self) -> Result<(Client, &str)> {
        Ok((connect(config(&self.etcd_url)?)?, &self.etcd_prefix))
    }

    /// Writes a kubeconfig with one context per identity into `folder`; the first is current.
    ///
    /// # Errors
    /// If an identity has no token or the file cannot be written.
    pub fn write_kubeconfig(&self, folder: &Path, identities: &[Identity]) -> Result<PathBuf> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let tokens = identities.iter().map(|id| Ok((*id, self.token(*id)?))).collect::<Result<Vec<_>>>()?;
        let path = folder.join(format!("kubeconfig-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        write(&path, &identity::kubeconfig(&self.url, &self.ca_pem, &tokens))?;
        Ok(path)
    }

    /// Starts kube-controller-manager with the garbage collector and the namespace controller, each under its own
    /// ServiceAccount as in a real cluster (`system:serviceaccount:kube-system:generic-garbage-collector`).
    ///
    /// # Errors
    /// If it cannot be built or does not become ready.
    pub async fn start_controller_manager(&self) -> Result<()> {
        let program = tools::path("kube-controller-manager")?;
        let kubeconfig = self.write_kubeconfig(&self.place.folder, &[Identity::Admin])?;
        let [port, _, _] = free_ports()?;
        let server = Server::start(&Spec {
            name: "kube-controller-manager",
            program: &program,
            args: vec![
                format!("--kubeconfig={}", kubeconfig.display()),
                format!("--service-account-private-key-file={}", self.place.folder.join("sa.key").display()),
                format!("--secure-port={port}"),
                "--bind-address=127.0.0.1".to_owned(),
                "--leader-elect=false".to_owned(),
                "--use-service-account-credentials=true".to_owned(),
                "--controllers=garbage-collector-controller,namespace-controller".to_owned(),
            ],
            logs: &self.place.logs,
            folder: &self.place.folder,
            removes_folders: false,
        })?;
        *self.controllers.lock().unwrap_or_else(PoisonError::into_inner) = Some(server);
        self.wait_for_namespace_controller().await
    }

    /// Ends what [`Self::start_controller_manager`] started.
    pub(crate) fn stop_controller_manager(&self) {
        let server = self.controllers.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(server);
    }

    /// The controllers work once a namespace that is deleted is gone.
    async fn wait_for_namespace_controller(&self) -> Result<()> {
        let namespaces: kube::Api<Namespace> = kube::Api::all(self.client(Identity::Admin)?);
        let name = "controllers-started";
        let mut probe = Namespace::default();
        probe.metadata.name = Some(name.to_owned());
        let doing = || format!("making and deleting the namespace {name}");
        namespaces.create(&PostParams::default(), &probe).await.doing(doing)?;
        namespaces.delete(name, &DeleteParams::default()).await.doing(doing)?;
        let started = Instant::now();
        while namespaces.get_opt(name).await.doing(doing)?.is_some() {
            self.check()?;
            if started.elapsed() > READY_WITHIN {
                return Err(Error::new(format!(
                    "kube-controller-manager deleted no namespace; its log is in {}",
                    self.place.logs.display()
                )));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Keeps the logs when the servers end, whatever ends them; `why` is written beside them.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn keep_logs(&self, why: &str) -> Result<()> {
        write(&self.place.logs.join("keep"), &format!("{why}\n"))
    }

    /// Lets the logs go with the servers.
    pub fn drop_logs(&self) {
        // If it cannot be removed the logs stay, which harms nobody.
        let _ = std::fs::remove_file(self.place.logs.join("keep"));
    }
}

fn etcd_args(folder: &Path, url: &str, peer_port: u16) -> Vec<String> {
    vec![
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls={url}"),
        format!("--advertise-client-urls={url}"),
        format!("--listen-peer-urls=http://127.0.0.1:{peer_port}"),
        "--unsafe-no-fsync".to_owned(),
        "--log-level=error".to_owned(),
    ]
}

fn apiserver_args(folder: &Path, logs: &Path, etcd_url: &str, etcd_prefix: &str, port: u16) -> Vec<String> {
    let file = |flag: &str, name: &str| format!("--{flag}={}", folder.join(name).display());
    vec![
        format!("--etcd-servers={etcd_url}"),
        format!("--etcd-prefix={etcd_prefix}"),
        "--bind-address=127.0.0.1".to_owned(),
        // Else it looks for a default route, which a machine without a network lacks.
        "--advertise-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        file("cert-dir", "certs"),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        file("service-account-key-file", "sa.pub"),
        file("service-account-signing-key-file", "sa.key"),
        "--authorization-mode=RBAC".to_owned(),
        file("token-auth-file", "tokens"),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        "--allow-privileged=true".to_owned(),
        file("audit-policy-file", "audit-policy.json"),
        format!("--audit-log-path={}", logs.join("audit.log").display()),
    ]
}

/// Three loopback ports that are free now.
fn free_ports() -> Result<[u16; 3]> {
    let bind = || TcpListener::bind(("127.0.0.1", 0)).doing(|| "looking for a free port".to_owned());
    // All are held until all are chosen, so that they differ.
    let listeners = [bind()?, bind()?, bind()?];
    let mut ports = [0; 3];
    for (port, listener) in ports.iter_mut().zip(&listeners) {
        *port = listener.local_addr().doing(|| "looking for a free port".to_owned())?.port();
    }
    Ok(ports)
}

/// An ECDSA key pair with which the API server signs ServiceAccount tokens.
fn write_service_account_keys(folder: &Path) -> Result<()> {
    /// SubjectPublicKeyInfo of a P-256 key, up to the point itself (RFC 5480, section 2).
    const P256_HEADER: [u8; 26] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
        0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ];
    let random = ring::rand::SystemRandom::new();
    let failed = || Error::new("no ServiceAccount key could be made");
    let private =
        EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).map_err(|_| failed())?;
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, private.as_ref(), &random)
        .map_err(|_| failed())?;
    let public = [&P256_HEADER, pair.public_key().as_ref()].concat();
    write(&folder.join("sa.key"), &pem::encode(&pem::Pem::new("PRIVATE KEY", private.as_ref())))?;
    write(&folder.join("sa.pub"), &pem::encode(&pem::Pem::new("PUBLIC KEY", public)))
}

/// Client settings of all our clients: nothing is retried, nothing waits for ever.
#[expect(clippy::disallowed_methods, reason = "the one place where tests make clients")]
fn config(url: &str) -> Result<kube::Config> {
    let mut config = kube::Config::new(url.parse().doing(|| format!("reading the address {url}"))?);
    config.default_retry = false;
    config.connect_timeout = Some(Duration::from_secs(5));
    config.read_timeout = Some(Duration::from_mins(1));
    config.write_timeout = Some(Duration::from_mins(1));
    config.reset_reader_on_write = true;
    Ok(config)
}

fn connect(config: kube::Config) -> Result<Client> {
    let url = config.cluster_url.clone();
    Client::try_from(config).doing(|| format!("making a client for {url}"))
}

async fn get(client: &Client, path: &str) -> Result<String> {
    let request = http::Request::get(path).body(Vec::new()).doing(|| format!("asking for {path}"))?;
    client.request_text(request).await.doing(|| format!("asking for {path}"))
}

pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).doing(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_port_that_somebody_took_in_between_costs_another_attempt_and_no_more() {
        let other = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let taken = other.local_addr().unwrap().port();
        let mut attempts = 0;
        let ports = || {
            let mut ports = free_ports()?;
            if let Some(port) = ports.get_mut(attempts) {
                *port = taken;
            }
            attempts += 1;
            Ok(ports)
        };
        let plane = ControlPlane::start_on(|| Place::temporary("taken-ports"), ports).await.unwrap();
        plane.drop_logs();
        get(&plane.client(Identity::Admin).unwrap(), "/readyz").await.unwrap();
        assert_eq!(attempts, 4, "one for each port that was taken");
    }

    #[tokio::test]
    async fn a_server_that_cannot_start_is_an_error_with_the_end_of_its_log() {
        let place = Place::temporary("broken").unwrap();
        let error =
            ControlPlane::launch(place, Path::new("/bin/false"), Path::new("/no/such/program"), [1, 2, 3])
                .unwrap()
                .wait_until_ready()
                .await
                .map_err(|(plane, error)| {
                    plane.drop_logs();
                    error
                })
                .map(drop)
                .unwrap_err()
                .to_string();
        assert!(error.contains("ended with status") && error.contains("the end of its log"), "{error}");
    }
}
