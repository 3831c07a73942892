//! The demonstration: a seed crate, a task, and what scripted agents write at each step.
//!
//! Everything is embedded, so that an installed program can show a run anywhere, without a network. The seed's lock file is the
//! one this program was built with, reduced by cargo to the seed's needs, so the machine that built this program has also fetched
//! the dependencies of the seed's tests.

mod lies;

use clap::ValueEnum;
use interlocking::cli::repository::EmbeddedFile;
use lies::Lie;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Scenario {
    /// All agents do what they say.
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
    /// The implementation has a bug that one round of fixing repairs.
    FixRound,
    /// An agent claims that a property calls a function that it does not call.
    ClaimedCoverage,
    /// The properties are about a type of the test file's own.
    TestsOfAnotherType,
    /// A test catches its own panics.
    SwallowedPanics,
    /// One of the tests is ignored, and one is not compiled.
    TestsLeftOut,
    /// A test reads the implementation as text.
    TestsReadTheSource,
    /// The implementation behaves differently outside tests.
    DetectsTests,
    /// The agent that is to fix the implementation changes the verified tests.
    EditsAfterCommit,
    /// The implementation comes with a build script that prints what the harness prints.
    FakedHarness,
}

/// The scripts that are derived from other scripts.
static LIES: LazyLock<BTreeMap<Scenario, String>> = LazyLock::new(|| {
    Scenario::value_variants().iter().filter_map(|scenario| Some((*scenario, scenario.lie()?.script()))).collect()
});

impl Scenario {
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
            _ => LIES.get(&self).map_or("", String::as_str),
        }
    }

    /// Its lie, if the script is another script with one turn changed.
    fn lie(self) -> Option<&'static Lie> {
        Some(match self {
            Self::ClaimedCoverage => &lies::CLAIMED_COVERAGE,
            Self::TestsOfAnotherType => &lies::TESTS_OF_ANOTHER_TYPE,
            Self::SwallowedPanics => &lies::SWALLOWED_PANICS,
            Self::TestsLeftOut => &lies::TESTS_LEFT_OUT,
            Self::TestsReadTheSource => &lies::TESTS_READ_THE_SOURCE,
            Self::DetectsTests => &lies::DETECTS_TESTS,
            Self::EditsAfterCommit => &lies::EDITS_AFTER_COMMIT,
            Self::FakedHarness => &lies::FAKED_HARNESS,
            _ => return None,
        })
    }
}
