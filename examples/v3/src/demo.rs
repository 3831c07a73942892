//! The demonstration: an empty crate, the specification of a URL shortener, and the script of the agents.
//!
//! Everything is embedded, so that an installed program can show a run anywhere, without a network: the crate has no dependency.

use crate::types::spec::{Spec, SpecError};
use interlocking::agents::{Script, ScriptError};
use interlocking::cli::repository::EmbeddedFile;

/// The crate that a run begins with.
pub const SEED: [EmbeddedFile; 4] = [
    EmbeddedFile { path: "Cargo.toml", contents: include_str!("../demo/seed/Cargo.toml") },
    EmbeddedFile { path: "Cargo.lock", contents: include_str!("../demo/seed/Cargo.lock") },
    EmbeddedFile { path: ".gitignore", contents: include_str!("../demo/seed/gitignore") },
    EmbeddedFile { path: "src/lib.rs", contents: include_str!("../demo/seed/src/lib.rs") },
];

/// What is to be built.
///
/// # Errors
///
/// [`SpecError`]: never, for the embedded specification.
pub fn spec() -> Result<Spec, SpecError> {
    Spec::parse(include_str!("../demo/spec.toml"))
}

/// The script of the agents: each writes its files, runs its tests and commits.
///
/// # Errors
///
/// [`ScriptError`]: never, for the embedded script.
pub fn script() -> Result<Script, ScriptError> {
    Script::parse("the demonstration's agents", include_str!("../demo/script.toml"))
}
