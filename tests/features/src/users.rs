//! Crates as users have them, outside the workspace: those of `users/`, of README.md, those that `cargo interlocking new` writes,
//! and an empty one for each set of the facade's features.
//!
//! They are members of one workspace in a temporary directory, so that they share a lock file. It starts as a copy of this
//! workspace's, so that the crates have the versions that are tested here. Its manifest and its directories are this workspace's, too,
//! those by links: so our crates have the same paths in both, and cargo does not compile them again. Each crate is checked by itself;
//! the programs that are run are built together.

use crate::cargo::UNIFIED_USER;
use crate::plan::Set;
use cargo_interlocking::{InvalidName, Shape, Source};
use clap::ValueEnum as _;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

pub(crate) struct Users {
    pub(crate) place: TempDir,
    pub(crate) names: BTreeSet<String>,
    /// The packages of the projects that `cargo interlocking new` writes, one for each shape.
    pub(crate) projects: BTreeSet<String>,
}

/// Writes the crates. Each feature of the facade has a crate of the same name, and each of the `sets` an empty one.
pub(crate) fn written(root: &Path, features: &BTreeSet<&str>, sets: &[Set]) -> Result<Users, String> {
    let place = TempDir::new().map_err(|error| format!("there is no temporary directory: {error}"))?;
    for directory in ["crates", "tests"] {
        let (from, to) = (root.join(directory), place.path().join(directory));
        symlink(&from, &to).map_err(|error| format!("{} for {}: {error}", to.display(), from.display()))?;
    }
    let sources = root.join("tests/features/users");
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(&sources).map_err(|error| format!("{}: {error}", sources.display()))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.path().is_dir() {
            true => {
                let program = read(&entry.path().join("main.rs"))?;
                write_user(place.path(), &name, &read(&entry.path().join("Cargo.toml"))?, &program)?;
                names.insert(name);
            }
            false => write(&place.path().join(name), &read(&entry.path())?)?,
        }
    }
    if let Some(missing) = features.iter().find(|feature| !names.contains(**feature)) {
        return Err(format!(
            "no user's crate has the feature `{missing}` of `interlocking`: write {}/{missing}/Cargo.toml and main.rs, as those \
             beside it",
            sources.display()
        ));
    }

    let readme = read(&root.join("README.md"))?;
    let manifest = block(&readme, "toml")?.replace("../interlocking/", "CHECKOUT/");
    let package = "[package]\nname = \"user-readme\"\nedition = \"2024\"\n\n[[bin]]\nname = \"user-readme\"\npath = \"main.rs\"\n";
    write_user(place.path(), "readme", &format!("{package}\n{manifest}\n"), block(&readme, "rust")?)?;
    names.insert("readme".to_owned());
    let second = readme.split_once("\n## Agents that write code\n").map(|(_, second)| second);
    let second = block(second.ok_or("README.md has no second graph")?, "rust")?;
    let package = package.replace("user-readme", "user-readme-worktrees");
    write_user(place.path(), "readme-worktrees", &format!("{package}\n{manifest}\n"), second)?;
    names.insert("readme-worktrees".to_owned());

    let mut projects = BTreeSet::new();
    let checkout = Source::Checkout(root.to_owned());
    let ours = root.canonicalize().map_err(|error| format!("{}: {error}", root.display()))?;
    for &shape in Shape::value_variants() {
        let value = shape.to_possible_value().ok_or("a shape has no name")?;
        let name = format!("new-{}", value.get_name());
        let parsed = name.parse().map_err(|error: InvalidName| error.to_string())?;
        cargo_interlocking::write(place.path(), &parsed, shape, &checkout).map_err(|error| error.to_string())?;
        let manifest = place.path().join(&name).join("Cargo.toml");
        write(&manifest, &read(&manifest)?.replace(&*ours.to_string_lossy(), &place.path().to_string_lossy()))?;
        projects.insert(name);
    }

    for set in sets {
        let manifest = format!(
            "[package]\nname = {:?}\nedition = \"2024\"\n\n[[bin]]\nname = {:?}\npath = \"main.rs\"\n\n[dependencies]\n\
             interlocking = {{ path = \"CHECKOUT/crates/interlocking\", default-features = false, features = {:?} }}\n",
            set.user(),
            set.user(),
            set.features.iter().collect::<Vec<_>>()
        );
        write_user(place.path(), &set.user(), &manifest, "fn main() {}\n")?;
    }

    // With this crate, the users' crates share the third-party crates of the workspace, and with its feature `ours` our crates, too.
    let unified = place.path().join(UNIFIED_USER);
    fs::create_dir_all(unified.join("src")).map_err(|error| format!("{}: {error}", unified.display()))?;
    write(
        &unified.join("Cargo.toml"),
        &format!(
            "[package]\nname = {UNIFIED_USER:?}\nedition = \"2024\"\n\n\
             [features]\nhttp = [\"interlocking-unified/http\"]\nours = [\"dep:interlocking\"]\n\n\
             [dependencies]\ninterlocking-unified = {{ path = {:?} }}\n\
             interlocking = {{ path = {:?}, optional = true, features = {:?} }}\n",
            place.path().join("tests/unified"),
            place.path().join("crates/interlocking"),
            features.iter().filter(|feature| **feature != "http").collect::<Vec<_>>()
        ),
    )?;
    write(&unified.join("src/lib.rs"), "")?;

    let sets = sets.iter().map(Set::user);
    let members: Vec<String> =
        names.iter().chain(&projects).cloned().chain(sets).chain([UNIFIED_USER.to_owned()]).collect();
    write(&place.path().join("Cargo.toml"), &with_members(&read(&root.join("Cargo.toml"))?, &members)?)?;
    write(&place.path().join("Cargo.lock"), &read(&root.join("Cargo.lock"))?)?;
    write(&place.path().join("rust-toolchain.toml"), &read(&root.join("rust-toolchain.toml"))?)?;
    Ok(Users { place, names, projects })
}

