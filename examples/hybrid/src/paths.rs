//! Which role may change which files: the barrier between the blind agents, as paths.
//!
//! Every path belongs to one [`Territory`]. The test file and everything below `tests/` and `proptest-regressions/` belongs to
//! the tests; the implementation file and everything else below its first directory (`src/`) belongs to the implementation. Both
//! are those of the package that is worked on: in a workspace no role may change the other packages. The files that define the
//! build (`Cargo.toml`, `Cargo.lock`, `build.rs`, `.cargo/`, the toolchain file) belong to neither: both blind agents start from
//! the same build and the merge must not have to choose between two, and a build script could pass on what the barrier keeps
//! apart. Only the types agent and the skeleton may change the manifest and its lock, before the fork. No role may change any
//! other file.

use interlocking::rust_source::defines_the_build;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

use crate::language::Language;
use crate::types::{CratePath, StackSpec};

/// The owner of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Territory {
    /// Written by the tests agent.
    Tests,
    /// Written by the types agent, then by the implementation and fix agents.
    Implementation,
    /// Written by both sides: documents and data that the task names.
    Shared,
    /// The manifest or its lock.
    Manifest,
    /// Anything else that decides how the crate is built.
    BuildDefinition,
    /// Everything else, and every path outside the crate.
    Outside,
}

/// The role that changed the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The types agent and the types fix agent.
    Types,
    /// The tests agent, and the mutation fix agent: it strengthens tests (CON-69).
    Tests,
    /// The implementation agent.
    Implementation,
    /// The fix agent: it may not change verified tests (HY-191).
    Fix,
    /// The conflict agent: it changes the files that conflict, and no other (HY-251).
    Conflict,
}

/// A change that the role may not make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{} may not change `{path}`, which {}", role.name(), territory.belongs())]
pub struct PathViolation {
    /// The role that changed it.
    pub role: Role,
    /// What was changed.
    pub path: String,
    /// The territory of that path.
    pub territory: Territory,
}

impl Territory {
    /// The territory of a path in this task. A path that both could claim belongs to the tests.
    pub fn of(path: &str, spec: &StackSpec) -> Self {
        let Ok(path) = CratePath::new(path) else {
            return Self::Outside;
        };
        if path == spec.test_path {
            return Self::Tests;
        }
        if path == spec.impl_path {
            return Self::Implementation;
        }
        if spec.shared_paths.contains(&path) {
            return Self::Shared;
        }
        let (text, package) = (path.as_str(), package_of(&spec.impl_path));
        match text.rsplit_once('/').unwrap_or(("", text)) {
            (_, "Cargo.lock") => return Self::Manifest,
            // Another package's manifest is not part of the task.
            (directory, "Cargo.toml") => {
                return if Path::new(package).starts_with(directory) { Self::Manifest } else { Self::Outside };
            }
            _ if defines_the_build(text) => return Self::BuildDefinition,
            _ => {}
        }
        let inside = |path| Path::new(path).strip_prefix(package).ok().and_then(Path::to_str);
        let Some((top, _)) = inside(text).and_then(|inside| inside.split_once('/')) else {
            return Self::Outside;
        };
        let implementation_top = inside(spec.impl_path.as_str()).and_then(|inside| Some(inside.split_once('/')?.0));
        if matches!(top, "tests" | "proptest-regressions") || text.split('/').any(|part| part == "proptest-regressions")
        {
            Self::Tests
        } else if Some(top) == implementation_top {
            Self::Implementation
        } else {
            Self::Outside
        }
    }

    fn belongs(self) -> &'static str {
        match self {
            Self::Tests => "belongs to the tests",
            Self::Implementation => "belongs to the implementation",
            Self::Shared => "is for tests and implementation",
            Self::Manifest => "is part of the manifest, the same for both sides",
            Self::BuildDefinition => "defines the build",
            Self::Outside => "is no part of this task",
        }
    }
}

