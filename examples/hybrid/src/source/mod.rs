//! Rust files as syntax: what is public, what is a stub, which properties exist and what they call.
//!
//! This is what claims are held against when no language server is at hand. It sees one file at a time and
//! no types: a method call counts by its name alone, and a macro's arguments are read as expressions where
//! they parse as such, as plain tokens otherwise.

mod calls;
mod canaries;
mod contract;
mod functions;
mod properties;
mod refused;
mod manifest;
mod stubs;

pub use canaries::{PairedTest, WithCanaries, with_canaries};
pub use contract::{ContractMismatch, check_claimed_functions, check_stubs, named_by};
pub use functions::{PublicFunction, SourceError, public_functions};
pub use manifest::{BuildTime, build_time, manifest_changes};
pub use properties::{PropertyTest, property_tests};
pub use refused::{RefusedConstruct, Side, refused_constructs};
pub use stubs::{StubMarkers, UnreadableMarker};

#[cfg(test)]
mod tests;
