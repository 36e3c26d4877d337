//! The servers that tests share, one test at a time.
//!
//! They are started, reset and thrown away by a runtime of their own, because each test's runtime ends with the test.
use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::chart;
use crate::error::{Doing, Error, Result};
use crate::plane::ControlPlane;
use crate::reset::{Baseline, Reset};

/// How many servers there are at most, unless `AICR_TEST_SERVERS` says otherwise.
const SERVERS: usize = 2;

/// A server with the chart, and what it held before any test.
pub(crate) struct Pooled {
    pub(crate) plane: ControlPlane,
    baseline: Baseline,
    /// The seat in the pool. It is given up when the server is idle or gone, never while it is being reset.
    _seat: OwnedSemaphorePermit,
}

struct Pool {
    runtime: Runtime,
    seats: Arc<Semaphore>,
    idle: Mutex<Vec<(ControlPlane, Baseline)>>,
}

static POOL: LazyLock<Result<Pool>> = LazyLock::new(|| {
    let seats = Arc::new(Semaphore::new(servers()?));
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("test-servers")
        .enable_all()
        .build()
        .doing(|| "making the test servers' runtime".to_owned())?;
    Ok(Pool { runtime, seats, idle: Mutex::default() })
});

#[expect(clippy::disallowed_methods, reason = "the documented variable that sizes the pool")]
fn servers() -> Result<usize> {
    match std::env::var("AICR_TEST_SERVERS") {
        Err(_) => Ok(SERVERS),
        Ok(text) => text.parse().ok().filter(|number| (1..=16).contains(number)).ok_or_else(|| {
            Error::new(format!(
                "AICR_TEST_SERVERS is '{text}': it is the number of servers that tests share, 1 to 16"
            ))
        }),
    }
}

/// An exclusive server with the chart, equal to every other such server. Waits while all are out.
pub(crate) async fn lease() -> Result<Pooled> {
    let pool = POOL.as_ref().map_err(Clone::clone)?;
    let seat = pool.seats.clone().acquire_owned().await.doing(|| "waiting for a test server".to_owned())?;
    let prepared = pool.runtime.spawn(async move {
        let (plane, baseline) = match pool.verified_idle().await {
            Some(server) => server,
            None => start().await?,
        };
        Ok(Pooled { plane, baseline, _seat: seat })
    });
    prepared.await.doing(|| "preparing a test server".to_owned())?
}

async fn start() -> Result<(ControlPlane, Baseline)> {
    let plane = ControlPlane::start("pool").await?;
    chart::install_all(&plane).await?;
    let baseline = Baseline::take(&plane).await?;
    plane.drop_logs();
    Ok((plane, baseline))
}

impl Pool {
    /// An idle server that still equals its baseline: a request that its last test left behind may have come late.
    async fn verified_idle(&self) -> Option<(ControlPlane, Baseline)> {
        loop {
            let (plane, baseline) = self.idle().pop()?;
            if restored(&plane, &baseline, "an earlier test").await {
                return Some((plane, baseline));
            }
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<(ControlPlane, Baseline)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a server back and resets it in the background. `test` is named if it spoilt the server. A server whose test
/// failed is thrown away, so that its logs, which are kept, end with that test.
pub(crate) fn give_back(pooled: Pooled, test: String, failed: bool) {
    let Ok(pool) = POOL.as_ref() else { return };
    if !failed {
        // Now, since the test may have been the last: then the process ends before the reset does.
        pooled.plane.drop_logs();
    }
    pool.runtime.spawn(async move {
        let Pooled { plane, baseline, _seat } = pooled;
        plane.stop_controller_manager();
        if !failed && restored(&plane, &baseline, &test).await {
            pool.idle().push((plane, baseline));
        }
    });
}

/// Whether the server equals its baseline now. If it cannot, that costs seconds, so whoever runs the tests is told.
async fn restored(plane: &ControlPlane, baseline: &Baseline, test: &str) -> bool {
    let why = match baseline.restore(plane).await {
        Ok(Reset::Clean) => return true,
        Ok(Reset::Spoilt(what)) => what,
        Err(error) => error.to_string(),
    };
    // Not eprintln!, which the test runner would show only with a failed test.
    let _ = writeln!(std::io::stderr(), "test-support: a shared server is replaced after {test}: {why}");
    false
}
