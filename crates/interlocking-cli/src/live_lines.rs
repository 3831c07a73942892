//! Live lines of a terminal: what runs, and for how long, drawn again and again below all messages.
//!
//! **Invariant:** between two draws the cursor is at the beginning of the first of them. A terminal whose width changes breaks and joins
//! lines, or cuts them off, and no program can know which; but the cursor stays at what it stood on. So whoever draws takes away what is
//! there from the cursor on, and nothing above.

use crate::console::{REDRAW, lock};
use crate::text::{seconds, written_out};
use console::{Term, truncate_str};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Those of one terminal, from the top.
#[derive(Default)]
pub(crate) struct LiveLines {
    lines: Vec<Arc<Line>>,
    are_drawn: bool,
}

/// One of them.
pub(crate) struct Line {
    begun: Instant,
    shown: Mutex<Shown>,
}

struct Shown {
    message: String,
    /// How many of how many are done.
    count: Option<(u32, u32)>,
}

impl LiveLines {
    pub(crate) fn add(&mut self, line: Arc<Line>) {
        self.lines.push(line);
    }

    /// Whether it was among them.
    pub(crate) fn remove(&mut self, line: &Arc<Line>) -> bool {
        let before = self.lines.len();
        self.lines.retain(|other| !Arc::ptr_eq(other, line));
        self.lines.len() < before
    }

    pub(crate) fn clear(&mut self, terminal: &mut impl Write) {
        if std::mem::take(&mut self.are_drawn) {
            put(terminal, CLEAR);
        }
    }

    /// Draws them as they are now, as far as there is room, each in one row; `time` in the style that it is given.
    pub(crate) fn draw(&mut self, terminal: &mut impl Write, time: impl Fn(&str) -> String) {
        let (rows, columns) = Term::stderr().size();
        let lines = self.lines.iter().take(rows.into());
        let lines: Vec<_> =
            lines.map(|line| truncate_str(&line.text(&time), columns.into(), "").into_owned()).collect();
        let Some(below) = lines.len().checked_sub(1) else { return self.clear(terminal) };
        let clear = if self.are_drawn { CLEAR } else { "" };
        let up = if below > 0 { format!("\x1b[{below}A") } else { String::new() };
        put(terminal, &format!("{clear}{}\r{up}", lines.join("\r\n")));
        self.are_drawn = true;
    }
}

/// Takes away what is in this row and below.
const CLEAR: &str = "\r\x1b[J";

/// All at once, so that nobody sees a part of it.
fn put(terminal: &mut impl Write, text: &str) {
    // Nobody to read it is no reason to stop.
    let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
}

impl Line {
    pub(crate) fn begin(message: &str) -> Self {
        let line = Self { begun: Instant::now(), shown: Mutex::new(Shown { message: String::new(), count: None }) };
        line.say(message);
        line
    }

    /// What it says beside the time.
    pub(crate) fn say(&self, message: &str) {
        // One line, whatever it says.
        lock(&self.shown).message = written_out(message).replace('\n', " ");
    }

    /// From now on it shows, too, how many of so many are done.
    pub(crate) fn count(&self, done: u32, all: u32) {
        lock(&self.shown).count = Some((done, all));
    }

    /// One more is done.
    pub(crate) fn done(&self) {
        if let Some((done, _)) = &mut lock(&self.shown).count {
            *done += 1;
        }
    }

    /// There are so many more to do.
    pub(crate) fn more(&self, items: u32) {
        if let Some((_, all)) = &mut lock(&self.shown).count {
            *all += items;
        }
    }

    /// What it says, but for the time.
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
