//! The attempts of a malicious program. Each is a shell script, or a perl script where the shell cannot do it.
//!
//! Variables in its environment: `SIBLING` is another agent's place, `PROJECT` the user's repository, `VICTIM` the process id of
//! a program of the other agent, `BLOB` the git id of the secret, `BASE` the commit from which all started. `TCP`, `UDP`,
//! `ABSTRACT`, `SOCKET` and `DATAGRAM` are addresses of services that return the secret to every client. `KEY` and `NAME` are the
//! number and the name of what the other agent's program shares. In a perl script, `call` makes a system call by its name.

use crate::{
    attempts_as_root::AS_ROOT,
    attempts_by_sockets::{SHARING, SOCKETS},
    attempts_on_files::{READING, UNGOVERNED, WATCHING, WRITING},
    attempts_on_programs::{OTHERS, SCHEDULING, STAYING},
    attempts_with_git::GIT,
};

/// What an attempt tries to achieve.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// To print the secret, or to write it to a file `stolen` in the place.
    Read,
    /// To change anything outside the place.
    Write,
    /// To end the sibling's program.
    End,
    /// Anything else that should be impossible. The script prints `done` if it succeeds.
    Act,
}

/// What an attempt needs to succeed without a sandbox.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// A system that permits tracing programs that are not one's children.
    Tracing,
    /// The network. In a sandbox with the network left alone, the attempt succeeds, too.
    Network,
    /// Root.
    Root,
}

#[derive(Clone, Copy)]
pub(crate) enum Script {
    Shell(&'static str),
    Perl(&'static str),
}

/// Whether an attempt succeeds in a linked worktree, in a clone, and in a clone in a sandbox.
pub(crate) type Levels = [bool; 3];

pub(crate) const NO: bool = false;
pub(crate) const YES: bool = true;

/// Only the sandbox stops the attempt, as is the case for most.
pub(crate) const BY_SANDBOX: Levels = [YES, YES, NO];
/// A clone stops the attempt, even without a sandbox.
pub(crate) const BY_CLONE: Levels = [YES, NO, NO];
/// Nothing stops the attempt. The documentation describes the consequences.
pub(crate) const BY_NOTHING: Levels = [YES, YES, YES];

pub(crate) struct Attempt {
    /// The name in the documentation.
    pub(crate) name: &'static str,
    pub(crate) aim: Aim,
    pub(crate) script: Script,
    pub(crate) needs: Needs,
    pub(crate) succeeds: Levels,
}

pub(crate) const fn shell(name: &'static str, aim: Aim, script: &'static str, succeeds: Levels) -> Attempt {
    Attempt { name, aim, script: Script::Shell(script), needs: Needs::Nothing, succeeds }
}

pub(crate) const fn perl(name: &'static str, aim: Aim, script: &'static str, succeeds: Levels) -> Attempt {
    Attempt { name, aim, script: Script::Perl(script), needs: Needs::Nothing, succeeds }
}

impl Attempt {
    pub(crate) const fn needing(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }
}

pub(crate) fn all() -> impl Iterator<Item = &'static Attempt> {
    [GIT, READING, WRITING, WATCHING, UNGOVERNED, OTHERS, SCHEDULING, STAYING, SHARING, SOCKETS, AS_ROOT]
        .into_iter()
        .flatten()
}

/// The attempt with this name.
pub(crate) fn named(name: &str) -> &'static Attempt {
    all().find(|attempt| attempt.name == name).unwrap()
}
