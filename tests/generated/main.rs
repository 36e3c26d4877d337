//! Files that are generated from the code and committed, because users need them. Each test fails when its file is
//! stale; `make generate` (AICR_BLESS=1) writes them anew.

#![expect(clippy::disallowed_methods, reason = "a test reads its own switch from the environment")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod crds;
mod shell;

use std::path::Path;

/// Compares a committed file with what the code generates, or writes it when asked to.
fn check(path: &str, generated: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("AICR_BLESS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, generated).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == generated, "{path} is stale: run `make generate` and commit the result");
}
