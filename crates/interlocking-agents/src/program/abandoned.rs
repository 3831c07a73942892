//! Ends processes that were left by runners that were killed. A runner is a process that runs programs with this module.

use super::abandoned_error::AbandonedError;
use super::tree::{self, Marker, guard};
use std::process::Command;

/// Ends the processes of programs whose runner has ended without ending them, for example by SIGKILL. A runner is any process
/// that ran programs with this module, on this system and in this PID namespace. Returns how many processes were ended; all of
/// them are gone when this returns.
///
/// A program's processes are recognised by the marks of their runner; see `docs/book/src/programs.md`. Resuming a run calls this
/// before it starts anything. On systems other than Linux nothing is found.
///
/// # Errors
///
/// [`AbandonedError`]: some processes cannot be ended, or the processes cannot be listed.
pub async fn end_abandoned() -> Result<usize, AbandonedError> {
    tree::abandoned::end().await
}

/// Marks a program that this process is about to start by itself, without an [`Invocation`](super::Invocation). If this process is
/// killed, what the program has started ends, too, by a guard process or by [`end_abandoned`], unless it clears its environment.
///
/// Call this when the command's environment is complete, and on a thread that is not confined. In all other cases the program is ended
/// by whoever starts it.
pub fn end_if_abandoned(command: &mut Command) {
    guard::ensure();
    command.env(Marker::VARIABLE, Marker::new().value());
}
