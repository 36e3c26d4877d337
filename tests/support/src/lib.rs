//! Real servers for tests: etcd, kube-apiserver and, on request, kube-controller-manager, with the product's chart.
//!
//! ```no_run
//! # async fn test() {
//! use test_support::{Cluster, Identity};
//! let cluster = Cluster::lease().await;
//! let alice = cluster.client(Identity::Approver);
//! # }
//! ```
//!
//! # Which cluster
//! - [`Cluster::lease`] for nearly every test: a server of a pool, with the chart installed and its policies in force.
//! - [`Cluster::private`] for a test that changes the installation itself (deletes a binding, runs `helm upgrade`).
//! - [`Cluster::bare`] for one that wants an API server and nothing else.
//!
//! `AICR_KUBERNETES=floor` runs everything on the oldest supported Kubernetes version instead of the newest.
//!
//! # How tests are kept apart
//! The product has a singleton (the ClusterRuntime `cluster`) and cluster-wide policies, so no two tests may share an API
//! server at the same time, and what one leaves behind must not reach the next. This is guaranteed so:
//!
//! 1. *Exclusive.* A server is with at most one test: it lies either in the pool's list or in one [`Cluster`], which
//!    cannot be cloned. There are at most `AICR_TEST_SERVERS` (2), each with an etcd, a port, certificates, tokens and
//!    a folder of its own.
//! 2. *Equal.* When a server has the chart and its policies deny what they must, everything that it stores is listed
//!    from its etcd: each key with the revision of its last change. That is the baseline. It is complete by
//!    construction: it does not depend on which types discovery shows, and a revision tells a changed or remade object
//!    from an untouched one. Only the API server's own heartbeat Leases and Events are left out.
//! 3. *Reset and verified.* When a test gives a server back, what it added is deleted in etcd, so that neither
//!    finalizers nor policies matter, and the listing must then equal the baseline. It is compared again before the
//!    next test gets the server, for requests that were still under way.
//! 4. *Thrown away if in doubt.* A server is killed and replaced if its test failed (so that the kept logs are only that
//!    test's), changed or deleted anything of the baseline, or added anything that the API server itself acts by
//!    (a CRD, a policy, a webhook, a ServiceAccount, …). Only roles and bindings are an exception: they are deleted,
//!    and then the authorizer is shown to have forgotten them.
//! 5. *Tied to no test's runtime.* Servers are processes, kept by a runtime of the pool's; clients are made by each test
//!    in its own.
//!
//! What is not covered: a task or program that a test starts and neither awaits nor ends may write to the server after
//! it was given away. Await and end what you start.
//!
//! # Other servers
//! [`Registry`] is a real OCI registry, [`http::HttpServer`] answers as a test says, and [`proxy::Proxy`] does harm on the
//! way to either. Each test starts its own.
//!
//! # Nothing stays
//! Each server runs under a small shell script that ends it when the test's process ends, whatever ends that: a
//! panic, Ctrl-C or SIGKILL. Temporary folders go with it. Logs are kept, and their folder in `target/test-logs` is
//! printed, when a test fails; they are also kept when the process is killed during a test.
mod audit;
mod chart;
mod cluster;
mod error;
pub mod http;
mod identity;
mod place;
mod plane;
mod pool;
pub mod proxy;
mod registry;
mod reset;
mod store;
pub mod tools;
mod watchdog;

pub use audit::{Audit, Request};
pub use chart::{
    HelmRun, NAMESPACE, RELEASE, folder as chart_folder, install as install_chart, standard_values,
};
pub use cluster::Cluster;
pub use error::{Error, Result};
pub use identity::{APPROVERS, Identity};
pub use plane::ControlPlane;
pub use registry::Registry;
