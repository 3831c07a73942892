//! The graph model of [Interlocking](https://docs.rs/interlocking): graphs, their routing tables, and the semantics of
//! a run. This crate does no I/O, reads no clock and awaits nothing but a node's own handler.
//!
//! In reading order:
//!
//! - [`table`]: the routing table as data: nodes, kinds, types by name, edges, attributes; [`draw`] makes diagrams of it.
//! - [`net`]: the same table compiled to places and alternatives, which a run works on.
//! - [`frontier`]: the state of one run: which node executions are due, and how an outcome changes that.
//! - [`graph`]: the traits by which a struct is a graph and a field is a node; `#[derive(Graph)]` writes their impls.
//! - [`route`]: where a handler goes next, typed by the node it stands on.
//! - [`context`]: what a handler can read of its run and request from it.
//! - [`kind`]: the node kinds that need no runtime: logic, fork, join and event.
//! - [`failure`]: how a node or a run fails.
//! - [`run_id`]: the name of one run.
//! - [`agent_calls`]: how many agent calls a run can make at worst.
//!
//! Items that are hidden from this documentation are for the other crates of the workspace, and change with them.

mod isolation;
#[doc(hidden)]
pub mod naming;
pub mod table;
#[doc(hidden)]
pub mod lines;
pub mod draw;
pub mod net;
#[doc(hidden)]
pub mod bits;
pub mod frontier;
mod violation;
mod step;
pub mod graph;
pub mod route;
pub mod context;
#[doc(hidden)]
pub mod dispatch;
mod services;
mod entered;
#[doc(hidden)]
pub mod chain;
mod effects;
mod label;
pub mod kind;
pub mod failure;
pub mod run_id;
pub mod agent_calls;

#[doc(hidden)]
pub use label::route_hint;
#[doc(hidden)]
pub use serde;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
