//! The traits that make a struct a graph and its fields nodes. `#[derive(Graph)]` writes every impl. An engine or a
//! test can write them by hand, but they are not designed for that.

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
