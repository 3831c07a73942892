//! The program's output: results go to one writer, everything else to another.

use crate::error::CommandError;
use crate::live_lines::Line;
use crate::messages::{Messages, Share};
use crate::readable::readable;
use interlocking_document::written_out;
use std::fmt;
use std::future::Future;
use std::io::{self, IsTerminal, Read, Write};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The program's output and input streams. Cheap to clone.
#[derive(Clone)]
pub struct Console(Arc<Streams>);

struct Streams {
    input: Mutex<Input>,
    output: Mutex<Box<dyn Write + Send>>,
    messages: Messages,
    terminal: bool,
    colour: bool,
    /// Whether results go to a terminal, where they are printed as lines for people instead of JSON.
    is_read: bool,
}

/// Standard input. `None` if it is a terminal, as the program never prompts, or once it has been read.
type Input = Option<Box<dyn Read + Send>>;

/// The style of a text, on terminals with colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// No style.
    Plain,
    /// Less important.
    Dim,
    /// More important.
    Bold,
    /// Good news.
    Good,
    /// Bad news.
    Bad,
}

impl Style {
    /// The text in this style, if there are colours.
    pub(crate) fn paint(self, text: &str, colour: bool) -> String {
        let code = match self {
            _ if !colour => None,
            Self::Plain => None,
            Self::Dim => Some(2),
            Self::Bold => Some(1),
            Self::Good => Some(32),
            Self::Bad => Some(31),
        };
        code.map_or_else(|| text.to_owned(), |code| format!("\x1b[{code}m{text}\x1b[0m"))
    }
}

