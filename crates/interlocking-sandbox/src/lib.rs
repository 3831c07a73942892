//! Confines a program and everything it starts to its own place, on Linux, with Landlock and seccomp.
//!
//! A [`Sandbox`] says what may be reached; [`Sandbox::prepare`] asks the kernel whether it can enforce that, and gives a
//! [`Confinement`]; [`Confinement::enter`] does something on a new thread that is confined, such as starting a program.
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
//!     .network(Network::LeftAlone);
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
//! | what may be reached, and presets for tools | [`Sandbox`], [`Grant`] |
//! | the network | [`Network`] |
//! | what this system enforces; going on without | [`Support`], [`Protection`], [`Sandbox::missing_on`], [`Sandbox::accept_without`] |
//! | doing something confined | [`Confinement::enter`] |
//! | hard links that lead out of a place | [`links_leading_out`] |
//!
//! # What holds
//!
//! - **For all that is started, for as long as it lives.** The kernel passes a confinement on; nothing takes it off.
//! - **Nothing or all.** What was asked for and cannot be enforced is an error before anything starts.
//! - **What was meant.** Paths are opened when the sandbox is prepared, so another file put in their place is not reached.
//!   Files in the place that have a second name outside it are found and refused.
//! - **The same for every user.** A confined program of the system's own user has no capabilities.
//! - **No code between fork and exec**, and none that is unsafe: a thread is confined, and it starts the program.
//!
//! `docs/book/src/isolation.md` in the repository has the table of what is stopped, which the tests hold, and what is not.

mod protection;

mod grant;
mod presets;
mod secrets;

mod links;
mod prepare_error;
mod sandbox;
mod confinement;
mod enter_error;
mod exceptions;
mod network;

mod enforcement;

pub use confinement::Confinement;
pub use enter_error::EnterError;
pub use grant::{Access, Grant};
pub use links::links_leading_out;
pub use network::Network;
pub use prepare_error::PrepareError;
pub use protection::{Protection, Support};
pub use sandbox::Sandbox;

/// The examples in the README and in the documentation of isolation are compiled, and the former is run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/isolation.md")]
struct Isolation;
