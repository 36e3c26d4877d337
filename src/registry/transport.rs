//! Requests and answers: the one HTTP client of this module, its timeouts, and bodies in bounded pieces.
//!
//! The client never asks for compressed transfer and never unpacks one: charts are gzip files whose bytes have a digest.
//! Proxies are taken from the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`).

use std::io::SeekFrom;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http::{HeaderMap, HeaderValue, Method, header};
use reqwest::{Body, Client, Response, Url};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};

use super::error::{Error, Reason, with_causes};

/// The most redirects that are followed.
const MOST_REDIRECTS: usize = 10;
/// How a file is read for upload, in bytes.
const PIECE: usize = 64 * 1024;

/// How long to wait for a server.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For the next sign of life: an answer's head, a piece of its body, room for a piece of ours.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), idle: Duration::from_secs(30) }
    }
}

/// What a request carries.
#[derive(Clone, Debug)]
pub(super) enum Payload {
    Nothing,
    Bytes(Bytes),
    /// A file from an offset to its end at `size`.
    File {
        path: PathBuf,
        from: u64,
        size: u64,
    },
}

/// One request, to be sent as often as needed.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) payload: Payload,
}

impl Request {
    pub(super) fn new(method: Method, url: Url) -> Self {
        Self { method, url, headers: HeaderMap::new(), payload: Payload::Nothing }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Transport {
    client: Client,
    timeouts: Timeouts,
}

impl Transport {
    /// The process must have installed a rustls provider before.
    pub(super) fn new(timeouts: Timeouts) -> Result<Self, Error> {
        Self::build(timeouts, Client::builder())
    }

    /// As [`Self::new`], without proxies: for what answers on the node itself.
    pub(super) fn direct(timeouts: Timeouts) -> Result<Self, Error> {
        Self::build(timeouts, Client::builder().no_proxy())
    }

    fn build(timeouts: Timeouts, builder: reqwest::ClientBuilder) -> Result<Self, Error> {
        let client = builder
            .user_agent(concat!("kubectl-aicr/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(timeouts.connect)
            .redirect(reqwest::redirect::Policy::custom(|attempt| {
                let was_safe = attempt.previous().last().is_some_and(|url| url.scheme() == "https");
                if was_safe && attempt.url().scheme() != "https" {
                    return attempt.error("a redirect from https to http is not followed");
                }
                if attempt.previous().len() > MOST_REDIRECTS {
                    return attempt.error("too many redirects");
                }
                attempt.follow()
            }))
            .build()
            .map_err(|error| {
                let text = format!("no HTTP client can be made: {}", with_causes(&error));
                Error::new(Reason::Unexpected, text)
            })?;
        Ok(Self { client, timeouts })
    }

    /// Sends the request once and waits for the answer's head.
    pub(super) async fn send(&self, request: &Request) -> Result<Response, Error> {
        let moved = Arc::new(AtomicU64::new(0));
        let mut building = self.client.request(request.method.clone(), request.url.clone());
        building = building.headers(request.headers.clone());
        building = match &request.payload {
            Payload::Nothing => building,
            Payload::Bytes(bytes) => building.body(bytes.clone()),
            Payload::File { path, from, size } => building
                .header(header::CONTENT_LENGTH, HeaderValue::from(size - from))
                .body(file_body(path, *from, *size, Arc::clone(&moved)).await?),
        };
        let sending = building.send();
        tokio::pin!(sending);
        loop {
            let before = moved.load(Ordering::Relaxed);
            match tokio::time::timeout(self.timeouts.idle, &mut sending).await {
                Ok(answer) => return answer.map_err(|error| failed(&request.url, &error)),
                Err(_) if moved.load(Ordering::Relaxed) > before => {}
                Err(_) => return Err(self.silent(&request.url)),
            }
        }
    }

    /// The next piece of an answer's body; `None` at its end.
    pub(super) async fn piece(&self, response: &mut Response) -> Result<Option<Bytes>, Error> {
        match tokio::time::timeout(self.timeouts.idle, response.chunk()).await {
            Ok(piece) => piece.map_err(|error| failed(response.url(), &error)),
            Err(_) => Err(self.silent(response.url())),
        }
    }

    /// A whole body of at most `most` bytes.
    pub(super) async fn body(&self, mut response: Response, most: usize) -> Result<Bytes, Error> {
        let mut body = BytesMut::new();
        while let Some(piece) = self.piece(&mut response).await? {
            if body.len() + piece.len() > most {
                let text = format!("{} is over {most} bytes, the most that is read", display(response.url()));
                return Err(Error::new(Reason::ContentTooLarge, text));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body.freeze())
    }

    /// The start of the body of an answer that is no success, for its words.
    pub(super) async fn start_of_body(&self, mut response: Response) -> Bytes {
        const MOST: usize = 16 * 1024;
        let mut body = BytesMut::new();
        while let Ok(Some(piece)) = self.piece(&mut response).await {
            body.extend_from_slice(&piece);
            if body.len() >= MOST {
                body.truncate(MOST);
                break;
            }
        }
        body.freeze()
    }

    fn silent(&self, url: &Url) -> Error {
        let seconds = self.timeouts.idle.as_secs_f32();
        Error::new(Reason::Transient, format!("{} was silent for {seconds} s", display(url)))
    }
}

/// A file's bytes as they are asked for, at most two pieces of it in memory.
async fn file_body(path: &Path, from: u64, size: u64, moved: Arc<AtomicU64>) -> Result<Body, Error> {
    let mut file = tokio::fs::File::open(path).await.map_err(|error| local(path, &error))?;
    file.seek(SeekFrom::Start(from)).await.map_err(|error| local(path, &error))?;
    let pieces = stream::try_unfold((file, size - from), move |(mut file, left)| {
        let moved = Arc::clone(&moved);
        async move {
            if left == 0 {
                return Ok::<_, std::io::Error>(None);
            }
            let mut piece = BytesMut::with_capacity(PIECE);
            let wanted = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
            let read = (&mut file).take(wanted as u64).read_buf(&mut piece).await?;
            if read == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            moved.fetch_add(read as u64, Ordering::Relaxed);
            Ok(Some((piece.freeze(), (file, left - read as u64))))
        }
    });
    Ok(Body::wrap_stream(pieces))
}

/// A file of ours failed.
pub(super) fn local(path: &Path, error: &std::io::Error) -> Error {
    Error::new(Reason::Transient, format!("the scratch file {}: {error}", path.display()))
}

fn failed(url: &Url, error: &reqwest::Error) -> Error {
    // The library's own text repeats the address, with its query.
    let causes = std::error::Error::source(error).map_or_else(|| error.to_string(), with_causes);
    let reason =
        if error.is_builder() || error.is_redirect() { Reason::Unexpected } else { Reason::Transient };
    Error::new(reason, format!("{}: {causes}", display(url)))
}

/// An address for people: without query and user, where secrets may stand.
pub(super) fn display(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Fails only for addresses that cannot have them.
    let _ = url.set_password(None);
    let _ = url.set_username("");
    url.to_string()
}
