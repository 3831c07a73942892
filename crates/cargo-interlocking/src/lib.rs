//! Writes new projects for [Interlocking](https://docs.rs/interlocking), for the command `cargo interlocking new`.
//!
//! ```console
//! $ cargo install --path interlocking/crates/cargo-interlocking
//! $ cargo interlocking new newsroom --shape chain --checkout interlocking
//! ```
//!
//! A project consists of a graph in one of several [shapes](Shape), its handlers, the prompts of its agents as files, a script
//! that plays the agents, a test that runs the script, and a program with the operator's commands. The files are embedded from
//! `templates/`, and are written unchanged except for the project's name and the dependency on Interlocking.

pub mod name;
pub mod project;
pub mod shape;

pub use name::{InvalidName, Name};
pub use project::{NewProjectError, Source, workspace_around, write};
pub use shape::Shape;
