//! One child process: a cleared environment, a time limit, captured output, and no survivors.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::task::JoinHandle;

use super::CommandLine;

/// A command that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// Its standard output, at most 8 MiB from the start; invalid UTF-8 replaced.
    pub stdout: String,
    /// Its standard error, likewise.
    pub stderr: String,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this code.
    Exited(i32),
    /// A signal from elsewhere ended it.
    Killed,
    /// It ran out of time and was killed with everything it had started.
    TimedOut,
}

/// A command could not be run at all.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It did not start.
    #[error(
        "cannot start `{command}` in {directory}: {source}; check that the program is installed and that the directory exists"
    )]
    Start {
        /// The command.
        command: String,
        /// Where it was to run.
        directory: PathBuf,
        /// Why it did not start.
        source: std::io::Error,
    },
    /// Its end could not be observed.
    #[error("lost sight of `{command}` in {directory}: {source}")]
    Wait {
        /// The command.
        command: String,
        /// Where it ran.
        directory: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
}

/// How many bytes of each stream are kept. More is read, so that the child never blocks, and dropped.
const LONGEST_OUTPUT: usize = 8 * 1024 * 1024;

/// How long a stream may stay open after its process has ended: something started in the background holds it.
const LINGERING: Duration = Duration::from_secs(2);

/// Runs a command in a directory with exactly the given environment.
///
/// The command leads a process group of its own. When time is up, or when this future is dropped, the whole
/// group is killed: a test that hangs is the grandchild, not the child.
pub(super) async fn run(
    command: &CommandLine,
    directory: &Path,
    environment: &BTreeMap<OsString, OsString>,
    time_limit: Duration,
) -> Result<Finished, RunError> {
    let mut child = Command::new(command.program())
        .args(command.arguments())
        .current_dir(directory)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|source| RunError::Start { command: command.to_string(), directory: directory.to_owned(), source })?;
    let group = Group(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));
    let stdout = child.stdout.take().map(capture);
    let stderr = child.stderr.take().map(capture);

    let ending = match tokio::time::timeout(time_limit, child.wait()).await {
        Ok(Ok(status)) => status.code().map_or(Ending::Killed, Ending::Exited),
        Ok(Err(source)) => {
            return Err(RunError::Wait { command: command.to_string(), directory: directory.to_owned(), source });
        }
        Err(_) => Ending::TimedOut,
    };
    // Whatever the command left running goes with it; after an orderly end that is usually nobody.
    drop(group);
    let (stdout, stderr) = tokio::join!(finish(stdout), finish(stderr));
    Ok(Finished { ending, stdout, stderr })
}

/// A process group that is killed when this goes out of scope, also by cancellation.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // An error means that the group is gone already, which is what is wanted.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// A stream that is being read in the background into a shared buffer.
struct Capture {
    text: std::sync::Arc<std::sync::Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

fn capture(mut stream: impl AsyncRead + Unpin + Send + 'static) -> Capture {
    let text = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let shared = std::sync::Arc::clone(&text);
    let reader = tokio::spawn(async move {
        let mut chunk = vec![0; 64 * 1024];
        while let Ok(length) = stream.read(&mut chunk).await {
            if length == 0 {
                break;
            }
            let mut text = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let room = LONGEST_OUTPUT.saturating_sub(text.len()).min(length);
            text.extend_from_slice(&chunk[..room]);
        }
    });
    Capture { text, reader }
}

async fn finish(capture: Option<Capture>) -> String {
    let Some(Capture { text, mut reader }) = capture else {
        return String::new();
    };
    if tokio::time::timeout(LINGERING, &mut reader).await.is_err() {
        reader.abort();
    }
    let text = text.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    String::from_utf8_lossy(&text).into_owned()
}
