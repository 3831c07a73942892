//! A running program: its output lines, its input and its end.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::child_tree::ChildTree;
use super::limits::StopTimeouts;
use super::lines::{Line, Lines, Taken};
use super::redactor::Redactor;
use super::tail::Tail;

/// A started program. Dropping it ends the program and every process that the program started, even in other sessions and groups.
pub struct Running {
    tree: ChildTree,
    output: Option<ChildStdout>,
    lines: Lines,
    /// The last line, with its secrets redacted, if it had any.
    redacted: Vec<u8>,
    redactor: Redactor,
    input: Option<UnboundedSender<Vec<u8>>>,
    tail: Arc<Mutex<Tail>>,
    draining: Option<JoinHandle<()>>,
    /// When the program and its process tree ended, and how many bytes were read since then.
    ended: Option<(Instant, usize)>,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The program's exit code; `None` if a signal ended it.
    pub exit: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    /// The end of the program's standard error, with secrets redacted and surrounding white space trimmed.
    pub stderr: String,
    /// How many descendants of the program were still alive when it ended. They were killed.
    pub survivors: usize,
}

/// How many bytes of the end of standard output [`Running::output_tail`] keeps.
const OUTPUT_KEPT: usize = 4096;

/// For how long a pipe is read after the process tree has ended. Reading takes almost no time, unless a process that escaped
/// holds the pipe open.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// The maximum capacity of a pipe, in bytes. If more is read after the process tree has ended, a process escaped and still
/// writes. Linux allows larger pipes to root only.
const MAX_PIPE: usize = 1024 * 1024;

impl Running {
    pub(super) fn new(
        mut tree: ChildTree,
        redactor: Redactor,
        input: Vec<u8>,
        stays_open: bool,
        (longest_line, stderr_kept): (usize, usize),
    ) -> Self {
        let tail = Arc::new(Mutex::new(Tail::new(stderr_kept, &redactor)));
        let output = tree.child.stdout.take();
        let draining = tree.child.stderr.take().map(|errors| tokio::spawn(drain(errors, Arc::clone(&tail))));
        let sender = tree.child.stdin.take().map(|stdin| {
            let (sender, receiver) = unbounded_channel();
            tokio::spawn(feed(stdin, receiver));
            // This cannot fail: the receiver was just created.
            let _ = sender.send(input);
            sender
        });
        let (lines, redacted) = (Lines::new(longest_line), Vec::new());
        let input = sender.filter(|_| stays_open);
        Self { tree, output, lines, redacted, redactor, input, tail, draining, ended: None }
    }

    /// The program's process id, until the program has ended.
    pub fn id(&self) -> Option<u32> {
        self.tree.child.id()
    }

