//! A program and all that came of it: every process found, and ended.

use std::collections::BTreeSet;
use std::time::Instant;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::limit::Limit;
use super::look::{Descent, Look, Started};
use super::mark::mark;
use super::marks::Marks;
use super::orphans::{Adopting, reap};
use super::process::{Identity, Process};
use super::shared_look;
use super::stop::{stop_and_kill, wait_for};

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

    /// Whether the program was not waited for: so long no other process has its number.
    pub(super) fn is_awaited(&self) -> bool {
        let number = self.root.and_then(|root| Pid::from_raw(root.number));
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        number.is_some_and(|number| waitid(WaitId::Pid(number), options).is_ok())
    }

    /// Whether nothing of it lives, when its program was waited for. False where that is not known for sure.
    pub(in crate::program) async fn is_over(&self) -> bool {
        match shared_look::share().await {
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
        if let Some(error) = failed {
            tracing::warn!(%error, "what came of a program cannot be looked for, so some of it may go on");
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
