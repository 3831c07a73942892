//! A program and everything it starts, ended as one.

mod marker;

#[cfg(target_os = "linux")]
mod end;
#[cfg(target_os = "linux")]
mod scan;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
pub(super) use end::Tree;

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
pub(super) use other::Tree;

pub(super) use marker::Marker;
