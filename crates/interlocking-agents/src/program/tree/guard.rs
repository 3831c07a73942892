//! A process that outlives this one and then ends all of its programs, however this one ended: SIGKILL included.
//!
//! It waits for the end of a pipe whose other end this process alone has, so the kernel tells it. It is the system's shell with a
//! constant script, as that is everywhere where a program runs: nothing that anybody says is part of the script, and its two
//! arguments are numbers.

use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use super::limit::Limit;
use super::marker::Marker;
use super::runner::Runner;

const SCRIPT: &str = include_str!("guard.sh");

/// The one that waits for this process.
static GUARD: Mutex<Option<Child>> = Mutex::new(None);

/// Sees to it that there is one: before a program is started.
pub(in crate::program) fn ensure() {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if guard.as_mut().is_some_and(|guard| matches!(guard.try_wait(), Ok(None))) {
        return;
    }
    match start() {
        Ok(started) => *guard = Some(started),
        Err(error) => {
            tracing::warn!(%error, "nobody will end the programs if this process is killed: sh cannot be started")
        }
    }
}

/// Which process it is, if there is one.
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
    // Whoever started this process finds it, too.
    if let Some(outer) = std::env::var_os(Marker::VARIABLE) {
        command.env(Marker::VARIABLE, outer);
    }
    command.spawn()
}
