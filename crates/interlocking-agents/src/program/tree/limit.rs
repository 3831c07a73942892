//! A mark that a process inherits and that an unprivileged process cannot remove: its limit of file locks (`RLIMIT_LOCKS`).
//!
//! Linux keeps this limit for every process and shows it to all users in `/proc/PID/limits`, but has not enforced it since
//! 2.4.25, so it has no effect on the process. Any user may lower it; only root may raise it. It identifies the program that a
//! process descends from, and the runner of that program, whatever has become of the process's parents, session, environment and
//! files.

use std::fs;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use super::marker::Marker;
use super::runner::Runner;

/// The limit as a mark: a number of 19 digits. They are `1`, then 9999999 minus the runner's process id (7 digits), the runner's
/// start time modulo 100000 (5 digits), and the number of the program modulo 1000000 (6 digits).
///
/// Limits can only be lowered. A runner that is itself a program mostly has a higher process id than its own runner, so the
/// limits of its programs are lower than its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Limit(pub(super) u64);

const FIRST: u64 = 1_000_000_000_000_000_000;
const HIGHEST: u64 = 9_999_999;
const PROGRAMS: u64 = 1_000_000;
const STARTS: u64 = 100_000;

impl Limit {
    /// The limit of a program. Limits repeat after a million programs of a runner.
    pub(super) fn of(marker: &Marker) -> Self {
        Self(Self::first_of(&marker.runner) + marker.start % PROGRAMS)
    }

    /// The lowest limit of a runner's programs.
    fn first_of(runner: &Runner) -> u64 {
        FIRST + (HIGHEST.saturating_sub(runner.number.into()) * STARTS + runner.start % STARTS) * PROGRAMS
    }

    /// The digits with which all limits of a runner begin, and how many digits follow.
    pub(super) fn prefix_of(runner: &Runner) -> (u64, u32) {
        (Self::first_of(runner) / PROGRAMS, PROGRAMS.ilog10())
    }

    /// Sets this limit on a process and returns whether that succeeded. Does nothing if this process's own limit is not higher,
    /// which can be when this process is a program of another runner.
    pub(super) fn put_on(self, number: i32) -> bool {
        let limit = Rlimit { current: Some(self.0), maximum: Some(self.0) };
        Self::own().is_none_or(|own| self < own)
            && Pid::from_raw(number).is_some_and(|pid| prlimit(Some(pid), Resource::Locks, limit).is_ok())
    }

    /// The limit of this process; `None` if it is unlimited.
    fn own() -> Option<Self> {
        getrlimit(Resource::Locks).maximum.map(Self)
    }

    /// The limit of any process, also of another user. `None` if the process is unlimited or does not exist.
    pub(super) fn of_process(number: i32) -> Option<Self> {
        let limits = fs::read_to_string(format!("/proc/{number}/limits")).ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
        line.split_ascii_whitespace().nth(1)?.parse().ok().map(Self)
    }

    /// Whether this limit is lower than that of this process. A process with such a limit descends from a program.
    pub(super) fn is_lowered(self) -> bool {
        Self::own().is_none_or(|own| self < own)
    }

    /// Whether the runner that set this limit has ended. The limit does not name the PID namespace of the runner, so call this
    /// only for limits of processes in this process's namespace.
    pub(super) fn is_abandoned(self) -> bool {
        let Some(rest) =
            self.0.checked_sub(FIRST).filter(|_| Self::own().is_none_or(|own| own.runner() != self.runner()))
        else {
            return false;
        };
        let (runner, start) = (rest / PROGRAMS / STARTS, rest / PROGRAMS % STARTS);
        let Some(number) = HIGHEST.checked_sub(runner).and_then(|number| i32::try_from(number).ok()) else {
            return false;
        };
        let process = super::process::Process::look(number);
        process.is_none_or(|process| process.identity.start % STARTS != start || !process.lives())
    }

    /// The digits that identify the runner.
    fn runner(self) -> u64 {
        self.0 / PROGRAMS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_names_its_runner_and_its_program() {
        let marker =
            Marker { runner: Runner { number: 4_194_304, start: 9_876_543_210, namespace: 1 }, start: 2_000_007 };
        let limit = Limit::of(&marker);
        assert_eq!(limit, Limit(1_580_569_543_210_000_007));
        assert_eq!(Limit::prefix_of(&marker.runner), (1_580_569_543_210, 6));
        assert!(limit.is_abandoned(), "no process has been there for that long");
        assert!(!Limit::of(&Marker::new()).is_abandoned());
        assert!(!Limit(5).is_abandoned() && !Limit(u64::MAX - 1).is_abandoned());
    }

    #[test]
    fn a_child_has_it_and_its_children_have_it() {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "read line; sleep 60 & wait"]).stdin(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let number = i32::try_from(child.id()).unwrap();
        let limit = Limit::of(&Marker::new());
        // If the process were not registered, another test would end it as one that changed its mark.
        let _started = super::super::scan::Started::new(number, limit);
        assert_eq!(limit.put_on(number), limit.is_lowered());
        drop(child.stdin.take());
        let grandchild = loop {
            let children = super::super::process::Process::look(number).unwrap().children().unwrap();
            let sleeps =
                |child: &&i32| fs::read(format!("/proc/{child}/cmdline")).is_ok_and(|line| line == b"sleep\x0060\0");
            if let Some(child) = children.iter().find(sleeps) {
                break *child;
            }
        };
        let found = Limit::of_process(grandchild);
        rustix::process::kill_process(Pid::from_raw(grandchild).unwrap(), rustix::process::Signal::KILL).unwrap();
        child.wait().unwrap();
        assert!(found == Some(limit) || !limit.is_lowered(), "{found:?}");
    }
}
