//! New projects for [Interlocking](https://docs.rs/interlocking): what the command `cargo interlocking new` writes.
//!
//! ```console
//! $ cargo install --path interlocking/crates/cargo-interlocking
//! $ cargo interlocking new newsroom --shape chain --checkout interlocking
//! ```
//!
//! A project is a graph in one of several [shapes](Shape), its handlers, the prompts of its agents as files, a script that plays the
//! agents, a test that plays it, and a program with the operator's commands. Its files are embedded from `templates/`, where they
//! stand as they are written but for the project's name.

pub mod name;
pub mod project;
pub mod shape;

pub use name::{InvalidName, Name};
pub use project::{NewProjectError, Source, workspace_around, write};
pub use shape::Shape;
