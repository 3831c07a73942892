//! Processes that a killed runner left behind and that could not be ended.

use std::fmt;

use thiserror::Error;

/// Programs whose runner has ended, or descendants of such programs, may still be running.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AbandonedError {
    /// These processes could not be ended.
    #[error(
        "these processes were left running by an earlier process, and this process may not end them:{}\n\
         end them as their user or as root",
        lines(processes)
    )]
    StillRunning {
        /// All processes that could not be ended.
        processes: Vec<SurvivingProcess>,
    },
    /// The list of running processes could not be read.
    #[error("processes that an earlier process left running cannot be listed: {reason}; is /proc mounted?")]
    SearchFailed {
        /// The operating system's error.
        reason: String,
    },
}

/// A process that could not be ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurvivingProcess {
    /// The process id.
    pub number: u32,
    /// The name that the kernel shows for the process (`/proc/PID/comm`): the beginning of the program's name.
    pub name: String,
}

impl fmt::Display for SurvivingProcess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "process {}, {:?}", self.number, self.name)
    }
}

fn lines(processes: &[SurvivingProcess]) -> String {
    processes.iter().map(|process| format!("\n  {process}")).collect()
}
