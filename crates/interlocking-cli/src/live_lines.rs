//! Live lines of a terminal: what runs, and for how long, redrawn below all messages.
//!
//! **Invariant:** one thread writes to the terminal, and between two draws the cursor is at the beginning of the first
//! live line. When a terminal's width changes, it breaks, joins or cuts off lines, and no program can know which; but the
//! cursor stays on the character where it was. So a draw erases everything from the cursor to the end of the screen, and
//! nothing above.

use crate::console::{REDRAW, lock};
use crate::text::seconds;
use console::{Term, truncate_str};
use interlocking_document::written_out;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The live lines of one terminal, from top to bottom.
#[derive(Default)]
pub(crate) struct LiveLines {
    lines: Vec<Arc<Line>>,
    are_drawn: bool,
}

/// A live line.
pub(crate) struct Line {
    begun: Instant,
    shown: Mutex<Shown>,
}

struct Shown {
    message: String,
    /// The number of items that are done, and the number of all items.
    count: Option<(u32, u32)>,
}

impl LiveLines {
    pub(crate) fn add(&mut self, line: Arc<Line>) {
        self.lines.push(line);
    }

    /// Removes the line; whether it was there.
    pub(crate) fn remove(&mut self, line: &Arc<Line>) -> bool {
        let before = self.lines.len();
        self.lines.retain(|other| !Arc::ptr_eq(other, line));
        self.lines.len() < before
    }

    /// The text that erases the lines until the next draw.
    pub(crate) fn clear(&mut self) -> &'static str {
        if std::mem::take(&mut self.are_drawn) { CLEAR } else { "" }
    }

    /// The text that draws the lines that fit on the terminal, each cut off to one row. `time` applies a style to the elapsed
    /// time.
    pub(crate) fn draw(&mut self, time: impl Fn(&str) -> String) -> String {
        let (rows, columns) = Term::stderr().size();
        let lines = self.lines.iter().take(rows.into());
        let lines: Vec<_> =
            lines.map(|line| truncate_str(&line.text(&time), columns.into(), "").into_owned()).collect();
        let clear = self.clear();
        let Some(below) = lines.len().checked_sub(1) else { return clear.to_owned() };
        let up = if below > 0 { format!("\x1b[{below}A") } else { String::new() };
        self.are_drawn = true;
        format!("{clear}{}\r{up}", lines.join("\r\n"))
    }
}

/// Erases this row and all rows below.
const CLEAR: &str = "\r\x1b[J";

impl Line {
    pub(crate) fn begin(message: &str) -> Self {
        let line = Self { begun: Instant::now(), shown: Mutex::new(Shown { message: String::new(), count: None }) };
        line.set_message(message);
        line
    }

    /// Sets the message beside the time.
    pub(crate) fn set_message(&self, message: &str) {
        // Keeps the message in one line.
        lock(&self.shown).message = written_out(message).replace('\n', " ");
    }

    /// Sets the progress: shows that `done` of `all` items are done.
    pub(crate) fn set_progress(&self, done: u32, all: u32) {
        lock(&self.shown).count = Some((done, all));
    }

    /// Counts one more item as done.
    pub(crate) fn count_done(&self) {
        if let Some((done, _)) = &mut lock(&self.shown).count {
            *done += 1;
        }
    }

    /// Adds items to do.
    pub(crate) fn add_items(&self, items: u32) {
        if let Some((_, all)) = &mut lock(&self.shown).count {
            *all += items;
        }
    }

    /// The message and the progress, without the time.
    #[cfg(test)]
    pub(crate) fn shown(&self) -> String {
        let Shown { message, count } = &*lock(&self.shown);
        format!("{message}{}", count.map_or_else(String::new, |(done, all)| format!(" {done}/{all}")))
    }

    fn text(&self, time: impl Fn(&str) -> String) -> String {
        const MOVES: [char; 8] = ['⠁', '⠂', '⠄', '⡀', '⢀', '⠠', '⠐', '⠈'];
        let took = self.begun.elapsed();
        let moves = MOVES[(took.as_millis() / REDRAW.as_millis()) as usize % MOVES.len()];
        let Shown { message, count } = &*lock(&self.shown);
        let count = count.map_or_else(String::new, |(done, all)| {
            let tenths = (u64::from(done) * 10).checked_div(all.into()).unwrap_or(10).min(10) as usize;
            format!("{}{} {done} of {all}  ", "█".repeat(tenths), "░".repeat(10 - tenths))
        });
        format!("{moves}{}  {count}{message}", time(&format!("{:>7}", seconds(took))))
    }
}
