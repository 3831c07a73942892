//! The operator's command line of [Interlocking](https://docs.rs/interlocking): one line of code gives a program commands to
//! run its graph, to take runs up again, to look at them, to answer their questions, to fork and to end them.
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
//! `shout run --input '"hello"'` then runs it, and `shout show RUN` tells what it did. The commands, their JSON and the exit
//! codes are in `docs/book/src/cli.md` in the repository.
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | the program's graph, agents, workspaces and options | [`Cli::new`], [`Cli::with_entry`] |
//! | who plays the agents, as options | [`Agents`] |
//! | what only `run` takes, beside the entry value | [`Cli::with_new_runs`] |
//! | what a program does and says at the end of a run, beside its outcome | [`RunSession`], [`Prepared`], [`Ending`] |
//! | what it removes of a run that `cancel` has ended | [`Cli::with_clearing_up`] |
//! | what its options know of the run that they are for | [`Start`] |
//! | commands of its own | [`Cli::with_command`], [`CommandContext`] |
//! | runs over a git repository: options, directories, account | `repository`, with feature `repository` |
//! | how it refuses | [`CommandError`], which any error becomes by `?` |
//! | how it exits | [`Exit`] |
//! | where it prints; lines while it runs | [`Console`], [`Style`] |
//!
//! What the commands do is functions of `interlocking_runtime::journal`: a library needs no command line for it.
//!
//! **Invariant:** everything is printed by a [`Console`], and the process is ended by [`Cli::main`] alone.

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
mod live_lines;
mod readable;
mod text;
mod arguments;
mod agents;
mod entry;
mod journal;
mod budgets;
mod execute;
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
pub use text::{harmless, quoted};
