//! Rust files as syntax: what is public, what is a stub, which properties exist and what they call.
//!
//! This is what claims are held against when no language server is at hand. It sees the file of the implementation and the file of its
//! tests, and the types that stand in them. A call counts where its function is certain: by imports and their new names, by what
//! stands in the way of a name, by the type of what a method is called on. Where the text does not tell, that is said, with the
//! reason, and nothing counts.

mod contract;
mod functions;
mod properties;
mod api;
mod names;
mod ty;
mod evidence;
mod outcomes;
mod refused;
mod manifest;
mod stubs;
mod unseen;

pub use contract::{ContractMismatch, check_claimed_functions, check_stubs, meant_among};
pub use functions::{PublicFunction, public_functions};
pub use interlocking::toolchain::rust_source::SourceError;
pub use manifest::{BuildTime, build_time, library_name, manifest_changes};
pub use properties::{Exercise, PropertyTest, Sources, TestFile};
pub use refused::{RefusedConstruct, Side, refused_constructs};
pub use stubs::{StubMarkers, UnreadableMarker};
pub use unseen::unseen_functions;

#[cfg(test)]
mod claims;
#[cfg(test)]
mod tests;
