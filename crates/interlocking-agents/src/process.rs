//! A command and everything it starts, killed as one.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

/// How much of the end of an output stream is kept, in bytes.
const KEPT_OUTPUT: usize = 4096;

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit code; none when a signal ended it.
    pub(crate) exit: Option<i32>,
    /// The end of its standard error, or of its standard output when that is empty.
    pub(crate) last_words: String,
}

/// Runs a command to its end in its own process group. When it ends, and when the future is dropped before that,
/// whatever is left of the group is killed: a command that was cancelled leaves no children behind.
pub(crate) async fn run(
    command: &[String],
    directory: &Path,
    environment: &[(OsString, OsString)],
) -> io::Result<Ended> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "an empty command"));
    };
    let mut building = Command::new(program);
    building
        .args(arguments)
        .current_dir(directory)
        .envs(environment.iter().map(|(key, value)| (key, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    building.process_group(0);
    let mut child = building.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let group = ProcessGroup::of(&child);

    let waiting = async {
        let status = child.wait().await;
        // A survivor would hold the pipes open for as long as it lives.
        drop(group);
        status
    };
    let (status, stdout, stderr) = tokio::join!(waiting, tail(stdout), tail(stderr));
    let (stdout, stderr) = (stdout?, stderr?);
    let last_words = if stderr.trim().is_empty() { stdout } else { stderr };
    Ok(Ended { exit: status?.code(), last_words: last_words.trim().to_owned() })
}

/// Reads to the end, keeping only the last [`KEPT_OUTPUT`] bytes.
async fn tail(stream: Option<impl AsyncRead + Unpin>) -> io::Result<String> {
    let Some(mut stream) = stream else { return Ok(String::new()) };
    let mut kept = Vec::new();
    let mut chunk = [0; KEPT_OUTPUT];
    loop {
        let read = stream.read(&mut chunk).await?;
        if read == 0 {
            return Ok(String::from_utf8_lossy(&kept).into_owned());
        }
        kept.extend_from_slice(&chunk[..read]);
        kept.drain(..kept.len().saturating_sub(KEPT_OUTPUT));
    }
}

/// Kills a process group when dropped. Where there are none (not Unix), `kill_on_drop` kills the process alone.
struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl ProcessGroup {
    fn of(child: &Child) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        Self { leader }
    }
}

#[cfg(unix)]
impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            // Fails when nobody is left, which is what is wanted.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(not(unix))]
impl ProcessGroup {
    fn of(_child: &Child) -> Self {
        Self {}
    }
}