impl Console {
    /// The process's own streams. Messages have colours on a terminal, unless the user disables them (`NO_COLOR`).
    pub fn standard() -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let terminal = io::stderr().is_terminal() && !dumb;
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let input: Input = if io::stdin().is_terminal() { None } else { Some(Box::new(io::stdin())) };
        Self(Arc::new(Streams {
            input: Mutex::new(input),
            output: Mutex::new(Box::new(io::stdout())),
            messages: Messages::to(io::stderr(), colour),
            terminal,
            colour,
            is_read: io::stdout().is_terminal() && !dumb,
        }))
    }

    /// A console on other streams, none of them a terminal: for tests, and for programs embedded in others.
    pub fn new(
        input: Option<Box<dyn Read + Send>>,
        output: impl Write + Send + 'static,
        messages: impl Write + Send + 'static,
    ) -> Self {
        Self(Arc::new(Streams {
            input: Mutex::new(input),
            output: Mutex::new(Box::new(output)),
            messages: Messages::to(messages, false),
            terminal: false,
            colour: false,
            is_read: false,
        }))
    }

    /// Whether messages go to a terminal.
    pub fn is_terminal(&self) -> bool {
        self.0.terminal
    }

    /// Prints a part of the result. All methods print control characters escaped, as agents and tools wrote much of the text.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the text cannot be written.
    pub fn print(&self, text: &str) -> Result<(), CommandError> {
        self.flush();
        let mut output = lock(&self.0.output);
        let written = output.write_all(written_out(text).as_bytes()).and_then(|()| output.flush());
        written.map_err(|error| {
            CommandError::new(format!("the result could not be written to standard output: {error}"))
                .with_exit(crate::exit::Exit::Output)
        })
    }

    /// Prints a JSON result: as lines for people on a terminal, unchanged elsewhere.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the result cannot be written.
    pub(crate) fn result(&self, json: &str) -> Result<(), CommandError> {
        let text = if self.0.is_read { readable(json) } else { json.to_owned() };
        self.print(&format!("{text}\n"))
    }

    /// Prints a message as a permanent line, in contrast to live lines. Waits for no reader: a thread writes the line, and if 1 MiB
    /// waits to be read, the line is left out and the reader is told how many were.
    pub fn line(&self, style: Style, text: &str) {
        self.0.messages.line(self.styled(style, text), Share::All);
    }

    /// Prints a message of which there may be very many: it leaves room for others.
    pub(crate) fn frequent_line(&self, style: Style, text: &str) {
        self.0.messages.line(self.styled(style, text), Share::Half);
    }

    /// Removes the live lines until the next redraw, and waits until all messages are written, as long as the reader reads: gives
    /// up after five seconds in which it reads nothing.
    pub(crate) fn flush(&self) {
        self.0.messages.finish(Duration::from_secs(5));
    }

    /// Removes the live lines at the end of the process, for which no message is waited for.
    pub(crate) fn abandon(&self) {
        self.0.messages.abandon(Duration::from_millis(100));
    }

    /// Adds a live line below the others, which shows the elapsed time and its message until it is dropped. Shows nothing if
    /// messages do not go to a terminal.
    pub(crate) fn live_line(&self, message: &str) -> LiveLine {
        let line = Arc::new(Line::begin(message));
        if self.0.terminal {
            self.0.messages.add(line.clone());
        }
        LiveLine { line, console: self.clone() }
    }

    /// Redraws the live lines.
    pub(crate) fn draw(&self) {
        self.0.messages.draw();
    }

    /// Awaits `work`, which may be slow and prints nothing itself, and shows `what` and the elapsed time on a live line.
    pub async fn while_waiting<T>(&self, what: &str, work: impl Future<Output = T>) -> T {
        let _live = self.live_line(what);
        let mut ticks = tokio::time::interval(REDRAW);
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = ticks.tick() => self.draw(),
            }
        }
    }

    /// The text in its style, with control characters escaped.
    fn styled(&self, style: Style, text: &str) -> String {
        style.paint(&written_out(text), self.0.colour)
    }

    /// Whether standard input is not a terminal and has not been read.
    pub(crate) fn has_input(&self) -> bool {
        lock(&self.0.input).is_some()
    }

    /// All of standard input; `None` if it is a terminal or was read before. The future may be dropped, which does not end the
    /// reading: the input cannot be read again.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if it cannot be read as text.
    pub async fn input(&self) -> Result<Option<String>, CommandError> {
        let Some(mut input) = lock(&self.0.input).take() else { return Ok(None) };
        let (give, given) = tokio::sync::oneshot::channel();
        // Not a thread of the runtime, which would wait at its end for whoever has the other end of the pipe.
        std::thread::spawn(move || {
            let mut text = String::new();
            give.send(input.read_to_string(&mut text).map(|_| text))
        });
        let read = given.await.unwrap_or_else(|_| Err(io::Error::other("its reader panicked")));
        read.map(Some).map_err(|error| CommandError::from(error).at("standard input"))
    }
}

/// The interval at which live lines are redrawn.
pub(crate) const REDRAW: Duration = Duration::from_millis(200);

/// A line of the terminal that is redrawn until this guard is dropped.
pub(crate) struct LiveLine {
    line: Arc<Line>,
    console: Console,
}

impl Deref for LiveLine {
    type Target = Line;

    fn deref(&self) -> &Line {
        &self.line
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        self.console.0.messages.remove(&self.line);
    }
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Console").field("terminal", &self.0.terminal).finish_non_exhaustive()
    }
}

/// Locks a mutex, ignoring poison: a panic leaves no writer or reader in an invalid state.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_result_is_json_unless_it_is_read_at_a_terminal() {
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);
    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            lock(&self.0).extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for (is_read, expected) in [(true, "text: \\u001b[2J\n"), (false, "{\"text\":\"\\u001b[2J\"}\n")] {
        let kept = Kept::default();
        let (input, output) = (Mutex::new(None), Mutex::new(Box::new(kept.clone()) as Box<dyn Write + Send>));
        let messages = Messages::to(io::sink(), false);
        let console = Console(Arc::new(Streams { input, output, messages, terminal: false, colour: false, is_read }));
        console.result(r#"{"text":"\u001b[2J"}"#).unwrap();
        assert_eq!(String::from_utf8(lock(&kept.0).clone()).unwrap(), expected);
    }
}
