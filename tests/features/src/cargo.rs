//! Cargo's commands, each with the versions of the lock file and without network access.

use crate::plan::{Set, Shared};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package that turns on the workspace's features of third-party crates (`tests/unified`), and the package that adds it to
/// the users' crates.
pub(crate) const UNIFIED: &str = "interlocking-unified";
pub(crate) const UNIFIED_USER: &str = "user-unified";

/// The feature of that package by which our crates have the features that the workspace's tests have.
const OURS: &str = "user-unified/ours";

/// The crate that users depend on.
pub(crate) const FACADE: &str = "interlocking";

/// The parts of it that tests have, and what models over HTTP have besides.
const TESTS: &[&str] = &["git", "program", "tests"];
const ALL: &[&str] = &["git", "http", "program", "tests"];

pub(crate) struct Cargo {
    target: PathBuf,
    /// What is checked alone shares with the workspace, by package.
    shared: BTreeMap<String, Shared>,
}

/// Downloads the crates of the lock file that are missing for this platform.
pub(crate) fn fetch(root: &Path) -> Result<(), String> {
    output(program(root).args(["fetch", "--locked", "--target", "host-tuple"])).map(drop)
}

/// Cargo's metadata about the workspace's members.
pub(crate) fn metadata(root: &Path) -> Result<Value, String> {
    let said = output(program(root).args(["metadata", "--no-deps", "--locked", "--offline", "--format-version", "1"]))?;
    serde_json::from_str(&said).map_err(|error| format!("cargo's metadata are not JSON: {error}"))
}

impl Cargo {
    pub(crate) fn in_target(target: PathBuf, shared: BTreeMap<String, Shared>) -> Self {
        Self { target, shared }
    }

    /// The crates of a set, each with its features.
    pub(crate) fn resolved(&self, root: &Path, set: &Set) -> Result<BTreeSet<String>, String> {
        crates(|tree| of(tree.arg("--locked"), set), root)
    }

    /// The crates that are checked with a set. A set whose crates are all among those of another set is part of that set.
    pub(crate) fn checked(&self, root: &Path, set: &Set) -> Result<BTreeSet<String>, String> {
        crates(|tree| self.chosen(tree.arg("--locked"), set), root)
    }

    pub(crate) fn check(&self, root: &Path, set: &Set) -> Result<(), String> {
        self.build(self.chosen(program(root).args(["check", "--locked"]), set)).map(drop)
    }

    /// Builds a program as people do by itself. With what the tests have built, this compiles the program alone.
    pub(crate) fn build_program(&self, root: &Path, set: &Set) -> Result<(), String> {
        self.build(of(program(root).args(["build", "--locked"]), set)).map(drop)
    }

    /// Checks the tests with the workspace's features of third-party crates. Tests have dependencies of their own, so the features
    /// of those crates are not the package's alone anyway.
    pub(crate) fn check_tests(&self, root: &Path, set: &Set) -> Result<(), String> {
        self.build(unified(program(root).args(["check", "--locked", "--tests"]), set, ALL)).map(drop)
    }

    /// Whether the workspace's tests have the package, and our crates below it, with the features that a set's tests have:
    /// dependencies of tests may turn on features of the package itself. The workspace's tests are `tests`.
    pub(crate) fn is_in_tests(&self, tests: &BTreeSet<String>, root: &Path, set: &Set) -> Result<bool, String> {
        let begins = format!("{NORMAL}: {} ", set.package);
        let mut alone = crates(|tree| of(tree.args(["--locked", "-e", "dev"]), set), root)?;
        alone.retain(|line| line.contains(&*root.to_string_lossy()));
        Ok(alone.iter().any(|line| line.starts_with(&begins)) && alone.is_subset(tests))
    }

    /// Runs the tests with the features of third-party crates that the workspace's tests are built with.
    pub(crate) fn run_tests(&self, root: &Path, set: &Set) -> Result<(), String> {
        self.build(unified(program(root).args(["test", "--locked", "--lib", "--tests"]), set, TESTS)).map(drop)
    }

    /// A user's lock file is a copy of the workspace's and has crates that no user's crate needs, so `--locked` would fail.
    pub(crate) fn check_user(&self, users: &Path, name: &str) -> Result<(), String> {
        self.build(as_clippy(program(users).args(["check", "-p", &format!("user-{name}")]))).map(drop)
    }

    /// Checks a set of the facade's features in a crate that depends on it.
    pub(crate) fn check_set(&self, users: &Path, set: &Set) -> Result<(), String> {
        self.build(as_clippy(program(users).args(["check", "-p", &set.user()]))).map(drop)
    }

    /// Checks a project with the features of our crates that it asks for.
    pub(crate) fn check_project(&self, users: &Path, name: &str) -> Result<(), String> {
        self.build(as_clippy(program(users).args(["check", "--all-targets", "-p", name]))).map(drop)
    }

