//! Exit codes.

/// The exit codes of the program. `docs/book/src/cli.md` has the same list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The run finished, or the command succeeded.
    Done = 0,
    /// The run failed.
    Failed = 1,
    /// The command was refused and nothing was done: a wrong option, an entry or answer of the wrong type, no such run.
    Usage = 2,
    /// The run waits for a person.
    Waiting = 3,
    /// A budget of the run is used up.
    BudgetExhausted = 4,
    /// A provider keeps failing.
    ProviderLimited = 5,
    /// The run was suspended or cancelled, or a command that only reads was interrupted.
    Stopped = 6,
    /// The journal cannot be used: another executor holds the run, or the journal is full, damaged or not writable. A run that
    /// was being executed has stopped; work that was not recorded is repeated when the run is resumed.
    Journal = 7,
    /// Output could not be written, or something that the run has made could not be removed.
    Output = 8,
    /// Interrupted twice: the process ended at once.
    Aborted = 130,
}

impl Exit {
    /// All exit codes.
    pub const ALL: [Self; 10] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Waiting,
        Self::BudgetExhausted,
        Self::ProviderLimited,
        Self::Stopped,
        Self::Journal,
        Self::Output,
        Self::Aborted,
    ];

    /// The number with which the process exits.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Its meaning, as the program's help states it.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Done => "finished, or done",
            Self::Failed => "the run failed",
            Self::Usage => "refused: a wrong option, entry, answer or name; nothing was done",
            Self::Waiting => "the run waits for a person: answer, then resume",
            Self::BudgetExhausted => "a budget is used up: resume with a larger one",
            Self::ProviderLimited => "a provider goes on failing: resume later",
            Self::Stopped => "the run was suspended or cancelled, or the command was interrupted",
            Self::Journal => "the journal cannot be used, or another process executes the run",
            Self::Output => "output could not be written, or what a run has made could not be removed",
            Self::Aborted => "interrupted twice: ended where it stood",
        }
    }

    /// The exit of a run with an [outcome of this name](interlocking_runtime::Outcome::name).
    pub(crate) fn of_outcome(name: &str) -> Self {
        match name {
            "finished" => Self::Done,
            "waiting" => Self::Waiting,
            "budget_exhausted" => Self::BudgetExhausted,
            "journal_failed" => Self::Journal,
            "provider_limited" => Self::ProviderLimited,
            "suspended" | "cancelled" => Self::Stopped,
            _ => Self::Failed,
        }
    }

    /// The list at the end of the program's help.
    pub(crate) fn help() -> String {
        let lines = Self::ALL.map(|exit| format!("\n  {:<5}{}", exit.code(), exit.meaning()));
        format!("Exit codes:{}", lines.concat())
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interlocking_agents::Cost;
    use interlocking_core::failure::{Failure, FailureKind};
    use interlocking_runtime::Outcome;
    use interlocking_runtime::budget::BudgetExceeded;
    use interlocking_runtime::journal::JournalError;
    use interlocking_runtime::provider::ProviderLimit;
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn every_outcome_has_its_exit() {
        let failure = Failure::new("n", 1, 1, FailureKind::Handler, "");
        let provider = json!({ "agent": "a", "retries": 1, "waited": Duration::ZERO, "message": "" });
        let provider = serde_json::from_value::<ProviderLimit>(provider).unwrap();
        let used_up = BudgetExceeded::Money { limit: Cost::ZERO, used: Cost::ZERO };
        let outcomes = [
            (Outcome::Finished(()), 0),
            (Outcome::Failed(failure), 1),
            (Outcome::Waiting { questions: Vec::new() }, 3),
            (Outcome::BudgetExhausted(used_up), 4),
            (Outcome::ProviderLimited(provider), 5),
            (Outcome::JournalFailed(JournalError::Full { place: "/".to_owned() }), 7),
            (Outcome::Suspended, 6),
            (Outcome::Cancelled, 6),
        ];
        for (outcome, code) in outcomes {
            assert_eq!(Exit::of_outcome(outcome.name()).code(), code, "{outcome:?}");
        }
    }

    #[test]
    fn the_documentation_has_every_exit() {
        let page = include_str!("../../../docs/book/src/cli.md");
        for exit in Exit::ALL {
            let row = format!("| {} | {} |", exit.code(), exit.meaning());
            assert!(page.contains(&row), "docs/book/src/cli.md lacks {row:?}");
        }
    }
}
