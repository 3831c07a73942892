//! Those that lose their parents in a program become children of this process, for as long as one of its programs runs.
//!
//! Otherwise the kernel gives them to the first process of the system, where one that took off all its marks is nobody's. Of the
//! children that this process did not start as programs, those with a lowered [`Limit`] came of one, as nobody else has that;
//! all others are left alone, so that whoever started them can wait for them.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, WaitOptions, child_subreaper, getpid, set_child_subreaper, waitpid};

use super::limit::Limit;
use super::look::{Look, is_started, programs};
use super::process::Process;
use super::stop::stop_and_kill;

/// As long as this lives, orphans come to this process.
#[derive(Debug)]
pub(in crate::program) struct Adopting(());

struct State {
    programs: usize,
    /// Whether it was this module that asked the kernel for orphans.
    is_asked: bool,
    /// Whether there is a thread that waits for those that have ended.
    is_awaited: bool,
}

static STATE: Mutex<State> = Mutex::new(State { programs: 0, is_asked: false, is_awaited: false });

/// How long one that has ended, or that took off its mark, is left waiting.
const PAUSE: Duration = Duration::from_millis(500);

impl Adopting {
    pub(in crate::program) fn begin() -> Self {
        let mut state = state();
        state.programs += 1;
        if state.programs == 1 && matches!(child_subreaper(), Ok(None)) {
            state.is_asked = set_child_subreaper(Some(getpid())).is_ok();
        }
        if !state.is_awaited {
            state.is_awaited = std::thread::Builder::new().name("orphans".to_owned()).spawn(await_all).is_ok();
        }
        Self(())
    }
}

impl Drop for Adopting {
    fn drop(&mut self) {
        let mut state = state();
        state.programs -= 1;
        if state.programs == 0 && std::mem::take(&mut state.is_asked) {
            // It was set, so it can be taken back.
            let _ = set_child_subreaper(None);
        }
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Until there are neither programs nor orphans of theirs.
fn await_all() {
    loop {
        std::thread::sleep(PAUSE);
        let left = reap();
        let mut state = state();
        if left == 0 && state.programs == 0 {
            state.is_awaited = false;
            return;
        }
        drop(state);
        let strays = |_, known: &BTreeSet<_>| {
            let look = Look::new()?;
            let descent = look.descent_of(known.iter().copied().chain(look.strays()));
            Ok((descent, look.is_complete()))
        };
        if Look::new().is_ok_and(|look| look.strays().next().is_some()) {
            let ended = stop_and_kill(strays).0.len();
            tracing::warn!(ended, "a program's processes took off the mark that they had, and were ended");
        }
    }
}

/// Takes note of the orphans that have ended, as nobody else does. Gives how many there still are.
pub(super) fn reap() -> usize {
    let own = rustix::process::Pid::as_raw(Some(getpid()));
    let Some(children) = Process::look(own).and_then(|own| own.children().ok()) else { return 0 };
    let started = programs();
    let mut left = 0;
    for child in children.into_iter().filter(|child| !started.contains_key(child)) {
        let is_orphan = |child: &Process| {
            // In this order: one that was started meanwhile has the limit only when it is known as a program.
            child.parent == own
                && Limit::of_process(child.identity.number).is_some_and(Limit::is_lowered)
                && !is_started(child.identity.number)
        };
        let Some(child) = Process::look(child).filter(is_orphan) else { continue };
        left += 1;
        if let Some(number) = Pid::from_raw(child.identity.number)
            && !child.lives()
            && matches!(waitpid(Some(number), WaitOptions::NOHANG), Ok(Some(_)))
        {
            left -= 1;
        }
    }
    left
}
