//! The variables that the commands see.

use super::toolchain::Toolchain;
use interlocking_agents::program::Environment;
use std::path::Path;

/// The variables of the caller's environment that every command sees.
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

/// A wrapper that only runs the compiler. If the variable were empty, cargo would not cache what it queries from the compiler,
/// and would run it five times in every build.
const NO_WRAPPER: &str = "/usr/bin/env";

/// The environment of commands: the variables that builds need and those that the toolchain names, so that no secret of the
/// caller reaches code that an agent wrote. Cargo may not use the network, proptest stores no failures on disk, and the user's
/// compiler wrapper is not used, as it may be a service outside the sandbox.
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
