//! Whether the process is alive and of use.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A loop that has not turned for this long is stuck; each of its calls ends long before.
const STUCK: Duration = Duration::from_mins(1);
/// An API server that has not answered for this long makes the process unready.
const SILENT: Duration = Duration::from_secs(30);

/// What the election loop has seen, shared with the health endpoints.
#[derive(Clone)]
pub(super) struct Health(Arc<Mutex<Seen>>);

struct Seen {
    turned: Instant,
    answered: Option<Instant>,
    problem: Option<String>,
}

/// Why an endpoint answers 503.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unhealthy(String);

impl fmt::Display for Unhealthy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Health {
    pub(super) fn new(now: Instant) -> Self {
        Self(Arc::new(Mutex::new(Seen { turned: now, answered: None, problem: None })))
    }

    /// The loop has turned.
    pub(super) fn turned(&self, now: Instant) {
        self.with(|seen| seen.turned = now);
    }

    /// The API server has answered as it should.
    pub(super) fn answered(&self, now: Instant) {
        self.with(|seen| {
            seen.answered = Some(now);
            seen.problem = None;
        });
    }

    /// It has not.
    pub(super) fn failed(&self, problem: &str) {
        self.with(|seen| seen.problem = Some(problem.to_owned()));
    }

    /// Whether the process works; if not, only a restart helps.
    pub(super) fn live(&self, now: Instant) -> Result<(), Unhealthy> {
        let silence = now.saturating_duration_since(self.with(|seen| seen.turned));
        if silence < STUCK {
            return Ok(());
        }
        Err(Unhealthy(format!("the election loop has not turned for {} s", silence.as_secs())))
    }

    /// Whether the process can do its work, as leader or as standby.
    pub(super) fn ready(&self, now: Instant) -> Result<(), Unhealthy> {
        let (answered, problem) = self.with(|seen| (seen.answered, seen.problem.clone()));
        let why = problem.map_or_else(String::new, |problem| format!(": {problem}"));
        match answered.map(|answered| now.saturating_duration_since(answered)) {
            Some(silence) if silence < SILENT => Ok(()),
            Some(silence) => {
                Err(Unhealthy(format!("no answer from the API server for {} s{why}", silence.as_secs())))
            }
            None => Err(Unhealthy(format!("no answer from the API server yet{why}"))),
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Seen) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Health;

    #[test]
    fn a_process_is_ready_while_the_api_server_answers_and_says_why_when_it_does_not() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let health = Health::new(start);
        assert_eq!(health.ready(start).unwrap_err().to_string(), "no answer from the API server yet");
        health.failed("refused");
        assert_eq!(
            health.ready(start).unwrap_err().to_string(),
            "no answer from the API server yet: refused"
        );
        health.answered(at(1));
        assert_eq!(health.ready(at(30)), Ok(()));
        health.failed("refused");
        assert_eq!(health.ready(at(30)), Ok(()));
        assert_eq!(
            health.ready(at(31)).unwrap_err().to_string(),
            "no answer from the API server for 30 s: refused"
        );
    }

    #[test]
    fn a_process_is_alive_while_its_loop_turns_even_when_the_api_server_is_away() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let health = Health::new(start);
        health.failed("refused");
        assert_eq!(health.live(at(59)), Ok(()));
        health.turned(at(59));
        assert_eq!(health.live(at(118)), Ok(()));
        let error = health.live(at(119)).unwrap_err().to_string();
        assert_eq!(error, "the election loop has not turned for 60 s");
    }
}
