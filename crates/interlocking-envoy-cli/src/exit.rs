//! Exit codes.

/// The exit codes of the program. `docs/book/src/envoy.md` has the same list, and the numbers are those of `interlocking::cli`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The command succeeded.
    Done = 0,
    /// The command could not do everything: files or git refused, or a check failed. The output states what was done.
    Failed = 1,
    /// The command was refused and nothing was done: a wrong option, an unknown protocol, an invalid file, a decision that others
    /// exclude.
    Refused = 2,
    /// The output could not be written.
    Output = 8,
}

impl Exit {
    /// All exit codes.
    pub const ALL: [Self; 4] = [Self::Done, Self::Failed, Self::Refused, Self::Output];

    /// The number with which the process exits.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Its meaning, as the program's help states it.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "not all of it could be done: files or git refused, or a check failed",
            Self::Refused => {
                "refused: a wrong option or name, a file that is no protocol, a decision that others exclude; nothing was done"
            }
            Self::Output => "the output could not be written",
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
