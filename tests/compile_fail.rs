//! What must not compile does not, and the error says why in the graph's own words.

use std::env;
use std::process::Command;

/// What trybuild tells the compiler about the cases. It tells it less when it builds what they depend on, so that cargo would build that
/// twice; what is in this variable counts instead of either.
const FLAGS: (&str, [&str; 5]) =
    ("CARGO_ENCODED_RUSTFLAGS", ["--cfg=trybuild", "--verbose", "-A", "dead_code", "--diagnostic-width=140"]);

/// TC-18: one file a rule, with the compiler's message beside it. One run, because it builds a project of its own. To bless new messages:
/// `TRYBUILD=overwrite cargo test -p interlocking-tests --test compile_fail`, and then read them.
#[test]
fn the_compiler_checks_the_routes() {
    let (variable, flags) = FLAGS;
    let flags = flags.join("\x1f");
    if env::var(variable).is_ok_and(|set| set == flags) {
        return trybuild::TestCases::new().compile_fail("compile-fail/*.rs");
    }
    let this = Command::new(env::current_exe().expect("a test is a program"))
        .env(variable, flags)
        .args(env::args_os().skip(1))
        .status();
    assert!(this.expect("this test starts once more").success());
}
