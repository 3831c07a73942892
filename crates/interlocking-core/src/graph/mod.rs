//! The traits by which a struct is a graph and its fields are nodes. `#[derive(Graph)]` writes every impl here; none is
//! meant to be written by hand, though nothing stops an engine or a test from doing so.

mod value;
mod reports;
mod definition;
mod finish;
mod node;
mod field;

pub(crate) use definition::misplaced;
pub use definition::{Done, Graph, Relay};
pub use field::Field;
pub use finish::{Finish, Reporting, ReportsOf};
pub use node::{
    AddsTo, Asks, Beginning, Branch, Counted, Edge, End, EndPlace, Ending, Forks, Handled, Judged, Maps, Node,
    PassedOn, PassesOn, Place, Remembers, Reports, Resumes, Runs, RunsChildren, Spawns, Works,
};
pub use reports::{ReportSource, Reported};
pub use value::{Memory, MemoryVisitor, Stored, Token, Value};
