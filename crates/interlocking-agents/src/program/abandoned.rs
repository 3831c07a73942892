//! What was left by processes that ran programs and were killed.

use super::left_running::AbandonedError;
use super::tree;

/// Ends what is left of programs whose runner has ended without ending them, such as by SIGKILL: those of any process that ran
/// programs by this module, on this system and in this namespace of processes. Says how many those were. They are gone when this
/// returns.
///
/// A program's processes are recognised by the marks that they have of their runner; see `docs/book/src/programs.md`. A run that is
/// resumed does this before anything of it is started. On systems other than Linux nothing can be found.
///
/// # Errors
///
/// [`AbandonedError`]: what they do cannot be ended, or not be seen.
pub async fn end_abandoned() -> Result<usize, AbandonedError> {
    tree::abandoned::end().await
}
