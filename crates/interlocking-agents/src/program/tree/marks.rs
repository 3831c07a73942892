//! By what the processes of a program are known.

use super::marker::Marker;
#[cfg(target_os = "linux")]
use super::namespace::Namespace;
#[cfg(not(target_os = "linux"))]
use super::other::Namespace;

/// What the processes of a program have about them, wherever they go.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing can be found by them there"))]
pub(in crate::program) struct Marks {
    /// In their environment.
    pub(in crate::program) marker: Marker,
    /// Where it is.
    pub(in crate::program) namespace: Option<Namespace>,
}
