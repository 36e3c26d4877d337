//! What the tests of registries share: clients, charts, and a chart repository's files.
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use kubectl_aicr::registry::{
    Client, ContentDigest, DockerConfig, Logins, Mirror, Patience, Repository, Settings, Timeouts, Upstreams,
    pack,
};
use tempfile::TempDir;
use test_support::Registry;

/// A client, and the folder for its charts on their way, which must be empty at the end.
pub(crate) struct Kit {
    pub(crate) client: Client,
    pub(crate) scratch: TempDir,
}

impl Kit {
    /// A client that speaks plain HTTP to these hosts, and waits little.
    pub(crate) fn new(hosts: &[&str], logins: impl Logins + 'static) -> Self {
        Self::with_patience(
            hosts,
            logins,
            Patience { first_wait: Duration::from_millis(20), ..Patience::default() },
        )
    }

    pub(crate) fn with_patience(hosts: &[&str], logins: impl Logins + 'static, patience: Patience) -> Self {
        // Another test may have been first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let scratch = tempfile::tempdir().unwrap();
        let settings = Settings {
            plain_http: hosts.iter().map(|host| (*host).to_owned()).collect(),
            patience,
            timeouts: Timeouts { idle: Duration::from_secs(5), ..Timeouts::default() },
            ..Settings::new(scratch.path())
        };
        Self { client: Client::new(settings, Arc::new(logins)).unwrap(), scratch }
    }

    pub(crate) fn anonymous(hosts: &[&str]) -> Self {
        Self::new(hosts, DockerConfig::default())
    }

    /// A mirror into `oci://<host>/aicr`.
    pub(crate) fn mirror(&self, host: &str) -> Mirror {
        Mirror::new(self.client.clone(), prefix(host), Upstreams::default())
    }

    pub(crate) fn assert_nothing_left(&self) {
        assert_eq!(std::fs::read_dir(self.scratch.path()).unwrap().count(), 0);
    }
}

/// Runs a pinned tool to its end and answers what it printed. It must not hold up the servers of the test, which may be what
/// it talks to.
pub(crate) async fn run(tool: &str, folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new(test_support::tools::path(tool).unwrap());
    command.args(args).current_dir(folder);
    for variable in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
        command.env(variable, folder.join(".helm"));
    }
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Where charts go.
pub(crate) fn prefix(host: &str) -> Repository {
    Repository::parse(&format!("oci://{host}/aicr")).unwrap()
}

/// The login of [`Registry::with_login`] for these hosts.
pub(crate) fn login(hosts: &[&str]) -> DockerConfig {
    let auths: BTreeMap<_, _> = hosts
        .iter()
        .map(|host| (*host, serde_json::json!({"username": Registry::USER, "password": Registry::PASSWORD})))
        .collect();
    DockerConfig::parse(serde_json::json!({"auths": auths}).to_string().as_bytes()).unwrap()
}

/// The files of a small chart.
pub(crate) fn chart_files(name: &str, version: &str) -> BTreeMap<String, Bytes> {
    let chart = format!("apiVersion: v2\nname: {name}\nversion: {version}\nappVersion: v9\n");
    let template =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: {{ .Values.a | quote }}}\n";
    [
        ("Chart.yaml", chart.into()),
        ("values.yaml", Bytes::from_static(b"a: 1\n")),
        ("templates/x.yaml", template.into()),
    ]
    .map(|(path, content): (&str, Bytes)| (path.to_owned(), content))
    .into()
}

/// A small chart's archive.
pub(crate) fn chart(name: &str, version: &str) -> Bytes {
    pack(name, &chart_files(name, version)).unwrap()
}

/// A chart whose archive has about this many megabytes that no compression would make fewer.
pub(crate) fn large_chart(name: &str, megabytes: usize) -> Bytes {
    let mut files = chart_files(name, "1.0.0");
    let mut state = 1_u64;
    for index in 0..megabytes {
        let noise = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state.to_be_bytes()
        });
        let content: Vec<u8> = noise.take(1024 * 1024 / 8).flatten().collect();
        files.insert(format!("files/{index}.bin"), content.into());
    }
    pack(name, &files).unwrap()
}

/// A repository's files: each chart's archive and an index that lists it with its digest.
pub(crate) fn repository(charts: &[(&str, &str, Bytes)]) -> BTreeMap<String, Bytes> {
    let mut files = BTreeMap::new();
    let mut index = "apiVersion: v1\nentries:\n".to_owned();
    for (name, version, archive) in charts {
        let digest = ContentDigest::of(archive).hex();
        let urls = format!("[{name}-{version}.tgz]");
        let _ = writeln!(index, "  {name}:\n  - {{version: {version}, digest: {digest}, urls: {urls}}}");
        files.insert(format!("/charts/{name}-{version}.tgz"), archive.clone());
    }
    files.insert("/charts/index.yaml".to_owned(), index.into());
    files
}

/// The requests that write.
pub(crate) fn writes(asked: &[String]) -> Vec<&String> {
    asked.iter().filter(|asked| !asked.starts_with("GET ") && !asked.starts_with("HEAD ")).collect()
}
