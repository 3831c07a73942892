//! The demonstration: a seed crate, a task, and what scripted agents write at each step.
//!
//! Everything is embedded, so that an installed program can show a run anywhere, without a network: the seed's
//! lock file is the one this program was built with, cut down by cargo to what the seed needs, so whatever built
//! this program has also fetched what the seed's tests depend on.

use interlocking::cli::repository::EmbeddedFile;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The crate a run starts from.
///
/// The lock file names more packages than the crate needs. Build once before the first commit: cargo then drops
/// the others, and no later build changes the file.
pub const SEED: [EmbeddedFile; 5] = [
    EmbeddedFile { path: "Cargo.toml", contents: include_str!("../demo/seed/Cargo.toml") },
    EmbeddedFile { path: "Cargo.lock", contents: include_str!("../../../Cargo.lock") },
    EmbeddedFile { path: ".gitignore", contents: include_str!("../demo/seed/gitignore") },
    EmbeddedFile { path: "README.md", contents: include_str!("../demo/seed/README.md") },
    EmbeddedFile { path: "src/lib.rs", contents: include_str!("../demo/seed/src/lib.rs") },
];

/// The task, as TOML.
pub const SPEC: &str = include_str!("../demo/spec.toml");

/// How the scripted agents behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scenario {
    /// Everybody does what they say.
    Happy,
    /// The first type design has a major hole.
    TypesHole,
    /// The first tests contain one that passes on the stubs.
    TrivialTests,
    /// The first tests do not compile.
    TestsDoNotCompile,
    /// The implementation does not build, and its agent says it does.
    BuildLie,
    /// The implementation agent writes a test file.
    ImplEditsTests,
    /// The implementation has a bug that one round of fixing mends.
    FixRound,
}

/// There is no such scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no scenario `{name}`; the scenarios are {}", Scenario::ALL.map(Scenario::name).join(", "))]
pub struct UnknownScenario {
    /// The name that was asked for.
    pub name: String,
}

impl Scenario {
    /// Every scenario.
    pub const ALL: [Self; 7] = [
        Self::Happy,
        Self::TypesHole,
        Self::TrivialTests,
        Self::TestsDoNotCompile,
        Self::BuildLie,
        Self::ImplEditsTests,
        Self::FixRound,
    ];

    /// What it is called on the command line and in its file's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Happy => "happy",
            Self::TypesHole => "types_hole",
            Self::TrivialTests => "trivial_tests",
            Self::TestsDoNotCompile => "tests_do_not_compile",
            Self::BuildLie => "build_lie",
            Self::ImplEditsTests => "impl_edits_tests",
            Self::FixRound => "fix_round",
        }
    }

    /// Its script, as TOML: what the scripted agents do and answer.
    pub fn script(self) -> &'static str {
        match self {
            Self::Happy => include_str!("../demo/scripts/happy.toml"),
            Self::TypesHole => include_str!("../demo/scripts/types_hole.toml"),
            Self::TrivialTests => include_str!("../demo/scripts/trivial_tests.toml"),
            Self::TestsDoNotCompile => include_str!("../demo/scripts/tests_do_not_compile.toml"),
            Self::BuildLie => include_str!("../demo/scripts/build_lie.toml"),
            Self::ImplEditsTests => include_str!("../demo/scripts/impl_edits_tests.toml"),
            Self::FixRound => include_str!("../demo/scripts/fix_round.toml"),
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scenario {
    type Err = UnknownScenario;

    fn from_str(name: &str) -> Result<Self, UnknownScenario> {
        let found = Self::ALL.into_iter().find(|scenario| scenario.name() == name);
        found.ok_or_else(|| UnknownScenario { name: name.to_owned() })
    }
}
