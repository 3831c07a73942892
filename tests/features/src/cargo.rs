//! Cargo's commands: each with the versions of the lock file, and without a network.

use crate::plan::Set;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package that turns on what the workspace turns on of others' crates (`tests/unified`), and the one that brings it among users' crates.
const UNIFIED: &str = "interlocking-unified";
pub(crate) const UNIFIED_USER: &str = "user-unified";

pub(crate) struct Cargo {
    target: PathBuf,
}

/// Downloads what of the lock file's crates for this platform is not here.
pub(crate) fn fetch(root: &Path) -> Result<(), String> {
    output(program(root).args(["fetch", "--locked", "--target", "host-tuple"])).map(drop)
}

/// What the workspace says of its members.
pub(crate) fn metadata(root: &Path) -> Result<Value, String> {
    let said = output(program(root).args(["metadata", "--no-deps", "--locked", "--offline", "--format-version", "1"]))?;
    serde_json::from_str(&said).map_err(|error| format!("cargo's metadata are not JSON: {error}"))
}

impl Cargo {
    pub(crate) fn in_target(target: PathBuf) -> Self {
        Self { target }
    }

    /// The crates of a set, each with its features.
    pub(crate) fn resolved(&self, root: &Path, set: &Set) -> Result<BTreeSet<String>, String> {
        crates(|tree| of(tree.arg("--locked"), set), root)
    }

    /// The crates that are checked with a set: a set that another has all crates of is a part of that.
    pub(crate) fn checked(&self, root: &Path, set: &Set) -> Result<BTreeSet<String>, String> {
        crates(|tree| chosen(tree.arg("--locked"), set), root)
    }

    /// The same of a user's crate.
    pub(crate) fn resolved_by_user(&self, users: &Path, name: &str) -> Result<BTreeSet<String>, String> {
        crates(|tree| tree.args(["-p", &format!("user-{name}")]), users)
    }

    pub(crate) fn check(&self, root: &Path, set: &Set) -> Result<(), String> {
        self.build(chosen(program(root).args(["check", "--locked"]), set)).map(drop)
    }

    /// Beside crates of tests' own, of which those of others are not the package's alone anyway.
    pub(crate) fn check_tests(&self, root: &Path, set: &Set) -> Result<(), String> {
        self.build(unified(program(root).args(["check", "--locked", "--tests"]), set)).map(drop)
    }

    pub(crate) fn run_tests(&self, root: &Path, set: &Set) -> Result<(), String> {
        self.build(of(program(root).args(["test", "--locked", "--lib", "--tests"]), set)).map(drop)
    }

    /// A user's lock file is made of the workspace's, which has crates that no user's crate needs: it cannot be locked.
    pub(crate) fn check_user(&self, users: &Path, name: &str) -> Result<(), String> {
        self.build(program(users).args(["check", "-p", &format!("user-{name}")])).map(drop)
    }

    /// With the features that it asks for, and no other's.
    pub(crate) fn check_project(&self, users: &Path, name: &str) -> Result<(), String> {
        self.build(program(users).args(["check", "--all-targets", "-p", name])).map(drop)
    }

    /// All at once: what they share is built once. Their programs are built too.
    pub(crate) fn test_projects<'n>(
        &self,
        users: &Path,
        names: impl Iterator<Item = &'n String>,
    ) -> Result<(), String> {
        let chosen = names.flat_map(|name| ["-p", name]).chain(["-p", UNIFIED_USER]);
        self.build(program(users).arg("test").args(chosen)).map(drop)
    }

    /// What it prints.
    pub(crate) fn run_user(&self, users: &Path, name: &str) -> Result<String, String> {
        let name = format!("user-{name}");
        self.build(program(users).args(["build", "-p", &name, "-p", UNIFIED_USER]))?;
        output(&mut Command::new(self.target.join("debug").join(name)))
    }

    /// With warnings, which cargo repeats of what was checked before, it fails.
    fn build(&self, command: &mut Command) -> Result<String, String> {
        let (printed, said) = outputs(command.env("CARGO_TARGET_DIR", &self.target).args(["--offline", "--quiet"]))?;
        match said.lines().any(|line| line.starts_with("warning")) {
            true => Err(format!("{}\n{command:?}", said.trim_end())),
            false => Ok(printed),
        }
    }
}

/// What cargo's tree has. What is compiled for the build itself may have other features than the same crate in the program.
fn crates(whose: impl Fn(&mut Command) -> &mut Command, directory: &Path) -> Result<BTreeSet<String>, String> {
    let mut crates = BTreeSet::new();
    for edges in ["normal,no-proc-macro", "normal,build"] {
        let mut tree = program(directory);
        tree.args(["tree", "--offline", "-e", edges, "--prefix", "none", "-f", "{p} {f}"]);
        // `default` is a name of other features: it makes no difference by itself.
        crates.extend(output(whose(&mut tree))?.lines().map(|line| {
            let line = line.trim_end_matches(" (*)");
            let (name, features) = line.rsplit_once(' ').unwrap_or((line, ""));
            format!("{edges}: {name} {:?}", features.split(',').filter(|name| *name != "default").collect::<Vec<_>>())
        }));
    }
    Ok(crates)
}

/// The default, and a feature beside it, are checked with others' crates as the workspace has them: of those, what a feature needs shows
/// where it is alone.
fn chosen<'c>(command: &'c mut Command, set: &Set) -> &'c mut Command {
    if set.has_default() { unified(command, set) } else { of(command, set) }
}

/// With these features alone of ours; others' crates have the features that clippy has checked them with.
fn unified<'c>(command: &'c mut Command, set: &Set) -> &'c mut Command {
    let features = set.features.iter().map(|feature| format!("{}/{feature}", set.package));
    let features: Vec<String> = features.chain([format!("{UNIFIED}/http")]).collect();
    command.args(["--package", &set.package, "--package", UNIFIED, "--no-default-features", "--features"]);
    command.arg(features.join(","))
}

/// With these features alone.
fn of<'c>(command: &'c mut Command, set: &Set) -> &'c mut Command {
    command.args(["--package", &set.package, "--no-default-features", "--features", &set.list()])
}

fn program(directory: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(directory);
    command
}

/// What it printed; or what it complained of, with the command, so that it can be tried by hand.
fn output(command: &mut Command) -> Result<String, String> {
    Ok(outputs(command)?.0)
}

/// The same, and what it said beside.
fn outputs(command: &mut Command) -> Result<(String, String), String> {
    let output = command.output().map_err(|error| format!("cargo does not run: {error}"))?;
    let [printed, said] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    match output.status.success() {
        true => Ok((printed, said)),
        false => Err(format!("{}\n{command:?}", said.trim_end())),
    }
}
