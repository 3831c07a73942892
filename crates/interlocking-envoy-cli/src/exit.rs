//! How the program ends.

/// How the program ends: `docs/book/src/envoy.md` has the same list, and the numbers are those of `interlocking::cli`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// It did what it was asked to.
    Done = 0,
    /// It could not do all of it: files or git refused, or a check failed. What was done is said.
    Failed = 1,
    /// What was asked for cannot be done as it was asked: a wrong option, no such protocol, a file that is no protocol, a
    /// decision that the others exclude. Nothing was done.
    Refused = 2,
    /// What it had to say could not be printed.
    Output = 8,
}

impl Exit {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Done, Self::Failed, Self::Refused, Self::Output];

    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// What it says, in a line of the program's help.
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
