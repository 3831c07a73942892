//! A run that is killed, or whose journal is full for a while: a graph with every node kind, and a process that executes it and
//! can be told where to die and how much room the journal has.
//!
//! In reading order:
//!
//! - [`gazette`]: the graph; [`handlers`]: what its nodes do, each with side effects that outlive the process.
//! - [`kill_switch`]: kills the process at a given point; [`log`]: the side effects, each a point; [`watched`]: a journal whose
//!   appends are points too.
//! - [`room`]: how much room the journal has.
//! - [`agent`]: a scripted agent that logs its turns; [`places`]: a git worktree; [`people`]: answers to questions, and messages.
//! - [`order`]: the instructions and the report of a process; [`process`]: its work.

pub mod gazette;
pub mod handlers;
pub mod kill_switch;
pub mod log;
pub mod room;
pub mod watched;
pub mod agent;
pub mod places;
pub mod people;
pub mod order;
pub mod process;
