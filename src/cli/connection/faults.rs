//! What kube-rs reports, in words and with a code.

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::io;

use kube::core::Status;
use rustls::CertificateError;

use super::impersonation::Impersonation;
use super::proxy::Proxy;
use crate::api::Code;
use crate::api::keys::GROUP;
use crate::cli::error::CliError;

/// What is known of a connection, to explain its failures with.
#[derive(Clone)]
pub(super) struct Route {
    /// Address of the server.
    pub(super) server: String,
    /// The cluster in words.
    pub(super) cluster: String,
    pub(super) proxy: Option<Proxy>,
    pub(super) impersonation: Option<Impersonation>,
    /// Credentials are held back because the server is reached by plain HTTP.
    pub(super) withheld: bool,
}

impl Route {
    /// The failure of a call.
    pub(super) fn explain(&self, error: kube::Error) -> CliError {
        match error {
            kube::Error::Api(status) => self.answered(&status),
            kube::Error::HyperError(error) => self.transport(&error),
            kube::Error::Service(error) => self.transport(error.as_ref()),
            kube::Error::ReadEvents(error) => self.transport(&error),
            kube::Error::SerdeError(error) => self.unreadable(&error),
            kube::Error::FromUtf8(error) => self.unreadable(&error),
            error => CliError::new(Code::Internal, chain(&error)),
        }
    }

    /// The client could not be made. What a kubeconfig can get wrong is refused before; this is what only the TLS
    /// library can tell.
    pub(super) fn not_made(&self, error: &kube::Error) -> CliError {
        let reason = chain(error);
        CliError::invalid(format!(
            "cannot set up the connection to {} ({}): {reason}",
            self.server, self.cluster
        ))
    }

    /// The deadline passed.
    pub(super) fn late(&self, budget: std::time::Duration) -> CliError {
        CliError::new(Code::Timeout, format!("no answer from {} within {budget:?}", self.there()))
    }

    fn there(&self) -> String {
        match &self.proxy {
            Some(proxy) => format!("{} through {proxy}", self.server),
            None => self.server.clone(),
        }
    }

    fn unreadable(&self, error: &dyn StdError) -> CliError {
        let text =
            format!("the answer of {} cannot be read, is it a Kubernetes API server? {error}", self.there());
        CliError::new(Code::Internal, text)
    }

    /// An error status of the API server, or of what stands in front of it.
    fn answered(&self, status: &Status) -> CliError {
        let code = code_of(status);
        let mut message = status.message.trim().to_owned();
        if message.is_empty() {
            message = format!("the server answered with status {} and no message", status.code);
        }
        if status.code == 404 && message == NOTHING_SERVED {
            message = format!(
                "{} does not serve the operator's API ({GROUP}): install the operator's chart there, or name another \
                 cluster with --context",
                self.there()
            );
        } else if !is_of_api_server(status) {
            message =
                format!("{} answered with status {}: {}", self.there(), status.code, first_line(&message));
            if status.code == 404 {
                message.push_str("; is it a Kubernetes API server?");
            }
        }
        if matches!(status.code, 401 | 403) {
            if let Some(impersonation) = &self.impersonation {
                let _ = write!(message, " ({impersonation})");
            }
            if self.withheld {
                message.push_str("; credentials are not sent over plain http");
            }
        }
        CliError { code, message, status: Some(status.code) }
    }

    /// No answer came: the server, the way to it or the trust in it is at fault.
    fn transport(&self, error: &(dyn StdError + 'static)) -> CliError {
        let there = self.there();
        let (mut timed_out, mut distrust) = (false, None);
        walk(error, &mut |link| {
            timed_out |=
                link.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::TimedOut);
            if let Some(error) = link.downcast_ref::<rustls::Error>() {
                distrust = Some(error.clone());
            }
        });
        if timed_out {
            return CliError::new(Code::Timeout, format!("no answer from {there}: {}", chain(error)));
        }
        let message = match distrust {
            Some(rustls::Error::InvalidCertificate(problem)) => {
                format!("cannot trust {there}: {}", self.distrust(&problem))
            }
            Some(error) => format!("no TLS connection to {there}: {error}"),
            None => format!("cannot reach {there}: {}", chain(error)),
        };
        CliError::new(Code::ServiceUnavailable, message)
    }

    /// What is wrong with the server's certificate, and the way out.
    fn distrust(&self, problem: &CertificateError) -> String {
        match problem {
            // The second is what a cluster that was made anew gives: its authority has the old one's name.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
                "no certificate authority that is trusted for {} signed its certificate; see certificate-authority",
                self.cluster
            ),
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!("{problem}; reach it by a name that it has, or give one as tls-server-name")
            }
            _ => format!("its certificate does not hold: {problem}"),
        }
    }
}

/// What an API server answers, as plain text, on a path under which it serves nothing: there is no such group or kind.
const NOTHING_SERVED: &str = "404 page not found";

/// The code of an error status.
///
/// A denial by a ValidatingAdmissionPolicy is a matter of who asks when the policy answers Forbidden or
/// Unauthorized; otherwise the object's state forbids the request. Denials by the validation rules of a CRD are input
/// that no retry makes right.
fn code_of(status: &Status) -> Code {
    let by_policy =
        status.message.contains("ValidatingAdmissionPolicy") && status.message.contains("denied request");
    match status.code {
        401 | 403 => Code::Unauthorized,
        404 => Code::NotFound,
        409 => Code::Conflict,
        422 if by_policy => Code::Conflict,
        429 => Code::RateLimitExceeded,
        502 | 503 => Code::ServiceUnavailable,
        504 => Code::Timeout,
        500 if status.reason == "ServerTimeout" || status.reason == "Timeout" => Code::Timeout,
        400..=499 => Code::InvalidRequest,
        _ => Code::Internal,
    }
}

/// Whether a status was written by an API server; kube-rs makes one up from any other answer.
fn is_of_api_server(status: &Status) -> bool {
    status.reason != "Failed to parse error data"
}

/// The first line of an answer that may be a page of HTML, cut to what a person reads.
fn first_line(text: &str) -> String {
    const LONGEST: usize = 200;
    let line = text.lines().next().unwrap_or_default();
    let mut short: String = line.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

/// Visits an error and its causes; an `io::Error` hides the error that it wraps from `source`.
fn walk(error: &(dyn StdError + 'static), visit: &mut dyn FnMut(&(dyn StdError + 'static))) {
    let mut next = Some(error);
    while let Some(link) = next {
        visit(link);
        next = match link.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => link.source(),
        };
    }
}

/// An error and its causes in one line, each said once.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    walk(error, &mut |link| {
        let text = link.to_string();
        // What only repeats its cause, or only says that a request failed, adds nothing.
        if text.starts_with("client error (") || text == "error sending request" {
            return;
        }
        match parts.last_mut() {
            Some(last) if last.contains(&text) => {}
            Some(last) if text.contains(last.as_str()) => *last = text,
            _ => parts.push(text),
        }
    });
    if parts.is_empty() { error.to_string() } else { parts.join(": ") }
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
