//! A program and everything it starts, ended as one.
//!
//! `process` (one, as the kernel shows it) → `look` (who lost its parent, and who came of whom) → `end`. `marker`, `limit` and
//! `namespace` are what a process carries with it, and `mark` puts the limit on, with `numbers`. `orphans` is why
//! those that lost their parents come to this process. `guard` ends all programs when this process has ended, and `abandoned` what another one left.

mod marker;
mod marks;
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
mod mark;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod niceness;
#[cfg(target_os = "linux")]
mod numbers;
#[cfg(target_os = "linux")]
mod orphans;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod shared_look;
#[cfg(target_os = "linux")]
mod stop;
#[cfg(target_os = "linux")]
pub(super) use {end::Tree, namespace::Namespace, niceness::give_way, orphans::Adopting};

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
pub(super) use other::{Adopting, Namespace, Tree, abandoned, give_way, guard};

pub(super) use {marker::Marker, marks::Marks};
