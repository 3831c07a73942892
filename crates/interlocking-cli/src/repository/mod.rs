//! Runs over a git repository: the program's options, the directories of a run, the facts that are stored beside the journal, and
//! the account of the result.
//!
//! ```no_run
//! # use interlocking::prelude::*;
//! # use interlocking::graph::Graph;
//! use interlocking::agents::backends::BuildAccess;
//! use interlocking::cli::repository::{Location, RepositoryOptions, RepositoryRun};
//! use interlocking::cli::{Cli, CommandError, Prepared, Start};
//!
//! /// What only `run` takes.
//! #[derive(clap::Args)]
//! struct New {
//!     /// What is to be done
//!     task: String,
//!     #[command(flatten)]
//!     location: Location,
//! }
//!
//! # fn example<G: Graph<Entry = String>>(graph: fn() -> G) {
//! let begin = move |options: RepositoryOptions, new: New, start: Start| async move {
//!     let run = RepositoryRun::begin(new.location, &options, start, ()).await?;
//!     Ok((new.task, run.prepare(Run::new(graph()), &BuildAccess::default(), None).await?))
//! };
//! let resume = move |options: RepositoryOptions, start: Start| async move {
//!     let run = RepositoryRun::<()>::resume(&options, start).await?;
//!     run.prepare(Run::new(graph()), &BuildAccess::default(), None).await
//! };
//! let cli = Cli::new("pair", resume).with_new_runs(begin).with_cleanup(RepositoryRun::<()>::clean_up);
//! # drop(cli);
//! # }
//! ```
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | `--repo`, `--branch`, `--work-dir`, `--target-dir` of a new run | [`Location`] |
//! | `--script`, `--agent`, `--agents`, `--land-on`, `--keep`, `--result` of any run | [`RepositoryOptions`] |
//! | the run's directories, agents, workspaces and runner | [`RepositoryRun`] |
//! | the program's own facts about a run | `M` of [`RepositoryRun`] |
//! | the result and the cost | [`Account`] |
//! | a repository that is made for a demonstration or a test | [`EmbeddedFile`], [`lay_out`] |

mod options;
mod directories;
mod marker;
pub(crate) mod run_file;
pub(crate) mod facts;
mod run;
mod agents;
mod end;
mod account;
mod builds;
mod git_session;
mod demonstration;

pub use account::{Account, Advance, Conclusion, LandedCommit, has_ended};
pub use demonstration::{EmbeddedFile, LayOutError, lay_out};
pub use options::{Location, RepositoryOptions};
pub use run::{Remembered, RepositoryRun};
