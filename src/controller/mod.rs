//! The operator's process: configuration, leader election, logs, metrics, health, Events and conditions.
//!
//! | file | what lives there |
//! | --- | --- |
//! | `config` | settings from flags and environment, checked whole at start |
//! | `client` | the client: service account or kubeconfig, no retries |
//! | `lease` | who leads: the rules, pure |
//! | `election` | waiting for the Lease, keeping it, giving it back |
//! | `writes` | the only way to write: as the leader, in time |
//! | `conditions`, `events`, `note` | what the ClusterRuntime's status and Events say |
//! | `log`, `metrics`, `health`, `http` | what the process says of itself |
//! | `repeats` | telling seldom about a failure that repeats |
//!
//! A process waits for the Lease, leads, and ends: with 0 after SIGTERM or SIGINT, with 1 when it lost the Lease, since
//! only a new process certainly holds nothing that an old leader knew. It never ends because the API server is away.
//!
//! Clock, environment and command line are given by `main`; the process reads none of them itself.

mod client;
pub mod conditions;
pub mod config;
mod election;
pub mod events;
mod health;
mod http;
pub mod lease;
pub mod log;
pub mod metrics;
pub mod note;
pub mod repeats;
pub mod writes;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{sleep, timeout};
use tracing::{error, info, warn};

pub use client::{NoClient, connect};
use config::{Build, Config, Given};
use election::{Election, Held, Lost};
use health::Health;
use metrics::Metrics;
use writes::Writes;

/// Exit code of wrong settings.
const USAGE: u8 = 2;
/// How long the end waits for writes under way, and then for the Lease's release; together less than 5 s.
const SETTLE_WITHIN: Duration = Duration::from_millis(2500);
const RELEASE_WITHIN: Duration = Duration::from_millis(1500);

/// What the process is given from outside.
pub struct Outside<'a> {
    /// The command line after `controller`.
    pub arguments: Vec<OsString>,
    /// The environment: a variable's value, `None` when unset.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The wall clock, for what people read. Nothing is decided by it.
    pub now: fn() -> Timestamp,
}

/// Runs the process to its end: 0 when it was asked to end, 1 when it could not go on, 2 for wrong settings.
pub fn main(outside: &Outside<'_>) -> ExitCode {
    let words = std::iter::once(OsString::from("controller")).chain(outside.arguments.iter().cloned());
    let matches = match config::command().try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => {
            // Nobody can be told that the stream is closed.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE));
        }
    };
    let config = match Config::check(&Given::read(&matches, outside.variable), Build::of_this_program()) {
        Ok(config) => config,
        Err(problems) => {
            let _ = writeln!(std::io::stderr(), "error: [INVALID_REQUEST] {problems}");
            return ExitCode::from(USAGE);
        }
    };
    log::start(config.operator.log_format, config.operator.log_level, outside.now);
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            error!("cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let ended = runtime.block_on(run(&config, outside));
    // Whatever is still under way ends here: a leader that lost its Lease must not go on.
    runtime.shutdown_background();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Why the process ended without being asked to.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error("cannot listen for signals: {0}")]
    Signals(std::io::Error),
    #[error("cannot listen at --listen: {0}")]
    Listen(std::io::Error),
    #[error("metrics and health are served no more: {0}")]
    Http(std::io::Error),
    #[error("the system gives no random bytes: {0}")]
    Chance(std::io::Error),
    #[error("{0}")]
    Client(#[from] NoClient),
    #[error("this process leads no more: {0}")]
    Lost(#[from] Lost),
}

async fn run(config: &Config, outside: &Outside<'_>) -> Result<(), Ended> {
    let mut end = End::new().map_err(Ended::Signals)?;
    let (metrics, health, writes) = (Metrics::default(), Health::new(Instant::now()), Writes::default());
    let listener = http::listen(config.operator.listen).await.map_err(Ended::Listen)?;
    let address = listener.local_addr().map_err(Ended::Listen)?;
    let client = connect(&config.access, &config.operator.pod, outside.variable).await?;
    let identity = election::identity(&config.operator.pod, chance().map_err(Ended::Chance)?);
    let namespace = &config.operator.namespace;
    let mut election =
        Election::new(client, namespace, identity.clone(), outside.now, writes.clone(), health.clone());
    info!(
        version = env!("CARGO_PKG_VERSION"),
        aicr = %config.aicr.image,
        identity,
        address = %address,
        "the operator has started"
    );
    tell_of_development(config);
    let served = http::serve(listener, metrics, health);
    tokio::select! {
        served = served => served.map_err(Ended::Http),
        reign = reign(&mut election, &writes, &mut end) => reign.map_err(Ended::Lost),
    }
}

/// Waits to lead, leads, and gives the Lease back when the process is asked to end.
async fn reign(election: &mut Election, writes: &Writes, end: &mut End) -> Result<(), Lost> {
    let mut held = tokio::select! {
        held = election.lead() => held,
        () = end.asked() => return Ok(()),
    };
    let rest = held.writes_from().saturating_duration_since(Instant::now());
    if !rest.is_zero() {
        info!(milliseconds = rest.as_millis(), "the leader before may still write; writes begin after that");
    }
    let lost = tokio::select! {
        lost = election.keep(&mut held) => Some(lost),
        () = end.asked() => None,
    };
    writes.close();
    if let Some(lost) = lost {
        return Err(lost);
    }
    give_back(election, writes, held).await;
    Ok(())
}

/// Releases the Lease once no write is under way. Whoever takes a released one writes at once, so one with a write of
/// unknown end is left to expire.
async fn give_back(election: &Election, writes: &Writes, held: Held) {
    let settled = async {
        while !writes.are_settled(Instant::now()) {
            sleep(Duration::from_millis(20)).await;
        }
    };
    if timeout(SETTLE_WITHIN, settled).await.is_err() {
        warn!("a write may still be under way: the Lease is not released and will expire");
        return;
    }
    match timeout(RELEASE_WITHIN, election.release(held)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => warn!("the Lease was not released and will expire: {error}"),
        Err(_) => warn!("the Lease was not released in time and will expire"),
    }
}

/// A development build says loudly what it was told to leave out.
fn tell_of_development(config: &Config) {
    if config.development.bypass_approvals {
        warn!("development.bypassApprovals is set: rollouts start without approval");
    }
    if config.development.skip_discovery {
        warn!("development.skipDiscovery is set: declared criteria are trusted and no snapshot is taken");
    }
}

/// The signals that ask the process to end.
struct End {
    terminate: Signal,
    interrupt: Signal,
}

impl End {
    fn new() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn asked(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        info!("asked to end");
    }
}

/// Eight random bytes.
fn chance() -> std::io::Result<[u8; 8]> {
    use std::io::Read as _;
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
