//! Processes stopped until nobody new is found, then killed and waited for.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::look::Descent;
use super::process::{Identity, Process};

/// How often it is looked for more before what was found is killed. Each look finds what was started before the last one
/// stopped it, so more than three are needed only where something starts processes faster than they are stopped.
const LOOKS: u32 = 200;

/// How many looks wait for a process to stop. One that waits within the kernel does so when it comes out.
const STILL: u32 = 20;

/// How long those that were killed may take to be gone.
const PATIENCE: Duration = Duration::from_millis(2_000);

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
