//! Leader election against the API server: waiting for the Lease, keeping it, giving it back.

use std::future::Future;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, PostParams};
use tokio::time::{sleep, timeout};
use tracing::{debug, info, warn};

use super::health::Health;
use super::lease::{Decision, Found, LOOK_EVERY, Observed, RENEW_EVERY, Record, Term, decide, pause};
use super::repeats::Repeats;
use super::writes::Writes;

/// Name of the Lease in the operator's namespace.
const LEASE: &str = "aicr-operator";
/// How long a call about the Lease may take.
const CALL_WITHIN: Duration = Duration::from_secs(5);

/// One process's part in the election.
pub(super) struct Election {
    leases: Api<Lease>,
    identity: String,
    now: fn() -> Timestamp,
    writes: Writes,
    calls: Calls,
}

/// Calls about the Lease: each has a bound, and what comes of it is noted.
struct Calls {
    health: Health,
    failures: u32,
    told: Repeats,
}

/// The Lease while this process holds it.
pub(super) struct Held {
    lease: Lease,
    term: Term,
}

impl Held {
    /// No write is sent before this.
    pub(super) fn writes_from(&self) -> Instant {
        self.term.writes_from
    }
}

/// Why a leader leads no more.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Lost {
    /// It could not renew.
    #[error("the Lease could not be renewed for {} s", super::lease::RENEW_WITHIN.as_secs())]
    NotRenewed,
    /// Another holds the Lease.
    #[error("the Lease was taken by {0}")]
    Taken(String),
    /// Somebody deleted the Lease.
    #[error("the Lease was deleted")]
    Deleted,
}

/// What came of one attempt to renew.
enum Renewal {
    Renewed,
    Changed,
    Failed,
}

impl Election {
    /// `identity` must be this process's alone, also among those that ran in its pod before.
    pub(super) fn new(
        client: kube::Client,
        namespace: &str,
        identity: String,
        now: fn() -> Timestamp,
        writes: Writes,
        health: Health,
    ) -> Self {
        let leases = Api::namespaced(client, namespace);
        let calls = Calls { health, failures: 0, told: Repeats::default() };
        Self { leases, identity, now, writes, calls }
    }

    /// Waits until this process leads, however long the API server is away.
    pub(super) async fn lead(&mut self) -> Held {
        let mut observed: Option<Observed> = None;
        loop {
            let Some(found) = self.calls.call("reading", self.leases.get_opt(LEASE)).await else {
                sleep(pause(self.calls.failures)).await;
                continue;
            };
            let Some(lease) = found else {
                if let Some(held) = self.create().await {
                    return held;
                }
                sleep(pause(self.calls.failures)).await;
                continue;
            };
            let now = Instant::now();
            let next = Observed::after(observed.take(), Record::of(&lease), now);
            let rest = match decide(&next, &self.identity, now) {
                Decision::Wait(rest) => rest,
                Decision::Acquire(found) => match self.take(lease, found).await {
                    Some(held) => return held,
                    None => pause(self.calls.failures),
                },
                // An answer was lost, and how the Lease was found is not known any more.
                Decision::Renew => match self.take(lease, Found::Expired).await {
                    Some(held) => return held,
                    None => pause(self.calls.failures),
                },
            };
            observed = Some(next);
            sleep(rest).await;
        }
    }

    /// Renews until that is impossible; tells why.
    pub(super) async fn keep(&mut self, held: &mut Held) -> Lost {
        loop {
            sleep(RENEW_EVERY).await;
            let renewal = self.renew(held).await;
            // The process may have slept, whatever came of the renewal; and only a fresh term allows to go on.
            if held.term.left(Instant::now()).is_none() {
                return Lost::NotRenewed;
            }
            if matches!(renewal, Some(Renewal::Changed))
                && let Some(lost) = self.look(held).await
            {
                return lost;
            }
        }
    }

    /// Gives the Lease back, so that another need not wait for its end.
    pub(super) async fn release(&self, held: Held) -> kube::Result<()> {
        let record = Record::of(&held.lease).released((self.now)());
        let lease = record.lease(held.lease.metadata);
        self.leases
            .replace(LEASE, &PostParams::default(), &lease)
            .await
            .map(|_| info!("the Lease is released"))
    }

