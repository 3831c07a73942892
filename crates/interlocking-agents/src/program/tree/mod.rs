//! A program and everything it starts, ended as one.
//!
//! `process` (one, as the kernel shows it) → `look` (who lost its parent, and who came of whom) → `end`. `marker`, `limit` and
//! `namespace` are what a process carries with it, and `mark` puts the limit on, with `numbers`. `orphans` is why
//! those that lost their parents come to this process. `guard` ends all programs when this process has ended, and `abandoned` what another one left.

mod marker;
mod runner;

#[cfg(target_os = "linux")]
pub(super) mod abandoned;
#[cfg(target_os = "linux")]
mod end;
#[cfg(target_os = "linux")]
pub(super) mod guard;
#[cfg(target_os = "linux")]
mod limit;
#[cfg(target_os = "linux")]
mod look;
#[cfg(target_os = "linux")]
mod looks;
#[cfg(target_os = "linux")]
mod mark;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod numbers;
#[cfg(target_os = "linux")]
mod orphans;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
pub(super) use {end::Tree, mark::give_way, namespace::Namespace, orphans::Adopting};

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
pub(super) use other::{Adopting, Namespace, Tree, abandoned, give_way, guard};

pub(super) use marker::Marker;

/// What the processes of a program have about them, wherever they go.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing can be found by them there"))]
pub(super) struct Marks {
    /// In their environment.
    pub(super) marker: Marker,
    /// Where it is.
    pub(super) namespace: Option<Namespace>,
}
