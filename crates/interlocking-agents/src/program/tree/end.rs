//! Finds and ends all processes of a program.

use std::collections::BTreeSet;
use std::time::Instant;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::limit::Limit;
use super::mark::mark;
use super::marks::Marks;
use super::orphans::{Subreaper, reap};
use super::process::{Identity, Process};
use super::scan::{Descendants, Scan, Started};
use super::shared_scan;
use super::stop::{stop_and_kill, wait_for};

/// A program that runs or ran, with all its descendants.
///
/// The processes are found as children of one another. Processes that lost their parents are found by their process group and
/// their [`Marks`].
#[derive(Debug)]
pub(in crate::program) struct Tree {
    root: Option<Identity>,
    marks: Marks,
    _started: Option<Started>,
    _subreaper: Subreaper,
}

impl Tree {
    /// The tree of a child that was just started, after `before`, and has not been waited for. Marks the child.
    pub(in crate::program) fn of(child: Option<u32>, before: Instant, marks: Marks, subreaper: Subreaper) -> Self {
        let number = child.and_then(|number| i32::try_from(number).ok());
        let limit = Limit::of(&marks.marker);
        // Register the child before it gets the limit: a child with a lowered limit that is not registered is taken for an
        // orphan.
        let started = number.map(|number| Started::new(number, limit));
        let root = number.and_then(Process::look).map(|process| process.identity);
        match root {
            Some(root) if limit.is_lowered() => mark(root, limit, before),
            _ => tracing::debug!("a program is not marked by its limit of file locks"),
        }
        Self { root, marks, _started: started, _subreaper: subreaper }
    }

    /// Signals the program's process group. Call this only before the program was waited for.
    pub(in crate::program) fn signal(&self, signal: Signal) {
        if let Some(leader) = self.root.and_then(|root| Pid::from_raw(root.number)) {
            // This fails when no process is left in the group, which is fine.
            let _ = kill_process_group(leader, signal);
        }
    }

    /// Whether the program has not been waited for yet. Until then no other process gets its process id.
    pub(super) fn is_awaited(&self) -> bool {
        let number = self.root.and_then(|root| Pid::from_raw(root.number));
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        number.is_some_and(|number| waitid(WaitId::Pid(number), options).is_ok())
    }

    /// Whether no process of the tree is alive, after the program was waited for. False if that is not certain.
    pub(in crate::program) async fn has_ended(&self) -> bool {
        match shared_scan::share().await {
            Ok(scan) => {
                // The children of a process that has ended may have become children of this process after the scan.
                let is_sure = scan.is_complete() && scan.ended().is_empty();
                is_sure && scan.orphans_of(self.root, &self.marks).next().is_none()
            }
            Err(_) => false,
        }
    }

    /// Ends all living processes of the tree, and returns how many there were. Blocks for some scans. When this returns, none of
    /// the processes runs any more. With `wait`, it also waits until all of them are gone, but at most two seconds.
    ///
    /// The processes are stopped before they are killed: a process that sees its children end may start others, and a child whose
    /// parent has ended cannot be found through that parent.
    pub(in crate::program) fn end(&self, wait: bool) -> usize {
        let (found, failed) = stop_and_kill(|count, known| {
            // First stop the descendants of living processes. Orphans are found later: at least one more scan follows.
            let scan = if count == 0 { Scan::without_orphans() } else { Scan::new() }?;
            Ok((self.members(&scan, known), scan.is_complete()))
        });
        if let Some(error) = failed {
            tracing::warn!(%error, "a program's processes cannot be listed, so some of them may go on running");
            if self.is_awaited() {
                self.signal(Signal::KILL);
            }
        }
        if wait {
            wait_for(&found);
            reap();
        }
        found.len()
    }

    fn members(&self, scan: &Scan, known: &BTreeSet<Identity>) -> Descendants {
        let mut descendants = Descendants { ended: scan.ended().clone(), ..Descendants::default() };
        if let Some(root) = self.root {
            scan.add_descendants(root, &mut descendants);
            // If the program was waited for, it cannot be read any more. Its children are orphans then, so nothing is missed.
            descendants.is_incomplete = false;
        }
        for member in known.iter().copied().chain(scan.orphans_of(self.root, &self.marks)) {
            scan.add_descendants(member, &mut descendants);
        }
        descendants
    }
}
