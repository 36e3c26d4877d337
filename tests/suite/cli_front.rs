//! A server in front of the API server that loses, delays and answers what a test wants it to. It speaks plain HTTP and
//! forwards under the identity of its client, so that the plugin in front of it needs no credentials.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kube::client::Body;
use serde_json::{Value, json};
use test_support::{Cluster, Identity};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::cli_kit::Plugin;

/// One request of the plugin.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// How many requests with this method came before, from any connection.
    pub(crate) before: usize,
}

/// What becomes of a request.
#[derive(Clone, Debug)]
pub(crate) enum Fate {
    /// It is forwarded and answered.
    Pass,
    /// It is not forwarded and answered with this status and text.
    Answer(u16, String),
    /// It is forwarded, and answered with this status and text instead of the API server's.
    Disguise(u16, String),
    /// It is forwarded, and the connection ends without an answer.
    LoseAnswer,
    /// The connection ends at once.
    LoseRequest,
    /// It is never answered.
    Hang,
}

impl Fate {
    /// An answer in the form of an API server.
    pub(crate) fn status(code: u16, reason: &str, message: &str) -> Self {
        let status = json!({
            "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message,
        });
        Self::Answer(code, status.to_string())
    }
}

/// A running front; it ends with the value.
pub(crate) struct Front {
    kubeconfig: PathBuf,
    folder: PathBuf,
    task: JoinHandle<()>,
}

impl Front {
    /// A front for one identity, where `judge` says what becomes of each request.
    pub(crate) async fn of<F, Judged>(cluster: &Cluster, identity: Identity, judge: F) -> Self
    where
        F: Fn(Asked) -> Judged + Send + Sync + 'static,
        Judged: Future<Output = Fate> + Send + 'static,
    {
        Self::closing_idle_after(Duration::from_mins(1), cluster, identity, judge).await
    }

    /// A front that ends connections on which nothing came for this long.
    pub(crate) async fn closing_idle_after<F, Judged>(
        idle: Duration,
        cluster: &Cluster,
        identity: Identity,
        judge: F,
    ) -> Self
    where
        F: Fn(Asked) -> Judged + Send + Sync + 'static,
        Judged: Future<Output = Fate> + Send + 'static,
    {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (client, judge) = (cluster.client(identity), Arc::new(judge));
        let counts: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (client, judge, counts) = (client.clone(), judge.clone(), counts.clone());
                connections.spawn(async move {
                    let mut stream = BufStream::new(stream);
                    while let Ok(Some((mut asked, request))) =
                        tokio::time::timeout(idle, read(&mut stream)).await
                    {
                        asked.before = {
                            let mut counts = counts.lock().unwrap();
                            counts.push(asked.method.clone());
                            counts.iter().filter(|method| **method == asked.method).count() - 1
                        };
                        let fate = judge(asked).await;
                        let Some((code, body)) = answer(&client, request, fate).await else { return };
                        if write(&mut stream, code, &body).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        let folder = cluster.folder().to_owned();
        let kubeconfig = folder.join(format!("front-{port}"));
        std::fs::write(
            &kubeconfig,
            kubeconfig_of(&format!("http://127.0.0.1:{port}"), &json!({})).to_string(),
        )
        .unwrap();
        Self { kubeconfig, folder, task }
    }

    /// The plugin in front of it.
    pub(crate) fn plugin(&self) -> Plugin {
        Plugin::at(&self.kubeconfig, &self.folder)
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A kubeconfig for a server, with this user.
pub(crate) fn kubeconfig_of(server: &str, user: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "front",
        "clusters": [{"name": "front", "cluster": {"server": server}}],
        "users": [{"name": "front", "user": user}],
        "contexts": [{"name": "front", "context": {"cluster": "front", "user": "front"}}],
    })
}

/// Answers a request as it was judged; `None` ends the connection.
async fn answer(client: &kube::Client, request: http::Request<Body>, fate: Fate) -> Option<(u16, Vec<u8>)> {
    match fate {
        Fate::Pass => Some(forward(client, request).await),
        Fate::Answer(code, text) => Some((code, text.into_bytes())),
        Fate::Disguise(code, text) => {
            forward(client, request).await;
            Some((code, text.into_bytes()))
        }
        Fate::LoseAnswer => {
            forward(client, request).await;
            None
        }
        Fate::LoseRequest => None,
        Fate::Hang => std::future::pending().await,
    }
}

async fn forward(client: &kube::Client, request: http::Request<Body>) -> (u16, Vec<u8>) {
    let response = client.send(request).await.unwrap();
    let code = response.status().as_u16();
    (code, response.into_body().collect_bytes().await.unwrap().to_vec())
}

/// Reads one request; `None` when the connection ended before.
async fn read(stream: &mut BufStream<TcpStream>) -> Option<(Asked, http::Request<Body>)> {
    let mut first = String::new();
    stream.read_line(&mut first).await.ok().filter(|count| *count > 0)?;
    let mut words = first.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let (mut length, mut request) = (0, http::Request::builder().method(method.as_str()).uri(path.as_str()));
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).await.ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "content-type" | "accept" | "user-agent" => request = request.header(name, value),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((Asked { method, before: 0 }, request.body(Body::from(body)).ok()?))
}

async fn write(stream: &mut BufStream<TcpStream>, code: u16, body: &[u8]) -> std::io::Result<()> {
    let kind = if body.starts_with(b"{") { "application/json" } else { "text/html" };
    let head = format!("HTTP/1.1 {code} X\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.flush().await
}
