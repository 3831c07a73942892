//! Where the program prints: its result to one writer, everything else to another.

use crate::error::CommandError;
use crate::live_lines::{Line, LiveLines};
use crate::readable::readable;
use crate::text::written_out;
use std::fmt;
use std::future::Future;
use std::io::{self, IsTerminal, Read, Write};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Where the program prints, and what it reads. Cheap to clone.
#[derive(Clone)]
pub struct Console(Arc<Streams>);

struct Streams {
    input: Mutex<Input>,
    output: Mutex<Box<dyn Write + Send>>,
    messages: Mutex<Messages>,
    terminal: bool,
    colour: bool,
    /// Whether results are read by people, who are given lines in place of JSON.
    is_read: bool,
}

/// Where messages go, with the live lines below them.
struct Messages {
    to: Box<dyn Write + Send>,
    live: LiveLines,
}

/// What is read; nothing where it is a terminal, at which nobody was asked anything.
type Input = Option<Box<dyn Read + Send>>;

/// How a text looks where there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As it is.
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

impl Console {
    /// The process's own streams. Colours are for terminals, unless the user wants none (`NO_COLOR`).
    pub fn standard() -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let terminal = io::stderr().is_terminal() && !dumb;
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let input: Input = if io::stdin().is_terminal() { None } else { Some(Box::new(io::stdin())) };
        Self(Arc::new(Streams {
            input: Mutex::new(input),
            output: Mutex::new(Box::new(io::stdout())),
            messages: Messages::to(io::stderr()),
            terminal,
            colour,
            is_read: io::stdout().is_terminal() && !dumb,
        }))
    }

    /// Other streams, none of them a terminal: for tests, and programs within programs.
    pub fn new(
        input: Option<Box<dyn Read + Send>>,
        output: impl Write + Send + 'static,
        messages: impl Write + Send + 'static,
    ) -> Self {
        Self(Arc::new(Streams {
            input: Mutex::new(input),
            output: Mutex::new(Box::new(output)),
            messages: Messages::to(messages),
            terminal: false,
            colour: false,
            is_read: false,
        }))
    }

    /// Whether messages go to a terminal.
    pub fn is_terminal(&self) -> bool {
        self.0.terminal
    }

    /// Prints a part of the result. Characters that would steer a terminal are written out, as in everything that is printed here:
    /// agents and tools wrote much of it.
    ///
    /// # Errors
    ///
    /// [`CommandError`] where it cannot be written.
    pub fn print(&self, text: &str) -> Result<(), CommandError> {
        lock(&self.0.messages).clear();
        let mut output = lock(&self.0.output);
        let written = output.write_all(written_out(text).as_bytes()).and_then(|()| output.flush());
        written.map_err(|error| {
            CommandError::new(format!("the result could not be written to standard output: {error}"))
                .with_exit(crate::exit::Exit::Output)
        })
    }

    /// Prints a result that is JSON: on a terminal as lines for people, and elsewhere as it is.
    ///
    /// # Errors
    ///
    /// [`CommandError`] where it cannot be written.
    pub(crate) fn result(&self, json: &str) -> Result<(), CommandError> {
        let text = if self.0.is_read { readable(json) } else { json.to_owned() };
        self.print(&format!("{text}\n"))
    }

    /// Prints a message, a line for good.
    pub fn line(&self, style: Style, text: &str) {
        let mut messages = lock(&self.0.messages);
        messages.clear();
        // Nobody to read it is no reason to stop.
        let _ = writeln!(messages.to, "{}", self.styled(style, &written_out(text)));
    }

    /// One more live line, below the others: since when, and what its message says, until it is dropped; nothing where
    /// there is no terminal.
    pub(crate) fn live_line(&self, message: &str) -> LiveLine {
        let line = Arc::new(Line::begin(message));
        if self.0.terminal {
            lock(&self.0.messages).live.add(line.clone());
        }
        LiveLine { line, console: self.clone() }
    }

    /// Draws live lines again.
    pub(crate) fn draw(&self) {
        let Messages { to, live } = &mut *lock(&self.0.messages);
        live.draw(to, |time| self.styled(Style::Dim, time));
    }

    /// Takes live lines away, unless somebody else writes: for the end of the process, which waits for nobody.
    pub(crate) fn give_up(&self) {
        if let Ok(mut messages) = self.0.messages.try_lock() {
            messages.clear();
        }
    }

    /// Does something that takes its time and reports nothing itself: how long, and what, is on a live line.
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

    /// The text in its style.
    fn styled(&self, style: Style, text: &str) -> String {
        let code = match style {
            _ if !self.0.colour => None,
            Style::Plain => None,
            Style::Dim => Some(2),
            Style::Bold => Some(1),
            Style::Good => Some(32),
            Style::Bad => Some(31),
        };
        code.map_or_else(|| text.to_owned(), |code| format!("\x1b[{code}m{text}\x1b[0m"))
    }

    /// Whether there is a standard input that was not read.
    pub(crate) fn has_input(&self) -> bool {
        lock(&self.0.input).is_some()
    }

    /// All of standard input; `None` where it is a terminal, or was read before.
    ///
    /// # Errors
    ///
    /// [`CommandError`] where it cannot be read as text.
    pub fn input(&self) -> Result<Option<String>, CommandError> {
        let Some(mut input) = lock(&self.0.input).take() else { return Ok(None) };
        let mut text = String::new();
        match input.read_to_string(&mut text) {
            Ok(_) => Ok(Some(text)),
            Err(error) => Err(CommandError::from(error).at("standard input")),
        }
    }
}

/// How often live lines are drawn.
pub(crate) const REDRAW: Duration = Duration::from_millis(200);

/// A line of a terminal that is drawn again and again until this is dropped.
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
        if lock(&self.console.0.messages).live.remove(&self.line) {
            self.console.draw();
        }
    }
}

impl Messages {
    fn to(to: impl Write + Send + 'static) -> Mutex<Self> {
        Mutex::new(Self { to: Box::new(to), live: LiveLines::default() })
    }

    /// Takes the live lines away until they are drawn again.
    fn clear(&mut self) {
        self.live.clear(&mut self.to);
    }
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Console").field("terminal", &self.0.terminal).finish_non_exhaustive()
    }
}

/// A writer is whole between two calls, whoever panics.
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
        let messages = Messages::to(io::sink());
        let console = Console(Arc::new(Streams { input, output, messages, terminal: false, colour: false, is_read }));
        console.result(r#"{"text":"\u001b[2J"}"#).unwrap();
        assert_eq!(String::from_utf8(lock(&kept.0).clone()).unwrap(), expected);
    }
}