    async fn create(&mut self) -> Option<Held> {
        let metadata = ObjectMeta { name: Some(LEASE.to_owned()), ..ObjectMeta::default() };
        let lease = Record::default().held_by(&self.identity, (self.now)()).lease(metadata);
        let sent = Instant::now();
        let lease = self.calls.call("creating", self.leases.create(&PostParams::default(), &lease)).await?;
        // Whoever led with a Lease that was deleted may not know it yet.
        Some(self.begin(lease, Found::Expired, sent))
    }

    async fn take(&mut self, lease: Lease, found: Found) -> Option<Held> {
        let record = Record::of(&lease).held_by(&self.identity, (self.now)());
        let sent = Instant::now();
        let taken = record.lease(lease.metadata);
        let lease =
            self.calls.call("taking", self.leases.replace(LEASE, &PostParams::default(), &taken)).await?;
        Some(self.begin(lease, found, sent))
    }

    fn begin(&self, lease: Lease, found: Found, sent: Instant) -> Held {
        let term = Term::begin(found, sent, Instant::now());
        self.writes.open(term);
        info!(identity = self.identity, found = ?found, "this process leads");
        Held { lease, term }
    }

    /// One attempt, within what is left of the term; `None` if nothing is.
    async fn renew(&mut self, held: &mut Held) -> Option<Renewal> {
        let sent = Instant::now();
        let left = held.term.left(sent)?;
        let record = Record::of(&held.lease).held_by(&self.identity, (self.now)());
        let renewed = record.lease(held.lease.metadata.clone());
        let parameters = PostParams::default();
        let answer = timeout(left.min(CALL_WITHIN), self.leases.replace(LEASE, &parameters, &renewed)).await;
        self.calls.health.turned(Instant::now());
        Some(match answer {
            Ok(Ok(lease)) => {
                held.lease = lease;
                held.term.renewed = sent;
                self.writes.open(held.term);
                self.calls.went_well();
                Renewal::Renewed
            }
            Ok(Err(kube::Error::Api(status))) if matches!(status.code, 404 | 409) => Renewal::Changed,
            Ok(Err(error)) => {
                self.calls.failed("renewing", &error.to_string());
                Renewal::Failed
            }
            Err(_) => {
                self.calls.failed("renewing", "no answer in time");
                Renewal::Failed
            }
        })
    }

    /// Looks at a Lease that is not as this process left it.
    async fn look(&mut self, held: &mut Held) -> Option<Lost> {
        match self.calls.call("reading", self.leases.get_opt(LEASE)).await? {
            None => Some(Lost::Deleted),
            Some(lease) => {
                let holder = Record::of(&lease).holder;
                if holder != self.identity {
                    return Some(Lost::Taken(if holder.is_empty() { "nobody".to_owned() } else { holder }));
                }
                // An own renewal whose answer was lost, or somebody's edit beside it.
                held.lease = lease;
                None
            }
        }
    }
}

impl Calls {
    /// A call with a bound; a failure is noted and told.
    async fn call<T>(&mut self, doing: &str, request: impl Future<Output = kube::Result<T>>) -> Option<T> {
        let answer = timeout(CALL_WITHIN, request).await;
        self.health.turned(Instant::now());
        match answer {
            Ok(Ok(answer)) => {
                self.went_well();
                Some(answer)
            }
            // Another was faster.
            Ok(Err(kube::Error::Api(status))) if status.code == 409 => {
                debug!(doing, "the Lease was changed by another at the same time");
                self.went_well();
                None
            }
            Ok(Err(error)) => {
                self.failed(doing, &error.to_string());
                None
            }
            Err(_) => {
                self.failed(doing, "no answer in time");
                None
            }
        }
    }

    fn went_well(&mut self) {
        self.health.answered(Instant::now());
        if self.failures > 0 {
            info!(failures = self.failures, "the API server answers again");
        }
        self.failures = 0;
    }

    fn failed(&mut self, doing: &str, problem: &str) {
        self.failures = self.failures.saturating_add(1);
        let problem = format!("{doing} Lease {LEASE}: {problem}");
        self.health.failed(&problem);
        if self.told.is_due(&problem, Instant::now()) || self.failures == 1 {
            warn!(failures = self.failures, "{problem}");
        }
    }
}

/// An identity that no other process has: the pod's name, for people, and a word of chance.
pub(super) fn identity(pod: &str, chance: [u8; 8]) -> String {
    format!("{pod}_{}", hex::encode(chance))
}

const _: () = assert!(LOOK_EVERY.as_millis() <= RENEW_EVERY.as_millis(), "a standby sees every renewal");
