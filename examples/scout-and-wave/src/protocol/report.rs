//! An agent's completion report (SAW-68 to SAW-79).

use super::agent::AgentLetter;
use interlocking::workspaces::FilePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What an agent says of its work when it ends. The orchestrator writes it into the document (CON-101).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompletionReport {
    /// How far it came.
    pub status: Status,
    /// Its worktree, as its prompt calls it: `.claude/worktrees/wave1-agent-a`.
    pub worktree: String,
    /// The last commit on its branch; `uncommitted` if it could not commit.
    pub commit: ReportedCommit,
    /// The files that it changed.
    pub files_changed: Vec<FilePath>,
    /// The files that it created.
    pub files_created: Vec<FilePath>,
    /// Where it departed from a contract; empty if nowhere.
    pub interface_deviations: Vec<InterfaceDeviation>,
    /// What it had to change outside of its own files; empty if nothing.
    pub out_of_scope_deps: Vec<OutOfScope>,
    /// The names of the tests that it added.
    pub tests_added: Vec<String>,
    /// What its gate came to: `PASS (cargo test --test parser - 12/12 tests)`.
    pub verification: Verification,
    /// Anything else, in prose.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
}

/// How far an agent came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All is done.
    Complete,
    /// Some of it.
    Partial,
    /// It could not go on.
    Blocked,
}

/// The commit that an agent reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String", inline)]
pub enum ReportedCommit {
    /// A hash.
    Hash(String),
    /// There is none, which has to be said (CON-110).
    Uncommitted,
}

/// A departure from a contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterfaceDeviation {
    /// What is otherwise than the contract says.
    pub description: String,
    /// Whether prompts of later agents have to be changed.
    pub downstream_action_required: bool,
    /// The agents of later waves whom it affects.
    pub affects: Vec<AgentLetter>,
}

/// A change outside of an agent's own files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutOfScope {
    /// The file.
    pub file: FilePath,
    /// What was changed.
    pub change: String,
    /// Why it had to be.
    pub reason: String,
}

/// What an agent's gate came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", inline, extend("pattern" = r"^(PASS|FAIL) \(.+ - [0-9]+/[0-9]+ tests\)$"))]
pub struct Verification {
    /// Whether it passed.
    pub passed: bool,
    /// The command.
    pub command: String,
    /// How many tests passed.
    pub tests_passed: u32,
    /// Of how many.
    pub tests: u32,
}

/// The error for a text that is not the result of a gate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the gate's result, such as `PASS (cargo test - 12/12 tests)`, found {found:?}")]
pub struct NotAVerification {
    /// The refused text.
    pub found: String,
}

impl From<String> for ReportedCommit {
    fn from(text: String) -> Self {
        if text == "uncommitted" { Self::Uncommitted } else { Self::Hash(text) }
    }
}

impl From<ReportedCommit> for String {
    fn from(commit: ReportedCommit) -> Self {
        match commit {
            ReportedCommit::Hash(hash) => hash,
            ReportedCommit::Uncommitted => "uncommitted".to_owned(),
        }
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, command, tests_passed, tests } = self;
        write!(f, "{} ({command} - {tests_passed}/{tests} tests)", if *passed { "PASS" } else { "FAIL" })
    }
}

impl FromStr for Verification {
    type Err = NotAVerification;

    fn from_str(text: &str) -> Result<Self, NotAVerification> {
        let read = || {
            let (word, rest) = text.trim().split_once(" (")?;
            let passed = match word {
                "PASS" => true,
                "FAIL" => false,
                _ => return None,
            };
            let (command, counts) = rest.strip_suffix(" tests)")?.rsplit_once(" - ")?;
            let (tests_passed, tests) = counts.split_once('/')?;
            let (tests_passed, tests) = (tests_passed.parse().ok()?, tests.parse().ok()?);
            (!command.is_empty()).then(|| Self { passed, command: command.to_owned(), tests_passed, tests })
        };
        read().ok_or_else(|| NotAVerification { found: text.to_owned() })
    }
}

impl TryFrom<String> for Verification {
    type Error = NotAVerification;

    fn try_from(text: String) -> Result<Self, NotAVerification> {
        text.parse()
    }
}

impl From<Verification> for String {
    fn from(verification: Verification) -> Self {
        verification.to_string()
    }
}

impl Verification {
    /// Of work that a person has finished: no agent has run its commands.
    pub(crate) fn by_hand() -> Self {
        Self { passed: false, command: "not run by an agent".to_owned(), tests_passed: 0, tests: 0 }
    }
}

/// An agent's report has the words for work that a person has finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an agent reported \"{}\", which stands for work that a person has finished", Verification::by_hand())]
pub(crate) struct ByHand;

impl CompletionReport {
    /// Whether all is done, and the agent's commands and tests have passed, as they have to before it may say so (SAW-63).
    pub(crate) fn is_complete(&self) -> bool {
        let Verification { passed, tests_passed, tests, .. } = self.verification;
        let is_verified = passed && tests_passed >= tests || self.verification == Verification::by_hand();
        self.status == Status::Complete && is_verified
    }

    /// The same, if an agent may say so.
    ///
    /// # Errors
    ///
    /// [`ByHand`] for the words of [`Verification::by_hand`]: they count as complete, and are not an agent's.
    pub(crate) fn by_an_agent(self) -> Result<Self, ByHand> {
        match self.verification == Verification::by_hand() {
            true => Err(ByHand),
            false => Ok(self),
        }
    }

    /// Every file that it reports to have touched.
    pub fn files(&self) -> impl Iterator<Item = &FilePath> {
        self.files_changed.iter().chain(&self.files_created)
    }
}
