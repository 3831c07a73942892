//! The events of one run, as far as the search needs them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use interlocking_agents::{AgentEvent, SessionId};
use interlocking_core::net::Net;
use interlocking_core::run_id::RunId;
use interlocking_runtime::event::{Event, EventKind, EventSink, Name, NodeRef};
use interlocking_runtime::journal::NodeOutcome;
use tokio::sync::Notify;

use crate::route::{Route, RouteIndex, RouteKind, Routes};

/// Records one run from its events and its journal.
pub(crate) struct Log {
    net: &'static Net,
    pub(crate) routes: std::sync::Arc<Routes>,
    /// How many executions may start before the run is interrupted.
    most_executions: u32,
    /// The root run, set by the first event, which is always the root's.
    root: OnceLock<RunId>,
    state: Mutex<State>,
    /// Notified when too many executions have started.
    pub(crate) exceeded: Notify,
    /// Notified when the run waits only for people.
    pub(crate) waits: Notify,
}

#[derive(Default)]
struct State {
    taken: BTreeSet<RouteIndex>,
    entered: BTreeMap<String, u32>,
    /// Nodes that exceeded a bound without an exhausted route, and such edges, as `node → target`.
    bounds: BTreeSet<String>,
    failed: Vec<(String, String)>,
    labels: BTreeSet<(String, String)>,
    sessions: HashMap<SessionId, Caller>,
    /// By child run: the graph's name.
    graphs: HashMap<RunId, Name>,
    executions: u32,
}

/// The execution that has called an agent.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The run, if it is a child; `None` for the root.
    pub(crate) run: Option<RunId>,
    pub(crate) graph: Name,
    pub(crate) node: Name,
    pub(crate) visit: u32,
    pub(crate) attempt: u32,
}

/// The data of a run that is over.
pub(crate) struct Seen {
    pub(crate) taken: BTreeSet<RouteIndex>,
    pub(crate) entered: BTreeMap<String, u32>,
    pub(crate) bounds: BTreeSet<String>,
    pub(crate) failed: Vec<(String, String)>,
    /// The labels that nodes have set.
    pub(crate) labels: BTreeSet<(String, String)>,
}

impl Log {
    pub(crate) fn new(net: &'static Net, routes: std::sync::Arc<Routes>, most_executions: u32) -> Self {
        let (root, state, exceeded, waits) = Default::default();
        Self { net, routes, most_executions, root, state, exceeded, waits }
    }

    /// The execution whose agent last began this session.
    pub(crate) fn caller(&self, session: &SessionId) -> Option<Caller> {
        self.state().sessions.get(session).cloned()
    }

