//! Builds the kernel's rules and confines threads with them. Only this module differs between systems.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod privileges;
// The architectures that seccompiler supports.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
mod system_calls;
#[cfg(all(target_os = "linux", not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))))]
#[path = "no_system_calls.rs"]
mod system_calls;
#[cfg(target_os = "linux")]
pub(crate) use linux::{Enforcement, probe};

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{Enforcement, probe};
