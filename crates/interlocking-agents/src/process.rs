//! A command and everything it starts, killed as one.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use interlocking_sandbox::Sandbox;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;

/// How much of the end of an output stream is kept, in bytes.
const KEPT_OUTPUT: u64 = 4096;

/// What a command has around it, beside its directory.
#[derive(Debug)]
pub(crate) struct Surroundings<'a> {
    /// Variables on top of those that are inherited.
    pub(crate) environment: &'a [(OsString, OsString)],
    /// What confines it, and all that it starts.
    pub(crate) sandbox: Option<&'a Arc<Sandbox>>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit code; none when a signal ended it.
    pub(crate) exit: Option<i32>,
    /// The end of its standard error, or of its standard output when that is empty.
    pub(crate) last_words: String,
}

/// Runs a command to its end in its own process group. When it ends, and when the future is dropped before that,
/// whatever is left of the group is killed: a command leaves no children behind, unless they make a group of their
/// own.
///
/// Output goes to anonymous files, not to pipes: a child that lives on would keep a pipe open, and the reader waiting.
pub(crate) async fn run(command: &[String], directory: &Path, surroundings: &Surroundings<'_>) -> io::Result<Ended> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "an empty command"));
    };
    let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut building = Command::new(program);
    building
        .args(arguments)
        .current_dir(directory)
        .envs(surroundings.sandbox.iter().flat_map(|sandbox| sandbox.environment()))
        .envs(surroundings.environment.iter().map(|(key, value)| (key, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::from(stdout.try_clone()?))
        .stderr(Stdio::from(stderr.try_clone()?))
        .kill_on_drop(true);
    #[cfg(unix)]
    building.process_group(0);
    let mut child = surroundings.spawn(building).await?;
    // After `child`, so that it is dropped first: the leader is not reaped yet and its id still means this group.
    let group = ProcessGroup::of(&child);
    let status = child.wait().await?;
    drop(group);

    let (stdout, stderr) = (tail(stdout)?, tail(stderr)?);
    let last_words = if stderr.trim().is_empty() { stdout } else { stderr };
    Ok(Ended { exit: status.code(), last_words: last_words.trim().to_owned() })
}

impl Surroundings<'_> {
    /// Starts a command, confined if it is to be; then it is not started unless it is.
    async fn spawn(&self, mut command: Command) -> io::Result<Child> {
        let Some(sandbox) = self.sandbox.cloned() else { return command.spawn() };
        // It looks for links that lead out of what may be written, file by file.
        let prepared = tokio::task::spawn_blocking(move || sandbox.prepare()).await.map_err(io::Error::other)?;
        let (confinement, runtime) = (prepared.map_err(io::Error::other)?, Handle::current());
        let spawned = confinement.enter(|| {
            let _runtime = runtime.enter();
            command.spawn()
        });
        spawned.map_err(io::Error::other)?
    }
}

fn tail(mut file: File) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(KEPT_OUTPUT)))?;
    let mut kept = Vec::new();
    file.take(KEPT_OUTPUT).read_to_end(&mut kept)?;
    Ok(String::from_utf8_lossy(&kept).into_owned())
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