    /// Returns the next line of standard output, with the secrets of the environment redacted. `None` when the program has closed
    /// its output or has ended. When the program ends, its remaining descendants are ended too, so they cannot delay this by
    /// holding the output open. Cancel-safe: dropping the future loses no data.
    ///
    /// # Errors
    ///
    /// The operating system failed to read or to wait.
    pub async fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            match self.lines.take() {
                Some(Taken::TooLong(bytes)) => return Ok(Some(Line::TooLong { bytes })),
                Some(Taken::Whole(line)) => {
                    let line = self.lines.bytes(line);
                    return Ok(Some(Line::Whole(match self.redactor.bytes(line) {
                        Cow::Borrowed(line) => line,
                        Cow::Owned(redacted) => {
                            self.redacted = redacted;
                            &self.redacted
                        }
                    })));
                }
                None if self.output.is_none() => return Ok(None),
                None => self.read().await?,
            }
        }
    }

    /// Returns the next `count` bytes of standard output regardless of lines, with the secrets of the environment redacted: for
    /// programs that announce the length of each message. `None` when fewer bytes are left. Cancel-safe: dropping the future
    /// loses no data.
    ///
    /// # Errors
    ///
    /// The operating system failed to read or to wait; [`InvalidInput`](io::ErrorKind::InvalidInput) if `count` is larger than
    /// [`Invocation::longest_line`](super::Invocation::longest_line).
    pub async fn read_exact(&mut self, count: usize) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(bytes) = self.lines.take_exact(count)? {
                return Ok(Some(self.redactor.bytes(self.lines.bytes(bytes)).into_owned()));
            }
            if self.output.is_none() {
                return Ok(None);
            }
            self.read().await?;
        }
    }

    /// Reads standard output to the end and returns its last 4 KiB, redacted and trimmed like [`Ended::stderr`]: for programs
    /// without a line protocol. A line that is too long is left out.
    ///
    /// # Errors
    ///
    /// The operating system failed to read or to wait.
    pub async fn output_tail(&mut self) -> io::Result<String> {
        let mut tail = Tail::new(OUTPUT_KEPT, &self.redactor);
        while let Some(line) = self.next_line().await? {
            if let Line::Whole(line) = line {
                tail.push(line);
                tail.push(b"\n");
            }
        }
        Ok(tail.text(&self.redactor))
    }

    /// Reads standard output once. Closes it at its end, or when the process tree has ended and the pipe is drained.
    async fn read(&mut self) -> io::Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        let has_more = match &mut self.ended {
            // The program's exit is polled first: a descendant that keeps writing would always have something to read.
            None => tokio::select! {
                biased;
                exited = self.tree.wait_child() => {
                    exited?;
                    self.tree.wait_all().await?;
                    self.ended = Some((Instant::now(), 0));
                    true
                }
                read = self.lines.fill(output) => read? > 0,
            },
            Some((_, read)) if *read > MAX_PIPE => false,
            Some((ended, read)) => tokio::select! {
                biased;
                more = self.lines.fill(output) => {
                    let more = more?;
                    *read += more;
                    more > 0
                }
                () = tokio::time::sleep_until(*ended + DRAIN_TIMEOUT) => false,
            },
        };
        if !has_more {
            self.output = None;
            self.lines.finish();
        }
        Ok(())
    }

    /// Queues bytes for standard input, after earlier writes. Does not wait for the program to read them: the program may itself
    /// be waiting for its output to be read.
    ///
    /// # Errors
    ///
    /// Standard input is closed: by the invocation, by [`close_input`](Self::close_input), or by the program's end.
    pub fn write(&mut self, bytes: impl Into<Vec<u8>>) -> io::Result<()> {
        let sent = self.input.as_ref().is_some_and(|input| input.send(bytes.into()).is_ok());
        if sent { Ok(()) } else { Err(io::Error::new(io::ErrorKind::BrokenPipe, "standard input is closed")) }
    }

    /// Closes standard input once all queued bytes are written.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// The end of what the program has written to standard error so far, with secrets redacted.
    pub fn stderr_tail(&self) -> String {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).text(&self.redactor)
    }

    /// Stops the program: sends SIGTERM to its process group, and after [`StopTimeouts::terminate`] SIGKILL to the program and
    /// all its descendants. Output is read and discarded meanwhile. To interrupt the program in its own protocol, do so before
    /// calling this.
    ///
    /// # Errors
    ///
    /// The operating system failed to wait.
    pub async fn stop(&mut self, timeouts: &StopTimeouts) -> io::Result<()> {
        self.close_input();
        if !timeouts.terminate.is_zero() && !self.tree.has_ended() {
            self.tree.terminate();
            if let Ok(ended) = tokio::time::timeout(timeouts.terminate, self.discard()).await {
                return ended.map(drop);
            }
        }
        self.tree.kill().await.map(drop)
    }

    /// Waits for the program to end, then ends its remaining descendants. Discards output that was not read yet. Cancel-safe:
    /// it can be called again after the future was dropped.
    ///
    /// # Errors
    ///
    /// The operating system failed to wait.
    pub async fn wait(&mut self) -> io::Result<()> {
        self.discard().await.map(drop)
    }

    /// Closes standard input, [waits](Self::wait) and returns how the program ended.
    ///
    /// # Errors
    ///
    /// The operating system failed to wait.
    pub async fn end(mut self) -> io::Result<Ended> {
        self.close_input();
        let (status, survivors) = self.discard().await?;
        if let Some(draining) = self.draining.take() {
            let abort = draining.abort_handle();
            // A process that escaped may hold standard error open.
            if tokio::time::timeout(DRAIN_TIMEOUT, draining).await.is_err() {
                abort.abort();
            }
        }
        tracing::debug!(exit = status.code(), survivors, "a program has ended");
        Ok(Ended { exit: status.code(), signal: signal(status), stderr: self.stderr_tail(), survivors })
    }

    /// Waits for the program and its tree to end, and discards output meanwhile.
    async fn discard(&mut self) -> io::Result<(ExitStatus, usize)> {
        while !self.tree.has_ended() && self.output.is_some() {
            self.lines.clear();
            self.read().await?;
        }
        self.tree.wait_all().await
    }
}

/// Shows neither output nor input, which may be confidential.
impl fmt::Debug for Running {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Running").field("id", &self.id()).finish_non_exhaustive()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(draining) = &self.draining {
            draining.abort();
        }
    }
}

/// Writes all queued bytes to standard input, and closes it when the queue is closed.
async fn feed(mut stdin: ChildStdin, mut queue: UnboundedReceiver<Vec<u8>>) {
    while let Some(bytes) = queue.recv().await {
        if stdin.write_all(&bytes).await.is_err() {
            // The program has closed standard input or has ended; its output and exit status say why.
            return;
        }
    }
}

async fn drain(mut errors: ChildStderr, tail: Arc<Mutex<Tail>>) {
    let mut buffer = vec![0; 1024];
    while let Ok(read) = errors.read(&mut buffer).await {
        if read == 0 {
            return;
        }
        tail.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..read]);
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}
