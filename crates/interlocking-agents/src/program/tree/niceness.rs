//! Programs give way to others a little, by which they are told from other children of this process.

use super::process::Process;

/// Makes this thread, and all that is started from it, give way to others a little: something that tells them from other children
/// of this process before anything else can be done to them. It cannot be taken back.
pub(in crate::program) fn give_way() {
    // It fails for a process that gives way to everybody, whose programs have one mark less.
    let _ = rustix::process::nice(1);
}

/// Whether a child of this process does, as programs do and whoever came of them: they may give way more, and never less.
pub(super) fn gives_way(child: &Process, own: &Process) -> bool {
    child.nice > own.nice
}
