//! What one command works with: an open connection, its flags, the clock's reading and the look of its output.

use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::Api;
use kube::api::PostParams;

use super::args::Flags;
use super::clock;
use super::connection::Connection;
use super::env::Env;
use super::error::CliError;
use super::printer::Look;
use crate::api::{Code, RuntimeRollout, Time};

/// One command's surroundings.
pub(super) struct Session<'a> {
    pub(super) connection: Connection,
    pub(super) flags: &'a Flags,
    pub(super) look: Look,
}

impl<'a> Session<'a> {
    /// Opens the connection; no call is made yet.
    pub(super) async fn open(flags: &'a Flags, env: &Env, look: Look) -> Result<Self, CliError> {
        Ok(Self { connection: Connection::open(&flags.connection, env).await?, flags, look })
    }

    /// The time now; read anew, because a person may have thought for long.
    #[expect(clippy::unused_self, reason = "the clock belongs to the session, as its other sources do")]
    pub(super) fn now(&self) -> Time {
        Time(clock::now())
    }

    /// The rollouts of the cluster.
    pub(super) fn rollouts(&self) -> Api<RuntimeRollout> {
        Api::all(self.connection.client())
    }

    /// One rollout as it is now.
    pub(super) async fn rollout(&self, name: &str) -> Result<RuntimeRollout, CliError> {
        self.connection.call(self.rollouts().get(name)).await
    }

    /// The username that the API server sees behind this connection, impersonation included.
    ///
    /// Source: kubectl-aicr, "approve": it asks the server who you are.
    pub(super) async fn whoami(&self) -> Result<String, CliError> {
        let reviews: Api<SelfSubjectReview> = Api::all(self.connection.client());
        let (parameters, asked) = (PostParams::default(), SelfSubjectReview::default());
        let review = self.connection.call(reviews.create(&parameters, &asked)).await?;
        let user = review.status.and_then(|status| status.user_info);
        let name = user.and_then(|user| user.username).filter(|name| !name.is_empty());
        let name = name
            .ok_or_else(|| CliError::new(Code::Unauthorized, "the API server does not tell who you are"))?;
        // A proxy that drops the headers would have the approval recorded in the wrong name.
        match self.connection.impersonation() {
            Some(asked) if asked.user != name => Err(CliError::new(
                Code::Unauthorized,
                format!(
                    "asked to act as {}, but the API server sees {name}: nothing was changed",
                    asked.user
                ),
            )),
            _ => Ok(name),
        }
    }
}
