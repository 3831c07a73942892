//! Shows what a run does: a line for each step, and on a terminal a live line for each node that runs.

use crate::console::{Console, LiveLine, REDRAW, Style};
use crate::event_file::EventFile;
use crate::text::{count, quoted, seconds};
use interlocking_agents::{AgentEvent, Cost};
use interlocking_core::context::Severity;
use interlocking_core::run_id::RunId;
use interlocking_runtime::event::{Events, Name, NodeRef, Targets};
use interlocking_runtime::journal::Origin;
use interlocking_runtime::{Event, EventKind};
use std::collections::HashMap;
use std::io;
use std::time::Duration;

/// What runs, and the cost so far.
struct Progress<'a> {
    console: &'a Console,
    /// The run that was started.
    run: RunId,
    /// The live line with the total cost; `None` with `--quiet`.
    total: Option<LiveLine>,
    running: Vec<(Node, LiveLine)>,
    /// The child runs of map nodes that have not ended, with their map nodes.
    children: HashMap<RunId, Node>,
    /// The cost of each visit, over all attempts.
    costs: HashMap<(Option<RunId>, Name, u32), Cost>,
    cost: Cost,
}

/// A node's execution; `child` is its run, if that is a child run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    child: Option<RunId>,
    node: NodeRef,
}

/// A line to print.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    style: Style,
    /// Whether live lines show the same: then the line is not printed on a terminal.
    covered: bool,
    text: String,
}

/// How a run's events are shown.
pub(crate) struct Watch {
    /// The run.
    pub(crate) run: RunId,
    /// Shows only that the run waits for a person.
    pub(crate) quiet: bool,
    /// The message when the run waits in this process for a person.
    pub(crate) waiting: String,
}

/// Shows the events of a run until there are no more, and writes them to a file.
///
/// # Errors
///
/// The first failure to write to the file; the events are shown all the same.
pub(crate) async fn watch(
    console: &Console,
    mut events: Events,
    watch: Watch,
    mut record: Option<&mut EventFile>,
) -> io::Result<()> {
    let Watch { run, quiet, waiting } = watch;
    let mut progress = Progress::of(run, console, quiet);
    let mut recorded = Ok(());
    let mut ticks = tokio::time::interval(REDRAW);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            biased;
            event = events.next() => {
                let Some(event) = event else { break };
                if let Some(file) = &mut record {
                    recorded = file.write(&event);
                    if recorded.is_err() {
                        record = None;
                    }
                }
                if matches!(event.kind, EventKind::Waiting) {
                    console.line(Style::Bold, &waiting);
                }
                if let Some(line) = progress.handle(&event)
                    && !quiet
                    && !(console.is_terminal() && line.covered)
                {
                    console.frequent_line(line.style, &line.text);
                    progress.draw();
                }
            }
            _ = ticks.tick(), if !quiet => progress.draw(),
        }
    }
    recorded
}

impl<'a> Progress<'a> {
    fn of(run: RunId, console: &'a Console, quiet: bool) -> Self {
        let (running, children, costs, cost) = Default::default();
        let total = (!quiet).then(|| console.live_line(""));
        Self { console, run, total, running, children, costs, cost }
    }

    /// The run, if it is a child run; `None` for the run that was started.
    fn child(&self, run: &RunId) -> Option<RunId> {
        (*run != self.run).then(|| run.clone())
    }

    /// Redraws the live lines, with the current cost.
    fn draw(&self) {
        if let Some(total) = &self.total {
            total.set_message(&format!("{} so far", self.cost));
            self.console.draw();
        }
    }

    fn starts(&mut self, node: &Node) {
        if self.total.is_some() {
            self.running.push((node.clone(), self.console.live_line(&named(node))));
        }
    }

    fn ends(&mut self, node: &Node) {
        self.running.retain(|(running, _)| running != node);
    }

    /// The live line of the running node that `is_it` selects.
    fn live_line(&self, is_it: impl Fn(&Node) -> bool) -> Option<&LiveLine> {
        self.running.iter().find_map(|(node, live)| is_it(node).then_some(live))
    }

    /// Updates the progress of map nodes by their child runs.
    fn count_children(&mut self, Event { run, kind, .. }: &Event) {
        let child = self.child(run);
        match kind {
            EventKind::RunStarted { origin: Some(origin), .. } => {
                if let Origin::Child { parent, node, visit, attempt, .. } = &**origin {
                    let node = NodeRef { node: node.clone().into(), visit: *visit, attempt: *attempt };
                    self.children.insert(run.clone(), Node { child: self.child(parent), node });
                }
            }
            EventKind::RunEnded { .. } => {
                if let Some(map) = self.children.remove(run)
                    && let Some(live) = self.live_line(|node| *node == map)
                {
                    live.count_done();
                }
            }
            EventKind::MapStarted { node, items, ended, .. } => {
                if let Some(live) = self.live_line(|running| running.child == child && running.node == *node) {
                    live.set_progress(*ended, *items);
                }
            }
            EventKind::ItemsAdded { map, items, refused: false, .. } => {
                if let Some(live) = self.live_line(|running| running.child == child && running.node.node == *map) {
                    live.add_items(*items);
                }
            }
            _ => {}
        }
    }

