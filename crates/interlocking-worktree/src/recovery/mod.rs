//! What is under way and under which lock, and what the next process does about it when this one is killed.

pub(crate) mod intent_log;
pub(crate) mod lock_file;
pub(crate) mod process_lock;
pub(crate) mod recover_locks;
pub(crate) mod recover_worktrees;
pub(crate) mod step;
