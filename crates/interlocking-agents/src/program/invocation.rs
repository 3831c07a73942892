//! The description of a program to start, and the code that starts it.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Instant;

use interlocking_sandbox::{Confinement, Sandbox};
use thiserror::Error;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;

use super::child_tree::ChildTree;
use super::environment::Environment;
use super::running::Running;
use super::starter::on_starter;
use super::tree::{Marker, Marks, Namespace, Subreaper, Tree, guard};
use crate::agent::error::AgentErrorKind;

/// A program to start: its arguments, working directory, environment, sandbox and input.
///
/// ```
/// # use interlocking_agents::program::{Environment, Invocation, Line};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let invocation = Invocation { input: b"one\ntwo".into(), ..Invocation::new("cat", Environment::minimal()) };
/// let mut running = invocation.start().await?;
/// let mut lines = Vec::new();
/// while let Some(line) = running.next_line().await? {
///     if let Line::Whole(bytes) = line {
///         lines.push(String::from_utf8_lossy(bytes).into_owned());
///     }
/// }
/// assert_eq!(lines, ["one", "two"]);
/// assert_eq!(running.end().await?.exit, Some(0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Invocation {
    /// The path of the program, or a name to search in the `PATH` of [`environment`](Self::environment).
    pub program: PathBuf,
    /// The program's arguments. All users of the system can read them, so they must not contain secrets.
    pub arguments: Vec<OsString>,
    /// The program's working directory; `None` for that of this process.
    pub directory: Option<PathBuf>,
    /// The program's environment variables. [`start`](Self::start) adds one that marks the program's processes, and those of the
    /// sandbox.
    pub environment: Environment,
    /// The sandbox that confines the program and everything that it starts.
    pub sandbox: Option<Arc<Sandbox>>,
    /// Bytes to write to standard input. They are written while output is read.
    pub input: Vec<u8>,
    /// Whether standard input stays open after [`input`](Self::input) is written, for [`Running::write`]. Otherwise it is closed.
    pub stays_open: bool,
    /// The maximum length of a line of standard output, in bytes. A longer line is skipped and reported as
    /// [`Line::TooLong`](super::Line::TooLong).
    pub longest_line: usize,
    /// How many bytes of the end of standard error are kept.
    pub stderr_kept: usize,
}

/// Why a program could not be started.
#[derive(Debug, Error)]
pub enum StartError {
    /// There is no such program.
    #[error("there is no program {}: install it, or give its path", program.display())]
    Missing {
        /// What was to be started.
        program: PathBuf,
    },
    /// The program exists, but its interpreter does not: the one that its first line (`#!`) names, or its dynamic loader.
    #[error("{} cannot be started, because its interpreter is missing{first_line}: install that", program.display())]
    NoInterpreter {
        /// What was to be started.
        program: PathBuf,
        /// The line that names the interpreter, in parentheses; empty if no line does.
        first_line: String,
    },
    /// There is no such directory.
    #[error("{} cannot be started in {}, which is not a directory", program.display(), directory.display())]
    NoDirectory {
        /// What was to be started.
        program: PathBuf,
        /// The missing working directory.
        directory: PathBuf,
    },
    /// The program could not be confined, so it was not started.
    #[error("{} was not started, because it could not be confined: {reason}", program.display())]
    NotConfined {
        /// What was to be started.
        program: PathBuf,
        /// The sandbox's error.
        reason: String,
    },
    /// The operating system refused to start the program.
    #[error("{} cannot be started: {source}", program.display())]
    Refused {
        /// What was to be started.
        program: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

impl From<StartError> for AgentErrorKind {
    fn from(error: StartError) -> Self {
        match &error {
            StartError::Refused { source, .. } if is_transient(source) => {
                Self::Other { message: error.to_string(), transient: true }
            }
            _ => Self::Configuration { reason: error.to_string() },
        }
    }
}

/// Whether a start may succeed later: the system was out of processes, memory or open files, or the program's file was being
/// written.
fn is_transient(error: &io::Error) -> bool {
    use io::ErrorKind::{ExecutableFileBusy, OutOfMemory, WouldBlock};

    #[cfg(unix)]
    let too_many_files = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE].map(rustix::io::Errno::raw_os_error);
    #[cfg(not(unix))]
    let too_many_files: [i32; 0] = [];
    matches!(error.kind(), ExecutableFileBusy | OutOfMemory | WouldBlock)
        || error.raw_os_error().is_some_and(|code| too_many_files.contains(&code))
}

/// Shows neither input nor arguments, as both can contain prompts.
impl fmt::Debug for Invocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Invocation")
            .field("program", &self.program)
            .field("arguments", &self.arguments.len())
            .field("directory", &self.directory)
            .field("environment", &self.environment)
            .field("input_bytes", &self.input.len())
            .finish_non_exhaustive()
    }
}

impl Invocation {
    /// The default of [`longest_line`](Self::longest_line): 16 MiB.
    pub const LONGEST_LINE: usize = 16 * 1024 * 1024;

    /// The default of [`stderr_kept`](Self::stderr_kept): 4 KiB.
    pub const STDERR_KEPT: usize = 4096;

