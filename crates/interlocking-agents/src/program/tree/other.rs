//! Systems where processes are not found by what they have about them: the process group alone is ended, and whoever leaves it
//! escapes.

use std::time::Instant;

use super::marks::Marks;

/// A program that runs or ran.
#[derive(Debug)]
pub(in crate::program) struct Tree {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Tree {
    /// Of a child of this process that was not waited for yet.
    pub(in crate::program) fn of(child: Option<u32>, _before: Instant, _marks: Marks, _adopting: Adopting) -> Self {
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
            // Fails when nobody is left, which is what is wanted.
            let _ = rustix::process::kill_process_group(leader, signal);
        }
    }

    /// Not known.
    pub(in crate::program) async fn is_over(&self) -> bool {
        false
    }

    /// Ends what lives of the group. How many those were is not known.
    pub(in crate::program) fn end(&self, _wait: bool) -> usize {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
        0
    }
}

/// There is none.
#[derive(Debug)]
pub(in crate::program) enum Namespace {}

impl Namespace {
    pub(in crate::program) fn enter() -> Option<Self> {
        None
    }
}

/// Orphans are not asked for.
#[derive(Debug)]
pub(in crate::program) struct Adopting;

impl Adopting {
    pub(in crate::program) fn begin() -> Self {
        Self
    }
}

pub(in crate::program) fn give_way() {}

pub(in crate::program) mod guard {
    /// There is none: who would have to be ended is not known.
    pub(in crate::program) fn ensure() {}
}

pub(in crate::program) mod abandoned {
    use crate::program::AbandonedError;

    /// Nothing can be found.
    pub(in crate::program) async fn end() -> Result<usize, AbandonedError> {
        Ok(0)
    }
}
