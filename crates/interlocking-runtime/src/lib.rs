//! Runs graphs: the in-process executor of [Interlocking](https://docs.rs/interlocking), and what it runs with.
//!
//! ```text
//! Run::new(graph).with_agent("writer", agent).start(draft).await?   →   Report { outcome, usage, … }
//! ```
//!
//! In reading order:
//!
//! - [`run`]: a run's settings, and [`Run::start`](run::Run::start).
//! - [`outcome`]: what came of it.
//! - [`llm`]: the node kind whose work an agent does, and its handler's four parts.
//! - [`map`], [`graph`], [`human`], [`advisory`], [`observer`]: the kinds that run child graphs, ask people, or work beside the graph.
//! - [`run_context`]: what a handler may ask of a run that is recorded.
//! - [`budget`]: what a run may use; [`provider`]: how long it puts up with a provider that fails; [`allowance`]: both,
//!   shared by runs; [`SharedLimits`]: what runs with budgets of their own share.
//! - [`roles`]: which agent plays which role; [`roles::requirements`]: what is looked at before a run starts;
//!   [`workspaces`]: where nodes work; [`isolation`]: how far their agents
//!   are kept there.
//! - [`event`]: what an observer is told while a run goes on; [`cancel`]: how to stop it.
//! - [`clock`]: the time that both tell.
//! - [`service`]: many runs in one process, started by idempotent names, within shared limits.
//! - [`journal`]: one record a node outcome, appended before any successor starts.
//!
//! **Invariant:** there is no superstep. A node starts the moment its input is complete, and waits for nobody else.
//!
//! **Invariant:** what a node execution asked for (its tokens, memory updates, commits) takes effect together, or not at
//! all; an execution that failed or was cancelled leaves nothing but its cost.

pub mod run;
mod driver;
mod erased;
mod execution;
mod context;
mod nodes;
mod tree;
mod limits;
pub mod service;
pub mod roles;
pub mod workspaces;
pub mod journal;
pub mod event;
pub mod cancel;
pub mod clock;
mod mutex;

pub use context::run_context;
pub use limits::{allowance, budget, provider};
pub use nodes::{advisory, graph, human, llm, map, observer};
pub use run::outcome;
pub use workspaces::isolation;

pub use cancel::CancelToken;
pub use clock::{Clock, Elapsed};
pub use context::run_context::RunContext;
pub use event::{Event, EventKind, EventSink};
pub use interlocking_core::failure::ChildFailure;
pub use journal::replay_error::ReplayError;
pub use journal::{Journal, MemoryJournal};
pub use limits::allowance::{Allowance, Stopped};
pub use limits::budget::{BudgetExceeded, Budgets};
pub use limits::provider::{Backoff, ProviderLimit};
pub use limits::shared::SharedLimits;
pub use run::outcome::{Outcome, Report};
pub use run::{Run, StartError, UnfitSection};
pub use workspaces::isolation::{IsolationOffer, Unkept};
pub use workspaces::{WorkspaceError, Workspaces};
