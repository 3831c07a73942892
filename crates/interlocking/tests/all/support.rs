//! Shared by several modules: short handlers, a log of events, guards that detect a drop, agents that record their
//! turns.

use async_trait::async_trait;
use interlocking::agents::{Agent, AgentError, Reply, Script, ScriptedAgent, Sessions, Turn, TurnContext};
use interlocking::failure::Failure;
use interlocking::graph::Graph;
use interlocking::runtime::clock::TokioClock;
use interlocking::runtime::event::Targets;
use interlocking::runtime::{Event, EventKind, EventSink, Outcome, Report, Run};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A struct that handles one logic node; `Handler(state: Type)` has a state.
macro_rules! logic {
    ($handler:ident $(($this:ident: $state:ty))? for $node:path, |$input:tt: $ty:ty, $cx:tt| $body:expr) => {
        struct $handler $(($state))?;
        impl LogicHandler<$node> for $handler {
            async fn run(&self, $input: $ty, $cx: &mut Cx<'_, $node>) -> Route<$node> {
                $(let $this = &self.0;)?
                $body
            }
        }
    };
}

/// A struct that handles one fork node; `Handler(state: Type)` has a state.
macro_rules! forks {
    ($handler:ident $(($this:ident: $state:ty))? for $node:path, |$input:tt: $ty:ty, $cx:tt| $body:expr) => {
        struct $handler $(($state))?;
        impl ForkHandler<$node> for $handler {
            async fn fork(&self, $input: $ty, $cx: &mut Cx<'_, $node>) -> Route<$node> {
                $(let $this = &self.0;)?
                $body
            }
        }
    };
}

/// A struct that handles one join node; `Handler(state: Type)` has a state.
macro_rules! joins {
    ($handler:ident $(($this:ident: $state:ty))? for $node:path, |$input:tt: $ty:ty, $cx:tt| $body:expr) => {
        struct $handler $(($state))?;
        impl JoinHandler<$node> for $handler {
            async fn join(&self, $input: $ty, $cx: &mut Cx<'_, $node>) -> Route<$node> {
                $(let $this = &self.0;)?
                $body
            }
        }
    };
}

/// A run whose times are those of the (paused) runtime.
pub(crate) fn timed<G: Graph>(graph: G) -> Run<G> {
    Run::new(graph).with_clock(Arc::new(TokioClock::start()))
}

/// The same run with a journal and without: the latter takes the shortcut from node to node.
pub(crate) fn both_ways<G: Graph>(graph: impl Fn() -> G) -> [Run<G>; 2] {
    [timed(graph()), timed(graph()).without_journal()]
}

/// Lets this many (virtual) milliseconds pass.
pub(crate) async fn pass(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}

/// The output of a run that finished.
#[track_caller]
pub(crate) fn finished<O: std::fmt::Debug>(report: Report<O>) -> O {
    match report.outcome {
        Outcome::Finished(output) => output,
        other => panic!("not finished: {other:?}"),
    }
}

/// The failure of a run that failed.
#[track_caller]
pub(crate) fn failed<O: std::fmt::Debug>(report: Report<O>) -> Failure {
    match report.outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("not failed: {other:?}"),
    }
}

/// The events of a run.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Event>>>);

impl Log {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn sink(&self) -> Arc<dyn EventSink> {
        let events = self.0.clone();
        Arc::new(move |event| events.lock().unwrap().push(event))
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    /// One line for each event: its time in milliseconds, and its run if that is a child.
    pub(crate) fn lines(&self) -> String {
        let events = self.events();
        let root = events.first().map(|event| event.run.clone());
        let line = |event: &Event| match &event.run {
            run if Some(run) == root.as_ref() => format!("{} {}\n", event.at_ms, shown(event)),
            run => format!("{} in {run}: {}\n", event.at_ms, shown(event)),
        };
        events.iter().map(line).collect()
    }

    /// The only line that begins with `words`, including the time.
    #[track_caller]
    pub(crate) fn line(&self, words: &str) -> String {
        let lines = self.lines();
        let mut found = lines.lines().filter(|line| {
            line.split_once(' ').is_some_and(|(_, rest)| rest == words || rest.starts_with(&format!("{words} ")))
        });
        match (found.next(), found.next()) {
            (Some(line), None) => line.to_owned(),
            _ => panic!("not one line with {words:?} in:\n{lines}"),
        }
    }
}

fn shown(Event { run, kind, .. }: &Event) -> String {
    let at = || kind.node().map(|node| format!("{} {}.{}", node.node, node.visit, node.attempt)).unwrap_or_default();
    match kind {
        EventKind::RunStarted { graph, .. } => format!("{run} of {graph} started"),
        EventKind::NodeStarted(_) => format!("started {}", at()),
        EventKind::NodeFinished { to: Targets::One(to), took_ms, .. } => {
            format!("finished {} to {to} after {took_ms}", at())
        }
        EventKind::NodeFinished { to: Targets::All(to), took_ms, .. } => {
            format!("finished {} to {} after {took_ms}", at(), to.join("+"))
        }
        EventKind::NodeFailed { message, to: None, took_ms, .. } => {
            format!("failed {} after {took_ms}: {message}", at())
        }
        EventKind::NodeFailed { message, to: Some(to), took_ms, .. } => {
            format!("failed {} after {took_ms}: {message}, goes to {to}", at())
        }
        EventKind::NodeCancelled(_) => format!("cancelled {}", at()),
        EventKind::NodeSuspended(_) => format!("suspended {}", at()),
        EventKind::NodeExhausted(_) => format!("exhausted {}", at()),
        EventKind::Agent { agent, .. } => format!("agent {} {}", at(), serde_json::to_value(agent).unwrap()["event"]),
        EventKind::Note { text, .. } => format!("note {} {text}", at()),
        EventKind::RunEnded { outcome, usage, .. } => format!("ended {outcome}: {usage}"),
        other => format!("{other:?}"),
    }
}

/// A flag that is set when the value of [`Dropped::guard`] is dropped.
#[derive(Clone, Default)]
pub(crate) struct Dropped(Arc<AtomicBool>);

pub(crate) struct Guard(Arc<AtomicBool>);

impl Dropped {
    pub(crate) fn guard(&self) -> Guard {
        Guard(self.0.clone())
    }

    /// Whether the flag was set since the last call.
    pub(crate) fn happened(&self) -> bool {
        self.0.swap(false, Ordering::SeqCst)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A scripted agent that records every call.
pub(crate) struct Recording {
    scripted: ScriptedAgent,
    turns: Mutex<Vec<Turn>>,
}

impl Recording {
    #[track_caller]
    pub(crate) fn new(script: &str) -> Arc<Self> {
        let scripted = ScriptedAgent::new(Script::parse("test.toml", script).expect("a script"));
        Arc::new(Self { scripted, turns: Mutex::default() })
    }

    pub(crate) fn scripted(&self) -> &ScriptedAgent {
        &self.scripted
    }

    /// Every call so far, corrections included.
    pub(crate) fn turns(&self) -> Vec<Turn> {
        self.turns.lock().unwrap().clone()
    }
}

#[async_trait]
impl Agent for Recording {
    fn name(&self) -> &str {
        "recording"
    }

    fn sessions(&self) -> &Sessions {
        self.scripted.sessions()
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        self.turns.lock().unwrap().push(turn.clone());
        self.scripted.run(context, turn).await
    }
}
