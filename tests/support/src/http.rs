//! A small HTTP server for tests: what a test's function answers, and a record of what was asked.
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::error::{Doing, Result};

/// Why a connection is cut, with or without an answer begun.
#[derive(Clone, Debug)]
pub struct Cut(pub String);

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Cut {}

impl From<hyper::Error> for Cut {
    fn from(error: hyper::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<std::io::Error> for Cut {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// A body, whole or streamed.
pub type Body = UnsyncBoxBody<Bytes, Cut>;
/// What a server answers; an error cuts the connection without an answer.
pub type Answer = std::result::Result<Response<Body>, Cut>;

/// A body that is there as a whole.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// An answer with this status, these headers and this body.
///
/// # Panics
/// For headers that are none.
#[expect(clippy::expect_used, reason = "a test's own headers")]
pub fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Response<Body> {
    let mut builder = Response::builder().status(status);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(full(body)).expect("a status and headers")
}

/// What was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
}

type Future_ = Pin<Box<dyn Future<Output = Answer> + Send>>;
type Handler = dyn Fn(Request<Incoming>) -> Future_ + Send + Sync;

/// A running server on a free port of 127.0.0.1. Dropping it ends it.
pub struct HttpServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: JoinHandle<()>,
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl HttpServer {
    /// Starts a server that answers by this function.
    ///
    /// # Errors
    /// If no port can be had.
    pub async fn start<F, A>(handler: F) -> Result<Self>
    where
        F: Fn(Request<Incoming>) -> A + Send + Sync + 'static,
        A: Future<Output = Answer> + Send + 'static,
    {
        let listener =
            TcpListener::bind("127.0.0.1:0").await.doing(|| "listening on a free port".to_owned())?;
        let address = listener.local_addr().doing(|| "asking for the port".to_owned())?;
        let asked = Arc::new(Mutex::new(Vec::new()));
        let handler: Arc<Handler> = Arc::new(move |request| Box::pin(handler(request)));
        let task = tokio::spawn(serve(listener, handler, Arc::clone(&asked)));
        Ok(Self { address, asked, task })
    }

    /// Starts a server of fixed files by path; everything else is 404.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn files(files: impl IntoIterator<Item = (String, Bytes)>) -> Result<Self> {
        let files: Arc<std::collections::BTreeMap<_, _>> = Arc::new(files.into_iter().collect());
        Self::start(move |request| {
            let found = files.get(request.uri().path()).cloned();
            async move {
                Ok(match found {
                    Some(bytes) => answer(200, &[], bytes),
                    None => answer(404, &[], "not here"),
                })
            }
        })
        .await
    }

    /// `127.0.0.1:<port>`.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What was asked until now, in order.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was asked since this was last called, as `GET /path?query`.
    pub fn take_asked(&self) -> Vec<String> {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner));
        asked.into_iter().map(|asked| format!("{} {}", asked.method, asked.path)).collect()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, handler: Arc<Handler>, asked: Arc<Mutex<Vec<Asked>>>) {
    // Connections end with the server.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let handler = Arc::clone(&handler);
        let asked = Arc::clone(&asked);
        connections.spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
                asked.lock().unwrap_or_else(PoisonError::into_inner).push(Asked {
                    method: request.method().clone(),
                    path,
                    headers: request.headers().clone(),
                });
                handler(request)
            });
            // An error here is a cut connection, which is what some tests want.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}
