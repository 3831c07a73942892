//! Runs graphs: the in-process executor of [Interlocking](https://docs.rs/interlocking), and the services that a run
//! uses.
//!
//! ```text
//! Run::new(graph).with_agent("writer", agent).start(draft).await?   →   Report { outcome, usage, … }
//! ```
//!
//! In reading order:
//!
//! - [`run`]: the settings of a run, and [`Run::start`](run::Run::start).
//! - [`outcome`]: the result of a run.
//! - [`llm`]: the node kind whose work an agent does, and the four parts of its handler.
//! - [`map`], [`graph`], [`human`], [`advisory`], [`observer`]: the node kinds that run child graphs, ask people, or work
//!   beside the graph.
//! - [`run_context`]: what a handler can ask of a recorded run and of related runs.
//! - [`budget`]: how much a run may use; [`provider`]: how long a run waits for a provider that fails; [`allowance`]:
//!   both, shared by runs; [`SharedLimits`]: what runs with budgets of their own share.
//! - [`roles`]: which agent plays which role; [`roles::requirements`]: what is checked before a run starts;
//!   [`workspaces`]: where nodes work; [`isolation`]: how far agents are confined to these places.
//! - [`event`]: the events that report the progress of a run; [`cancel`]: how to stop a run.
//! - [`clock`]: the clock of events and reports.
//! - [`service`]: many runs in one process, started by idempotent names, within shared limits.
//! - [`journal`]: one record for each node outcome, appended before any successor starts.
//!
//! **Invariant:** there are no supersteps. A node starts the moment its input is complete, and waits for no other node.
//!
//! **Invariant:** the effects of a node execution (its tokens, memory updates, commits) take place together, or not at
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
