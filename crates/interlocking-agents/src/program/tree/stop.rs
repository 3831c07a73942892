//! Stops processes until no more are found, then kills them and waits for their end.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::process::{Identity, Process};
use super::scan::Descendants;
use crate::program::limits::TREE_END;

/// The maximum number of scans before the found processes are killed. Each scan finds what a process started before the last scan
/// stopped it, so more than three scans are needed only where processes are started faster than they are stopped.
const MAX_SCANS: u32 = 200;

/// The maximum number of scans, since the last that has found a process, that wait for processes to stop, or for a complete scan.
/// A process that waits within the kernel stops only when it leaves the kernel. On a busy machine other processes end all the
/// while, and no scan is complete.
const MAX_WAITING_SCANS: u32 = 20;

/// [Stops](stop) the processes that `find` finds, and kills them.
pub(super) fn stop_and_kill(
    find: impl FnMut(u32, &BTreeSet<Identity>) -> io::Result<(Descendants, bool)>,
) -> (BTreeSet<Identity>, Option<io::Error>) {
    let (found, failed) = stop(find);
    found.iter().for_each(|member| signal(*member, Signal::KILL));
    (found, failed)
}

/// Stops the processes that `find` finds, until it finds no more. `find` gets the number of the scan, from 0, and the processes
/// found so far. It returns the processes, and whether its search for orphans was complete. Returns the stopped processes, and
/// the error of the scan that failed, if one did. A failed scan ends the search.
fn stop(
    mut find: impl FnMut(u32, &BTreeSet<Identity>) -> io::Result<(Descendants, bool)>,
) -> (BTreeSet<Identity>, Option<io::Error>) {
    let (mut found, mut ended) = (BTreeSet::new(), BTreeSet::new());
    let (mut failed, mut waiting) = (None, 0);
    for count in 0..MAX_SCANS {
        let (mut descendants, is_complete) = match find(count, &found) {
            Ok(seen) => seen,
            Err(error) => {
                failed = Some(error);
                break;
            }
        };
        let fresh: Vec<_> = descendants.members.keys().copied().filter(|member| !found.contains(member)).collect();
        fresh.iter().for_each(|member| signal(*member, Signal::STOP));
        found.extend(&fresh);
        // A process that ended since the last scan may have left a child where this scan had looked already.
        let is_complete = is_complete && !descendants.is_incomplete && descendants.ended.is_subset(&ended);
        ended.append(&mut descendants.ended);
        waiting = if fresh.is_empty() { waiting + 1 } else { 0 };
        if !fresh.is_empty() || (!is_complete && waiting < MAX_WAITING_SCANS) {
            continue;
        }
        if descendants.members.values().any(Process::runs) && waiting < MAX_WAITING_SCANS {
            std::thread::sleep(Duration::from_micros(100));
            continue;
        }
        break;
    }
    (found, failed)
}

/// Waits until the killed processes are gone, at most [`TREE_END`]. Returns those that are not.
pub(super) fn wait_for(killed: &BTreeSet<Identity>) -> Vec<Identity> {
    let lives = |killed: &&Identity| {
        Process::look(killed.number).is_some_and(|process| process.identity == **killed && process.lives())
    };
    let (mut pause, mut waited) = (Duration::from_micros(100), Duration::ZERO);
    loop {
        let left: Vec<_> = killed.iter().filter(lives).copied().collect();
        if left.is_empty() {
            return left;
        }
        if waited > TREE_END {
            tracing::warn!(processes = left.len(), "processes that were killed do not end");
            return left;
        }
        std::thread::sleep(pause);
        waited += pause;
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// Sends a signal to this process, and not to another one that has got the same process id.
pub(super) fn signal(process: Identity, signal: Signal) {
    let Some(number) = Pid::from_raw(process.number) else { return };
    // A pidfd always refers to the same process. So if the identity matches after it was opened, the signal reaches the right
    // process.
    let opened = pidfd_open(number, PidfdFlags::empty());
    if Process::look(process.number).is_none_or(|found| found.identity != process) {
        return;
    }
    let sent = match &opened {
        Ok(opened) => pidfd_send_signal(opened, signal),
        // Too many files are open, or the kernel is older than Linux 5.3.
        Err(_) => kill_process(number, signal),
    };
    // The process has ended, or belongs to another user.
    if let Err(error) = sent {
        tracing::debug!(number = process.number, %error, "a process was not signalled");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// A process with a process id that no process has.
    fn nobody(start: u64) -> Process {
        let line = format!("{} (sh) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {start} 0", i32::MAX);
        Process::parse(i32::MAX, line.as_bytes()).unwrap()
    }

    /// Processes that start one another and end, on a machine where others end all the while: a scan that finds nothing
    /// and is not complete may have missed the next.
    #[test]
    fn a_missed_scan_is_repeated_however_many_came_before() {
        let before = u64::from(MAX_WAITING_SCANS) + 5;
        let (found, failed) = stop(|count, _| {
            let seen = match u64::from(count) {
                count if count < before => Some(nobody(count)),
                count if count == before + 1 => Some(nobody(before)),
                _ => None,
            };
            let members: BTreeMap<_, _> = seen.map(|process| (process.identity, process)).into_iter().collect();
            Ok((Descendants { members, ended: BTreeSet::new(), is_incomplete: true }, false))
        });
        assert!(failed.is_none());
        assert_eq!(found.len() as u64, before + 1);
    }
}
