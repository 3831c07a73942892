//! Compares the compile time of a hundred derived nodes with a hundred handwritten ones, in CPU seconds beyond an empty
//! crate: `cargo bench -p interlocking-bench --bench compile`; with `-- each`, each node has a payload type of its own;
//! with `-- clap`, compares with a hundred arguments of clap's derive; with `-- branches`, compares the time to prove
//! ten parallel branches sound with the ring. Reads the time of its children from `/proc`, so on Linux only.

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]

use interlocking_bench::generated::{Payloads, arguments, branches, by_hand, derived, empty, manifest};
use interlocking_bench::rounds::compare_by;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const NODES: usize = 100;
const ROUNDS: usize = 9;

struct Package {
    directory: tempfile::TempDir,
    source: String,
    writes: u32,
}

impl Package {
    fn new(name: &str, source: String) -> Self {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let directory = tempfile::tempdir().expect("a directory");
        let facade = workspace.join("crates/interlocking").canonicalize().expect("the facade");
        std::fs::create_dir(directory.path().join("src")).expect("a directory");
        std::fs::write(directory.path().join("Cargo.toml"), manifest(name, &facade.to_string_lossy())).expect("a file");
        // The workspace's versions, so that nothing is downloaded.
        std::fs::copy(workspace.join("Cargo.lock"), directory.path().join("Cargo.lock")).expect("the lock file");
        Self { directory, source, writes: 0 }
    }

    /// The CPU time of compiling the package from nothing, without its dependencies.
    fn compile(&mut self, command: &str) -> Duration {
        self.cargo(command);
        self.writes += 1;
        self.cargo(command)
    }

    fn cargo(&self, command: &str) -> Duration {
        let text = format!("// {}\n{}", self.writes, self.source);
        std::fs::write(self.directory.path().join("src/lib.rs"), text).expect("a file");
        let before = children();
        let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args([command, "--offline", "--quiet"])
            .current_dir(self.directory.path())
            .env("CARGO_INCREMENTAL", "0")
            .env_remove("CARGO_TARGET_DIR")
            .status()
            .expect("cargo runs");
        assert!(status.success(), "the generated crate compiles");
        children() - before
    }
}

/// The user time of all children so far. Linux counts it in hundredths of a second.
fn children() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux's /proc");
    let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.nth(13).and_then(|ticks| ticks.parse().ok()).expect("a number of ticks");
    Duration::from_millis(ticks * 10)
}

fn main() {
    let asked = |what: &str| std::env::args().any(|argument| argument == what);
    if asked("clap") {
        beside(derived(NODES, Payloads::One), arguments(NODES), "check, beside clap's derive");
    } else if asked("branches") {
        beside(branches(), derived(NODES, Payloads::One), "check, ten branches beside a ring");
    } else {
        by_hand_and_derived(if asked("each") { Payloads::Each } else { Payloads::One });
    }
}

/// Prints the comparison; both times are those beyond an empty crate.
fn beside(subject: String, baseline: String, line: &str) {
    let mut nothing = Package::new("nothing", String::new());
    let (mut subject, mut baseline) = (Package::new("subject", subject), Package::new("baseline", baseline));
    let floor = (0..ROUNDS).map(|_| nothing.compile("check")).min().unwrap_or_default();
    let comparison = compare_by(
        ROUNDS,
        || subject.compile("check").saturating_sub(floor),
        || baseline.compile("check").saturating_sub(floor),
    );
    println!("{}", comparison.line(line, 1, None));
}

fn by_hand_and_derived(payloads: Payloads) {
    let mut nothing = Package::new("nothing", empty(NODES, payloads));
    let mut with_derive = Package::new("derived", derived(NODES, payloads));
    let mut without = Package::new("by_hand", by_hand(NODES, payloads));
    for (command, goal) in [("check", 1.6), ("build", 2.2)] {
        let floor = (0..ROUNDS).map(|_| nothing.compile(command)).min().unwrap_or_default();
        let comparison = compare_by(
            ROUNDS,
            || with_derive.compile(command).saturating_sub(floor),
            || without.compile(command).saturating_sub(floor),
        );
        // The payloads' own derives take so much longer that the rest cannot be measured well.
        let goal = (payloads == Payloads::One).then_some(goal);
        println!("{}", comparison.line(&format!("{command}, {NODES} nodes"), 1, goal));
    }
}
