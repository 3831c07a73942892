//! What a run is doing, on standard error: a line for each step, and on a terminal a last line that is alive.

use interlocking::agents::{AgentEvent, Cost};
use interlocking::runtime::event::{Events, NodeRef, Onward};
use interlocking::runtime::{Cancel, Event, EventKind};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Standard error.
#[derive(Debug)]
pub(crate) struct Screen {
    terminal: bool,
    colour: bool,
}

/// How a text looks where there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Dim,
    Bold,
    Good,
    Bad,
}

/// What runs, and what it has cost so far.
#[derive(Debug, Default)]
struct Progress {
    running: Vec<(NodeRef, Duration)>,
    /// Per visit: all attempts together.
    costs: HashMap<(&'static str, u32), Cost>,
    total: Cost,
}

/// One line to show.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    style: Style,
    /// Says only what the living line shows, too.
    covered: bool,
    text: String,
}

/// How often the living line is drawn.
const REDRAW: Duration = Duration::from_millis(200);

/// How much of a text that is not ours fits in one line of progress.
const LONGEST_QUOTE: usize = 120;

impl Screen {
    /// Finds out what standard error is, and whether the user wants colours (`NO_COLOR`).
    pub(crate) fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let terminal = io::stderr().is_terminal() && !dumb;
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { terminal, colour }
    }

    /// A line for good.
    pub(crate) fn line(&self, style: Style, text: &str) {
        let start = if self.terminal { "\r\x1b[2K" } else { "" };
        // Nobody to read it is no reason to stop.
        let _ = writeln!(io::stderr().lock(), "{start}{}", self.styled(style, text));
    }

    /// The living line, drawn over until the next line for good; nothing where there is no terminal.
    pub(crate) fn status(&self, text: &str) {
        if self.terminal {
            let text = shortened(text, self.width());
            let mut stderr = io::stderr().lock();
            let _ = write!(stderr, "\r\x1b[2K{}", self.styled(Style::Dim, &text));
            let _ = stderr.flush();
        }
    }

    /// The text in its style.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        let code = match style {
            _ if !self.colour => None,
            Style::Plain => None,
            Style::Dim => Some(2),
            Style::Bold => Some(1),
            Style::Good => Some(32),
            Style::Bad => Some(31),
        };
        code.map_or_else(|| text.to_owned(), |code| format!("\x1b[{code}m{text}\x1b[0m"))
    }

    /// Columns; a line as wide as the terminal would wrap on some.
    fn width(&self) -> usize {
        let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
        // Some terminals do not know.
        if columns == 0 { 79 } else { columns - 1 }
    }
}

/// Shows the time that something takes that reports nothing itself.
pub(crate) async fn while_waiting<T>(screen: &Screen, what: &str, work: impl Future<Output = T>) -> T {
    let started = Instant::now();
    let mut ticks = tokio::time::interval(REDRAW);
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => {
                screen.status("");
                return done;
            }
            _ = ticks.tick() => screen.status(&format!("{} {what}", seconds(started.elapsed()))),
        }
    }
}

/// Shows the events of a run until there are no more, and writes them to `record`.
///
/// # Errors
///
/// The first failure to write to `record`; the events are shown all the same.
pub(crate) async fn watch(
    screen: &Screen,
    mut events: Events,
    mut record: Option<File>,
    cancel: Cancel,
) -> io::Result<()> {
    let mut progress = Progress::default();
    let mut recorded = Ok(());
    let mut stopping = false;
    let started = Instant::now();
    let mut ticks = tokio::time::interval(REDRAW);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            biased;
            event = events.next() => {
                let Some(event) = event else { break };
                if let Some(file) = &mut record {
                    recorded = append(file, &event);
                    if recorded.is_err() {
                        record = None;
                    }
                }
                if let Some(line) = progress.see(&event)
                    && !(screen.terminal && line.covered)
                {
                    screen.line(line.style, &line.text);
                }
            }
            () = cancel.requested(), if !stopping => {
                stopping = true;
                screen.line(Style::Bold, "stopping; worktrees are removed (interrupt again to stop at once)");
            }
            _ = ticks.tick() => screen.status(&progress.status(started.elapsed())),
        }
    }
    screen.status("");
    recorded
}

fn append(file: &mut File, event: &Event) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    file.write_all(&line)
}

impl Progress {
    /// Takes in an event and says what to show.
    fn see(&mut self, event: &Event) -> Option<Line> {
        let node = event.kind.node()?;
        let at = event.at.as_duration();
        let line = |style, text: String| {
            let text = format!("{}  {:<15} {}", seconds(at), named(node), text);
            Some(Line { style, covered: false, text: text.trim_end().to_owned() })
        };
        match &event.kind {
            EventKind::NodeStarted(_) => {
                self.running.push((node, at));
                line(Style::Plain, "started".to_owned()).map(|line| Line { covered: true, ..line })
            }
            EventKind::NodeFinished { to, took, .. } => {
                self.running.retain(|(running, _)| *running != node);
                let to = match to {
                    Onward::One(place) => (*place).to_owned(),
                    Onward::All(places) => places.join(" + "),
                };
                let cost = self.costs.get(&(node.node, node.visit)).map_or_else(String::new, Cost::to_string);
                line(Style::Plain, format!("→ {to:<24} {}  {cost}", seconds(took.as_duration())))
            }
            EventKind::NodeFailed { message, .. } => {
                self.running.retain(|(running, _)| *running != node);
                line(Style::Bad, format!("failed: {}", quoted(message)))
            }
            EventKind::NodeCancelled(_) => {
                self.running.retain(|(running, _)| *running != node);
                line(Style::Plain, "stopped".to_owned())
            }
            EventKind::NodeExhausted(_) => line(Style::Plain, "has used up its visits".to_owned()),
            EventKind::Note { text, .. } => line(Style::Dim, quoted(text)),
            EventKind::Agent { agent, .. } => {
                if let AgentEvent::Finished { usage, .. } = &**agent {
                    *self.costs.entry((node.node, node.visit)).or_default() += usage.cost;
                    self.total += usage.cost;
                }
                line(Style::Dim, deed(agent)?)
            }
            _ => None,
        }
    }

