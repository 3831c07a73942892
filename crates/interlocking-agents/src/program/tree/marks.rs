//! The marks by which the processes of a program are recognised.

use super::marker::Marker;
#[cfg(target_os = "linux")]
use super::namespace::Namespace;
#[cfg(not(target_os = "linux"))]
use super::other::Namespace;

/// The marks that all processes of a program inherit.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing can be found by them there"))]
pub(in crate::program) struct Marks {
    /// The marker in their environment. It also determines their limit.
    pub(in crate::program) marker: Marker,
    /// Their host name namespace, if this process may make one.
    pub(in crate::program) namespace: Option<Namespace>,
}
