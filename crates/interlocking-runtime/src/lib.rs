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
//! - [`map`], [`human`], [`advisory`], [`observer`]: the kinds that run child graphs, ask people, or work beside the graph.
//! - [`run_context`]: what a handler may ask of a run that is recorded.
//! - [`budget`]: what a run may use; [`provider`]: how long it puts up with a provider that fails; [`allowance`]: both,
//!   shared by runs.
//! - [`roles`]: which agent plays which role; [`casting`]: what is looked at before a run starts;
//!   [`workspaces`]: where nodes work; [`isolation`]: how far their agents
//!   are kept there.
//! - [`event`]: what an observer is told while a run goes on; [`cancel`]: how to stop it.
//! - [`clock`]: the time that both tell.
//! - [`journal`]: one record a node outcome, appended before any successor starts.
//!
//! **Invariant:** there is no superstep. A node starts the moment its input is complete, and waits for nobody else.
//!
//! **Invariant:** what a node execution asked for (its tokens, memory updates, commits) takes effect together, or not at
//! all; an execution that failed or was cancelled leaves nothing but its cost.

pub mod run;
pub mod outcome;
pub mod llm;
pub mod budget;
pub mod provider;
pub mod allowance;
pub mod map;
pub mod human;
pub mod advisory;
pub mod observer;
pub mod run_context;
pub mod roles;
pub mod casting;
pub mod workspaces;
pub mod isolation;
pub mod event;
pub mod cancel;
pub mod clock;
pub mod journal;

mod absorb;
mod begun_sessions;
mod beside;
mod bill;
mod chain;
mod child;
mod claims;
mod conduct;
mod driver;
mod due;
mod flight;
mod history;
mod lone;
mod parking;
mod past;
mod perform;
mod post;
mod prepare;
mod replay;
mod reports;
mod resume;
mod scribe;
mod services;
mod settings;
mod stops;
mod table_change;
mod tree;
mod wait;

pub use allowance::{Allowance, Stopped};
pub use budget::{Budgets, UsedUp};
pub use cancel::Cancel;
pub use child::ChildFailure;
pub use clock::{Clock, Elapsed};
pub use event::{Event, EventKind, EventSink};
pub use isolation::{IsolationOffer, Unkept};
pub use journal::{Journal, MemoryJournal};
pub use outcome::{Outcome, Report};
pub use provider::{Backoff, ProviderLimit};
pub use replay::ReplayError;
pub use run::{Run, StartError};
pub use run_context::RunContext;
pub use workspaces::{WorkspaceError, Workspaces};
