//! Why no turn of a script matches a prompt, with a message that shows how each turn differs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::sessions::session::SessionOpKind;

/// How many lines of a prompt, and characters of a line, an error message shows.
const SHOWN_LINES: usize = 12;
const SHOWN_WIDTH: usize = 100;

/// No turn of the script matches this prompt.
///
/// The message shows the beginning of the prompt and how each turn differs; the fields contain all details.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoMatch {
    /// The script's file or name.
    pub script: String,
    /// The role of the turn.
    pub role: Option<String>,
    /// The session operation of the turn.
    pub session: SessionOpKind,
    /// The whole prompt.
    pub prompt: String,
    /// Every turn of the script, in order, and why it does not match.
    pub turns: Vec<UnfitTurn>,
}

/// A turn of a script that does not match the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfitTurn {
    /// The turn's first line in the script.
    pub line: usize,
    /// All the reasons why it does not match.
    pub reasons: Vec<Unfit>,
}

/// Why a turn of a script does not match a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unfit {
    /// The turn has been used as often as allowed.
    UsedUp {
        /// The turn's `times`.
        times: u32,
    },
    /// The turn is for another agent.
    OtherAgent {
        /// The turn's `agent`.
        agent: String,
    },
    /// The turn is for another session operation.
    OtherSession {
        /// The turn's `session`.
        session: SessionOpKind,
    },
    /// The prompt lacks a required text.
    Lacks {
        /// One of the turn's `contains`.
        text: String,
    },
}

impl std::error::Error for NoMatch {}

impl fmt::Display for NoMatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = self.role.as_deref().unwrap_or("(none)");
        writeln!(formatter, "{}: no turn of the script matches this prompt", self.script)?;
        writeln!(formatter, "agent: {role}, session: {}", self.session)?;
        let lines = self.prompt.lines().count();
        if lines > SHOWN_LINES {
            writeln!(formatter, "prompt (the first {SHOWN_LINES} of {lines} lines):")?;
        } else {
            writeln!(formatter, "prompt:")?;
        }
        for line in self.prompt.lines().take(SHOWN_LINES) {
            writeln!(formatter, "  | {}", cut(line))?;
        }
        if self.turns.is_empty() {
            return write!(formatter, "the script has no turns");
        }
        write!(formatter, "turns of the script:")?;
        for turn in &self.turns {
            let reasons: Vec<_> = turn.reasons.iter().map(Unfit::to_string).collect();
            write!(formatter, "\n  line {}: {}", turn.line, reasons.join("; "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UsedUp { times: 1 } => write!(formatter, "already used (times = 1)"),
            Self::UsedUp { times } => write!(formatter, "already used {times} times (times = {times})"),
            Self::OtherAgent { agent } => write!(formatter, "for agent {agent:?}"),
            Self::OtherSession { session } => write!(formatter, "for session = \"{session}\""),
            Self::Lacks { text } => write!(formatter, "the prompt does not contain {:?}", cut(text)),
        }
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(SHOWN_WIDTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
