//! Builds and tests code that an agent wrote, and gives verdicts on it.
//!
//! A [`Toolchain`] names the commands as argument lists (no shell). A [`Runner`] runs them on a [`Checkout`], in a sandbox, with
//! a cleared environment and a time limit, and every process that they start ends with them. The results are a [`BuildOutcome`]
//! or a [`TestRun`]. They are read from the exit code, and from the output of the test harness or, with Rust's own harness, from
//! a process for each test.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use interlocking_toolchain::{Checkout, KnownTests, Runner, TestRun, Toolchain};
//!
//! let runner = Runner::new(Toolchain::default(), "/var/cache/verdicts", "/srv/checkouts")?;
//! let checkout = Checkout::at("/srv/checkouts/1");
//! if runner.build(&checkout).await?.passed() {
//!     let must_pass = ["prop_undo".to_owned()];
//!     let known = KnownTests { names: &must_pass, test_path: "tests/properties.rs", implementation_path: Some("src/lib.rs") };
//!     match runner.test(&checkout, known).await? {
//!         TestRun::Ran(outcome) => println!("{} failed", outcome.failed.len()),
//!         TestRun::DidNotBuild { diagnostics } => println!("{diagnostics}"),
//!         TestRun::Forged { tests } => println!("{} tests were answered for", tests.len()),
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! `docs/book/src/verdicts.md` in the repository describes what code under test could try, and what stops it.
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | the commands, their time limits, and how their output is read | [`Toolchain`], [`CommandLine`], [`Harness`] |
//! | commands by name: `contract`, `lint`, a gate for one package | [`NamedCommand`], [`Runner::run_named`] |
//! | run the commands, in a sandbox or with as much isolation as this system has | [`Runner`], [`Unconfined`], [`RunError`] |
//! | the results | [`BuildOutcome`], [`TestRun`], [`TestOutcome`], [`StructuredFailure`] |
//! | judge tests as red on stubs or green on finished code | [`red_check`], [`green_check`] |
//! | find out whether tests notice a change to the code | [`MutantTrials`], [`MutantVerdict`] |
//! | recurring failures, and progress of repairs | [`signature`], [`patterns_of`], [`merge_patterns`], [`is_converging`] |
//! | test code that runs commands, without running any | [`Recorder`] |

mod command;
mod toolchain;
mod failure;
mod outcome;
mod judgement;
mod patterns;
mod harness;
mod files;
mod runner;
mod environment;
mod confinement;
mod build_settings;
mod temporary;
mod execution;
mod cargo_test;
mod canaries;
mod test_programs;
mod report;
mod recorder;
mod dependencies;
mod mutant_trials;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use cargo_test::NotCargoTest;
pub use command::{CommandLine, EmptyCommand};
pub use confinement::Unconfined;
pub use execution::{Ending, Finished, RunError};
pub use failure::{FailurePattern, FailureType, StructuredFailure};
pub use harness::KnownTests;
pub use judgement::{GreenCheck, RedCheck, green_check, red_check};
pub use mutant_trials::{MutantTrials, MutantVerdict, NoBaseline, TrialError};
pub use outcome::{BuildOutcome, Forgery, TestOutcome, TestRun, TestVerdict};
pub use patterns::{FailedRound, build_failure, is_converging, merge_patterns, patterns_of, signature, stuck_patterns};
pub use recorder::{RecordedCall, Recorder};
pub use runner::{Checkout, Runner};
pub use toolchain::{Harness, NamedCommand, Toolchain, ToolchainError, ToolchainMistake};
