//! A parsed script.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::agent::usage::Cost;
use crate::conversation::decision::Decision;
use crate::sessions::session::SessionOpKind;

/// What a [`ScriptedAgent`](super::ScriptedAgent) plays: a list of turns, read with [`Script::read`] or
/// [`Script::parse`]. The [module](super) describes the format.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub(super) name: String,
    pub(super) turns: Vec<ScriptTurn>,
}

/// One `[[turn]]`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScriptTurn {
    /// The line where the turn begins, from 1.
    pub(super) line: usize,
    pub(super) agent: Option<String>,
    pub(super) contains: Vec<String>,
    pub(super) session: Option<SessionOpKind>,
    pub(super) times: Times,
    pub(super) delay: Option<Duration>,
    /// In the order of the script.
    pub(super) actions: Vec<Action>,
    pub(super) output: Option<Value>,
    /// Decisions instead of an output.
    pub(super) decisions: Vec<Decision>,
    pub(super) text: Option<String>,
    pub(super) cost: Cost,
    pub(super) tokens: Tokens,
    pub(super) fail: Option<Failure>,
    pub(super) retry_after: Option<Duration>,
}

/// How often a turn may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Times {
    AtMost(u32),
    Any,
}

/// An action in the workspace.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Action {
    /// The action's line in the script, from 1.
    pub(super) line: usize,
    pub(super) kind: ActionKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ActionKind {
    Write(Write),
    Append(Append),
    Replace(Replace),
    Remove(Remove),
    Run(Run),
    Commit(Commit),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    pub(super) path: ScriptPath,
    pub(super) content: String,
    #[serde(default)]
    pub(super) executable: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Append {
    pub(super) path: ScriptPath,
    pub(super) content: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Replace {
    pub(super) path: ScriptPath,
    pub(super) find: Findable,
    pub(super) with: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Remove {
    pub(super) path: ScriptPath,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    pub(super) command: CommandLine,
    #[serde(default)]
    pub(super) exit: ExpectedExit,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Commit {
    pub(super) message: CommitMessage,
}

/// The message of a commit; never blank.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct CommitMessage(String);

/// A text to search for; never empty.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Findable(String);

/// A program and its arguments; never empty.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub(super) struct CommandLine(Vec<String>);

/// How a command must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectedExit {
    Code(i32),
    Any,
}

/// A path inside the workspace: relative, without `..`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct ScriptPath(PathBuf);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Tokens {
    pub(super) input: u64,
    pub(super) output: u64,
}

/// The errors that a script can play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Failure {
    RateLimited,
    Overloaded,
    Connection,
    Refused,
    PromptTooLong,
    StepLimit,
    BudgetLimit,
    Crash,
}

impl Script {
    /// The name of the script in messages: its file, or the name it was parsed with.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl ScriptPath {
    pub(super) fn as_path(&self) -> &Path {
        &self.0
    }
}

impl TryFrom<String> for ScriptPath {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let inside = Path::new(&text).components().all(|component| matches!(component, Component::Normal(_)));
        // A backslash or a colon would be a separator or a drive on other systems.
        if inside && !text.is_empty() && !text.contains(['\0', '\\', ':']) && !text.ends_with('/') {
            Ok(Self(PathBuf::from(text)))
        } else {
            Err(format!("{text:?} is not a path inside the workspace: write it relative, with `/` and without `..`"))
        }
    }
}

impl Findable {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Findable {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() { Err("there is nothing to find in an empty text".to_owned()) } else { Ok(Self(text)) }
    }
}

impl CommitMessage {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for CommitMessage {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.trim().is_empty() || text.contains('\0') {
            true => Err("a commit needs a message: write what it is for".to_owned()),
            false => Ok(Self(text)),
        }
    }
}

impl CommandLine {
    pub(super) fn as_slice(&self) -> &[String] {
        &self.0
    }
}

impl TryFrom<Vec<String>> for CommandLine {
    type Error = String;

    fn try_from(words: Vec<String>) -> Result<Self, String> {
        if words.first().is_some_and(|program| !program.is_empty()) {
            Ok(Self(words))
        } else {
            Err("a command needs a program: write it as a list, like [\"cargo\", \"test\"]".to_owned())
        }
    }
}

impl Default for ExpectedExit {
    fn default() -> Self {
        Self::Code(0)
    }
}
