//! Runs programs, such as command-line agents, and ends every process that they start.
//!
//! - [`Invocation`]: describes the program to start: arguments, an [`Environment`] and an optional sandbox.
//! - [`Running`]: a running program. It yields output lines, takes input and reports [how the program ended](Ended). Ending or
//!   dropping it ends all processes that the program started.
//! - [`ProcessTree`]: the processes of a program that synchronous code starts and waits for by itself.
//! - [`Secret`]: a key or token for the program's environment. A [`Redactor`] removes it from the program's output.
//! - [`forbid_inspection`]: keeps other processes of the same user from reading keys in this process.
//! - [`run_protocol`]: runs one complete call that speaks a line-based [`LineProtocol`], within [`CallLimits`], and stops the
//!   program as a [`StopTimeouts`] says.
//!
//! **What ends with a program.** On Linux, all its descendants end, even daemons and processes that made their own session,
//! cleared their environment or closed their files. When this process ends, even by SIGKILL, a guard process ends what its
//! programs left running; [`end_abandoned`] ends what the guard missed. `docs/book/src/programs.md` says how each process is found, and what escapes. On other Unix systems only the program's process group ends.

mod abandoned;
mod abandoned_error;
mod call;
mod environment;
mod invocation;
mod child_tree;
mod limits;
mod lines;
mod process_tree;
mod redactor;
mod running;
mod secret;
mod starter;
mod tail;
mod tree;
mod unescaped;

pub use abandoned::end_abandoned;
pub use abandoned_error::{AbandonedError, SurvivingProcess};
pub use call::{Call, LineOutcome, LineProtocol, run_protocol};
pub use environment::{Environment, WORKSPACE_HASH};
pub use invocation::{Invocation, StartError};
pub use limits::{CallLimits, StopTimeouts};
pub use lines::Line;
pub use process_tree::ProcessTree;
pub use redactor::Redactor;
pub use running::{Ended, Running};
pub use secret::{Secret, forbid_inspection};
