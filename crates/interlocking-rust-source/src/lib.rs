//! Checks of Rust source on its syntax tree: of files that an agent wrote, before anything of them is built.
//!
//! ```
//! use interlocking_rust_source::{StubMarkers, public_functions};
//!
//! let text = "pub struct Stack;\nimpl Stack {\n    pub fn push(&mut self, value: u32) { todo!() }\n}";
//! let functions = public_functions("src/lib.rs", text, &StubMarkers::default())?;
//! assert_eq!((functions[0].name.as_str(), functions[0].line), ("Stack::push", 3));
//! assert_eq!(functions[0].is_stub, Some(true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each check takes a path, for messages, and a text. Whatever the text is, a check ends with what it found or with a [`SourceError`]:
//! [`MAX_BYTES`] and [`MAX_DEPTH`] say how much is read. It sees what is written, not what a compiler makes of it. Where the text does not
//! tell, the check says so, or refuses.
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | which functions others can call, and which of them are stubs | [`public_functions`], [`StubMarkers`] |
//! | what can make functions that no list has | [`unseen_functions`] |
//! | what a verdict on code could be talked round with | [`refused_constructs`], [`manifest_changes`], [`build_time`] |
//! | which tests a file has | [`test_functions`] |
//! | which functions a property calls, and what it compares | [`TestFile`] |

mod syntax;
mod stubs;
mod functions;
mod unseen;
mod refused;
mod manifest;
mod proptest;
mod test_functions;
mod properties;

pub use functions::{PublicFunction, meant_among, public_functions};
pub use manifest::{BuildTime, build_time, library_name, manifest_changes};
pub use properties::{Exercise, PropertyTest, Sources, TestFile};
pub use refused::{RefusedConstruct, Side, refused_constructs};
pub use stubs::{StubMarkers, UnreadableMarker};
pub use syntax::{MAX_BYTES, MAX_DEPTH, SourceError, is_identifier};
pub use test_functions::{TestAttribute, TestFunction, test_functions};
pub use unseen::unseen_functions;

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
