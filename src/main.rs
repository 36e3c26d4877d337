//! argv -> command -> exit code. The operator's process and the plugin know nothing of each other; this is where they
//! part.

use std::ffi::OsString;
use std::process::ExitCode;

use kubectl_aicr::cli::clock;
use kubectl_aicr::cli::env::Env;
use kubectl_aicr::controller::{self, Outside};

/// The word that makes the program the operator's process.
const CONTROLLER: &str = "controller";

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let second = words.by_ref().nth(1);
    if second.as_deref() != Some(CONTROLLER.as_ref()) {
        return kubectl_aicr::cli::main(std::env::args_os());
    }
    let arguments: Vec<OsString> = words.collect();
    let env = Env::of_process();
    let variable = |name: &str| env.text(name).map(std::borrow::Cow::into_owned);
    controller::main(&Outside { arguments, variable: &variable, now: clock::now })
}
