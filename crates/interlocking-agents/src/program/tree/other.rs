//! Process trees on systems other than Linux, where processes cannot be found by marks. Only the process group is ended; a
//! process that leaves it escapes.

use std::time::Instant;

use super::marks::Marks;

/// A program that runs or ran.
#[derive(Debug)]
pub(in crate::program) struct Tree {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Tree {
    /// The tree of a child that has not been waited for yet.
    pub(in crate::program) fn of(child: Option<u32>, _before: Instant, _marks: Marks, _subreaper: Subreaper) -> Self {
        #[cfg(unix)]
        let leader = child.and_then(|number| i32::try_from(number).ok()).and_then(rustix::process::Pid::from_raw);
        #[cfg(not(unix))]
        let _ = child;
        Self {
            #[cfg(unix)]
            leader,
        }
    }

    /// Signals the program's process group.
    #[cfg(unix)]
    pub(in crate::program) fn signal(&self, signal: rustix::process::Signal) {
        if let Some(leader) = self.leader {
            // This fails when no process is left in the group, which is fine.
            let _ = rustix::process::kill_process_group(leader, signal);
        }
    }

    /// Always false: it is not known whether other processes of the group are alive.
    pub(in crate::program) async fn has_ended(&self) -> bool {
        false
    }

    /// Kills the process group. Returns 0, as the number of killed processes is not known.
    pub(in crate::program) fn end(&self, _wait: bool) -> usize {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
        0
    }
}

/// There are no namespaces on these systems.
#[derive(Debug)]
pub(in crate::program) enum Namespace {}

impl Namespace {
    pub(in crate::program) fn enter() -> Option<Self> {
        None
    }
}

/// Does nothing: this process does not adopt orphans on these systems.
#[derive(Debug)]
pub(in crate::program) struct Subreaper;

impl Subreaper {
    pub(in crate::program) fn begin() -> Self {
        Self
    }
}

pub(in crate::program) fn raise_niceness() {}

pub(in crate::program) mod guard {
    /// Starts no guard: a guard could not find the processes to end.
    pub(in crate::program) fn ensure() {}
}

pub(in crate::program) mod abandoned {
    use crate::program::AbandonedError;

    /// Returns 0: abandoned processes cannot be found on these systems.
    pub(in crate::program) async fn end() -> Result<usize, AbandonedError> {
        Ok(0)
    }
}