    /// Whether too many executions have started.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.state().executions > self.most_executions
    }

    /// How many executions have started.
    pub(crate) fn executions(&self) -> u32 {
        self.state().executions
    }

    /// The graph of a run; `None` stands for the root. A child may run the root's graph.
    pub(crate) fn graph_of(&self, run: Option<&RunId>) -> Name {
        match run {
            None => Cow::Borrowed(self.net.table().graph.as_str()),
            Some(run) => self.state().graphs.get(run).cloned().unwrap_or_default(),
        }
    }

    pub(crate) fn is_ours(&self, graph: &str) -> bool {
        graph == self.net.table().graph
    }

    /// Records the routes of an outcome that was accepted in a run of the graph.
    pub(crate) fn outcome(&self, outcome: &NodeOutcome) {
        let Some(node) = self.net.node_named(&outcome.node) else { return };
        let row = self.net.row(node);
        let found: Vec<_> = match outcome.alternative {
            None if outcome.added.is_some() => {
                let added = outcome.added.iter();
                added.filter_map(|it| self.routes.find(&row.name, &it.to.node, RouteKind::AddsItems)).collect()
            }
            None => self.routes.find(&row.name, &row.name, RouteKind::Resume).into_iter().collect(),
            Some(alternative) => {
                let kind = RouteKind::of(self.net, node, alternative);
                let spent = self.spent_edge(alternative);
                let places = outcome.tokens.iter().map(|token| token.place.as_str());
                let found = places.filter_map(|place| match spent {
                    Some(edge) => self.routes.instead_of(&row.name, edge, place),
                    None => self.routes.find(&row.name, place, kind),
                });
                found.collect()
            }
        };
        let spawned =
            outcome.spawned.iter().filter_map(|token| self.routes.find(&row.name, &token.place, RouteKind::Spawn));
        let spawned: Vec<_> = spawned.collect();
        self.state().taken.extend(found.into_iter().chain(spawned));
    }

    /// The target of the spent edge that an alternative replaces.
    fn spent_edge(&self, alternative: u16) -> Option<&'static str> {
        let edge = self.net.alternative(self.net.alternative(alternative)?.instead_of?)?;
        Some(&self.net.place(*edge.only.first()?).name)
    }

    pub(crate) fn seen(&self) -> Seen {
        let State { taken, entered, bounds, failed, labels, .. } = std::mem::take(&mut *self.state());
        Seen { taken, entered, bounds, failed, labels }
    }

    fn note(&self, run: Option<&RunId>, kind: &EventKind) {
        let graph = self.graph_of(run);
        let ours = self.is_ours(&graph);
        match kind {
            EventKind::RunStarted { graph, .. } => {
                if let Some(run) = run {
                    self.state().graphs.insert(run.clone(), graph.clone());
                }
            }
            EventKind::NodeStarted(node) => {
                let mut state = self.state();
                state.executions += 1;
                if state.executions > self.most_executions {
                    self.exceeded.notify_one();
                }
                if ours {
                    *state.entered.entry(node.node.to_string()).or_default() += 1;
                }
            }
            EventKind::NodeExhausted(node) if ours => {
                let target = self.net.table().node(&node.node).and_then(|row| row.exhausted.as_ref());
                let found = target.and_then(|_| {
                    self.routes.all.iter().position(|route| {
                        route.from == node.node && route.kind == RouteKind::Exhausted && route.instead_of.is_none()
                    })
                });
                let mut state = self.state();
                match found {
                    Some(route) => drop(state.taken.insert(route)),
                    None => drop(state.bounds.insert(node.node.to_string())),
                }
            }
            EventKind::EdgeExhausted { node, edge, .. } if ours => {
                let has_route = |route: &Route| route.from == node.node && route.instead_of.as_deref() == Some(edge);
                if !self.routes.all.iter().any(has_route) {
                    self.state().bounds.insert(format!("{} → {edge}", node.node));
                }
            }
            EventKind::NodeFailed { node, message, to: None, .. } if ours => {
                self.state().failed.push((node.node.to_string(), message.clone()));
            }
            EventKind::Labelled { node, label, .. } if ours => {
                self.state().labels.insert((node.node.to_string(), label.ty.clone()));
            }
            EventKind::Agent { node: NodeRef { node, visit, attempt }, agent, .. } => {
                if let AgentEvent::Started { session } = &**agent {
                    let caller =
                        Caller { run: run.cloned(), graph, node: node.clone(), visit: *visit, attempt: *attempt };
                    self.state().sessions.insert(session.clone(), caller);
                }
            }
            EventKind::Waiting if run.is_none() => self.waits.notify_one(),
            _ => {}
        }
    }

    /// Ignores poisoning: the data is consistent between any two statements.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for Log {
    fn emit(&self, event: Event) {
        let Event { run, kind, .. } = event;
        let is_root = *self.root.get_or_init(|| run.clone()) == run;
        self.note(Some(&run).filter(|_| !is_root), &kind);
    }
}

impl Caller {
    /// The key of the execution, unique in the tree of runs.
    pub(crate) fn key(&self) -> String {
        let Self { node, visit, attempt, .. } = self;
        match &self.run {
            Some(run) => format!("{run}/{node}.{visit}.{attempt}"),
            None => format!("{node}.{visit}.{attempt}"),
        }
    }
}
