//! A mark that a process cannot take off and everything that it starts has, too: its limit of file locks.
//!
//! Linux keeps that limit of every process and shows it to everybody in `/proc/PID/limits`, but enforces it no more since 2.4.25,
//! so it changes nothing for whoever has it. Any user may lower it; only the system's user may raise it. It says which program of
//! which runner a process came of, whatever became of its parents, session, environment and files.

use std::fs;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use super::marker::Marker;
use super::runner::Runner;

/// The limit as a mark: a number of 19 digits, `1`, what the runner's process lacks to 9999999 in 7, when it was started in 5, and the
/// program in 6. A runner that is itself a program mostly has a higher number than its own runner, and so can put on lower limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Limit(pub(super) u64);

const FIRST: u64 = 1_000_000_000_000_000_000;
const HIGHEST: u64 = 9_999_999;
const PROGRAMS: u64 = 1_000_000;
const STARTS: u64 = 100_000;

impl Limit {
    /// That of a program. Numbers are used again after a million programs.
    pub(super) fn of(marker: &Marker) -> Self {
        Self(Self::first_of(&marker.runner) + marker.start % PROGRAMS)
    }

    /// The lowest one of a runner's programs.
    fn first_of(runner: &Runner) -> u64 {
        FIRST + (HIGHEST.saturating_sub(runner.number.into()) * STARTS + runner.start % STARTS) * PROGRAMS
    }

    /// The digits with which all of a runner's begin, and how many follow.
    pub(super) fn prefix_of(runner: &Runner) -> (u64, u32) {
        (Self::first_of(runner) / PROGRAMS, PROGRAMS.ilog10())
    }

    /// Puts it on a process. Not where this process has a lower one itself, as that of another runner's program can be.
    pub(super) fn put_on(self, number: i32) -> bool {
        let limit = Rlimit { current: Some(self.0), maximum: Some(self.0) };
        Self::own().is_none_or(|own| self < own)
            && Pid::from_raw(number).is_some_and(|pid| prlimit(Some(pid), Resource::Locks, limit).is_ok())
    }

    /// That of this process.
    fn own() -> Option<Self> {
        getrlimit(Resource::Locks).maximum.map(Self)
    }

    /// That of any process, whoever's it is; none if it has none.
    pub(super) fn of_process(number: i32) -> Option<Self> {
        let limits = fs::read_to_string(format!("/proc/{number}/limits")).ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
        line.split_ascii_whitespace().nth(1)?.parse().ok().map(Self)
    }

    /// Whether a process has a lower one than this process: then it came of a program.
    pub(super) fn is_lowered(self) -> bool {
        Self::own().is_none_or(|own| self < own)
    }

    /// Whether it was put on by a runner that has ended. It does not say of which namespace that is, so this is to be asked of
    /// processes of this process's own only.
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

    /// The digits that name the runner.
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
        // Otherwise another test ends it, as one that took off its mark.
        let _started = super::super::look::Started::new(number, limit);
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
