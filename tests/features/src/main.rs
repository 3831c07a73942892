//! Checks every feature of every crate by itself and in the sets that users choose: `cargo run --locked -p interlocking-features`.
//!
//! Within the workspace features hide each other: what one member turns on, all are built with. So `users` checks crates outside
//! the workspace, and each set that is not a part of one of them is checked on its own (`plan` has which): a part is a set whose every
//! crate has the same features there. What is checked comes from `cargo metadata`, so that a new feature is checked without a
//! word. A warning is an error, also one of a crate that another depends on.
//!
//! With `--weigh` it prints what each feature weighs (`weight`), and checks nothing. With other arguments, only that is checked whose
//! line has one of them: `… -- envoy "user's crate cli"`.
//!
//! Everything is built in the workspace's target directory: what clippy and the tests have built of others' crates is there, and is taken
//! where the features of these are the same. Which features of others' crates each of ours needs, it shows alone and in users' crates. The
//! default, features beside it and tests have others' crates as the workspace has them, by `tests/unified`.

#![expect(clippy::print_stdout, reason = "it reports to whoever runs it")]

mod plan;
mod cargo;
mod users;
mod weight;

use cargo::Cargo;
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

    let users = users::written(root, &plan::features_of(&metadata, "interlocking"))?;
    let place = users.place.path();
    // What is checked, with the crates of each: what a user's crate is made of need not be checked once more.
    let mut seen = Vec::new();
    for name in &users.names {
        let what = format!("user's crate {name}");
        if checks.one(&what, || cargo.check_user(place, name)) {
            seen.push((cargo.resolved_by_user(place, name)?, what));
        }
    }
    for project in &users.projects {
        checks.one(&format!("project {project}"), || cargo.check_project(place, project));
    }
    for set in plan::sets(&metadata) {
        if !checks.wants(&set.to_string()) {
            continue;
        }
        let crates = cargo.checked(root, &set)?;
        match seen.iter().find(|(others, _)| crates.is_subset(others)) {
            Some((_, what)) => println!("     same  {set}: in {what}"),
            None => {
                if checks.one(&set.to_string(), || cargo.check(root, &set)) {
                    seen.push((crates, set.to_string()));
                }
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

    checks.one("projects, tests run", || cargo.test_projects(place, users.projects.iter()));
    checks.one("the lock file, in users' crates", || users.versions_are_those_of(root));
    checks.one("user's crate runtime, run", || {
        let heard = cargo.run_user(place, "runtime")?;
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

    /// Whether it was checked, and found right.
    fn one(&mut self, what: &str, check: impl FnOnce() -> Result<(), String>) -> bool {
        if !self.wants(what) {
            return false;
        }
        let begun = Instant::now();
        let found = check();
        let took: Duration = begun.elapsed();
        match &found {
            Ok(()) => println!("{:>7.1} s  {what}", took.as_secs_f64()),
            Err(problem) => {
                println!("   FAILED  {what}:\n{problem}");
                self.failed.push(what.to_owned());
            }
        }
        found.is_ok()
    }
}
