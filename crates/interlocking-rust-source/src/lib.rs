//! Checks Rust source on its syntax tree: files that an agent wrote, before they are built.
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
//! Each check takes a path, for messages, and a text. For every text, a check ends with its findings or with a [`SourceError`]:
//! [`MAX_BYTES`] and [`MAX_DEPTH`] bound what is read. A check sees the source text, not what a compiler makes of it. If the text
//! does not decide a question, the check says so, or refuses.
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | a project's configuration of the checks | [`SourceRules`] |
//! | which functions others can call, and which of them are stubs | [`public_functions`], [`StubMarkers`] |
//! | every occurrence of a stub's marker | [`stubs_in`] |
//! | code that can define functions which no list contains | [`hidden_functions`] |
//! | a file's public API, and its difference from an earlier version | [`PublicApi`] |
//! | functions that a rebase rewrote | [`rewritten_by_rebase`] |
//! | `unsafe`, and crates and paths that a project has denied | [`denied_code`], [`denied_dependencies`] |
//! | constructs that could falsify a verdict on the code | [`refused_constructs`] |
//! | changes to what decides how everything is built | [`build_changes`], [`defines_the_build`] |
//! | which functions and types a file has, and which names are called in it | [`symbols()`], [`called_names`] |
//! | which tests a file has | [`test_functions()`] |
//! | which functions a property calls, and what it compares | [`TestFile`] |
//! | changes that tests should notice, generated or described by an agent | [`mutants()`], [`claimed_edit`] |

mod syntax;
mod tokens;
mod stubs;
mod source_rules;
mod functions;
mod normal;
mod stub_places;
mod hidden;
mod refused;
mod denied;
mod manifest;
mod build_changes;
mod changes;
mod public_api;
mod proptest;
mod test_functions;
mod symbols;
mod properties;
mod mutants;

pub use build_changes::{Version, build_changes, defines_the_build};
pub use changes::{ChangedFunction, CodeChange, Rebased, rewritten_by_rebase};
pub use denied::{Denied, denied_code, denied_dependencies};
pub use functions::{PublicFunction, public_functions, resolve_name};
pub use hidden::hidden_functions;
pub use manifest::library_name;
pub use mutants::{ClaimError, Edit, MAX_MUTANTS, Mutant, MutationKind, claimed_edit, mutants, sample};
pub use properties::{Exercise, PropertyTest, Sources, TestFile};
pub use public_api::{ApiChange, ApiError, ApiItem, ApiKind, Change, PublicApi};
pub use refused::{RefusedConstruct, Side, refused_constructs};
pub use source_rules::SourceRules;
pub use stub_places::{StubFound, stubs_in};
pub use stubs::{StubMarkers, UnreadableMarker};
pub use symbols::{CalledName, SourceSymbol, called_names, symbols};
pub use syntax::{MAX_BYTES, MAX_DEPTH, SourceError, is_identifier};
pub use test_functions::{TestAttribute, TestFunction, test_functions};

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
