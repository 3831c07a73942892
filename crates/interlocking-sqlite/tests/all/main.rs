//! Tests of the journal's public interface, in one binary.

#![expect(clippy::unwrap_used, reason = "in tests and their helpers a panic is the report")]

mod records;

#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;

mod claims;
mod closing;
mod contract;
mod faults;
mod groups;
mod letters;
mod page;
mod parts;
mod private;
mod processes;
mod retention;
mod size;
