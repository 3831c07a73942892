//! Confines a program and all its descendants to one directory, its place, on Linux, with Landlock and seccomp.
//!
//! A [`Sandbox`] describes what the program may access. [`Sandbox::prepare`] checks that the kernel can enforce that, and returns
//! a [`Confinement`]. [`Confinement::enter`] runs a closure on a new, confined thread, for example to start the program.
//!
//! ```no_run
//! use interlocking_sandbox::{Network, Sandbox};
//! use std::process::Command;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sandbox = Sandbox::for_place("/work/agent-1")
//!     .temporary_directory("/work/agent-1.tmp")
//!     .tool_chain_of("agent")
//!     .cargo()
//!     .network(Network::Allowed);
//! let mut agent = Command::new("agent");
//! agent.current_dir("/work/agent-1").envs(sandbox.environment());
//! let child = sandbox.prepare()?.enter(|| agent.spawn())??;
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | accessible paths, and presets for tools | [`Sandbox`], [`Grant`] |
//! | the files that decide how cargo builds | [`CargoFiles`] |
//! | the network | [`Network`] |
//! | what a system can enforce; going on without a protection | [`Support`], [`Protection`], [`Sandbox::missing_on`], [`Sandbox::accept_without`] |
//! | running something confined | [`Confinement::enter`] |
//! | hard links that lead out of a place | [`links_leading_out`] |
//! | deleting a directory, whatever a confined program has made in it | [`deletion::delete_tree`] |
//! | reading a file that a confined program can write | [`regular_file`] |
//!
//! # Guarantees
//!
//! - **Descendants are confined, too.** Every process that a confined program starts inherits the confinement, and none can
//!   remove it.
//! - **All or nothing.** If a requested protection cannot be enforced, that is an error before anything starts.
//! - **Paths cannot be exchanged.** Paths are opened when the sandbox is prepared, so a file that is put there later is not
//!   accessible. Files in the place that have a hard link outside it are found and refused.
//! - **The same for every user.** A confined program of root has no capabilities.
//! - **No code runs between fork and exec**, and this crate has no unsafe code: a thread is confined, and that thread starts the
//!   program.
//!
//! `docs/book/src/isolation.md` in the repository has a table of the attacks that are stopped, which the tests check, and of
//! those that are not.

mod protection;

mod grant;
mod presets;
mod included_files;
mod cargo_files;
mod git_settings;
mod secrets;

mod links;
mod prepare_error;
mod sandbox;
mod confinement;
mod enter_error;
mod exceptions;
mod network;

mod enforcement;

#[cfg(unix)]
pub mod deletion;
#[cfg(not(unix))]
#[path = "deletion_by_path.rs"]
pub mod deletion;
pub mod regular_file;

pub use cargo_files::CargoFiles;
pub use confinement::Confinement;
pub use enter_error::EnterError;
pub use grant::{Access, Grant};
pub use links::links_leading_out;
pub use network::Network;
pub use prepare_error::PrepareError;
pub use protection::{Protection, Support};
pub use sandbox::Sandbox;

/// Compiles the examples in the README and in the documentation of isolation. The README's example is also run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/isolation.md")]
struct Isolation;
