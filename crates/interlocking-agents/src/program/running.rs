//! A program that runs: its lines, its input, its end.

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

use super::life::Life;
use super::limits::StopOrder;
use super::lines::{Line, Lines, Taken};
use super::redactor::Redactor;
use super::tail::Tail;

/// A program that was started. Dropping it ends the program and everything that it started, wherever that went.
pub struct Running {
    life: Life,
    output: Option<ChildStdout>,
    lines: Lines,
    /// The last line without the secrets that stood in it.
    redacted: Vec<u8>,
    redactor: Redactor,
    input: Option<UnboundedSender<Vec<u8>>>,
    tail: Arc<Mutex<Tail>>,
    draining: Option<JoinHandle<()>>,
    /// When the program and its tree had ended, and how many bytes were read since.
    over: Option<(Instant, usize)>,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code; none when a signal ended it.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The end of what it wrote to standard error, without secrets, and without white space around it.
    pub stderr: String,
    /// How many processes it had left behind. They were killed.
    pub survivors: usize,
}

/// How much of the end of an output is kept, in bytes.
const KEPT: usize = 4096;

/// For how long a pipe is read when everybody who wrote to it has ended: as good as none, unless somebody escaped who has it open.
const DRAIN: Duration = Duration::from_millis(500);

/// How much a pipe holds at most, in bytes; when more is read after everybody's end, somebody escaped who writes on. Linux gives the
/// system's user alone a larger one.
const PIPE: usize = 1024 * 1024;

impl Running {
    pub(super) fn new(
        mut life: Life,
        redactor: Redactor,
        input: Vec<u8>,
        stays_open: bool,
        (longest_line, errors_kept): (usize, usize),
    ) -> Self {
        let tail = Arc::new(Mutex::new(Tail::new(errors_kept, &redactor)));
        let output = life.child.stdout.take();
        let draining = life.child.stderr.take().map(|errors| tokio::spawn(drain(errors, Arc::clone(&tail))));
        let sender = life.child.stdin.take().map(|stdin| {
            let (sender, receiver) = unbounded_channel();
            tokio::spawn(feed(stdin, receiver));
            // The receiver was just made.
            let _ = sender.send(input);
            sender
        });
        let (lines, redacted) = (Lines::new(longest_line), Vec::new());
        let input = sender.filter(|_| stays_open);
        Self { life, output, lines, redacted, redactor, input, tail, draining, over: None }
    }

    /// The number of the program's process, until it has ended.
    pub fn id(&self) -> Option<u32> {
        self.life.child.id()
    }

    /// The next line of its standard output, without the secrets of its environment. None when it has closed its output, or has
    /// ended: what it left behind is ended then, too, and keeps nobody waiting. Nothing is lost when this is dropped before it
    /// is done.
    ///
    /// # Errors
    ///
    /// The system's, of reading or waiting.
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

    /// The next `count` bytes of its standard output, whatever lines they are in, without the secrets of its environment; of a program
    /// that says how long its messages are. None when there are fewer. Nothing is lost when this is dropped before it is done.
    ///
    /// # Errors
    ///
    /// The system's, of reading or waiting; [`InvalidInput`](io::ErrorKind::InvalidInput) where that is more than a line may be long.
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

    /// Reads its standard output to the end and gives the last of it, as [`Ended::stderr`] does; of a program that does not speak
    /// in lines. A line that is too long is left out.
    ///
    /// # Errors
    ///
    /// The system's, of reading or waiting.
    pub async fn output_tail(&mut self) -> io::Result<String> {
        let mut tail = Tail::new(KEPT, &self.redactor);
        while let Some(line) = self.next_line().await? {
            if let Line::Whole(line) = line {
                tail.push(line);
                tail.push(b"\n");
            }
        }
        Ok(tail.text(&self.redactor))
    }

