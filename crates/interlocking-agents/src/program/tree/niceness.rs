//! Programs run with a raised niceness, by which they are told from other children of this process.

use super::process::Process;

/// Raises the niceness of this thread, and of all processes that it starts, by 1. This tells programs from other children of this
/// process from their first instruction on, before any other mark can be set. It cannot be undone.
pub(in crate::program) fn raise_niceness() {
    // This has no effect if the niceness is at its maximum: then programs have one mark less.
    let _ = rustix::process::nice(1);
}

/// Whether a child's niceness is higher than this process's, as it is for programs and their descendants: they can raise it
/// further, but not lower it.
pub(super) fn is_nicer(child: &Process, own: &Process) -> bool {
    child.nice > own.nice
}
