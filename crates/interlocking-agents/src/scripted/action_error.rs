//! Why an action of a script could not be done.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Something a script says could not be done.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{script}:{line}: {problem}")]
pub struct ActionError {
    /// The script's file or name.
    pub script: String,
    /// Where the script says so.
    pub line: usize,
    /// Why it could not be done.
    pub problem: ActionProblem,
}

/// Why an action could not be done.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionProblem {
    /// The turn has no workspace to do it in.
    #[error("the turn has no workspace to do this in")]
    NoWorkspace,
    /// The turn's workspace does not exist.
    #[error("the workspace {} is not a directory", workspace.display())]
    WorkspaceMissing {
        /// The turn's workspace.
        workspace: PathBuf,
    },
    /// A symbolic link on the way could lead out of the workspace.
    #[error("`{}` leads through the symbolic link `{}`, which may leave the workspace", path.display(), link.display())]
    ThroughLink {
        /// The action's path.
        path: PathBuf,
        /// The link, relative to the workspace.
        link: PathBuf,
    },
    /// The file system refused.
    #[error("`{}`: {reason}", path.display())]
    File {
        /// The action's path.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// The text to replace is not there exactly once.
    #[error("`{}` contains the text to replace {count} times, not once: {find:?}", path.display())]
    NotOnce {
        /// The action's path.
        path: PathBuf,
        /// The text to replace.
        find: String,
        /// How often it is there.
        count: usize,
    },
    /// There is nothing to commit.
    #[error("there is nothing to commit: change a file before this, or leave the commit out")]
    NothingToCommit,
    /// A commit, or the hash of one, is asked for where no repository is.
    #[error("{} is no git worktree, so it has no commits: give the turn one{}", workspace.display(), indented(last_words))]
    NotARepository {
        /// The turn's workspace.
        workspace: PathBuf,
        /// What git said.
        last_words: String,
    },
    /// `$HEAD` is asked for in a repository without commits.
    #[error("`$HEAD` is no commit yet: commit before, with `[[turn.commit]]`")]
    NoCommit,
    /// The command could not be started.
    #[error("`{}` cannot be started: {reason}", command.join(" "))]
    NotStarted {
        /// Program and arguments.
        command: Vec<String>,
        /// The system's words.
        reason: String,
    },
    /// The command did not end as the script says.
    #[error("`{}` {}, expected exit code {expected}{}", command.join(" "), ended(*exit), indented(last_words))]
    WrongExit {
        /// Program and arguments.
        command: Vec<String>,
        /// The exit code the script expects.
        expected: i32,
        /// Its exit code; none when a signal ended it.
        exit: Option<i32>,
        /// The end of what it wrote.
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
