//! Checks that wrong code does not compile, and that the error explains it in terms of the graph.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// trybuild builds the dependencies of the cases with other compiler flags than the cases, so cargo would build them twice. Cargo
/// prefers this variable to the flags that trybuild passes.
const VARIABLE: &str = "CARGO_ENCODED_RUSTFLAGS";

/// The workspace's manifest, which ends with its profiles.
const MANIFEST: &str = include_str!("../Cargo.toml");

/// The flags that trybuild uses for the cases.
const FLAGS: [&str; 5] = ["--cfg=trybuild", "--verbose", "-A", "dead_code", "--diagnostic-width=140"];

/// TC-18: one file a rule, with the compiler's message beside it. One run, because it builds a project of its own. To bless new messages:
/// `TRYBUILD=overwrite cargo test -p interlocking-tests --test compile_fail`, and then read them.
#[test]
fn the_compiler_checks_the_routes() {
    let flags = FLAGS.join("\x1f");
    if env::var(VARIABLE).is_ok_and(|set| set == flags) {
        let cases = trybuild::TestCases::new();
        return cases_to_compile().iter().for_each(|case| cases.compile_fail(case));
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the directory of builds");
    // The cases reuse what cargo has built for this test to run at compile time: macros and their dependencies. For that they
    // must have the same build directory, the same features, by `interlocking-unified`, and the same profiles.
    let profiles = MANIFEST.find("[profile.").map(|begin| &MANIFEST[begin..]).expect("the workspace has profiles");
    let settings = target.join("tests/trybuild/.cargo");
    fs::create_dir_all(&settings).expect("the directory of builds is this user's");
    fs::write(settings.join("config.toml"), profiles).expect("the directory of builds is this user's");
    let this = Command::new(env::current_exe().expect("a test is a program"))
        .env(VARIABLE, flags)
        .env("CARGO_BUILD_BUILD_DIR", target)
        .args(env::args_os().skip(1))
        .status();
    assert!(this.expect("this test starts once more").success());
}

/// All cases. Without the source of the standard library (the component `rust-src`), cases whose message quotes it are left out,
/// unless `CI` is set.
#[expect(clippy::print_stdout, reason = "a test says what it leaves out")]
fn cases_to_compile() -> Vec<PathBuf> {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let printed = Command::new(compiler).args(["--print", "sysroot"]).output().expect("there is a compiler");
    let sysroot = Path::new(str::from_utf8(&printed.stdout).expect("a path").trim()).to_owned();
    let has_source = sysroot.join("lib/rustlib/src/rust/library/core/src/lib.rs").is_file();
    let quotes_source = |case: &Path| {
        let message = fs::read_to_string(case.with_extension("stderr"));
        message.is_ok_and(|message| message.contains("--> $RUST/"))
    };
    let files = fs::read_dir("compile-fail").expect("the cases are here").map(|entry| entry.expect("an entry").path());
    let mut cases: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|ending| ending == "rs")).collect();
    cases.sort();
    if !has_source && env::var_os("CI").is_none() {
        cases.retain(|case| {
            let is_left_out = quotes_source(case);
            if is_left_out {
                println!("{} is left out: it takes `rustup component add rust-src`", case.display());
            }
            !is_left_out
        });
    }
    cases
}
