//! Finding every process of a program, and ending them all.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, pidfd_send_signal};

use super::limit::Limit;
use super::look::{Descent, Look, Started};
use super::mark::mark;
use super::orphans::{Adopting, reap};
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
    _adopting: Adopting,
}

/// How often it is looked for more before what was found is killed. Each look finds what was started before the last one
/// stopped it, so more than three are needed only where something starts processes faster than they are stopped.
const LOOKS: u32 = 200;

/// How many looks wait for a process to stop. One that waits within the kernel does so when it comes out.
const STILL: u32 = 20;

/// How long those that were killed may take to be gone.
const PATIENCE: Duration = Duration::from_millis(2_000);

impl Tree {
    /// Of a child of this process that was just started, after `before`, and not waited for yet.
    pub(in crate::program) fn of(child: Option<u32>, before: Instant, marks: Marks, adopting: Adopting) -> Self {
        let number = child.and_then(|number| i32::try_from(number).ok());
        let limit = Limit::of(&marks.marker);
        // Before it has the limit: with that, and unknown, it would be taken for an orphan.
        let started = number.map(|number| Started::new(number, limit));
        let root = number.and_then(Process::look).map(|process| process.identity);
        match root {
            Some(root) if limit.is_lowered() => mark(root, limit, before),
            _ => tracing::debug!("a program is not marked by its limit of file locks"),
        }
        Self { root, marks, _started: started, _adopting: adopting }
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
            Ok(look) => {
                // Who has ended may have left somebody to this process after the look.
                let is_sure = look.is_complete() && look.ended().is_empty();
                is_sure && look.orphans_of(self.root, &self.marks).next().is_none()
            }
            Err(_) => false,
        }
    }

    /// Ends whatever lives of it, and says how many those were. Blocks for some looks; when it returns none of them does anything
    /// any more. With `wait`, they are gone.
    ///
    /// They are stopped before they are killed: whoever sees its children end would start others, and a child whose parent is
    /// gone cannot be found by its descent.
    pub(in crate::program) fn end(&self, wait: bool) -> usize {
        let (found, failed) = stop_and_kill(|count, known| {
            // What descends from a living program is stopped first: there is another look in any case.
            let look = if count == 0 { Look::at_descent() } else { Look::new() }?;
            Ok((self.members(&look, known), look.is_complete()))
        });
        if failed.is_some() {
            self.signal(Signal::KILL);
        }
        if wait {
            wait_for(&found);
            reap();
        }
        found.len()
    }

    fn members(&self, look: &Look, known: &BTreeSet<Identity>) -> Descent {
        let mut descent = Descent { ended: look.ended().clone(), ..Descent::default() };
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

/// [Stops](stop) whatever is found, and kills it.
pub(super) fn stop_and_kill(
    find: impl FnMut(u32, &BTreeSet<Identity>) -> io::Result<(Descent, bool)>,
) -> (BTreeSet<Identity>, Option<io::Error>) {
    let (found, failed) = stop(find);
    found.iter().for_each(|member| signal(*member, Signal::KILL));
    (found, failed)
}

/// Stops whatever is found until nobody new is. `find` is told which look it is, from 0, and who was found before; it gives who is
/// there, and whether that were all whose parents have ended. Gives who was stopped, and why a look failed, which ends the search.
fn stop(
    mut find: impl FnMut(u32, &BTreeSet<Identity>) -> io::Result<(Descent, bool)>,
) -> (BTreeSet<Identity>, Option<io::Error>) {
    let (mut found, mut ended) = (BTreeSet::new(), BTreeSet::new());
    let mut failed = None;
    for count in 0..LOOKS {
        let (mut descent, is_complete) = match find(count, &found) {
            Ok(seen) => seen,
            Err(error) => {
                failed = Some(error);
                break;
            }
        };
        let fresh: Vec<_> = descent.members.keys().copied().filter(|member| !found.contains(member)).collect();
        fresh.iter().for_each(|member| signal(*member, Signal::STOP));
        found.extend(&fresh);
        // Who has ended since the last look may have left somebody who was not where this one looked.
        let is_complete = is_complete && !descent.is_torn && descent.ended.is_subset(&ended);
        ended.append(&mut descent.ended);
        if !fresh.is_empty() || (!is_complete && count < STILL) {
            continue;
        }
        if descent.members.values().any(Process::runs) && count < STILL {
            std::thread::sleep(Duration::from_micros(100));
            continue;
        }
        break;
    }
    (found, failed)
}

/// Waits until they are gone, or it is no use to wait any longer. Gives those that are not.
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
        if waited > PATIENCE {
            tracing::warn!(processes = left.len(), "processes that were killed do not end");
            return left;
        }
        std::thread::sleep(pause);
        waited += pause;
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// Signals this process and no other that has its number by now.
pub(super) fn signal(process: Identity, signal: Signal) {
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