    /// What runs now, after so long.
    fn status(&self, now: Duration) -> String {
        let running = self.running.iter();
        let running =
            running.map(|(node, since)| format!("{} {:.0} s", named(*node), now.saturating_sub(*since).as_secs_f64()));
        let running: Vec<String> = running.collect();
        format!("{}  {}   {} so far", seconds(now), running.join(", "), self.total)
    }
}

/// What an agent did, if it is worth a line.
fn deed(event: &AgentEvent) -> Option<String> {
    let text = match event {
        AgentEvent::FileWritten { path } => format!("wrote {}", path.display()),
        AgentEvent::FileRemoved { path } => format!("removed {}", path.display()),
        AgentEvent::CommandRun { command, exit } => {
            let ending = exit.map_or_else(|| "killed".to_owned(), |exit| format!("exit {exit}"));
            format!("ran {} ({ending})", command.join(" "))
        }
        AgentEvent::ProviderRetry { attempt, reason } => format!("asks its provider again ({attempt}): {reason}"),
        AgentEvent::Correction { round, violations } => {
            let first = violations.first().map_or_else(String::new, ToString::to_string);
            format!("is asked to correct its output ({round}): {first}")
        }
        _ => return None,
    };
    Some(quoted(&text))
}

fn named(node: NodeRef) -> String {
    let visit = if node.visit > 1 { format!(" #{}", node.visit) } else { String::new() };
    let attempt = if node.attempt > 1 { format!(" retry {}", node.attempt - 1) } else { String::new() };
    format!("{}{visit}{attempt}", node.node)
}

fn seconds(duration: Duration) -> String {
    format!("{:>6.1} s", duration.as_secs_f64())
}

/// The first line of a text that agents or tools wrote, harmless on a terminal.
pub(crate) fn quoted(text: &str) -> String {
    let first = text.trim().lines().next().unwrap_or_default();
    shortened(&harmless(first), LONGEST_QUOTE)
}

/// Without characters that would move a terminal's cursor, or do worse.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let kept: String = text.chars().take(longest.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use interlocking::agents::Usage;
    use interlocking::runtime::Elapsed;

    const TYPES: NodeRef = NodeRef { node: "types", visit: 1, attempt: 1 };
    const TESTS: NodeRef = NodeRef { node: "tests", visit: 2, attempt: 1 };

    fn event(milliseconds: u64, kind: EventKind) -> Event {
        Event { at: Elapsed::from_nanos(milliseconds * 1_000_000), kind }
    }

    fn agent(node: NodeRef, agent: AgentEvent) -> EventKind {
        EventKind::Agent { node, agent: Box::new(agent) }
    }

    #[test]
    fn each_step_is_a_line_with_time_and_cost() {
        let usage = Usage { calls: 1, cost: Cost::from_micro_dollars(31_000), ..Usage::default() };
        let wrote = AgentEvent::FileWritten { path: "src/li\u{1b}[2Jb.rs".into() };
        let ran = AgentEvent::CommandRun { command: vec!["cargo".into(), "test".into()], exit: Some(101) };
        let to = Onward::All(["skeleton", "adversary"].into());
        let events = [
            event(1200, EventKind::NodeStarted(TYPES)),
            event(1300, agent(TYPES, wrote)),
            event(1300, agent(TYPES, ran)),
            event(1400, agent(TYPES, AgentEvent::Text { text: "Done.".into() })),
            event(1400, agent(TYPES, AgentEvent::Finished { session: None, usage })),
            event(3400, EventKind::NodeFinished { node: TYPES, to, took: Elapsed::from_nanos(2_200_000_000) }),
            event(3500, EventKind::NodeStarted(TESTS)),
            event(9900, EventKind::NodeCancelled(TESTS)),
        ];
        let mut progress = Progress::default();
        let shown: Vec<String> =
            events.iter().filter_map(|event| progress.see(event)).map(|line| format!("|{}", line.text)).collect();
        expect_test::expect![[r#"
            |   1.2 s  types           started
            |   1.3 s  types           wrote src/li�[2Jb.rs
            |   1.3 s  types           ran cargo test (exit 101)
            |   3.4 s  types           → skeleton + adversary        2.2 s  $0.031
            |   3.5 s  tests #2        started
            |   9.9 s  tests #2        stopped"#]]
        .assert_eq(&shown.join("\n"));
    }

    #[test]
    fn the_living_line_says_what_runs() {
        let mut progress = Progress::default();
        progress.see(&event(1000, EventKind::NodeStarted(TYPES)));
        progress.see(&event(4000, EventKind::NodeStarted(TESTS)));
        assert_eq!(progress.status(Duration::from_secs(9)), "   9.0 s  types 8 s, tests #2 5 s   $0.00 so far");
        progress.see(&event(9000, EventKind::NodeCancelled(TYPES)));
        assert_eq!(progress.status(Duration::from_secs(10)), "  10.0 s  tests #2 6 s   $0.00 so far");
    }

    #[test]
    fn what_others_wrote_stays_within_its_line() {
        assert_eq!(quoted("error: no\nsecond line"), "error: no");
        assert_eq!(quoted("a\rb\u{7}"), "a\u{fffd}b\u{fffd}");
        assert_eq!(quoted(&"ä".repeat(200)).chars().count(), LONGEST_QUOTE);
    }
}
