//! Checks every feature of every crate by itself and in the sets that users choose: `cargo run --locked -p interlocking-features`.
//!
//! Within the workspace, features hide each other: a feature that one member turns on is on for all members. So each set of
//! features is checked on its own (see `plan`), those of the facade and users' crates outside the workspace (see `users`). A set is
//! not checked again if it is part of another: if each of its crates has the same features there. The sets come from `cargo
//! metadata`, so a new feature is checked automatically. Warnings are errors, also in a crate that another depends on.
//!
//! With `--weigh` it prints what each feature costs (`weight`), and checks nothing. With other arguments, it makes only the
//! checks whose line contains one of them: `… -- envoy "user's crate cli"`.
//!
//! Everything is built in the workspace's target directory, so that third-party crates that clippy and the tests have built are
//! reused where their features are the same. Which features of third-party crates each of our crates needs is tested with the
//! crate alone. Only what lies below those, as getrandom does below gix, and what runs in builds is as in the workspace, where a
//! crate does not name it itself with features of its own.
//! The facade, whose crates these are, users' crates, the default, features beside it, and tests have third-party
//! crates as the workspace has them, by `tests/unified`. A program that people build by itself is built, not checked: with what the
//! tests have built, that takes less.

#![expect(clippy::print_stdout, reason = "it reports to whoever runs it")]

mod plan;
mod cargo;
mod users;
mod weight;

use cargo::{Cargo, FACADE};
use plan::Set;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
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

/// The checks that failed.
fn check() -> Result<Vec<String>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).ok_or("the workspace's root is nowhere")?;
    // Crates of the lock file that are missing are fetched here, so that the checks need no network access.
    cargo::fetch(root)?;
    let metadata = cargo::metadata(root)?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("--weigh", wanted)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return weight::print(root, &metadata, wanted).map(|()| Vec::new());
    }
    let target = metadata["target_directory"].as_str().ok_or("cargo names no target directory")?;
    let cargo = Cargo::in_target(target.into(), plan::shared(&metadata));
    let mut checks = Checks { chosen: 0, failed: Vec::new(), wanted: arguments, begun: Instant::now() };

    let (facade, sets): (Vec<_>, Vec<_>) = plan::sets(&metadata).into_iter().partition(|set| set.package == FACADE);
    let users = users::written(root, &plan::features_of(&metadata, FACADE), &facade)?;
    let place = users.place.path();
    for name in &users.names {
        checks.one(&format!("user's crate {name}"), || cargo.check_user(place, name));
    }
    for project in &users.projects {
        checks.one(&format!("project {project}"), || cargo.check_project(place, project));
    }
    for set in &facade {
        checks.one(&set.to_string(), || cargo.check_set(place, set));
    }
    let wanted = sets.into_iter().filter(|set| checks.wants(&set.to_string()));
    let sets: Result<Vec<_>, String> = wanted.map(|set| Ok((cargo.checked(root, &set)?, set))).collect();
    let mut sets = sets?;
    // Those with the most crates first, as the others may be part of them.
    sets.sort_by_key(|(crates, _)| Reverse(crates.len()));
    let mut seen: Vec<(BTreeSet<String>, Set)> = Vec::new();
    for (crates, set) in sets {
        match seen.iter().find(|(others, _)| crates.is_subset(others)) {
            Some((_, other)) => {
                checks.same(&set.to_string(), other);
            }
            None => {
                if checks.one(&set.to_string(), || cargo.check(root, &set)) {
                    seen.push((crates, set));
                }
            }
        }
    }
    for program in plan::programs(&metadata) {
        checks.one(&format!("{program}, built"), || cargo.build_program(root, &program));
    }
    let (run, tests) = (plan::run_tests(&metadata), cargo::workspace_tests(root)?);
    for set in plan::with_tests(&metadata).difference(&run) {
        let what = format!("{set}, tests");
        match checks.wants(&what) && cargo.is_in_tests(&tests, root, set)? {
            true => checks.same(&what, "the workspace's tests"),
            false => drop(checks.one(&what, || cargo.check_tests(root, set))),
        }
    }
    for set in run {
        checks.one(&format!("{set}, tests run"), || cargo.run_tests(root, &set));
    }

    checks.one("projects, tests run", || cargo.test_projects(place, users.projects.iter()));
    checks.one("the features in tests/unified", || match cargo::not_unified(&tests, root)?.as_slice() {
        [] => Ok(()),
        crates => Err(format!("the workspace's tests have these with other features:\n{}", crates.join("\n"))),
    });
    checks.one("the lock file, in users' crates", || users.versions_are_those_of(root));
    checks.one("user's crate runtime, run", || {
        let heard = cargo.run_user(place, "runtime")?;
        if heard.trim() == "INTERLOC" { Ok(()) } else { Err(format!("it printed {heard:?}")) }
    });
    println!("{:>7.1} s  in all", checks.begun.elapsed().as_secs_f64());
    checks.finish()
}

struct Checks {
    /// How many checks were made, or are part of others.
    chosen: usize,
    failed: Vec<String>,
    /// The arguments that choose checks; empty for all.
    wanted: Vec<String>,
    begun: Instant,
}

impl Checks {
    fn wants(&self, what: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|wanted| what.contains(wanted))
    }

    /// A check that is part of what is checked elsewhere.
    fn same(&mut self, what: &str, other: impl fmt::Display) {
        self.chosen += 1;
        println!("     same  {what}: in {other}");
    }

    /// Makes a check, if it is chosen; whether it was made and succeeded.
    fn one(&mut self, what: &str, check: impl FnOnce() -> Result<(), String>) -> bool {
        if !self.wants(what) {
            return false;
        }
        self.chosen += 1;
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

    /// The checks that failed; an error if the arguments choose none.
    fn finish(self) -> Result<Vec<String>, String> {
        match self.chosen {
            0 => Err(format!("nothing was checked: no check's line contains one of {:?}", self.wanted)),
            _ => Ok(self.failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_choose_no_check_are_an_error() {
        let made = |wanted: &str| {
            let wanted = vec![wanted.to_owned()];
            let mut checks = Checks { chosen: 0, failed: Vec::new(), wanted, begun: Instant::now() };
            checks.one("user's crate cli", || Ok(()));
            checks.finish()
        };
        assert_eq!(made("cli"), Ok(Vec::new()));
        assert_eq!(made("cly"), Err("nothing was checked: no check's line contains one of [\"cly\"]".to_owned()));
    }
}
