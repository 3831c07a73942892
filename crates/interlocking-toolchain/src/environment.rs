//! The variables that the commands see.

use super::toolchain::Toolchain;
use interlocking_agents::program::Environment;
use std::path::Path;

/// What of the caller's environment every command may see.
const PASSED: [&str; 13] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "CARGO_HOME",
    "CARGO_INCREMENTAL",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "LD_LIBRARY_PATH",
];

/// A wrapper that only runs the compiler. Where the variable is empty, cargo caches nothing of what the compiler says of itself, and asks it
/// five times in every build.
const NO_WRAPPER: &str = "/usr/bin/env";

/// What builds need and what the toolchain names, so that no secret of the caller's reaches code that an agent wrote. Cargo is kept
/// off the network, proptest off the disk, and a compiler's wrapper, which is somebody's service outside, off the build.
pub(super) fn of_commands(toolchain: &Toolchain, target_directory: &Path) -> Environment {
    let names = PASSED.iter().copied().chain(toolchain.pass_environment.iter().map(String::as_str));
    let passed = names.fold(Environment::empty(), Environment::inherit);
    passed
        .set("CARGO_TARGET_DIR", target_directory)
        .set("CARGO_BUILD_BUILD_DIR", target_directory)
        .set("CARGO_NET_OFFLINE", "true")
        .set("CARGO_TERM_COLOR", "never")
        .set("RUST_BACKTRACE", "0")
        .set("RUSTC_WRAPPER", NO_WRAPPER)
        .set("RUSTC_WORKSPACE_WRAPPER", NO_WRAPPER)
        .set("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1")
}
