//! Ends processes that were left by runners that were killed. A runner is a process that runs programs with this module.

use super::abandoned_error::AbandonedError;
use super::tree;

/// Ends the processes of programs whose runner has ended without ending them, for example by SIGKILL. A runner is any process
/// that ran programs with this module, on this system and in this PID namespace. Processes of other users do not count, except
/// those of the system's user, who in turn ends those of all users. Returns how many processes were ended; all of
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
