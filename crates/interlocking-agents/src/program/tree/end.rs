//! Finding every process of a program, and ending them all.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, pidfd_send_signal};

use super::marker::Marker;
use super::scan;
use super::table::{Identity, Process, Table};

/// A program that runs or ran, and all that came of it.
///
/// Its processes are found by their descent, by their process group, by the [`Marker`] in their environment, and by the pipes
/// that they have from it.
#[derive(Debug)]
pub(in crate::program) struct Tree {
    root: Option<Identity>,
    marker: Marker,
    pipes: Vec<u64>,
}

/// How often it is looked for more before what was found is killed. Each look finds what was started before the last one
/// stopped it, so more than three are needed only where something starts processes faster than they are stopped.
const LOOKS: u32 = 200;

/// How long those that were killed may take to be gone.
const PATIENCE: Duration = Duration::from_millis(2_000);

impl Tree {
    /// Of a child of this process that was not waited for yet.
    pub(in crate::program) fn of(child: Option<u32>, marker: Marker, pipes: Vec<u64>) -> Self {
        let number = child.and_then(|number| i32::try_from(number).ok());
        Self { root: number.and_then(Process::look).map(|process| process.identity), marker, pipes }
    }

    /// Signals the program's process group. To be called only while the program was not waited for.
    pub(in crate::program) fn signal(&self, signal: Signal) {
        if let Some(leader) = self.root.and_then(|root| Pid::from_raw(root.number)) {
            // Fails when nobody is left, which is fine.
            let _ = kill_process_group(leader, signal);
        }
    }

    /// Ends whatever lives of it, and says how many those were. Blocks for some looks at all processes; when it returns none of
    /// them does anything any more. With `wait`, they are gone.
    ///
    /// They are stopped before they are killed: whoever sees its children end would start others, and a child whose parent is
    /// gone cannot be found by its descent.
    pub(in crate::program) fn end(&self, wait: bool) -> usize {
        let mut found = BTreeSet::new();
        for look in 0..LOOKS {
            let Ok(table) = scan::look() else {
                self.signal(Signal::KILL);
                break;
            };
            let members = self.members(&table, &found);
            let fresh: Vec<_> = members.difference(&found).copied().collect();
            let is_still = members.iter().all(|member| table.get(*member).is_none_or(|process| !process.runs()));
            fresh.iter().for_each(|member| signal(*member, Signal::STOP));
            found.extend(&fresh);
            if fresh.is_empty() && (is_still || look > 20) {
                break;
            }
            if fresh.is_empty() {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        found.iter().for_each(|member| signal(*member, Signal::KILL));
        if wait {
            self.wait_for(&found);
        }
        found.len()
    }

    fn members(&self, table: &Table, known: &BTreeSet<Identity>) -> BTreeSet<Identity> {
        let mut members = BTreeSet::new();
        let group = self.root.into_iter().flat_map(|root| table.group_of(root));
        let orphans = table.orphans_of(self.marker, &self.pipes);
        for member in self.root.into_iter().chain(known.iter().copied()).chain(group).chain(orphans) {
            table.descent(member, &mut members);
        }
        members
    }

    fn wait_for(&self, killed: &BTreeSet<Identity>) {
        let mut pause = Duration::from_micros(100);
        let mut waited = Duration::ZERO;
        let lives = |killed: &Identity| {
            Process::look(killed.number).is_some_and(|process| process.identity == *killed && process.lives())
        };
        while killed.iter().any(lives) {
            if waited > PATIENCE {
                tracing::warn!(
                    processes = killed.iter().filter(|killed| lives(killed)).count(),
                    "processes that were killed do not end"
                );
                return;
            }
            std::thread::sleep(pause);
            waited += pause;
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

/// Signals this process and no other that has its number by now.
fn signal(process: Identity, signal: Signal) {
    let Some(number) = Pid::from_raw(process.number) else { return };
    // What is opened cannot become another process any more, so that it is the right one stays true.
    let opened = pidfd_open(number, PidfdFlags::empty());
    if Process::look(process.number).is_none_or(|found| found.identity != process) {
        return;
    }
    let sent = match &opened {
        Ok(opened) => pidfd_send_signal(opened, signal),
        // Too many files are open, or the kernel is older than 5.3.
        Err(_) => kill_process(number, signal),
    };
    // It has ended, or is another user's.
    if let Err(error) = sent {
        tracing::debug!(number = process.number, %error, "a process was not signalled");
    }
}