    /// Tests all projects at once, so that shared crates are built once. Their programs are built too. Our crates have the features
    /// with which the workspace's tests have built them, as the projects are also checked with theirs.
    pub(crate) fn test_projects<'n>(
        &self,
        users: &Path,
        names: impl Iterator<Item = &'n String>,
    ) -> Result<(), String> {
        let chosen = names.flat_map(|name| ["-p", name]).chain(["-p", UNIFIED_USER, "--features", OURS]);
        self.build(program(users).arg("test").args(chosen)).map(drop)
    }

    /// Runs a user's crate and gives its output. It is built as the projects' tests are, so that it shares crates with them.
    pub(crate) fn run_user(&self, users: &Path, name: &str) -> Result<String, String> {
        let name = format!("user-{name}");
        self.build(program(users).args([
            "build",
            "--profile",
            "test",
            "-p",
            &name,
            "-p",
            UNIFIED_USER,
            "--features",
            OURS,
        ]))?;
        output(&mut Command::new(self.target.join("debug").join(name)))
    }

    /// Chooses a set's features. The default, alone or beside a feature, is checked with third-party crates as the workspace has
    /// them: which features of those crates a feature needs shows when the feature is checked alone.
    fn chosen<'c>(&self, command: &'c mut Command, set: &Set) -> &'c mut Command {
        match set {
            _ if set.has_default() => unified(command, set, ALL),
            _ => match self.shared.get(&set.package) {
                Some(Shared::Below) => unified(command, set, &["below"]),
                Some(Shared::Build) => unified(command, set, &[]),
                Some(Shared::Nothing) | None => of(command, set),
            },
        }
    }

    /// Runs a build. Warnings, which cargo repeats for crates that were checked before, make it fail.
    fn build(&self, command: &mut Command) -> Result<String, String> {
        let (printed, said) = outputs(command.env("CARGO_TARGET_DIR", &self.target).args(["--offline", "--quiet"]))?;
        match said.lines().any(|line| line.starts_with("warning")) {
            true => Err(format!("{}\n{}", said.trim_end(), shown(command))),
            false => Ok(printed),
        }
    }
}

/// Third-party crates whose features differ between `tests/unified` and the workspace's tests, which are `tests`.
pub(crate) fn not_unified(tests: &BTreeSet<String>, root: &Path) -> Result<Vec<String>, String> {
    let unified = crates(|tree| tree.args(["--locked", "--package", UNIFIED, "--features", "below"]), root)?;
    let root = root.to_string_lossy();
    Ok(unified.difference(tests).filter(|name| !name.contains(&*root)).cloned().collect())
}

/// The crates of the workspace's tests, each with its features.
pub(crate) fn workspace_tests(root: &Path) -> Result<BTreeSet<String>, String> {
    crates(|tree| tree.args(["--locked", "--workspace", "-e", "dev"]), root)
}

/// The kinds of dependencies that end up in a program, as `cargo tree` calls them.
const NORMAL: &str = "normal,no-proc-macro";

/// The crates of `cargo tree`. A crate that is compiled for the build itself may have other features than the same crate in the
/// program.
fn crates(whose: impl Fn(&mut Command) -> &mut Command, directory: &Path) -> Result<BTreeSet<String>, String> {
    let mut crates = BTreeSet::new();
    for edges in [NORMAL, "normal,build"] {
        let mut tree = program(directory);
        tree.args(["tree", "--offline", "-e", edges, "--prefix", "none", "-f", "{p} {f}"]);
        // `default` only stands for other features: it makes no difference by itself.
        crates.extend(output(whose(&mut tree))?.lines().map(|line| {
            let line = line.trim_end_matches(" (*)");
            let (name, features) = line.rsplit_once(' ').unwrap_or((line, ""));
            format!("{edges}: {name} {:?}", features.split(',').filter(|name| *name != "default").collect::<Vec<_>>())
        }));
    }
    Ok(crates)
}

/// Checks users' crates with the features of third-party crates with which clippy has checked them.
fn as_clippy(command: &mut Command) -> &mut Command {
    command.args(["-p", UNIFIED_USER, "--features", &format!("{UNIFIED_USER}/http")])
}

/// With these features only of our crates; third-party crates have those that the `parts` of `tests/unified` turn on.
fn unified<'c>(command: &'c mut Command, set: &Set, parts: &[&str]) -> &'c mut Command {
    let features = set.features.iter().map(|feature| format!("{}/{feature}", set.package));
    let features: Vec<String> = features.chain(parts.iter().map(|part| format!("{UNIFIED}/{part}"))).collect();
    command.args(["--package", &set.package, "--package", UNIFIED, "--no-default-features", "--features"]);
    command.arg(features.join(","))
}

/// With these features only.
fn of<'c>(command: &'c mut Command, set: &Set) -> &'c mut Command {
    command.args(["--package", &set.package, "--no-default-features", "--features", &set.list()])
}

fn program(directory: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(directory);
    // `cargo run` sets these variables for this program. Cargo runs a build script that reads them, such as ring's, again whenever
    // they differ, and compiles what depends on it again.
    for name in std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()) {
        if ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|begin| name.starts_with(begin)) {
            command.env_remove(name);
        }
    }
    command
}

/// The standard output of a command. The error has the standard error and the command, so that it can be tried by hand.
fn output(command: &mut Command) -> Result<String, String> {
    Ok(outputs(command)?.0)
}

/// The standard output and the standard error of a command.
fn outputs(command: &mut Command) -> Result<(String, String), String> {
    let output = command.output().map_err(|error| format!("cargo does not run: {error}"))?;
    let [printed, said] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    match output.status.success() {
        true => Ok((printed, said)),
        false => Err(format!("{}\n{}", said.trim_end(), shown(command))),
    }
}

/// The command without its environment.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