    /// A program without arguments, input or sandbox.
    pub fn new(program: impl Into<PathBuf>, environment: Environment) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            directory: None,
            environment,
            sandbox: None,
            input: Vec::new(),
            stays_open: false,
            longest_line: Self::LONGEST_LINE,
            stderr_kept: Self::STDERR_KEPT,
        }
    }

    /// Starts the program, confined if there is a sandbox. Must be called within a tokio runtime with I/O and time enabled.
    ///
    /// # Errors
    ///
    /// See [`StartError`]. On an error, no program runs.
    pub async fn start(self) -> Result<Running, StartError> {
        if let Some(directory) = self.directory.as_ref().filter(|directory| !directory.is_dir()) {
            return Err(StartError::NoDirectory { program: self.program, directory: directory.clone() });
        }
        let Some(program) = self.environment.find(&self.program) else {
            return Err(StartError::Missing { program: self.program });
        };
        guard::ensure();
        let marker = Marker::new();
        let command = self.command(program, marker);
        let confinement = match &self.sandbox {
            None => None,
            Some(sandbox) => Some(prepare(Arc::clone(sandbox)).await.map_err(|error| self.refused(error))?),
        };
        let tree = spawn(command, marker, confinement).await.map_err(|error| self.refused(error))?;
        tracing::debug!(program = %self.program.display(), id = tree.child.id(), "started a program");
        let redactor = self.environment.redactor();
        Ok(Running::new(tree, redactor, self.input, self.stays_open, (self.longest_line, self.stderr_kept)))
    }

    fn command(&self, program: PathBuf, marker: Marker) -> Command {
        let mut command = Command::new(program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.variables())
            .envs(self.sandbox.iter().flat_map(|sandbox| sandbox.environment()))
            .env(Marker::VARIABLE, marker.value())
            .stdin(if self.input.is_empty() && !self.stays_open { Stdio::null() } else { Stdio::piped() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        #[cfg(unix)]
        command.arg0(&self.program).process_group(0);
        command
    }

    /// The `#!` line of the program's file, in parentheses; empty if it has none. `None` if the program's file does not exist or
    /// cannot be read.
    fn first_line(&self) -> Option<String> {
        const LONGEST: u64 = 256;
        let directory = self.directory.as_deref().unwrap_or(Path::new(""));
        let file = File::open(directory.join(self.environment.find(&self.program)?)).ok()?;
        let mut beginning = Vec::new();
        file.take(LONGEST).read_to_end(&mut beginning).ok()?;
        let beginning = String::from_utf8_lossy(&beginning);
        let named = beginning.lines().next().filter(|line| line.starts_with("#!"));
        Some(named.map_or_else(String::new, |line| format!(" ({line})")))
    }

    fn refused(&self, error: SpawnError) -> StartError {
        let program = self.program.clone();
        match error {
            SpawnError::NotConfined(reason) => StartError::NotConfined { program, reason },
            SpawnError::Refused(source) if source.kind() == io::ErrorKind::NotFound => match self.first_line() {
                Some(first_line) => StartError::NoInterpreter { program, first_line },
                None => StartError::Missing { program },
            },
            SpawnError::Refused(source) => StartError::Refused { program, source },
        }
    }
}

/// Why no process was started.
enum SpawnError {
    NotConfined(String),
    Refused(io::Error),
}

/// Prepares the sandbox on a blocking thread: it checks every writable file for hard links that lead out.
async fn prepare(sandbox: Arc<Sandbox>) -> Result<Confinement, SpawnError> {
    let preparing = tokio::task::spawn_blocking(move || sandbox.prepare());
    let prepared = preparing.await.map_err(|panic| SpawnError::NotConfined(panic.to_string()))?;
    prepared.map_err(|error| SpawnError::NotConfined(error.to_string()))
}

/// Spawns the program on the starter thread, where programs start one after the other. So every unmarked descendant that exists
/// before a program is marked belongs to that program.
async fn spawn(command: Command, marker: Marker, confinement: Option<Confinement>) -> Result<ChildTree, SpawnError> {
    let runtime = Handle::current();
    let subreaper = Subreaper::begin();
    let spawning = on_starter(move || {
        let _runtime = runtime.enter();
        // Before the thread that starts the program is confined: a confined thread must not make namespaces.
        let namespace = Namespace::enter();
        let before = Instant::now();
        let child = spawn_child(command, confinement.as_ref())?;
        let tree = Tree::of(child.id(), before, Marks { marker, namespace }, subreaper);
        Ok(ChildTree::new(child, tree))
    });
    spawning.await.map_err(SpawnError::Refused)?
}

fn spawn_child(mut command: Command, confinement: Option<&Confinement>) -> Result<Child, SpawnError> {
    let Some(confinement) = confinement else { return command.spawn().map_err(SpawnError::Refused) };
    let runtime = Handle::current();
    let spawned = confinement.enter(|| {
        let _runtime = runtime.enter();
        command.spawn()
    });
    spawned.map_err(|error| SpawnError::NotConfined(error.to_string()))?.map_err(SpawnError::Refused)
}
