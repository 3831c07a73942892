//! Checks the counts that do not depend on the machine's load:
//! `cargo run --config crates/interlocking-bench/counts.toml -p interlocking-bench --bin counts`.
//!
//! Valgrind's callgrind counts the instructions of this program itself. The program fails if a count exceeds its limit.

#![expect(clippy::print_stdout, reason = "it reports to whoever runs it")]

use interlocking_bench::transitions::{What, run};
use interlocking_bench::{allocations, fan};
use std::collections::BTreeSet;
use std::process::{Command, ExitCode, Stdio};

/// One line of the report.
struct Count {
    what: &'static str,
    found: f64,
    limit: f64,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if let Some(what) = arguments.next() {
        let count = arguments.next().and_then(|text| text.parse().ok()).unwrap_or_default();
        run(What::named(&what).expect("one of what `transitions` runs"), count);
        return ExitCode::SUCCESS;
    }
    match counts() {
        Err(problem) => {
            println!("{problem}");
            ExitCode::FAILURE
        }
        Ok(counts) => {
            for Count { what, found, limit } in &counts {
                let verdict = if found <= limit { "ok" } else { "OVER THE LIMIT" };
                println!("{what:<62} {found:>8.2}   limit {limit:>7.2}   {verdict}");
            }
            println!("The bytes that the derive writes a node (at most 850) are a test of interlocking-macros.");
            if counts.iter().all(|count| count.found <= count.limit) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
    }
}

fn counts() -> Result<Vec<Count>, String> {
    let [graph, by_hand] = [instructions("graph")?, instructions("loop")?];
    let [heard, heard_by_hand] = [instructions("graph-one-by-one")?, instructions("loop-one-by-one")?];
    let [ring, matched] = [instructions("ring")?, instructions("match")?];
    let count = |what, found, limit| Count { what, found, limit };
    Ok(vec![
        count("instructions a transition", graph, 140.0),
        count("instructions a transition, times the hand-written loop's", graph / by_hand, 1.25),
        count("the same where the listener takes each event by itself", heard / heard_by_hand, 1.25),
        count("instructions a transition of 100 nodes, times a match's", ring / matched, 1.2),
        count("allocations in 1,000 transitions", allocations::of_a_thousand_transitions(measure) as f64, 0.0),
        // Includes the vectors of the fork and of the join, a few dozen for a thousand branches.
        count("allocations a forked branch", allocations::of_a_fork(measure) as f64 / f64::from(fan::BRANCHES), 2.0),
        count("crates of interlocking without its features, itself included", crates()?, 12.0),
    ])
}

fn measure(work: &dyn Fn()) -> u64 {
    allocation_counter::measure(work).count_total
}

/// Instructions of one transition: the difference between many and few transitions.
fn instructions(what: &str) -> Result<f64, String> {
    const FEW: u64 = 1_000;
    const MANY: u64 = 21_000;
    Ok((collected(what, MANY)? - collected(what, FEW)?) / (MANY - FEW) as f64)
}

fn collected(what: &str, count: u64) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program is nowhere: {error}"))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([what, &count.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            format!(
                "valgrind does not run ({error}). It counts instructions: install it, with `apt-get install valgrind`."
            )
        })?;
    let report = String::from_utf8_lossy(&output.stderr);
    let line = report.lines().find_map(|line| line.split_once("Collected : ")).filter(|_| output.status.success());
    line.and_then(|(_, number)| number.trim().parse().ok())
        .ok_or_else(|| format!("callgrind counted nothing for `{what} {count}`:\n{report}"))
}

/// How many crates are compiled for the derive, the table and the frontier alone.
fn crates() -> Result<f64, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "-p", "interlocking", "--no-default-features", "-e", "normal", "--prefix", "none", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .map_err(|error| format!("cargo does not run: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo tree failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let tree = String::from_utf8_lossy(&output.stdout);
    // By name and version: two versions of a crate are compiled both.
    let crates: BTreeSet<Vec<&str>> = tree.lines().map(|line| line.split(' ').take(2).collect()).collect();
    Ok(crates.len() as f64)
}
