//! Registries and chart repositories: charts are fetched from where upstream keeps them, looked into, and kept in the
//! runtime registry, pinned by digest; bundles are read from there.
//!
//! | file | what lives there |
//! | --- | --- |
//! | `reference`, `digest` | names of repositories and of content |
//! | `login`, `challenge` | who we are where, and what a registry asks |
//! | `aws`, `token_age` | ECR's tokens, and when to renew them |
//! | `client`, `transport`, `retry` | requests: logins, timeouts, waiting, and what refusals mean |
//! | `blobs` | manifests and blobs, streamed, resumed, checked |
//! | `source`, `index`, `upstreams` | where upstream charts lie |
//! | `tarball`, `chart` | archives: read within bounds, packed reproducibly; what a chart says |
//! | `bundle` | bundles, with their checksums |
//! | `mirror` | charts on their way into the runtime registry |
//!
//! Nothing here knows another module of ours. Nothing is ever deleted, and no tag is ever moved.

mod aws;
mod blobs;
mod bundle;
mod challenge;
mod chart;
mod client;
mod digest;
mod error;
mod index;
mod login;
mod mirror;
mod reference;
mod retry;
mod source;
mod tarball;
mod token_age;
mod transport;
mod upstreams;

pub use aws::{AwsConfig, EcrLogins, EcrToken};
pub use bundle::{Tree, TreeFile};
pub use chart::{ChartDefaults, ChartFacts, SubchartDefaults};
pub use client::{Client, Settings};
pub use digest::{ContentDigest, NoDigest};
pub use error::{Error, Reason};
pub use login::{DockerConfig, Login, Logins};
pub use mirror::{Mirror, Published};
pub use reference::{Reference, Repository, Target};
pub use retry::Patience;
pub use source::ChartSource;
pub use tarball::pack;
pub use token_age::{TokenAge, TokenTimes};
pub use transport::Timeouts;
pub use upstreams::Upstreams;
