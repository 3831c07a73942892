//! Workflow protocols for coding agents: YAML files with numbered steps that extend each other, resolved to one list that an
//! agent follows. Also the gate that decides which variant of a prompt is merged, and the removal of marked debug logs. This
//! crate does not depend on graphs.
//!
//! ```
//! use interlocking_envoy::{Library, ProtocolName, StepKey};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // `.claude/protocols` of the current project, and the four embedded protocols.
//! let library = Library::discover(std::env::current_dir()?);
//! let debugging = library.resolve(&"debugging".parse::<ProtocolName>()?)?;
//! assert_eq!(debugging.extends[0].as_str(), "implementation");
//! assert_eq!(debugging.steps.len(), 18);
//!
//! // An excerpt for a prompt: its steps keep their numbers.
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
//! | look up and resolve protocols | [`Library`], [`Library::resolve`] |
//! | a resolved protocol, or some of its steps | [`Protocol`], [`Excerpt`], both [`Display`](std::fmt::Display) for templates |
//! | a protocol's file as written | [`ProtocolFile`] |
//! | errors and warnings with their places | [`Problems`], [`ResolveError`], [`Warning`] |
//! | tell an agent to follow a protocol | [`instruction`] |
//! | prompts, variants, branch names | [`Prompt`], [`Variant`] |
//! | check the variants of approaches | [`check_approaches`] |
//! | decide which variant is merged | [`gate`] |
//! | remove marked debug logs | `cleanup`, with feature `cleanup` |
//!
//! The command `envoy` is the crate `interlocking-envoy-cli`; the format of the files is in `docs/book/src/envoy.md` in the
//! repository.
//!
//! # Features
//!
//! | feature | what it adds | default |
//! |---|---|---|
//! | `cleanup` | the removal of marked debug logs, on `ignore` | yes |
//! | `gate` | carries out the variants gate's decisions in git, on `interlocking-worktree` | yes |
//!
//! # How the files are read
//!
//! Files are read with [`interlocking_document`]: every message has a place (file, line, column), keys stay text (`6.1` and
//! `6.10` are two steps), duplicate keys are reported, and block text is kept byte for byte. Anchors, aliases and tags are
//! refused. A file may have at most one mebibyte, and be nested at most sixteen deep.
//!
//! **Invariant:** nothing here prints or ends the process.
//! **Invariant:** a protocol that is asked for by name is read from the project's directory of protocols or from this crate, and
//! from nowhere else, unless the project's file is a link.
//! **Invariant:** only `cleanup::marked`, which does no I/O, decides which bytes a cleanup removes.

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