impl Role {
    /// Whether this role may change files of that territory.
    pub fn may_change(self, territory: Territory) -> bool {
        match self {
            Self::Types => matches!(territory, Territory::Implementation | Territory::Manifest),
            Self::Tests => matches!(territory, Territory::Tests | Territory::Shared),
            Self::Implementation => matches!(territory, Territory::Implementation | Territory::Shared),
            Self::Fix => territory == Territory::Implementation,
            Self::Conflict => false,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Types => "the types agent",
            Self::Tests => "the tests agent",
            Self::Implementation => "the implementation agent",
            Self::Fix => "the fix agent",
            Self::Conflict => "the conflict agent",
        }
    }
}

/// The changes that the role may not make, in the order given (HY-34, HY-259). Paths are git's: relative to the
/// crate, with `/` between their parts.
pub fn violations<'p>(role: Role, changed: impl IntoIterator<Item = &'p str>, spec: &StackSpec) -> Vec<PathViolation> {
    let mut violations = Vec::new();
    for path in changed {
        let territory = Territory::of(path, spec);
        if !role.may_change(territory) {
            violations.push(PathViolation { role, path: path.to_owned(), territory });
        }
    }
    violations
}

/// The directory of the package that an implementation is in: the directory that contains its `src/`, or the repository's top if
/// `src/` is there or does not exist.
pub fn package_of(implementation: &CratePath) -> &str {
    implementation.as_str().rsplit_once("/src/").map_or("", |(package, _)| package)
}

/// Whether the file is code, or may decide how code is built or tested: an agent that writes it can bypass the
/// barrier.
pub fn is_code(path: &CratePath) -> bool {
    /// Besides sources: manifests, what configures pytest, and what Python loads by itself.
    const ENDINGS: [&str; 9] = ["toml", "lock", "ini", "cfg", "pth", "pyi", "pyc", "pyd", "so"];
    let ending = Path::new(path.as_str()).extension().and_then(|ending| ending.to_str());
    let is_one = Language::of(path).is_some() || ending.is_some_and(|ending| ENDINGS.contains(&ending));
    is_one || defines_the_build(path.as_str())
}

