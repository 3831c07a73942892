//! The commands that build and test what agents write, and how they are run.
//!
//! Cargo and proptest by default, anything else by configuration: [`Toolchain`] names the commands as
//! argument lists (no shell), [`Workshop`] runs them with a cleared environment, a time limit and captured
//! output, and [`BuildOutcome`] and [`TestRun`] say what came of it.

mod command;
mod config;
mod outcome;
mod process;
mod workshop;

pub use command::{CommandLine, EmptyCommand};
pub use config::{Harness, Toolchain};
pub use outcome::{BuildOutcome, TestOutcome, TestRun, TestVerdict};
pub use process::{Ending, Finished, RunError};
pub use workshop::{Workshop, share_dependencies};
