//! A program and everything it starts, ended as one.
//!
//! `process` (one, as the kernel shows it) → `look` (who lost its parent, and who came of whom) → `end`. `marker` and `namespace`
//! are what a process carries with it.

mod marker;

#[cfg(target_os = "linux")]
mod end;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod look;
#[cfg(target_os = "linux")]
mod looks;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
pub(super) use {end::Tree, namespace::Namespace};

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
pub(super) use other::{Namespace, Tree};

pub(super) use marker::Marker;

/// What the processes of a program have about them, wherever they go.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing can be found by them there"))]
pub(super) struct Marks {
    /// In their environment.
    pub(super) marker: Marker,
    /// The kernel's numbers of the pipes from its outputs.
    pub(super) pipes: Vec<u64>,
    /// Where it is.
    pub(super) namespace: Option<Namespace>,
}