/// The files that decide how a crate is built, if they are where cargo or rustup look: at its top, and above the written files.
/// By their paths relative to the crate; `Cargo.lock`, which every build may write, is not among them.
pub fn steering_paths(spec: &StackSpec) -> BTreeSet<String> {
    const NAMES: [&str; 6] =
        [".cargo/config", ".cargo/config.toml", "Cargo.toml", "build.rs", "rust-toolchain", "rust-toolchain.toml"];
    let files = [&spec.impl_path, &spec.test_path].map(|path| Path::new(path.as_str()));
    let directories: BTreeSet<&Path> = files.iter().flat_map(|file| file.ancestors().skip(1)).collect();
    let paths = directories.into_iter().flat_map(|directory| NAMES.map(|name| directory.join(name)));
    paths.filter_map(|path| Some(path.to_str()?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::StrictnessConfig;
    use interlocking::workspaces::Pattern;

    fn spec(implementation: &str, tests: &str) -> StackSpec {
        StackSpec {
            module_name: "stack".to_owned(),
            description: "A stack.".to_owned(),
            acceptance_criteria: vec!["It stacks.".to_owned()],
            impl_path: CratePath::new(implementation).unwrap(),
            test_path: CratePath::new(tests).unwrap(),
            shared_paths: Vec::new(),
            strictness: StrictnessConfig::default(),
        }
    }

    /// HY-34, HY-191, HY-259: each role and each kind of file, one by one.
    #[test]
    fn every_role_has_its_own_ground() {
        let spec = spec("src/lib.rs", "tests/properties.rs");
        let all = [
            "src/lib.rs",
            "src/detail/heap.rs",
            "tests/properties.rs",
            "tests/common/mod.rs",
            "proptest-regressions/properties.txt",
            "Cargo.toml",
            "Cargo.lock",
            "build.rs",
            ".cargo/config.toml",
            "README.md",
            "../elsewhere",
        ];
        let allowed = |role| -> Vec<&str> {
            let refused = violations(role, all, &spec);
            all.into_iter().filter(|path| !refused.iter().any(|violation| violation.path == *path)).collect()
        };
        let tests = ["tests/properties.rs", "tests/common/mod.rs", "proptest-regressions/properties.txt"];
        assert_eq!(allowed(Role::Tests), tests);
        assert_eq!(allowed(Role::Implementation), ["src/lib.rs", "src/detail/heap.rs"]);
        assert_eq!(allowed(Role::Fix), ["src/lib.rs", "src/detail/heap.rs"]);
        assert_eq!(allowed(Role::Types), ["src/lib.rs", "src/detail/heap.rs", "Cargo.toml", "Cargo.lock"]);
        assert_eq!(allowed(Role::Conflict), [""; 0]);
    }

    /// HY-34: of a workspace one package is worked on.
    #[test]
    fn other_packages_are_no_part_of_the_task() {
        let spec = spec("crates/stack/src/lib.rs", "crates/stack/tests/properties.rs");
        for (path, territory) in [
            ("crates/stack/src/heap.rs", Territory::Implementation),
            ("crates/stack/tests/existing.rs", Territory::Tests),
            ("crates/stack/benches/b.rs", Territory::Outside),
            ("crates/stack/Cargo.toml", Territory::Manifest),
            ("Cargo.toml", Territory::Manifest),
            ("Cargo.lock", Territory::Manifest),
            ("crates/stack/build.rs", Territory::BuildDefinition),
            ("crates/other/Cargo.toml", Territory::Outside),
            ("crates/other/src/lib.rs", Territory::Outside),
            ("crates/other/tests/properties.rs", Territory::Outside),
            ("crates/stack-more/src/lib.rs", Territory::Outside),
            ("src/lib.rs", Territory::Outside),
            ("tests/all.rs", Territory::Outside),
        ] {
            assert_eq!(Territory::of(path, &spec), territory, "{path}");
        }
    }

    /// HY-34: tests among the implementation's files belong to the tests all the same.
    #[test]
    fn a_test_file_among_the_sources_is_the_tests() {
        let spec = spec("src/stack.rs", "src/stack_properties.rs");
        assert_eq!(violations(Role::Tests, ["src/stack_properties.rs"], &spec), []);
        assert_eq!(violations(Role::Implementation, ["src/stack_properties.rs"], &spec).len(), 1);
    }

    #[test]
    fn the_files_that_define_a_build_are_those_that_ownership_protects() {
        let protected = Pattern::build_definitions();
        for path in [
            "Cargo.toml",
            "a/Cargo.lock",
            "a/b/build.rs",
            ".cargo/config.toml",
            "a/.cargo/b/c",
            "rust-toolchain",
            "a/rust-toolchain.toml",
            "build",
            "a/build.rs/b",
            "cargo/config.toml",
            "a.cargo/b",
        ] {
            assert_eq!(defines_the_build(path), protected.iter().any(|pattern| pattern.matches(path)), "{path}");
        }
    }

    #[test]
    fn what_steers_a_build_is_looked_for_above_what_is_written() {
        let paths = steering_paths(&spec("crates/a/src/lib.rs", "crates/a/tests/p.rs"));
        for path in [".cargo/config.toml", "crates/a/rust-toolchain.toml", "crates/a/build.rs", "crates/Cargo.toml"] {
            assert!(paths.contains(path), "{path}");
        }
        assert!(!paths.iter().any(|path| path.contains("Cargo.lock")));
    }

    #[test]
    fn a_violation_says_who_and_why() {
        let spec = spec("src/lib.rs", "tests/properties.rs");
        let [violation] = &violations(Role::Fix, ["tests/properties.rs"], &spec)[..] else { panic!() };
        let text = "the fix agent may not change `tests/properties.rs`, which belongs to the tests";
        assert_eq!(violation.to_string(), text);
    }
}
