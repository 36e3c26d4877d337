//! The only way to write: as the leader, while the Lease surely holds, and with a bound on time.
//!
//! Source: design, section 8.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::lease::{Refusal, Term, WRITE_WITHIN};

/// Permission to write; clones share it. It comes and goes with the Lease.
#[derive(Clone, Default)]
pub struct Writes(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    term: Option<Term>,
    under_way: usize,
    /// When the last write whose end nobody knows is certainly over.
    settled_from: Option<Instant>,
}

impl State {
    fn may_write(&self, within: Duration, now: Instant) -> Result<(), Refusal> {
        self.term.map_or(Err(Refusal::NotLeading), |term| term.may_write(within, now))
    }
}

/// Why a write did not succeed, as far as is known.
#[derive(Debug)]
pub enum WriteError {
    /// It was not sent.
    Refused(Refusal),
    /// There was no answer in time; it may have happened.
    Late,
    /// The API server said no, or the connection failed.
    Failed(kube::Error),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(Refusal::NotLeading) => f.write_str("not sent: this process does not lead"),
            Self::Refused(Refusal::NotYet(rest)) => {
                write!(
                    f,
                    "not sent: a write of the leader before may be under way for {} ms more",
                    rest.as_millis()
                )
            }
            Self::Refused(Refusal::LeaseTooOld) => f.write_str("not sent: it could end after the Lease"),
            Self::Late => write!(f, "no answer within {} s", WRITE_WITHIN.as_secs()),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Failed(error) => Some(error),
            Self::Refused(_) | Self::Late => None,
        }
    }
}

impl Writes {
    /// Sends one write. The permission is checked on the monotonic clock when the request is about to go; the request
    /// itself must be lazy, as those of `kube::Api` are.
    pub async fn send<T>(&self, request: impl Future<Output = kube::Result<T>>) -> Result<T, WriteError> {
        let under_way = self.begin(Instant::now()).map_err(WriteError::Refused)?;
        let answer = tokio::time::timeout(WRITE_WITHIN, request).await;
        match answer {
            Err(_) => Err(WriteError::Late),
            Ok(Ok(answer)) => {
                under_way.settle();
                Ok(answer)
            }
            Ok(Err(error)) => {
                if is_definite(&error) {
                    under_way.settle();
                }
                Err(WriteError::Failed(error))
            }
        }
    }

    /// Whether a write may be sent now.
    pub fn may_write(&self, within: Duration, now: Instant) -> Result<(), Refusal> {
        self.state().may_write(within, now)
    }

    /// The process leads, or has renewed its Lease.
    pub fn open(&self, term: Term) {
        self.state().term = Some(term);
    }

    /// The process leads no more: nothing is sent from now on.
    pub(super) fn close(&self) {
        self.state().term = None;
    }

    /// Whether no write is under way, not even one whose end nobody knows.
    pub(super) fn are_settled(&self, now: Instant) -> bool {
        let state = self.state();
        state.under_way == 0 && state.settled_from.is_none_or(|from| from <= now)
    }

    fn begin(&self, now: Instant) -> Result<UnderWay<'_>, Refusal> {
        // Checked and counted at once: after `close`, either nothing is sent or the write is seen to be under way.
        let mut state = self.state();
        state.may_write(WRITE_WITHIN, now)?;
        state.under_way += 1;
        drop(state);
        Ok(UnderWay { writes: self, settled: false })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the API server has certainly decided: anything else may still happen after the answer.
fn is_definite(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if (400..500).contains(&status.code) && status.code != 408)
}

/// A write that was sent.
struct UnderWay<'a> {
    writes: &'a Writes,
    settled: bool,
}

impl UnderWay<'_> {
    fn settle(mut self) {
        self.settled = true;
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut state = self.writes.state();
        state.under_way -= 1;
        if !self.settled {
            state.settled_from = Some(Instant::now() + WRITE_WITHIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::{Duration, Instant};

    use kube::core::Status;

    use super::super::lease::{Found, Refusal, Term, WRITE_WITHIN};
    use super::{WriteError, Writes};

    fn leading() -> Writes {
        let writes = Writes::default();
        writes.open(Term::begin(Found::Released, Instant::now(), Instant::now()));
        writes
    }

    fn refused(answer: Result<(), WriteError>) -> Refusal {
        match answer {
            Err(WriteError::Refused(refusal)) => refusal,
            other => panic!("{other:?}"),
        }
    }

    /// A request that must not be sent.
    fn never() -> impl Future<Output = kube::Result<()>> {
        std::future::poll_fn(|_| panic!("it was sent"))
    }

    #[tokio::test]
    async fn nothing_is_sent_before_during_and_after_a_reign_that_does_not_allow_it() {
        let writes = Writes::default();
        assert_eq!(refused(writes.send(never()).await), Refusal::NotLeading);
        let now = Instant::now();
        writes.open(Term::begin(Found::Expired, now, now));
        assert!(matches!(refused(writes.send(never()).await), Refusal::NotYet(_)));
        let old = now.checked_sub(Duration::from_secs(11)).unwrap();
        writes.open(Term::begin(Found::Released, old, old));
        assert_eq!(refused(writes.send(never()).await), Refusal::LeaseTooOld);
        writes.close();
        assert_eq!(refused(writes.send(never()).await), Refusal::NotLeading);
        assert!(writes.are_settled(Instant::now()));
    }

    #[tokio::test]
    async fn an_answered_write_is_settled_whether_it_succeeded_or_was_denied() {
        let writes = leading();
        writes.send(async { Ok(()) }).await.unwrap();
        let denied =
            async { Err::<(), _>(kube::Error::Api(Box::new(Status { code: 409, ..Status::default() }))) };
        assert!(matches!(writes.send(denied).await, Err(WriteError::Failed(_))));
        assert!(writes.are_settled(Instant::now()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_without_a_certain_end_is_unsettled_for_as_long_as_it_may_take() {
        let failing =
            async { Err::<(), _>(kube::Error::Api(Box::new(Status { code: 504, ..Status::default() }))) };
        let writes = leading();
        assert!(matches!(writes.send(failing).await, Err(WriteError::Failed(_))));
        assert!(!writes.are_settled(Instant::now()));

        let writes = leading();
        assert!(matches!(writes.send(pending::<kube::Result<()>>()).await, Err(WriteError::Late)));
        assert!(!writes.are_settled(Instant::now()));
        assert!(writes.are_settled(Instant::now() + WRITE_WITHIN));

        let writes = leading();
        let write = writes.send(pending::<kube::Result<()>>());
        let _ = tokio::time::timeout(Duration::from_millis(1), write).await;
        assert!(!writes.are_settled(Instant::now()), "it was dropped on its way");
    }
}