    /// Reads once, or learns that there is nothing more to read.
    async fn read(&mut self) -> io::Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        let has_more = match &mut self.over {
            // The end first: whoever writes on and on has always something to read.
            None => tokio::select! {
                biased;
                exited = self.life.exit() => {
                    exited?;
                    self.life.over().await?;
                    self.over = Some((Instant::now(), 0));
                    true
                }
                read = self.lines.fill(output) => read? > 0,
            },
            Some((_, read)) if *read > PIPE => false,
            Some((over, read)) => tokio::select! {
                biased;
                more = self.lines.fill(output) => {
                    let more = more?;
                    *read += more;
                    more > 0
                }
                () = tokio::time::sleep_until(*over + DRAIN) => false,
            },
        };
        if !has_more {
            self.output = None;
            self.lines.finish();
        }
        Ok(())
    }

    /// Writes to its standard input, after what was to be written before. This does not wait for the program to read it, as that
    /// may wait for its output to be read.
    ///
    /// # Errors
    ///
    /// Standard input is closed: by the invocation, by [`close_input`](Self::close_input), or by the program's end.
    pub fn write(&mut self, bytes: impl Into<Vec<u8>>) -> io::Result<()> {
        let sent = self.input.as_ref().is_some_and(|input| input.send(bytes.into()).is_ok());
        if sent { Ok(()) } else { Err(io::Error::new(io::ErrorKind::BrokenPipe, "standard input is closed")) }
    }

    /// Closes its standard input when everything is written.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// The end of what it has written to standard error until now, without secrets.
    pub fn stderr_tail(&self) -> String {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).text(&self.redactor)
    }

    /// What takes the secrets of its environment out of a text.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Stops it: SIGTERM to its process group, and when its time is over SIGKILL to everything that came of it. Its output is
    /// read on and thrown away. A program that is to be asked in a way of its own is asked before.
    ///
    /// # Errors
    ///
    /// The system's, of waiting.
    pub async fn stop(&mut self, order: &StopOrder) -> io::Result<()> {
        self.close_input();
        if !order.terminate.is_zero() && !self.life.is_over() {
            self.life.terminate();
            if let Ok(over) = tokio::time::timeout(order.terminate, self.discard()).await {
                return over.map(drop);
            }
        }
        self.life.kill().await.map(drop)
    }

    /// Waits for its end and ends what it left behind. Output that was not taken yet is thrown away. Nothing is lost when this is
    /// dropped before it is done.
    ///
    /// # Errors
    ///
    /// The system's, of waiting.
    pub async fn wait(&mut self) -> io::Result<()> {
        self.discard().await.map(drop)
    }

    /// [Waits](Self::wait) and says how it ended. Standard input is closed before.
    ///
    /// # Errors
    ///
    /// The system's, of waiting.
    pub async fn end(mut self) -> io::Result<Ended> {
        self.close_input();
        let (status, survivors) = self.discard().await?;
        if let Some(draining) = self.draining.take() {
            let abort = draining.abort_handle();
            // Somebody who escaped may have it open.
            if tokio::time::timeout(DRAIN, draining).await.is_err() {
                abort.abort();
            }
        }
        tracing::debug!(exit = status.code(), survivors, "a program has ended");
        Ok(Ended { exit: status.code(), signal: signal(status), stderr: self.stderr_tail(), survivors })
    }

    /// Waits for the end, while output is thrown away.
    async fn discard(&mut self) -> io::Result<(ExitStatus, usize)> {
        while !self.life.is_over() && self.output.is_some() {
            self.lines.clear();
            self.read().await?;
        }
        self.life.over().await
    }
}

/// Neither what was read nor what was written.
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

/// Writes what comes, and closes standard input when nothing more can come.
async fn feed(mut stdin: ChildStdin, mut coming: UnboundedReceiver<Vec<u8>>) {
    while let Some(bytes) = coming.recv().await {
        if stdin.write_all(&bytes).await.is_err() {
            // The program has closed it or has ended; its output and its end say why.
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
