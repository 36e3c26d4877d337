//! From a runtime's inputs to a plan: what decides, without a server, a clock or an environment.
//!
//! | file | what it decides |
//! | --- | --- |
//! | [`helm_yaml`] | values files as Helm reads them |

pub mod helm_yaml;
