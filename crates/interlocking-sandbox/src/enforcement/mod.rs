//! The kernel's side: rules, and threads under them. The one place that differs between systems.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod system_calls;
#[cfg(target_os = "linux")]
pub(crate) use linux::{Enforcement, probe};

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{Enforcement, probe};
