//! One deadline for all API calls of a command.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// Longest time that a command's API calls may take together.
///
/// Source: kubectl-aicr, "Usage": each command's API calls share a 30-second deadline.
pub const LONGEST: Duration = Duration::from_secs(30);

/// The instant after which a command waits for no server. Waiting for a person moves it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    budget: Duration,
    ends: Instant,
}

/// The deadline passed before the answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Elapsed;

impl Deadline {
    /// Starts now, with `limit` or [`LONGEST`], whichever is shorter.
    pub(super) fn start(limit: Option<Duration>) -> Self {
        let budget = limit.map_or(LONGEST, |limit| limit.min(LONGEST));
        Self { budget, ends: Instant::now() + budget }
    }

    /// How long the whole command may wait for servers.
    pub(super) const fn budget(&self) -> Duration {
        self.budget
    }

    /// Waits for `work` until the deadline.
    pub(super) async fn bound<T>(&self, work: impl Future<Output = T>) -> Result<T, Elapsed> {
        timeout_at(self.ends, work).await.map_err(|_| Elapsed)
    }

    /// Runs `wait` outside the deadline: what it takes is given back.
    pub(super) fn pause<T>(&mut self, wait: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let result = wait();
        self.ends += began.elapsed();
        result
    }

    /// Waits for `work` outside the deadline: what it takes is given back.
    pub(super) async fn pause_for<T>(&mut self, work: impl Future<Output = T>) -> T {
        let began = Instant::now();
        let result = work.await;
        self.ends += began.elapsed();
        result
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::time::{advance, sleep};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn the_calls_of_a_command_share_thirty_seconds() {
        let deadline = Deadline::start(None);
        let began = Instant::now();
        assert_eq!(deadline.bound(sleep(20 * SECOND)).await, Ok(()));
        assert_eq!(deadline.bound(pending::<()>()).await, Err(Elapsed));
        assert_eq!(began.elapsed().as_secs(), 30);
        assert_eq!(deadline.bound(sleep(SECOND)).await, Err(Elapsed));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_timeout_shortens_the_deadline_and_never_lengthens_it() {
        for (limit, expected) in [(Some(2 * SECOND), 2), (Some(90 * SECOND), 30), (None, 30)] {
            let deadline = Deadline::start(limit);
            let began = Instant::now();
            assert_eq!(deadline.bound(pending::<()>()).await, Err(Elapsed));
            assert_eq!((began.elapsed().as_secs(), deadline.budget().as_secs()), (expected, expected));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_a_person_is_outside_the_deadline() {
        let mut deadline = Deadline::start(None);
        advance(10 * SECOND).await;
        deadline.pause_for(sleep(3600 * SECOND)).await;
        let began = Instant::now();
        assert_eq!(deadline.bound(pending::<()>()).await, Err(Elapsed));
        assert_eq!(began.elapsed().as_secs(), 20);
    }

    #[tokio::test]
    async fn blocking_on_a_person_is_outside_the_deadline() {
        let mut deadline = Deadline::start(Some(Duration::from_millis(500)));
        deadline.pause(|| std::thread::sleep(Duration::from_millis(700)));
        assert_eq!(deadline.bound(sleep(Duration::from_millis(1))).await, Ok(()));
    }
}