impl Users {
    /// Checks the versions: cargo chooses another version for a user's crate if the lock file has none that meets the crate's
    /// requirement.
    pub(crate) fn versions_are_those_of(&self, root: &Path) -> Result<(), String> {
        let ours = read(&root.join("Cargo.lock"))?;
        let theirs = read(&self.place.path().join("Cargo.lock"))?;
        let ours = versions(&ours);
        let others: Vec<&str> = versions(&theirs)
            .difference(&ours)
            .copied()
            .filter(|version| !["\"user-", "\"new-", "\"set"].iter().any(|ours| version.contains(ours)))
            .collect();
        if others.is_empty() { Ok(()) } else { Err(format!("these are not in Cargo.lock:\n{}", others.join("\n"))) }
    }
}

/// A workspace's manifest with other members.
fn with_members(manifest: &str, members: &[String]) -> Result<String, String> {
    let line = manifest.lines().find(|line| line.starts_with("members = ")).ok_or("Cargo.toml names no members")?;
    Ok(manifest.replacen(line, &format!("members = {members:?}"), 1))
}

/// The name and version of each package of a lock file.
fn versions(lock: &str) -> BTreeSet<&str> {
    let packages = lock.split("[[package]]\n").skip(1);
    packages.filter_map(|package| package.match_indices('\n').nth(1).map(|(end, _)| &package[..end])).collect()
}

/// Writes a crate. In its manifest, `CHECKOUT` stands for the place, which has the links.
fn write_user(place: &Path, name: &str, manifest: &str, program: &str) -> Result<(), String> {
    let directory = place.join(name);
    fs::create_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let checkout = place.to_str().ok_or("the temporary directory is no UTF-8")?.replace('\\', "/");
    if !manifest.contains("\"CHECKOUT/crates/interlocking\"") {
        return Err(format!("the user's crate {name} does not depend on CHECKOUT/crates/interlocking"));
    }
    write(&directory.join("Cargo.toml"), &manifest.replace("CHECKOUT", &checkout))?;
    write(&directory.join("main.rs"), program)
}

/// The first block of this kind on a page.
fn block<'p>(page: &'p str, kind: &str) -> Result<&'p str, String> {
    let start = format!("\n```{kind}\n");
    let after = page.split_once(&start).and_then(|(_, rest)| rest.split_once("\n```"));
    after.map(|(block, _)| block).ok_or_else(|| format!("README.md has no block of {kind}"))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
