//! The operator's command line of [Interlocking](https://docs.rs/interlocking): one line of code gives a program commands to
//! run its graph, and to resume, inspect, answer, fork and cancel its runs.
//!
//! ```no_run
//! # use interlocking::prelude::*;
//! # use serde::{Deserialize, Serialize};
//! # #[derive(Graph)]
//! # #[graph(output = String)]
//! # struct Shout { #[node(entry, input = String, goto(exit))] shout: LogicNode<Loud> }
//! # struct Loud;
//! # impl LogicHandler<shout::shout> for Loud {
//! #     async fn run(&self, text: String, cx: &mut Cx<'_, shout::shout>) -> Route<shout::shout> {
//! #         goto!(cx, shout::exit, text.to_uppercase())
//! #     }
//! # }
//! use interlocking::cli::{Cli, NoArguments};
//! use std::process::ExitCode;
//!
//! #[tokio::main]
//! async fn main() -> ExitCode {
//!     let shout = |_: NoArguments, _| async { Ok(Run::new(Shout { shout: LogicNode(Loud) })) };
//!     Cli::new("shout", shout).main().await
//! }
//! ```
//!
//! `shout run --input '"hello"'` then runs the graph, and `shout show RUN` shows what the run did. `docs/book/src/cli.md` in the
//! repository documents the commands, their JSON and the exit codes.
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | the program's graph, agents, workspaces and options | [`Cli::new`], [`Cli::with_entry`] |
//! | options that select the agents of each role | [`Agents`] |
//! | options that only `run` takes, besides the entry value | [`Cli::with_new_runs`] |
//! | what the program does and prints at the end of a run, besides the outcome | [`RunSession`], [`Prepared`], [`Ending`] |
//! | what the program removes of a run that `cancel` has ended | [`Cli::with_cleanup`] |
//! | the run that the program's set-up function is called for | [`Start`] |
//! | commands of the program's own | [`Cli::with_command`], [`CommandContext`] |
//! | runs over a git repository: options, directories, account | `repository`, with feature `repository` |
//! | errors | [`CommandError`], which any error becomes by `?` |
//! | exit codes | [`Exit`] |
//! | output, and live lines during a run | [`Console`], [`Style`] |
//!
//! The commands are thin layers over functions of `interlocking_runtime::journal`: a library can call those without a command
//! line.
//!
//! **Invariant:** all output goes through a [`Console`], and only [`Cli::main`] ends the process.

#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/cli.md")]
struct Documentation;

mod cli;
mod start;
mod prepared;
mod local;
mod own_command;
mod ending;
mod exit;
mod help;
mod error;
mod console;
mod messages;
mod live_lines;
mod readable;
mod text;
mod arguments;
mod agents;
mod entry;
mod journal;
mod other_programs;
mod budgets;
mod ancestor;
mod execute;
mod reserved_file;
mod event_file;
mod progress;
mod interrupt;
mod commands;
#[cfg(feature = "repository")]
pub mod repository;

pub use agents::Agents;
pub use arguments::{CommonArguments, ExecuteArguments};
pub use cli::Cli;
pub use console::{Console, Style};
pub use ending::Ending;
pub use entry::JsonEntry;
pub use error::CommandError;
pub use exit::Exit;
pub use interlocking_sqlite::private;
pub use own_command::CommandContext;
pub use prepared::{Prepared, RunSession};
pub use start::{NoArguments, Start};
pub use text::{quoted, sanitized};
