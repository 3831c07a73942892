//! Messages to the user. A thread writes them, so that nothing else waits for a reader that is slow or stalls.

use crate::console::{Style, lock};
use crate::live_lines::{Line, LiveLines};
use crate::text::count;
use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The messages that wait to be written, and the live lines below them.
pub(crate) struct Messages(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    colour: bool,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Message>,
    /// The size of the waiting lines.
    bytes: usize,
    live: LiveLines,
    /// What to do with the live lines once no message waits.
    next_drawing: Option<Drawing>,
    is_writing: bool,
    /// The number of texts that were written.
    written: u64,
    /// Whether the last wait for the reader was given up, and nothing was written since.
    has_stalled: bool,
    is_over: bool,
}

enum Message {
    Line(String),
    /// So many lines were left out here.
    LeftOut(u64),
}

enum Drawing {
    Draw,
    Clear,
}

/// Which part of the room a line may take up.
#[derive(Clone, Copy)]
pub(crate) enum Share {
    All = 1,
    /// For lines that come by themselves, so that there is room for the others.
    Half = 2,
}

/// The maximum size of the waiting lines, without the last of them: 1 MiB.
const ROOM: usize = 1 << 20;

impl Messages {
    /// Starts the thread.
    pub(crate) fn to(mut to: impl Write + Send + 'static, colour: bool) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), colour });
        let writer = shared.clone();
        std::thread::spawn(move || writer.write(&mut to));
        Self(shared)
    }

    /// Adds a line, or leaves it out where too much waits.
    pub(crate) fn line(&self, line: String, share: Share) {
        self.change(|state| match state.waiting.back_mut() {
            _ if state.bytes < ROOM / share as usize => {
                state.bytes += line.len();
                state.waiting.push_back(Message::Line(line));
            }
            Some(Message::LeftOut(lines)) => *lines += 1,
            _ => state.waiting.push_back(Message::LeftOut(1)),
        });
    }

    pub(crate) fn add(&self, line: Arc<Line>) {
        lock(&self.0.state).live.add(line);
    }

    /// Removes a live line, if it is there.
    pub(crate) fn remove(&self, line: &Arc<Line>) {
        if lock(&self.0.state).live.remove(line) {
            self.draw();
        }
    }

    /// Redraws the live lines, once no message waits.
    pub(crate) fn draw(&self) {
        self.change(|state| state.next_drawing = Some(Drawing::Draw));
    }

    /// Removes the live lines until the next redraw, and waits for the reader. Gives up if it reads nothing for so long.
    pub(crate) fn finish(&self, patience: Duration) {
        self.change(|state| state.next_drawing = Some(Drawing::Clear));
        let mut state = lock(&self.0.state);
        while !state.is_idle() && !state.has_stalled {
            let written = state.written;
            let waits = |state: &mut State| state.written == written && !state.is_idle();
            let waited = self.0.changed.wait_timeout_while(state, patience, waits);
            let timeout;
            (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state.has_stalled = timeout.timed_out();
        }
    }

    /// The same at once: leaves out the messages that wait.
    pub(crate) fn abandon(&self, patience: Duration) {
        self.change(|state| {
            state.waiting.clear();
            state.bytes = 0;
        });
        self.finish(patience);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.0.state));
        self.0.changed.notify_all();
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        self.change(|state| state.is_over = true);
    }
}

impl Shared {
    /// Writes what waits, until there will be no more.
    fn write(&self, to: &mut impl Write) {
        let mut state = lock(&self.state);
        loop {
            let Some(text) = state.next(self.colour) else {
                if state.is_over {
                    return;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.is_writing = true;
            drop(state);
            // In one call, so that no partial drawing is visible. The program goes on if standard error is closed.
            let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
            state = lock(&self.state);
            state.is_writing = false;
            state.written += 1;
            state.has_stalled = false;
            self.changed.notify_all();
        }
    }
}

impl State {
    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.next_drawing.is_none() && !self.is_writing
    }

    /// The text to write next.
    fn next(&mut self, colour: bool) -> Option<String> {
        let line = match self.waiting.pop_front() {
            Some(Message::Line(line)) => {
                self.bytes -= line.len();
                line
            }
            Some(Message::LeftOut(lines)) => {
                Style::Dim.paint(&format!("{} came faster than they were read", count(lines, "line")), colour)
            }
            None => {
                return self.next_drawing.take().map(|drawing| match drawing {
                    Drawing::Draw => self.live.draw(|time| Style::Dim.paint(time, colour)),
                    Drawing::Clear => self.live.clear().to_owned(),
                });
            }
        };
        Some(format!("{}{line}\n", self.live.clear()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::mpsc::{self, Receiver, SyncSender};

    /// A reader that takes a text when it is asked for one.
    struct Slow(SyncSender<String>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            self.0.send(text).map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn messages() -> (Messages, Receiver<String>) {
        let (sender, reader) = mpsc::sync_channel(0);
        (Messages::to(Slow(sender), false), reader)
    }

    const SOON: Duration = Duration::from_millis(10);
    const LATE: Duration = Duration::from_secs(600);

    #[test]
    fn a_reader_that_stalls_is_given_up_and_one_that_reads_is_not() {
        let (messages, reader) = messages();
        ["a", "b", "c"].into_iter().for_each(|line| messages.line(line.to_owned(), Share::All));
        messages.finish(SOON);
        // Not waited for again before it reads.
        messages.finish(LATE);
        let reading = std::thread::spawn(move || reader.iter().collect::<String>());
        while lock(&messages.0.state).written == 0 {
            std::thread::sleep(SOON);
        }
        messages.finish(LATE);
        drop(messages);
        assert_eq!(reading.join().unwrap(), "a\nb\nc\n");
    }

    #[test]
    fn a_reader_that_is_slow_is_told_how_many_lines_were_left_out() {
        let (messages, reader) = messages();
        messages.line("first".to_owned(), Share::All);
        while !lock(&messages.0.state).is_writing {
            std::thread::sleep(SOON);
        }
        let large = "x".repeat(ROOM / 4);
        (0..5).for_each(|_| messages.line(large.clone(), Share::Half));
        (0..5).for_each(|_| messages.line("y".to_owned(), Share::All));
        messages.line(large.clone(), Share::All);
        messages.line(large.clone(), Share::All);
        (0..2).for_each(|_| messages.line("z".to_owned(), Share::All));
        drop(messages);
        let read: Vec<_> =
            reader.iter().map(|text| if text.len() > 100 { "large\n".to_owned() } else { text }).collect();
        let expected = "first\nlarge\nlarge\n3 lines came faster than they were read\ny\ny\ny\ny\ny\nlarge\nlarge\n\
                        2 lines came faster than they were read\n";
        assert_eq!(read.concat(), expected);
    }

    #[test]
    fn whoever_abandons_what_waits_waits_for_one_text_at_most() {
        let (messages, reader) = messages();
        (0..1000).for_each(|_| messages.line("a".to_owned(), Share::All));
        messages.abandon(SOON);
        drop(messages);
        assert!(reader.iter().count() <= 2, "the text that is being written, and the end of the live lines");
    }
}
