//! The graph model of [Interlocking](https://docs.rs/interlocking): what a graph is, what its routing table says, and
//! what a run of it means. Nothing here does I/O, holds a clock or awaits anything but a node's own handler.
//!
//! In reading order:
//!
//! - [`table`]: the routing table as data: nodes, kinds, types by name, edges, attributes; [`draw`] makes diagrams of it.
//! - [`net`]: the same table compiled to places and alternatives, which is what a run moves on.
//! - [`frontier`]: the state of one run: which node executions are due, and what an outcome does to them.
//! - [`graph`]: the traits by which a struct is a graph and a field is a node; `#[derive(Graph)]` writes their impls.
//! - [`route`]: where a handler goes next, typed by the node it stands on.
//! - [`context`]: what a handler may ask of its run.
//! - [`kind`]: the node kinds that need no runtime: logic, fork, join and event.
//! - [`failure`]: how a node or a run fails.
//! - [`run_id`]: the name of one run.
//! - [`agent_calls`]: how many agent calls a run can make at worst.
//!
//! What the pages of this crate do not show is for the other crates of the workspace, and changes with them.

mod isolation;
pub mod table;
#[doc(hidden)]
pub mod lines;
pub mod draw;
pub mod net;
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
pub mod visit;
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
