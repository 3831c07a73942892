//! Finding every process of a program, and ending them all.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, pidfd_send_signal};

use super::look::{Descent, Look, Started};
use super::process::{Identity, Process};
use super::{Marks, looks};

/// A program that runs or ran, and all that came of it.
///
/// Its processes are found by their descent, and where they lost their parents by their process group and their [`Marks`].
#[derive(Debug)]
pub(in crate::program) struct Tree {
    root: Option<Identity>,
    marks: Marks,
    _started: Option<Started>,
}

/// How often it is looked for more before what was found is killed. Each look finds what was started before the last one
/// stopped it, so more than three are needed only where something starts processes faster than they are stopped.
const LOOKS: u32 = 200;

/// How many looks wait for a process to stop. One that waits within the kernel does so when it comes out.
const STILL: u32 = 20;

/// How long those that were killed may take to be gone.
const PATIENCE: Duration = Duration::from_millis(2_000);

impl Tree {
    /// Of a child of this process that was not waited for yet.
    pub(in crate::program) fn of(child: Option<u32>, marks: Marks) -> Self {
        let number = child.and_then(|number| i32::try_from(number).ok());
        let root = number.and_then(Process::look).map(|process| process.identity);
        Self { root, marks, _started: number.map(Started::new) }
    }

    /// Signals the program's process group. To be called only while the program was not waited for.
    pub(in crate::program) fn signal(&self, signal: Signal) {
        if let Some(leader) = self.root.and_then(|root| Pid::from_raw(root.number)) {
            // Fails when nobody is left, which is fine.
            let _ = kill_process_group(leader, signal);
        }
    }

    /// Whether nothing of it lives, when its program was waited for. False where that is not known for sure.
    pub(in crate::program) async fn is_over(&self) -> bool {
        match looks::share().await {
            Ok(look) => look.is_complete() && look.orphans_of(self.root, &self.marks).next().is_none(),
            Err(_) => false,
        }
    }

    /// Ends whatever lives of it, and says how many those were. Blocks for some looks; when it returns none of them does anything
    /// any more. With `wait`, they are gone.
    ///
    /// They are stopped before they are killed: whoever sees its children end would start others, and a child whose parent is
    /// gone cannot be found by its descent.
    pub(in crate::program) fn end(&self, wait: bool) -> usize {
        let mut found = BTreeSet::new();
        for count in 0..LOOKS {
            let Ok(look) = Look::new() else {
                self.signal(Signal::KILL);
                break;
            };
            let descent = self.members(&look, &found);
            let fresh: Vec<_> = descent.members.keys().copied().filter(|member| !found.contains(member)).collect();
            fresh.iter().for_each(|member| signal(*member, Signal::STOP));
            found.extend(&fresh);
            if !fresh.is_empty() || ((descent.is_torn || !look.is_complete()) && count < STILL) {
                continue;
            }
            if descent.members.values().any(Process::runs) && count < STILL {
                std::thread::sleep(Duration::from_micros(100));
                continue;
            }
            break;
        }
        found.iter().for_each(|member| signal(*member, Signal::KILL));
        if wait {
            wait_for(&found);
        }
        found.len()
    }

    fn members(&self, look: &Look, known: &BTreeSet<Identity>) -> Descent {
        let mut descent = Descent::default();
        if let Some(root) = self.root {
            look.descent(root, &mut descent);
            // When it was waited for, it is gone for good, and its children are orphans.
            descent.is_torn = false;
        }
        for member in known.iter().copied().chain(look.orphans_of(self.root, &self.marks)) {
            look.descent(member, &mut descent);
        }
        descent
    }
}

fn wait_for(killed: &BTreeSet<Identity>) {
    let lives = |killed: &Identity| {
        Process::look(killed.number).is_some_and(|process| process.identity == *killed && process.lives())
    };
    let (mut pause, mut waited) = (Duration::from_micros(100), Duration::ZERO);
    while killed.iter().any(lives) {
        if waited > PATIENCE {
            let processes = killed.iter().filter(|killed| lives(killed)).count();
            tracing::warn!(processes, "processes that were killed do not end");
            return;
        }
        std::thread::sleep(pause);
        waited += pause;
        pause = (pause * 2).min(Duration::from_millis(10));
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
