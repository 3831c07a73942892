//! What a person at a terminal sees, and what a pipe is given: the program in a pseudo-terminal.

use crate::processes::example;
use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::num::NonZero;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const ROWS: u16 = 24;

/// The content of the terminal before the program starts.
const BEFORE: &str = "$ review run tides\r\n";

fn size(cells: u16) -> NonZero<u16> {
    NonZero::new(cells).unwrap()
}

fn set_width(terminal: &File, columns: u16) {
    tcsetwinsize(terminal, Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}

/// What a terminal does with its rows when its width changes.
#[derive(Clone, Copy, Debug)]
enum Resizing {
    /// It wraps rows that no longer fit, and joins them again later: VTE, kitty, tmux and most others.
    Reflows,
    /// It cuts off what no longer fits: xterm.
    Crops,
}

/// A program's terminal: its content after each piece of output.
struct Screens {
    seen: Vec<Vec<String>>,
    columns: u16,
    last: vt100::Parser,
}

impl Screens {
    /// Runs the program until it ends, in a terminal with so many columns.
    fn of(columns: u16, words: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::looked_at(columns, words, environment, |_, _, _| {})
    }

    /// The same; `look` is called after each piece.
    fn looked_at(
        columns: u16,
        words: &[&str],
        environment: &[(&str, &str)],
        mut look: impl FnMut(&mut Self, &mut File, &Child),
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let open = || OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let mut terminal = File::from(terminal);
        set_width(&terminal, columns);
        let mut command = example("review", directory.path(), words);
        command.stdin(open()).stdout(open()).stderr(open()).env("TERM", "xterm-256color").env_remove("NO_COLOR");
        command.envs(environment.iter().copied());
        let mut screens = Self { seen: Vec::new(), columns, last: vt100::Parser::new(size(ROWS), size(columns), 0) };
        screens.last.process(BEFORE.as_bytes());
        let mut program = command.spawn().unwrap();
        // Only the program has its end of the terminal open from here on: reading fails once the program has ended.
        drop(command);
        while screens.read(&mut terminal) {
            look(&mut screens, &mut terminal, &program);
        }
        assert_eq!(program.wait().unwrap().code(), Some(3), "{}", screens.text());
        screens
    }

    /// Reads a piece of output; false at the end.
    fn read(&mut self, terminal: &mut File) -> bool {
        let mut piece = [0; 4096];
        let read = terminal.read(&mut piece).unwrap_or_default();
        self.last.process(&piece[..read]);
        self.seen.push(self.rows());
        read > 0
    }

    /// Resizes the terminal between two pieces, as a person does: the program is stopped meanwhile, and everything that it has
    /// written has been read.
    fn resize_between(&mut self, columns: u16, resizing: Resizing, terminal: &mut File, program: &Child) {
        let program = Pid::from_child(program);
        kill_process(program, Signal::STOP).unwrap();
        waitpid(Some(program), WaitOptions::UNTRACED).unwrap().unwrap();
        std::thread::sleep(Duration::from_millis(20));
        while ioctl_fionread(&terminal).unwrap() > 0 {
            self.read(terminal);
        }
        set_width(terminal, columns);
        self.resize(columns, resizing);
        kill_process(program, Signal::CONT).unwrap();
    }

    fn resize(&mut self, columns: u16, resizing: Resizing) {
        match resizing {
            Resizing::Crops => self.last.screen_mut().set_size(size(ROWS), size(columns)),
            Resizing::Reflows => {
                let screen = self.last.screen();
                let (row, column) = screen.cursor_position();
                // The text before the cursor, and the whole text: wrapped rows are joined.
                let (mut before, mut all) = (String::new(), String::new());
                for (number, text) in (0..).zip(screen.rows(0, self.columns)) {
                    if number == row {
                        before = all.clone() + &text.chars().take(column.into()).collect::<String>();
                    }
                    all += &text;
                    all += if screen.row_wrapped(number) { "" } else { "\r\n" };
                }
                let mut resized = vt100::Parser::new(size(ROWS), size(columns), 0);
                resized.process(before.as_bytes());
                let (row, column) = resized.screen().cursor_position();
                resized.process(all[before.len()..].trim_end().as_bytes());
                resized.process(format!("\x1b[{};{}H", row + 1, column + 1).as_bytes());
                self.last = resized;
            }
        }
        self.columns = columns;
    }

    /// The content row by row, without trailing spaces.
    fn rows(&self) -> Vec<String> {
        self.last.screen().rows(0, self.columns).map(|row| row.trim_end().to_owned()).collect()
    }

    fn text(&self) -> String {
        self.rows().join("\n")
    }

    /// The rows that were ever shown and are redrawn.
    fn live_lines(&self) -> Vec<&str> {
        self.seen.iter().flatten().map(String::as_str).filter(|row| is_live(row)).collect()
    }
}

/// Whether a line begins with the spinner.
fn is_live(line: &str) -> bool {
    line.starts_with(|first| ('\u{2800}'..='\u{28ff}').contains(&first))
}

const RUN: [&str; 6] = ["run", "tides", "--run-id", "r1", "--delay", "1500ms"];

/// Long enough to be drawn.
const SHORT_RUN: [&str; 6] = ["run", "tides", "--run-id", "r1", "--delay", "600ms"];

/// Judges both cases concurrently: a program at a terminal waits most of its time.
fn each<T: Send>(cases: [T; 2], judge: impl Fn(T) + Copy + Send) {
    std::thread::scope(|scope| cases.into_iter().for_each(|case| drop(scope.spawn(move || judge(case)))));
}

#[test]
fn a_terminal_shows_what_runs_and_keeps_what_was_done() {
    let screens = Screens::of(100, &RUN, &[]);
    let live = screens.live_lines();
    let of_node: Vec<_> = live.iter().filter(|line| line.ends_with(" s  draft")).collect();
    let time = |line: &str| line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap();
    let times: Vec<_> = of_node.iter().map(|line| time(line)).collect();
    assert!(times.is_sorted() && times.last().is_some_and(|last| *last >= 0.8), "time goes on: {live:?}");
    let moves = |line: &&&str| line.chars().next();
    assert!(of_node.iter().filter_map(moves).any(|first| Some(first) != moves(&of_node[0])), "it moves: {live:?}");
    assert!(live.iter().any(|line| line.ends_with(" s  $0.00 so far")), "{live:?}");
    // After the end there are permanent lines only.
    let text = screens.text();
    assert!(!text.lines().any(is_live), "{text}");
    assert_eq!(text.matches(" s  draft ").count(), 1, "{text}");
    assert!(!text.contains("started") && text.contains("→ read"), "{text}");
    assert!(text.contains("r1 waits for an answer to 1 question:\n  read.1.1 of r1:"), "{text}");
}

/// A line that is too long would take two rows, and leave one of them behind.
#[test]
fn live_lines_fit_into_a_narrow_terminal() {
    let screens = Screens::of(20, &SHORT_RUN, &[]);
    assert!(screens.live_lines().contains(&"⠁  0.0 s  $0.00 so f"), "{:?}", screens.live_lines());
    for screen in &screens.seen {
        assert!(screen.iter().filter(|row| is_live(row)).count() <= 2, "{screen:?}");
        assert!(!screen.iter().any(|row| row.starts_with("ar")), "{screen:?}");
    }
    assert!(!screens.text().lines().any(is_live), "{}", screens.text());
}

#[test]
fn a_resized_terminal_that_reflows_has_no_line_broken_or_lost() {
    each([true, false], |is_wide_soon| resized(Resizing::Reflows, is_wide_soon));
}

#[test]
fn a_resized_terminal_that_crops_has_no_line_broken_or_lost() {
    each([true, false], |is_wide_soon| resized(Resizing::Crops, is_wide_soon));
}

/// The terminal becomes narrow while a node works; it becomes wide again either soon, or after the end, so that permanent lines
/// are written while it is narrow.
fn resized(resizing: Resizing, is_wide_soon: bool) {
    let mut narrow_since = None;
    let mut screens = Screens::looked_at(100, &RUN, &[], |screens, terminal, program| {
        let seen = screens.seen.len();
        match narrow_since {
            None if screens.rows().iter().any(|row| row.ends_with(" s  draft")) => {
                screens.resize_between(20, resizing, terminal, program);
                narrow_since = Some(seen);
            }
            Some(since) if is_wide_soon && seen == since + 2 => {
                screens.resize_between(100, resizing, terminal, program);
            }
            _ => {}
        }
    });
    let told = || format!("{resizing:?}, {is_wide_soon}: {:#?}", screens.seen);
    for screen in &screens.seen {
        assert_eq!(screen[0], BEFORE.trim_end(), "{}", told());
        assert!(screen.iter().filter(|row| is_live(row)).count() <= 2, "{}", told());
        assert!(!screen.iter().any(|row| row.starts_with("ar")), "{}", told());
    }
    let cut = "$0.00 so f";
    assert!(screens.live_lines().iter().any(|row| row.ends_with(cut)), "{}", told());
    if matches!(resizing, Resizing::Reflows) || is_wide_soon {
        screens.resize(100, resizing);
        let text = screens.text();
        assert!(!text.lines().any(is_live), "{text}");
        assert_eq!(text.matches(" s  draft           → read ").count(), 1, "{text}");
        assert!(text.contains("r1 waits for an answer to 1 question:\n  read.1.1 of r1:"), "{text}");
    }
}

#[test]
fn a_terminal_without_colours_has_none() {
    each([(("NO_COLOR", "1"), true), (("TERM", "dumb"), false)], |(environment, moves)| {
        let screens = Screens::of(100, &SHORT_RUN, &[environment]);
        let screen = screens.last.screen();
        let cells = (0..ROWS).flat_map(|row| (0..100).map(move |column| (row, column)));
        let styled = cells.filter_map(|(row, column)| screen.cell(row, column));
        assert!(styled.into_iter().all(|cell| !cell.bold() && cell.fgcolor() == vt100::Color::Default));
        assert_eq!(screens.live_lines().is_empty(), !moves, "{environment:?}");
    });
}

#[test]
fn a_pipe_is_given_a_line_a_step_and_no_control_character() {
    let directory = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let ran = example("review", directory.path(), &SHORT_RUN).stdin(Stdio::null()).output().unwrap();
    assert!(started.elapsed() >= Duration::from_millis(600), "long enough to be drawn");
    let text = String::from_utf8(ran.stderr).unwrap();
    assert!(text.chars().all(|character| character == '\n' || !character.is_control()), "{text:?}");
    assert!(text.contains("draft           started\n") && text.contains("draft           → read"), "{text}");
    assert!(!text.lines().any(is_live), "{text}");
}
