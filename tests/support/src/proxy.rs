//! A proxy in front of an HTTP server that does harm on request.
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{Method, Request};
use http_body_util::{BodyExt as _, BodyStream, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::error::Result;
use crate::http::{Answer, Asked, Body, Cut, HttpServer, answer};

/// What happens to a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// It is answered with this status, these headers and this body, and goes no further.
    Answer(u16, Vec<(String, String)>, String),
    /// The connection ends without an answer, before the server hears of it.
    Drop,
    /// The server does it, and the connection ends before the answer.
    DropAnswer,
    /// The server gets this many bytes of the request's body, and then both connections end.
    CutRequest(usize),
    /// The client gets this many bytes of the answer's body, and then its connection ends.
    CutAnswer(usize),
    /// It goes on after this time.
    Delay(Duration),
}

/// A fault for the next requests of a kind.
#[derive(Clone, Debug)]
struct Rule {
    method: Method,
    part: String,
    fault: Fault,
}

type Rules = Arc<Mutex<VecDeque<Rule>>>;

/// A running proxy.
pub struct Proxy {
    server: HttpServer,
    rules: Rules,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.server.fmt(f)
    }
}

impl Proxy {
    /// Starts a proxy in front of the server at `127.0.0.1:<port>`.
    ///
    /// # Errors
    /// If no port can be had.
    pub async fn before(host: &str) -> Result<Self> {
        let rules = Rules::default();
        let (to, theirs) = (host.to_owned(), Arc::clone(&rules));
        let server = HttpServer::start(move |request| pass(to.clone(), Arc::clone(&theirs), request)).await?;
        Ok(Self { server, rules })
    }

    /// The next request of this method whose path and query hold `part` meets the fault. Faults for the same requests
    /// are used up in their order.
    pub fn fail(&self, method: Method, part: &str, fault: Fault) {
        let rule = Rule { method, part: part.to_owned(), fault };
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).push_back(rule);
    }

    /// Faults that no request has met.
    pub fn unmet(&self) -> usize {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// `127.0.0.1:<port>`.
    pub fn host(&self) -> String {
        self.server.host()
    }

    /// What was asked until now.
    pub fn asked(&self) -> Vec<Asked> {
        self.server.asked()
    }

    /// What was asked since this was last called, as `GET /path?query`.
    pub fn take_asked(&self) -> Vec<String> {
        self.server.take_asked()
    }
}

fn cut(why: &str) -> Cut {
    Cut(why.to_owned())
}

async fn pass(to: String, rules: Rules, request: Request<Incoming>) -> Answer {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let fault = {
        let mut rules = rules.lock().unwrap_or_else(PoisonError::into_inner);
        let meets = |rule: &Rule| rule.method == *request.method() && path.contains(&rule.part);
        rules.iter().position(meets).and_then(|index| rules.remove(index)).map(|rule| rule.fault)
    };
    match fault {
        None => forward(&to, request, usize::MAX).await,
        Some(Fault::Answer(status, headers, body)) => {
            // The client may still be sending: a server that answers early reads on.
            let _ = request.into_body().collect().await;
            let headers: Vec<_> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            Ok(answer(status, &headers, body))
        }
        Some(Fault::Drop) => Err(cut("dropped")),
        Some(Fault::DropAnswer) => {
            let answer = forward(&to, request, usize::MAX).await?;
            let _ = answer.into_body().collect().await;
            Err(cut("answer dropped"))
        }
        Some(Fault::CutRequest(after)) => forward(&to, request, after).await,
        Some(Fault::CutAnswer(after)) => {
            Ok(forward(&to, request, usize::MAX).await?.map(|body| cut_after(body, after)))
        }
        Some(Fault::Delay(time)) => {
            tokio::time::sleep(time).await;
            forward(&to, request, usize::MAX).await
        }
    }
}

/// Sends a request on, at most `most` bytes of its body. The `Host` header stays, so that addresses in answers lead here.
async fn forward(to: &str, request: Request<Incoming>, most: usize) -> Answer {
    let stream = TcpStream::connect(to).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let driving = tokio::spawn(connection);
    let request = if most == usize::MAX {
        request.map(|body| body.map_err(Cut::from).boxed_unsync())
    } else {
        request.map(|body| cut_after(body.map_err(Cut::from).boxed_unsync(), most))
    };
    match sender.send_request(request).await {
        Ok(answer) => Ok(answer.map(|body: Incoming| body.map_err(Cut::from).boxed_unsync())),
        Err(error) => {
            driving.abort();
            Err(error.into())
        }
    }
}

/// The body's first bytes, then an error.
fn cut_after(body: Body, most: usize) -> Body {
    let frames = stream::unfold(Some((BodyStream::new(body), most)), |state| async move {
        let (mut body, left) = state?;
        if left == 0 {
            // What was sent before must reach the other side before the connection is reset.
            tokio::time::sleep(Duration::from_millis(100)).await;
            return Some((Err(cut("cut")), None));
        }
        match body.next().await? {
            Ok(frame) => {
                let mut bytes: Bytes = frame.into_data().unwrap_or_default();
                bytes.truncate(left);
                let left = left - bytes.len();
                Some((Ok(Frame::data(bytes)), Some((body, left))))
            }
            Err(error) => Some((Err(error), None)),
        }
    });
    StreamBody::new(frames).boxed_unsync()
}
