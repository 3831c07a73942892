//! Why an action of a script failed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An action of a script failed.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{script}:{line}: {problem}")]
pub struct ActionError {
    /// The script's file or name.
    pub script: String,
    /// The action's line in the script.
    pub line: usize,
    /// Why the action failed.
    pub problem: ActionProblem,
}

/// Why an action failed.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionProblem {
    /// The turn has no workspace for the action.
    #[error("the turn has no workspace to do this in")]
    NoWorkspace,
    /// The turn's workspace does not exist.
    #[error("the workspace {} is not a directory", workspace.display())]
    WorkspaceMissing {
        /// The turn's workspace.
        workspace: PathBuf,
    },
    /// A symbolic link in the path could lead out of the workspace.
    #[error("`{}` leads through the symbolic link `{}`, which may leave the workspace", path.display(), link.display())]
    ThroughLink {
        /// The action's path.
        path: PathBuf,
        /// The link, relative to the workspace.
        link: PathBuf,
    },
    /// The file system reported an error.
    #[error("`{}`: {reason}", path.display())]
    File {
        /// The action's path.
        path: PathBuf,
        /// The error message of the operating system.
        reason: String,
    },
    /// The text to replace does not occur exactly once.
    #[error("`{}` contains the text to replace {count} times, not once: {find:?}", path.display())]
    NotOnce {
        /// The action's path.
        path: PathBuf,
        /// The text to replace.
        find: String,
        /// How often the text occurs.
        count: usize,
    },
    /// There is nothing to commit.
    #[error("there is nothing to commit: change a file before this, or leave the commit out")]
    NothingToCommit,
    /// A commit, or the hash of a commit, is requested outside of a repository.
    #[error("{} is no git worktree, so it has no commits: give the turn one{}", workspace.display(), indented(last_words))]
    NotARepository {
        /// The turn's workspace.
        workspace: PathBuf,
        /// The error message of git.
        last_words: String,
    },
    /// `$HEAD` is requested in a repository without commits.
    #[error("`$HEAD` is no commit yet: commit before, with `[[turn.commit]]`")]
    NoCommit,
    /// The command could not be started.
    #[error("`{}` cannot be started: {reason}", command.join(" "))]
    NotStarted {
        /// Program and arguments.
        command: Vec<String>,
        /// The error message of the operating system.
        reason: String,
    },
    /// The command did not end as the script expects.
    #[error("`{}` {}, expected exit code {expected}{}", command.join(" "), ended(*exit), indented(last_words))]
    WrongExit {
        /// Program and arguments.
        command: Vec<String>,
        /// The exit code the script expects.
        expected: i32,
        /// The command's exit code; none when a signal ended it.
        exit: Option<i32>,
        /// The end of the command's output.
        last_words: String,
    },
}

fn ended(exit: Option<i32>) -> String {
    match exit {
        Some(code) => format!("ended with exit code {code}"),
        None => "was ended by a signal".to_owned(),
    }
}

fn indented(last_words: &str) -> String {
    last_words.lines().map(|line| format!("\n  | {line}")).collect()
}
