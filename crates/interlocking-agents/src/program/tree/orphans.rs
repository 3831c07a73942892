//! Makes this process a child subreaper while any of its programs runs: orphans of the programs become children of this process.
//!
//! Otherwise the kernel would give orphans to the first process of the system, where an orphan that removed all its marks could
//! not be recognised. A child that this process did not start as a program, but that has a lowered [`Limit`], descends from a
//! program, as no other process has such a limit. All other children are left alone, so that the code that started them can wait
//! for them.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, WaitOptions, child_subreaper, getpid, set_child_subreaper, waitpid};

use super::limit::Limit;
use super::process::Process;
use super::scan::{Scan, is_started, own_children, programs};
use super::stop::stop_and_kill;

/// While a value of this type exists, orphans become children of this process.
#[derive(Debug)]
pub(in crate::program) struct Subreaper(());

struct State {
    /// How many values of [`Subreaper`] exist.
    programs: usize,
    /// Whether this module made this process a subreaper.
    was_set_here: bool,
    /// Whether the thread that reaps orphans is running.
    has_reaper: bool,
}

static STATE: Mutex<State> = Mutex::new(State { programs: 0, was_set_here: false, has_reaper: false });

/// The interval at which the thread reaps ended orphans, and ends orphans that changed their limit.
const PAUSE: Duration = Duration::from_millis(500);

impl Subreaper {
    pub(in crate::program) fn begin() -> Self {
        let mut state = state();
        state.programs += 1;
        if state.programs == 1 && matches!(child_subreaper(), Ok(None)) {
            state.was_set_here = set_child_subreaper(Some(getpid())).is_ok();
        }
        if !state.has_reaper {
            state.has_reaper = std::thread::Builder::new().name("orphans".to_owned()).spawn(run_reaper).is_ok();
        }
        Self(())
    }
}

impl Drop for Subreaper {
    fn drop(&mut self) {
        let mut state = state();
        state.programs -= 1;
        if state.programs == 0 && std::mem::take(&mut state.was_set_here) {
            // Setting it succeeded, so unsetting it succeeds, too.
            let _ = set_child_subreaper(None);
        }
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reaps orphans, and ends those that changed their limit, until there are neither programs nor orphans of programs.
fn run_reaper() {
    loop {
        std::thread::sleep(PAUSE);
        let left = reap();
        let mut state = state();
        if left == 0 && state.programs == 0 {
            state.has_reaper = false;
            return;
        }
        drop(state);
        let unclaimed = |_, known: &BTreeSet<_>| {
            let scan = Scan::new()?;
            let descendants = scan.descendants_of(known.iter().copied().chain(scan.unclaimed()));
            Ok((descendants, scan.is_complete()))
        };
        if Scan::new().is_ok_and(|scan| scan.unclaimed().next().is_some()) {
            let ended = stop_and_kill(unclaimed).0.len();
            tracing::warn!(ended, "processes of a program had removed their mark, and were ended");
        }
    }
}

/// Reaps the orphans of programs that have ended, as no other code does. Returns how many orphans are left.
pub(super) fn reap() -> usize {
    let own = rustix::process::Pid::as_raw(Some(getpid()));
    let Ok(children) = own_children() else { return 0 };
    let started = programs();
    let mut left = 0;
    for child in children.into_iter().filter(|child| !started.contains_key(child)) {
        let is_orphan = |child: &Process| {
            // The order of the checks matters: a program that is started meanwhile is registered before it gets its limit.
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
