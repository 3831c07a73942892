//! What a malicious program tries: each attempt is a script of the shell or of `perl`, which does what a shell cannot.
//!
//! In its environment, `SIBLING` is another agent's place, `PROJECT` the user's repository, `VICTIM` a program that the other
//! agent runs, `BLOB` the id of the secret, `BASE` the commit that all started from. `TCP`, `UDP`, `ABSTRACT`, `SOCKET` and
//! `DATAGRAM` are services that give the secret to whoever asks; `KEY` is the number, `NAME` the name of what the other agent's
//! program shares. `call` of a perl script makes a system call by its name.

use crate::{
    attempts_as_root::AS_ROOT,
    attempts_by_sockets::{SHARING, SOCKETS},
    attempts_on_files::{READING, UNGOVERNED, WATCHING, WRITING},
    attempts_on_programs::{OTHERS, SCHEDULING, STAYING},
    attempts_with_git::GIT,
};

/// What an attempt is after.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// The secret, on the standard output or in a file `stolen` of the place.
    Read,
    /// Any change outside the place.
    Write,
    /// The end of the sibling's program.
    End,
    /// The word `done` on the standard output: something else that it should not be able to do.
    Act,
}

/// What it takes to succeed where nothing is in the way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// A system on which programs may look into those that are not their children.
    Tracing,
    /// The network: with this left alone it succeeds in a sandbox, too.
    Network,
    /// The rights of the system's own user.
    Root,
}

#[derive(Clone, Copy)]
pub(crate) enum Script {
    Shell(&'static str),
    Perl(&'static str),
}

/// Whether it succeeds in a linked worktree, in a clone, and in a clone with the sandbox around it.
pub(crate) type Levels = [bool; 3];

pub(crate) const NO: bool = false;
pub(crate) const YES: bool = true;

/// Stopped by the sandbox alone, as most are.
pub(crate) const BY_SANDBOX: Levels = [YES, YES, NO];
/// Stopped by the clone already.
pub(crate) const BY_CLONE: Levels = [YES, NO, NO];
/// Stopped by nothing here; the documentation says what follows.
pub(crate) const BY_NOTHING: Levels = [YES, YES, YES];

pub(crate) struct Attempt {
    /// As the documentation has it.
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

/// The attempt of this name.
pub(crate) fn named(name: &str) -> &'static Attempt {
    all().find(|attempt| attempt.name == name).unwrap()
}
