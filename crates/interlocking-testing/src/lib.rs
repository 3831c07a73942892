//! Tests of graphs of coding agents: [`Enumerator`] drives a graph through every route of its table.
//!
//! A graph's table says where each node may go. Whether its handlers ever go there, and what they do then, is for a test to find
//! out. The enumerator runs the graph again and again, with its real handlers, and plays everybody whom they ask: agents answer
//! with the samples that they are given and with what is made from their node's schema (one answer a variant, the bounds of
//! the rest), or fail; people answer at once, late or never; messages come or do not. From each run it sees where another could have gone
//! otherwise, until every route was taken. What was not is reported, with the nearest that a run came and what to do.
//!
//! The [README](https://docs.rs/crate/interlocking-testing/latest) has an example, which is compiled with this crate.
//!
//! - [`Enumerator`]: what is tried. [`Trial`]: one run, made afresh each time. [`Chance`]: what else may vary in it.
//! - [`Report`]: what came of it; [`Report::assert_all_routes`] for tests.
//! - [`Choices`]: what was chosen in a run, as text; [`Enumerator::replay`] makes it again.
//!
//! **What counts as a route**: each `goto`, each branch of a fork with each of its alternatives, each `exhausted`, `timed_out` and
//! `failed`, each `spawn`, and
//! the `resume` of an event node. Routes of the graph itself, its own children included; a child graph of another type is
//! a graph of its own, with a test of its own, and its agents and people are played all the same.
//!
//! **What is not tried**: other orders of what runs side by side than the one that the executor has. What handlers do by
//! themselves, at random or by the clock, is not chosen here: give them a [`Chance`].

mod chance;
mod choices;
mod enumerator;
mod generate;
mod log;
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
