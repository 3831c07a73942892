//! A guard process that outlives this process and then ends all its programs, however this process ended, even by SIGKILL.
//!
//! The guard waits for end-of-file on a pipe whose other end only this process holds, so the kernel notifies it. The guard is the
//! system's shell with a constant script, as every system that runs programs has a shell. No input of a user or program becomes
//! part of the script, and its two arguments consist of numbers.

use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use super::limit::Limit;
use super::marker::Marker;
use super::runner::Runner;

const SCRIPT: &str = include_str!("guard.sh");

/// The guard of this process.
static GUARD: Mutex<Option<Child>> = Mutex::new(None);

/// Starts the guard if it is not running. Call this before a program is started.
pub(in crate::program) fn ensure() {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if guard.as_mut().is_some_and(|guard| matches!(guard.try_wait(), Ok(None))) {
        return;
    }
    match start() {
        Ok(started) => *guard = Some(started),
        Err(error) => {
            tracing::warn!(%error, "the programs will not be ended if this process is killed: sh cannot be started")
        }
    }
}

/// The process id of the guard, if there is one.
pub(super) fn number() -> Option<i32> {
    let guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    guard.as_ref().and_then(|guard| i32::try_from(guard.id()).ok())
}

fn start() -> std::io::Result<Child> {
    use std::os::unix::process::CommandExt;
    let runner = Runner::own();
    let (prefix, digits) = Limit::prefix_of(&runner);
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", SCRIPT, "interlocking-guard"])
        .args([runner.to_string(), format!("{prefix}[0-9]{{{digits}}}")])
        .env_clear()
        .envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LC_ALL", "C")])
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // If this process is itself a program, its runner must find the guard, too.
    if let Some(outer) = std::env::var_os(Marker::VARIABLE) {
        command.env(Marker::VARIABLE, outer);
    }
    command.spawn()
}