    /// Processes an event and returns the line to print, if any.
    fn handle(&mut self, event: &Event) -> Option<Line> {
        let kind = &event.kind;
        self.count_children(event);
        if let EventKind::IsolationUnkept(unkept) = kind {
            return Some(Line { style: Style::Bad, covered: false, text: format!("goes on all the same: {unkept}") });
        }
        if let EventKind::LeftOut { events, .. } = kind {
            let text = format!("{events} events came faster than they could be shown");
            return Some(Line { style: Style::Dim, covered: false, text });
        }
        let node = Node { child: self.child(&event.run), node: kind.node()?.clone() };
        let at = Duration::from_millis(event.at_ms);
        let line = |style, text: String| {
            let text = format!("{}  {:<15} {}", wide(at), named(&node), text);
            Some(Line { style, covered: false, text: text.trim_end().to_owned() })
        };
        let cost_of = (node.child.clone(), node.node.node.clone(), node.node.visit);
        match kind {
            EventKind::NodeStarted(_) => {
                self.starts(&node);
                line(Style::Plain, "started".to_owned()).map(|line| Line { covered: true, ..line })
            }
            EventKind::NodeFinished { to, took_ms, .. } => {
                self.ends(&node);
                let to = match to {
                    Targets::One(place) => place.to_string(),
                    Targets::All(places) => places.join(" + "),
                };
                let cost = self.costs.get(&cost_of).map_or_else(String::new, Cost::to_string);
                line(Style::Plain, format!("→ {to:<24} {}  {cost}", wide(Duration::from_millis(*took_ms))))
            }
            EventKind::Labelled { label, .. } => {
                let style = if label.severity == Severity::Info { Style::Plain } else { Style::Bad };
                line(style, quoted(&label.to_string()))
            }
            EventKind::NodeFailed { message, to, .. } => {
                self.ends(&node);
                let to = to.as_ref().map_or_else(String::new, |place| format!("→ {place}, "));
                line(Style::Bad, format!("{to}failed: {}", quoted(message)))
            }
            EventKind::NodeCancelled(_) => {
                self.ends(&node);
                line(Style::Plain, "stopped".to_owned())
            }
            EventKind::NodeSuspended(_) => {
                self.ends(&node);
                line(Style::Plain, "suspended".to_owned())
            }
            EventKind::NodeWaits { exclusive, .. } => {
                line(Style::Dim, format!("waits for its turn: {}", quoted(exclusive)))
            }
            EventKind::NodeDecided { reached, succeeded, failed, cancelled, .. } => {
                let quorum = if *reached { "has its quorum" } else { "can no longer have its quorum" };
                line(Style::Plain, format!("{quorum}: {succeeded} succeeded, {failed} failed, {cancelled} cancelled"))
            }
            EventKind::ItemsAdded { map, items, refused, .. } => {
                let refused = if *refused { ", which takes no more" } else { "" };
                line(Style::Plain, format!("adds {} to {map}{refused}", count(u64::from(*items), "item")))
            }
            EventKind::NodeExhausted(_) => line(Style::Plain, "has used up its visits".to_owned()),
            EventKind::EdgeExhausted { edge, .. } => line(Style::Plain, format!("may not go to {edge} again")),
            EventKind::Note { text, .. } => line(Style::Dim, quoted(text)),
            EventKind::Reported { failure, .. } => {
                self.ends(&node);
                match failure {
                    None => line(Style::Plain, "reported".to_owned()),
                    Some(failure) => line(Style::Bad, format!("did not report: {}", quoted(failure))),
                }
            }
            EventKind::Agent { agent, .. } => {
                if let AgentEvent::Finished { usage, .. } = &**agent {
                    *self.costs.entry(cost_of).or_default() += usage.cost;
                    self.cost += usage.cost;
                }
                line(Style::Dim, agent_action(agent)?)
            }
            _ => None,
        }
    }
}

