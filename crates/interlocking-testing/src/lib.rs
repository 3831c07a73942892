//! Tests of graphs of coding agents: [`Enumerator`] drives a graph through every route of its table.
//!
//! A graph's table says where each node may go. A test must find out whether the handlers ever go there, and what they
//! do then. The enumerator runs the graph again and again with its real handlers, and plays the agents, people and
//! senders of messages. Agents answer with given samples and with values generated from their node's schema (one answer
//! per variant, and the bounds of the other values), or fail. People answer at once, late or never. Messages arrive or
//! do not. Each run shows where another run could have chosen differently, and the enumerator tries such runs until
//! every route is taken. It reports the routes that were not taken, with how close a run came and what to do.
//!
//! The [README](https://docs.rs/crate/interlocking-testing/latest) has an example, which is compiled with this crate.
//!
//! - [`Enumerator`]: configures and runs the search. [`Trial`]: one run, made anew each time. [`Chance`]: further
//!   choices that may vary in a run.
//! - [`Report`]: the result; [`Report::assert_all_routes`] is for tests.
//! - [`Choices`]: the choices of a run, as text; [`Enumerator::replay`] repeats the run.
//!
//! **What counts as a route**: each `goto`, each branch of a fork with each of its alternatives, each `exhausted`,
//! `timed_out` and `failed`, each `spawn`, each `adds_to`, and the `resume` of an event node. Only routes of the graph
//! itself count, also in children that run the same graph. A child graph of another type needs a test of its own, but
//! its agents and people are played too.
//!
//! **What is not tried**: other orders of concurrent executions than the executor's. The enumerator does not control
//! random or time-dependent behaviour of handlers: give such handlers a [`Chance`].

mod chance;
mod choices;
mod enumerator;
mod generate;
mod log;
mod messages;
mod play;
mod player;
mod recorder;
mod report;
mod route;
mod samples;
mod search;
mod settings;
mod trial;

pub use chance::Chance;
pub use choices::{Choices, InvalidChoices};
pub use enumerator::{Enumerator, Replayed};
pub use play::Ending;
pub use report::{Broken, Report, Taken};
pub use route::{Route, RouteKind};
pub use trial::Trial;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
