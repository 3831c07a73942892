//! Checks every feature of every crate by itself and in the sets that users choose: `cargo run --locked -p interlocking-features`.
//!
//! Within the workspace features hide each other: what one member turns on, all are built with. So each set is checked on its
//! own (`plan` has which), and `users` checks crates outside the workspace. What is checked comes from `cargo metadata`, so
//! that a new feature is checked without a word. A warning is an error.
//!
//! With `--weigh` it prints what each feature weighs (`weight`), and checks nothing. With other arguments, only that is checked whose
//! line has one of them: `… -- envoy "user's crate cli"`.
//!
//! Everything is built in the workspace's target directory: what clippy and the tests have built of others' crates is there.

#![expect(clippy::print_stdout, reason = "it reports to whoever runs it")]

mod plan;
mod cargo;
mod users;
mod weight;

use cargo::Cargo;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    match check() {
        Ok(failed) if failed.is_empty() => ExitCode::SUCCESS,
        Ok(failed) => {
            println!("\n{} of these failed:", failed.len());
            failed.iter().for_each(|what| println!("  {what}"));
            ExitCode::FAILURE
        }
        Err(problem) => {
            println!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// What failed.
fn check() -> Result<Vec<String>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).ok_or("the workspace's root is nowhere")?;
    // Whatever is missing of the lock file is fetched here, so that the checks need no network.
    cargo::fetch(root)?;
    let metadata = cargo::metadata(root)?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("--weigh", wanted)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return weight::print(root, &metadata, wanted).map(|()| Vec::new());
    }
    let target = metadata["target_directory"].as_str().ok_or("cargo names no target directory")?;
    let cargo = Cargo::in_target(target.into());
    let mut checks = Checks { failed: Vec::new(), wanted: arguments, begun: Instant::now() };

    let mut seen = BTreeMap::new();
    for set in plan::sets(&metadata) {
        if !checks.wants(&set.to_string()) {
            continue;
        }
        let resolved = cargo.resolved(root, &set)?;
        match seen.get(&resolved) {
            Some(same) => println!("     same  {set}: what {same} is"),
            None => {
                checks.one(&set.to_string(), || cargo.check(root, &set));
                seen.insert(resolved, set.to_string());
            }
        }
    }
    let run = plan::run_tests(&metadata);
    for set in plan::with_tests(&metadata).difference(&run) {
        checks.one(&format!("{set}, tests"), || cargo.check_tests(root, set));
    }
    for set in run {
        checks.one(&format!("{set}, tests run"), || cargo.run_tests(root, &set));
    }

    let users = users::written(root, &plan::features_of(&metadata, "interlocking"))?;
    for name in &users.names {
        checks.one(&format!("user's crate {name}"), || cargo.check_user(users.place.path(), name));
    }
    for project in &users.projects {
        checks.one(&format!("project {project}"), || cargo.check_project(users.place.path(), project));
    }
    checks.one("projects, tests run", || cargo.test_projects(users.place.path(), users.projects.iter()));
    checks.one("the lock file, in users' crates", || users.versions_are_those_of(root));
    checks.one("user's crate runtime, run", || {
        let heard = cargo.run_user(users.place.path(), "runtime")?;
        if heard.trim() == "INTERLOC" { Ok(()) } else { Err(format!("it printed {heard:?}")) }
    });
    println!("{:>7.1} s  in all", checks.begun.elapsed().as_secs_f64());
    Ok(checks.failed)
}

struct Checks {
    failed: Vec<String>,
    /// None: all.
    wanted: Vec<String>,
    begun: Instant,
}

impl Checks {
    fn wants(&self, what: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|wanted| what.contains(wanted))
    }

    fn one(&mut self, what: &str, check: impl FnOnce() -> Result<(), String>) {
        if !self.wants(what) {
            return;
        }
        let begun = Instant::now();
        let found = check();
        let took: Duration = begun.elapsed();
        match found {
            Ok(()) => println!("{:>7.1} s  {what}", took.as_secs_f64()),
            Err(problem) => {
                println!("   FAILED  {what}:\n{problem}");
                self.failed.push(what.to_owned());
            }
        }
    }
}
