//! Protocols, the gate and the cleanup as a library. One module for each subject.

#![expect(clippy::unwrap_used, reason = "a test: what is wrong shall end it")]

mod support;

mod approaches;
#[cfg(feature = "cleanup")]
mod cleanup_files;
#[cfg(feature = "cleanup")]
mod cleanup_hostile;
#[cfg(feature = "cleanup")]
mod cleanup_marked;
mod decisions;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod files;
#[cfg(feature = "gate")]
mod gate;
mod hostile;
mod inheritance;
mod instructions;
mod references;
mod refusals;
mod shipped;
