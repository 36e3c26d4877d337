//! argv -> command -> exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    kubectl_aicr::cli::main(std::env::args_os())
}
