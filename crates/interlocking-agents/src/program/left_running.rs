//! What could not be ended of the programs that a killed process had run.

use std::fmt;

use thiserror::Error;

/// Programs of a process that has ended, or what came of them, may still be at work.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AbandonedError {
    /// These could not be ended.
    #[error(
        "these were left by a process that ran programs and has ended, and they cannot be ended from here:{}\n\
         end them, as their user or the system's",
        lines(processes)
    )]
    StillRunning {
        /// All of them.
        processes: Vec<LeftRunning>,
    },
    /// It cannot be seen what runs.
    #[error("what was left by processes that have ended cannot be looked for: {reason}; is /proc mounted?")]
    NotSeen {
        /// The system's words.
        reason: String,
    },
}

/// A process that could not be ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftRunning {
    /// Its number.
    pub number: u32,
    /// Its name, as the kernel has it: the beginning of the program's.
    pub name: String,
}

impl fmt::Display for LeftRunning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "process {}, {:?}", self.number, self.name)
    }
}

fn lines(processes: &[LeftRunning]) -> String {
    processes.iter().map(|process| format!("\n  {process}")).collect()
}
