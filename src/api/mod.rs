//! Types of the API and the names everybody shares. No behaviour beyond accessors; knows no other module.

pub mod application;
mod code;
mod condition;
pub mod crd;
mod duration;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod keys;
mod rollout;
mod rollout_rules;
mod rollout_status;
mod runtime;
mod schema;
mod time;

pub use code::Code;
pub use condition::{Condition, ConditionStatus};
pub use duration::{DurationError, GoDuration};
pub use rollout::*;
pub use rollout_status::*;
pub use runtime::*;
pub use time::Time;
