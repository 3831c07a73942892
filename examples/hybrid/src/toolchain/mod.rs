//! The commands that build and test what agents write, and how they are run.
//!
//! Cargo and proptest by default, anything else by configuration: [`Toolchain`] names the commands as argument lists (no shell), a
//! [`Workshop`] runs them on a [`Checkout`], and [`BuildOutcome`] and [`TestRun`] say what came of it. `docs/verdicts.md` has what
//! the code under test could try, and what stops it.
//!
//! - `execution`: one command, with all that comes of it ended. `environment` and `confinement` are what it sees and may reach.
//! - `steering`: the files outside a checkout that decide how it is built.
//! - `cargo_test`: building the test programs. `test_programs`: each test in a process of its own, with its canary.

mod command;
mod config;
mod outcome;
mod environment;
mod confinement;
mod steering;
mod execution;
mod cargo_test;
mod test_programs;
mod dependencies;
mod workshop;

pub use cargo_test::NotCargoTest;
pub use command::{CommandLine, EmptyCommand};
pub use config::{Harness, Toolchain};
pub use confinement::Unconfined;
pub use dependencies::share_dependencies;
pub use execution::{Ending, Finished, RunError};
pub use outcome::{BuildOutcome, Forgery, TestOutcome, TestRun, TestVerdict};
pub use workshop::{Checkout, Workshop};
