//! The process tree of a program: marks its processes, finds them again and ends them.
//!
//! - `process` reads one process from `/proc`. `scan` finds orphans and descendants; `shared_scan` shares scans between callers.
//!   `stop` stops and kills processes, and `end` ends the tree of a program.
//! - `marker`, `limit` and `namespace` are the marks that a process carries; `runner` identifies the process that runs programs
//!   in them. `mark` sets the limit on a new program, with the help of `numbers`; `niceness` tells new programs from other
//!   children.
//! - `orphans` makes this process adopt processes that lose their parents.
//! - `guard` ends all programs when this process has ended; `abandoned` ends what another runner left.

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
mod scan;
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
mod shared_scan;
#[cfg(target_os = "linux")]
mod stop;
#[cfg(target_os = "linux")]
pub(super) use {end::Tree, namespace::Namespace, niceness::raise_niceness, orphans::Subreaper};

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
pub(super) use other::{Namespace, Subreaper, Tree, abandoned, guard, raise_niceness};

pub(super) use {marker::Marker, marks::Marks};
