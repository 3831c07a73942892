//! Workflow protocols for coding agents.

mod place;
mod name;
mod key;
mod schema;

mod yaml;
mod fields;
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

pub use approach::{ApproachId, ApproachProblem, check_approaches};
pub use embedded::EMBEDDED;
pub use file::{FileError, FileProblem, ProtocolFile, StepText};
pub use key::{Edit, KeyError, StepKey};
pub use library::{DIRECTORY, Library, Listed, ReadError, project_root};
pub use name::{NameError, ProtocolName};
pub use place::Place;
pub use prompt::{Prompt, PromptKind, Variant, VariantError};
pub use protocol::{Excerpt, NoStep, Protocol, Step, Warning};
pub use resolve::{ResolveError, StepProblem};
pub use schema::{Input, InputType, Output};
pub use yaml::YamlProblem;
