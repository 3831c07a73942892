//! What must not compile does not, and the error says why in the graph's own words.

use std::env;
use std::path::Path;
use std::process::Command;

/// trybuild builds the dependencies of the cases with other compiler flags than the cases, so cargo would build them twice. Cargo prefers
/// this variable to the flags that trybuild gives it.
const VARIABLE: &str = "CARGO_ENCODED_RUSTFLAGS";

/// The flags that trybuild gives it for the cases.
const FLAGS: [&str; 5] = ["--cfg=trybuild", "--verbose", "-A", "dead_code", "--diagnostic-width=140"];

/// TC-18: one file a rule, with the compiler's message beside it. One run, because it builds a project of its own. To bless new messages:
/// `TRYBUILD=overwrite cargo test -p interlocking-tests --test compile_fail`, and then read them.
#[test]
fn the_compiler_checks_the_routes() {
    let flags = FLAGS.join("\x1f");
    if env::var(VARIABLE).is_ok_and(|set| set == flags) {
        return trybuild::TestCases::new().compile_fail("compile-fail/*.rs");
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the directory of builds");
    let this = Command::new(env::current_exe().expect("a test is a program"))
        .env(VARIABLE, flags)
        // What makes the next build quicker only costs time: the cases' dependencies are built once.
        .env("CARGO_INCREMENTAL", "0")
        // What cargo has built for this test to run at compile time, macros and what they depend on, serves the cases, too: if it lies in the
        // same place, and is without information for debuggers, as the workspace has it.
        .env("CARGO_BUILD_BUILD_DIR", target)
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .args(env::args_os().skip(1))
        .status();
    assert!(this.expect("this test starts once more").success());
}
