//! Runs a command within a time limit.

use std::{
    fs::File,
    io::{self, Read},
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use super::secrets::Secrets;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

/// How much is kept of what a process prints on one stream: the last of it.
const KEPT: usize = 64 * 1024;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By itself.
    Exited,
    /// It was killed at its time limit.
    TimedOut,
    /// It was killed because it was not wanted any more.
    Stopped,
}

/// A process that has ended.
pub(crate) struct Ended {
    pub(crate) ending: Ending,
    pub(crate) status: ExitStatus,
    /// The last of its standard output, without secrets.
    pub(crate) output: String,
    /// The last of its standard error, without secrets.
    pub(crate) error: String,
}

/// Has `start` spawn a command in a process group of its own with empty standard input. Waits until the process and all
/// processes that hold its output have ended. Then, at the time limit, or once `is_stopped` says so, what is left of the
/// process and its process group is killed.
///
/// # Errors
///
/// If it cannot be started or watched. It does not run then.
pub(crate) fn run(
    command: &mut Command,
    limit: Duration,
    secrets: &Secrets<'_>,
    start: impl FnOnce(&mut Command) -> io::Result<Child>,
    is_stopped: impl Fn() -> bool,
) -> io::Result<Ended> {
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begun = Instant::now();
    let mut child = start(command)?;
    let mut output = Printed::on(child.stdout.take().map(OwnedFd::from), secrets);
    let mut error = Printed::on(child.stderr.take().map(OwnedFd::from), secrets);
    let ending = watch(&child, [&mut output, &mut error], || begun.elapsed() < limit, is_stopped);
    // The child was not waited for, so no other process or group has its number. Each of the two fails if nothing is
    // left to kill. The child may have moved to the group of one of its own children.
    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    if !matches!(ending, Ok(Ending::Exited)) {
        let _ = child.kill();
    }
    let status = child.wait();
    let [output, error] = [output, error].map(|printed| printed.into_text(secrets));
    Ok(Ended { ending: ending?, status: status?, output, error })
}

/// Reads what the process prints until it has ended, has no time any more, or is stopped. Does not wait for the child.
fn watch(
    child: &Child,
    mut printed: [&mut Printed; 2],
    has_time: impl Fn() -> bool,
    is_stopped: impl Fn() -> bool,
) -> io::Result<Ending> {
    // How soon its end is noticed once it has closed its output, and how soon that it is stopped.
    const SOON: Duration = Duration::from_millis(2);
    const LATER: Duration = Duration::from_millis(50);
    loop {
        let is_open = printed.iter().any(|one| one.pipe.is_some());
        if !is_open && has_ended(child)? {
            return Ok(Ending::Exited);
        }
        if is_stopped() {
            return Ok(Ending::Stopped);
        }
        if !has_time() {
            return Ok(Ending::TimedOut);
        }
        read_next(&mut printed, if is_open { LATER } else { SOON })?;
    }
}

fn has_ended(child: &Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}

/// Waits until something was printed, but no longer than this, and reads it.
fn read_next(printed: &mut [&mut Printed; 2], longest: Duration) -> io::Result<()> {
    let timeout = Timespec::try_from(longest).map_err(io::Error::other)?;
    let are_ready: Vec<bool> = {
        let pipes = printed.iter().filter_map(|one| one.pipe.as_ref());
        let mut polled: Vec<PollFd<'_>> = pipes.map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) => polled.iter().map(|one| !one.revents().is_empty()).collect(),
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    };
    let open = printed.iter_mut().filter(|one| one.pipe.is_some());
    for (one, _) in open.zip(are_ready).filter(|(_, is_ready)| *is_ready) {
        one.read_once()?;
    }
    Ok(())
}

/// What a process prints on one stream.
struct Printed {
    /// None once all processes have closed their end.
    pipe: Option<File>,
    last: Vec<u8>,
    /// How many bytes before those that are kept are needed to recognise a secret.
    spare: usize,
    is_cut: bool,
}

impl Printed {
    fn on(pipe: Option<OwnedFd>, secrets: &Secrets<'_>) -> Self {
        Self { pipe: pipe.map(File::from), last: Vec::new(), spare: secrets.longest(), is_cut: false }
    }

    /// Reads what there is. Waits if there is nothing.
    fn read_once(&mut self) -> io::Result<()> {
        let Some(pipe) = &mut self.pipe else { return Ok(()) };
        let mut bytes = [0; 8 * 1024];
        match pipe.read(&mut bytes) {
            Ok(0) => self.pipe = None,
            Ok(count) => {
                self.last.extend_from_slice(&bytes[..count]);
                // Not for each few bytes.
                if self.last.len() > 2 * (KEPT + self.spare) {
                    self.cut();
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn cut(&mut self) {
        let surplus = self.last.len().saturating_sub(KEPT + self.spare);
        self.is_cut |= surplus > 0;
        self.last.drain(..surplus);
    }

    fn into_text(mut self, secrets: &Secrets<'_>) -> String {
        self.cut();
        let redacted = secrets.redacted(&self.last, if self.is_cut { self.spare } else { 0 });
        String::from_utf8_lossy(&redacted[redacted.len().saturating_sub(KEPT)..]).into_owned()
    }
}
