//! Workflow protocols for coding agents: YAML files with numbered steps that extend each other, resolved to one list that an
//! agent follows; the gate that says which variant of a prompt is merged; the removal of marked debug logs. It knows no graph.
//!
//! ```
//! use interlocking_envoy::{Library, ProtocolName, StepKey};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // `.claude/protocols` of the project that this is called in, and the four that come along.
//! let library = Library::discover(std::env::current_dir()?);
//! let debugging = library.resolve(&"debugging".parse::<ProtocolName>()?)?;
//! assert_eq!(debugging.extends[0].as_str(), "implementation");
//! assert_eq!(debugging.steps.len(), 18);
//!
//! // For a prompt that needs no more: steps keep the numbers of the whole.
//! let steps = debugging.excerpt("6".parse::<StepKey>()?, "7".parse()?)?;
//! assert!(steps.to_string().contains("\n9: [7] Implement the fix"));
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | look protocols up, resolve them | [`Library`], [`Library::resolve`] |
//! | a resolved protocol, some steps of it | [`Protocol`], [`Excerpt`]; both [`Display`](std::fmt::Display), so templates include them |
//! | one file as it is written | [`ProtocolFile`] |
//! | what is wrong with a file, and where | [`Problems`], [`ResolveError`], [`Warning`] |
//! | tell an agent to follow one | [`instruction`] |
//! | prompts, variants, names of branches | [`Prompt`], [`Variant`] |
//! | check the variants of approaches | [`check_approaches`] |
//! | decide which variant is merged | [`gate`] |
//! | remove marked debug logs | `cleanup`, with feature `cleanup` |
//!
//! The command `envoy` is the crate `interlocking-envoy-cli`; the format of the files is in `docs/book/src/envoy.md` in the repository.
//!
//! # Features
//!
//! | feature | what it adds | default |
//! |---|---|---|
//! | `cleanup` | the removal of marked debug logs, on `ignore` | yes |
//! | `gate` | the variants gate's decisions carried out in git, on `interlocking-worktree` | yes |
//!
//! # How the files are read
//!
//! By [`interlocking_document`], which has places (file, line, column) in every message, keys that stay text (`6.1` and `6.10` are two
//! steps), duplicate keys that are told, and block text byte for byte. Anchors, aliases and tags are refused. A file has a mebibyte at
//! most, and is nested sixteen deep at most.
//!
//! **Invariant:** nothing here is printed, and the process is never ended.
//! **Invariant:** what is asked for by name is read from the project's protocols' directory or from this crate, and from nowhere
//! else.
//! **Invariant:** which bytes a cleanup removes is decided in `cleanup::marked` alone, which does no I/O.

mod name;
mod key;
mod schema;

mod file;

mod embedded;
mod library;
mod reference;
mod resolve;
mod protocol;

mod prompt;
pub mod instruction;
mod approach;
pub mod gate;
#[cfg(feature = "cleanup")]
pub mod cleanup;

pub use interlocking_document::{Place, Problem, Problems};

pub use approach::{ApproachId, ApproachProblem, check_approaches};
pub use embedded::EMBEDDED;
pub use file::{ProtocolFile, StepText};
pub use key::{Edit, KeyError, StepKey};
pub use library::{DIRECTORY, Library, Listed, ReadError, project_root};
pub use name::{NameError, ProtocolName};
pub use prompt::{Prompt, PromptKind, Variant, VariantError};
pub use protocol::{Excerpt, NoStep, Protocol, Step, Warning};
pub use resolve::{ResolveError, StepProblem};
pub use schema::{Input, InputType, Output};

/// The example in the README is compiled and run.
#[cfg(all(doctest, feature = "cleanup"))]
#[doc = include_str!("../README.md")]
struct Readme;