/// What an agent did, if that is worth a line.
fn agent_action(event: &AgentEvent) -> Option<String> {
    let text = match event {
        AgentEvent::FileWritten { path } => format!("wrote {}", path.display()),
        AgentEvent::FileRemoved { path } => format!("removed {}", path.display()),
        AgentEvent::CommandRun { command, exit } => {
            let ending = exit.map_or_else(|| "killed".to_owned(), |exit| format!("exit {exit}"));
            format!("ran {} ({ending})", command.join(" "))
        }
        AgentEvent::ProviderRetry { attempt, reason } => format!("asks its provider again ({attempt}): {reason}"),
        AgentEvent::LeftOut { events } => format!("did more than is shown: {events} events were left out"),
        AgentEvent::SessionLost { session } => format!("has lost session {session} and begins anew"),
        AgentEvent::Correction { round, violations } => {
            let first = violations.first().map_or_else(String::new, ToString::to_string);
            format!("is asked to correct its output ({round}): {first}")
        }
        _ => return None,
    };
    Some(quoted(&text))
}

fn named(Node { child, node }: &Node) -> String {
    // The last characters of a child run's name differ from those of most siblings. A run's name is ASCII.
    let short = |child: &RunId| format!("…{} ", &child.as_str()[child.as_str().len().saturating_sub(4)..]);
    let child = child.as_ref().map_or_else(String::new, short);
    let visit = if node.visit > 1 { format!(" #{}", node.visit) } else { String::new() };
    let attempt = if node.attempt > 1 { format!(" retry {}", node.attempt - 1) } else { String::new() };
    format!("{child}{}{visit}{attempt}", node.node)
}

/// Seconds, right-aligned.
fn wide(duration: Duration) -> String {
    format!("{:>8}", seconds(duration))
}

#[cfg(test)]
mod tests {
    use super::*;
    use interlocking_agents::Usage;
    use interlocking_core::context::Label;
    use serde_json::json;
    use std::borrow::Cow;

    const ROOT: RunId = RunId::DEFAULT;
    const TYPES: NodeRef = NodeRef { node: Cow::Borrowed("types"), visit: 1, attempt: 1 };
    const TESTS: NodeRef = NodeRef { node: Cow::Borrowed("tests"), visit: 2, attempt: 1 };

    fn event(at_ms: u64, kind: EventKind) -> Event {
        Event::new(ROOT, at_ms, kind)
    }

    /// An event of this name, with these fields.
    fn event_of(name: &str, mut fields: serde_json::Value) -> EventKind {
        fields["event"] = name.into();
        serde_json::from_value(fields).unwrap()
    }

    /// An event of a node.
    fn of_node(node: &NodeRef, name: &str, mut fields: serde_json::Value) -> EventKind {
        let serde_json::Value::Object(names) = serde_json::to_value(node).unwrap() else { unreachable!() };
        fields.as_object_mut().unwrap().extend(names);
        event_of(name, fields)
    }

    fn nobody() -> Console {
        Console::new(None, io::sink(), io::sink())
    }

    fn live(progress: &Progress<'_>) -> Vec<String> {
        progress.running.iter().map(|(_, live)| live.shown()).collect()
    }

    fn agent(node: NodeRef, agent: AgentEvent) -> EventKind {
        of_node(&node, "agent", json!({ "agent": agent }))
    }

    #[test]
    fn a_label_is_a_line() {
        let label = Label {
            ty: "BLOCKED_DEPENDENCY".to_owned(),
            severity: Severity::Blocker,
            route_hint: Some("scaffold".to_owned()),
        };
        let label = of_node(&TYPES, "labelled", serde_json::to_value(label).unwrap());
        let line = Progress::of(ROOT, &nobody(), false).handle(&event(900, label)).unwrap();
        assert!(line.text.ends_with("BLOCKER BLOCKED_DEPENDENCY, hint scaffold"), "{}", line.text);
    }

