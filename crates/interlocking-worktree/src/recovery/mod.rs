//! Locks and notes of the operations under way, and recovery after a process was killed.

pub(crate) mod abandoned_notes;
pub(crate) mod intent_log;
pub(crate) mod lock_file;
pub(crate) mod process_lock;
pub(crate) mod recover_locks;
pub(crate) mod recover_worktrees;
pub(crate) mod step;