    #[test]
    fn each_step_is_a_line_with_time_and_cost() {
        let usage = Usage { calls: 1, cost: Cost::from_micro_dollars(31_000), ..Usage::default() };
        let wrote = AgentEvent::FileWritten { path: "src/li\u{1b}[2Jb.rs".into() };
        let ran = AgentEvent::CommandRun { command: vec!["cargo".into(), "test".into()], exit: Some(101) };
        let to = Targets::All(["skeleton".into(), "adversary".into()].into());
        let events = [
            event(1200, EventKind::NodeStarted(TYPES)),
            event(1300, agent(TYPES, wrote)),
            event(1300, agent(TYPES, ran)),
            event(1400, agent(TYPES, AgentEvent::Text { text: "Done.".into() })),
            event(1400, agent(TYPES, AgentEvent::Finished { session: None, usage })),
            event(3400, of_node(&TYPES, "node_finished", json!({ "to": to, "took_ms": 2200 }))),
            event(3500, EventKind::NodeStarted(TESTS)),
            event(3500, of_node(&TESTS, "node_waits", json!({ "exclusive": "main" }))),
            event(9900, EventKind::NodeCancelled(TESTS)),
            event(9900, EventKind::NodeSuspended(TYPES)),
        ];
        let console = nobody();
        let mut progress = Progress::of(ROOT, &console, false);
        let shown: Vec<String> =
            events.iter().filter_map(|event| progress.handle(event)).map(|line| format!("|{}", line.text)).collect();
        expect_test::expect![[r#"
            |   1.2 s  types           started
            |   1.3 s  types           wrote src/li�[2Jb.rs
            |   1.3 s  types           ran cargo test (exit 101)
            |   3.4 s  types           → skeleton + adversary        2.2 s  $0.031
            |   3.5 s  tests #2        started
            |   3.5 s  tests #2        waits for its turn: main
            |   9.9 s  tests #2        stopped
            |   9.9 s  types           suspended"#]]
        .assert_eq(&shown.join("\n"));
    }

    #[test]
    fn each_node_that_runs_has_a_line() {
        let console = nobody();
        let mut progress = Progress::of(ROOT, &console, false);
        progress.handle(&event(1000, EventKind::NodeStarted(TYPES)));
        progress.handle(&event(4000, EventKind::NodeStarted(TESTS)));
        assert_eq!(live(&progress), ["types", "tests #2"]);
        progress.handle(&event(9000, EventKind::NodeCancelled(TYPES)));
        assert_eq!(live(&progress), ["tests #2"]);
        let mut quiet = Progress::of(ROOT, &console, true);
        quiet.handle(&event(1000, EventKind::NodeStarted(TYPES)));
        assert_eq!((live(&quiet), quiet.total.is_none()), (Vec::new(), true));
    }

    #[test]
    fn the_line_of_a_map_counts_its_children() {
        let console = nobody();
        let mut progress = Progress::of(ROOT, &console, false);
        let map = of_node(&TESTS, "map_started", json!({ "items": 7, "ended": 2 }));
        let key = "\"front\"".to_owned();
        let origin = Origin::Child { parent: ROOT, node: "tests".into(), visit: 2, attempt: 1, number: 1, key };
        let of_child = |kind| Event::new("r-8af4cd9d0b4a8a8e".parse().unwrap(), 1000, kind);
        for kind in [EventKind::NodeStarted(TESTS), map] {
            progress.handle(&event(1000, kind));
        }
        progress.handle(&of_child(event_of("run_started", json!({ "graph": "Page", "origin": origin }))));
        // A node of the same name in the child run is another node.
        progress.handle(&of_child(EventKind::NodeStarted(TESTS)));
        let added = json!({ "map": "tests", "items": 1, "refused": false });
        progress.handle(&event(1000, of_node(&TYPES, "items_added", added)));
        assert_eq!(live(&progress), ["tests #2 2/8", "…8a8e tests #2"]);
        let ended = || of_child(event_of("run_ended", json!({ "outcome": "finished", "usage": Usage::default() })));
        progress.handle(&ended());
        // A second event for the same child run is not counted.
        progress.handle(&ended());
        assert_eq!(live(&progress), ["tests #2 3/8", "…8a8e tests #2"]);
    }

    #[test]
    fn nodes_of_child_runs_say_whose_they_are() {
        let in_child = |at_ms, kind| Event::new("r-8af4cd9d0b4a8a8e".parse().unwrap(), at_ms, kind);
        let to = Targets::One("exit".into());
        let console = nobody();
        let mut progress = Progress::of(ROOT, &console, false);
        progress.handle(&event(1000, EventKind::NodeStarted(TESTS)));
        progress.handle(&in_child(2000, EventKind::NodeStarted(TESTS)));
        let done = of_node(&TESTS, "node_finished", json!({ "to": to, "took_ms": 0 }));
        let line = progress.handle(&in_child(3000, done.clone())).unwrap();
        assert_eq!(line.text, "   3.0 s  …8a8e tests #2  → exit                        0.0 s");
        assert_eq!(live(&progress), ["tests #2"]);

        // Among many child runs, some have names that end alike.
        let in_twin = |kind| Event::new("r-1111111111118a8e".parse().unwrap(), 4000, kind);
        let usage = Usage { cost: Cost::from_micro_dollars(31_000), ..Usage::default() };
        progress.handle(&in_child(4000, EventKind::NodeStarted(TESTS)));
        progress.handle(&in_twin(EventKind::NodeStarted(TESTS)));
        progress.handle(&in_twin(agent(TESTS, AgentEvent::Finished { session: None, usage })));
        let line = progress.handle(&in_child(4000, done)).unwrap();
        assert!(line.text.ends_with("→ exit                        0.0 s"), "another's cost: {}", line.text);
        assert_eq!(live(&progress), ["tests #2", "…8a8e tests #2"], "its twin runs");
    }
}
