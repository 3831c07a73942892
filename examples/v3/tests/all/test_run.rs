//! Runs in a test: a project, the agents, and the events of the run.

use crate::project::Project;
use crate::small::last;
use crate::watched::{FOREVER, Watched};
use interlocking::agents::Script;
use interlocking::prelude::*;
use interlocking::runtime::journal::{Entry, NodeOutcome, Origin, RunSummary};
use interlocking::runtime::{Event, EventKind, Journal, MemoryJournal};
use interlocking::toolchain::{Runner, Toolchain};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use v3::graph::V3;
use v3::run::run;
use v3::types::outcome::V3Outcome;
use v3::types::scaffold::ScaffoldInput;
use v3::types::spec::Spec;
use v3::workbench::Workbench;

/// A run that can be resumed: its journal, its agents, and its events.
pub(crate) struct TestRun<'p> {
    pub(crate) project: &'p Project,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) agent: Arc<Watched>,
    workbench: Workbench,
    told: Arc<Mutex<Vec<Event>>>,
}

impl<'p> TestRun<'p> {
    pub(crate) fn new(project: &'p Project, script: Script, change: impl FnOnce(&mut Workbench)) -> Self {
        let checkouts = project.workspaces().checkouts_of(&RunId::DEFAULT);
        let target = project.place().join("target");
        let runner = Runner::with_weaker_isolation(Toolchain::default(), target, checkouts);
        let mut workbench = Workbench::new(runner).unwrap();
        change(&mut workbench);
        let agent = Arc::new(Watched::new(script));
        Self { project, journal: Arc::new(MemoryJournal::new()), agent, workbench, told: Arc::default() }
    }

    pub(crate) fn run(&self) -> Run<V3> {
        let told = self.told.clone();
        run(self.workbench.clone())
            .with_agent_for_others(self.agent.clone())
            .with_workspaces(Arc::new(self.project.workspaces()))
            .with_journal(self.journal.clone())
            .with_events(Arc::new(move |event: Event| told.lock().unwrap().push(event)))
    }

    pub(crate) async fn start(&self, spec: Spec) -> Outcome<V3Outcome> {
        self.run().start(ScaffoldInput::from(spec)).await.unwrap().outcome
    }

    /// The outcome of a run that finishes.
    pub(crate) async fn outcome(&self, spec: Spec) -> V3Outcome {
        match self.start(spec).await {
            Outcome::Finished(outcome) => outcome,
            other => panic!("{other:?}\nof the tree: {:#?}", self.failures()),
        }
    }

    /// The failures in the whole tree: a run can go on without some of its children.
    fn failures(&self) -> Vec<String> {
        let failed = |event: Event| match event.kind {
            EventKind::NodeFailed { node, message, .. } => Some(format!("{} {}: {message}", event.run, node.node)),
            _ => None,
        };
        self.events().into_iter().filter_map(failed).collect()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.told.lock().unwrap().clone()
    }

    /// The ended nodes of all runs, in order: `RUN NODE`, where the root is called `default`.
    pub(crate) fn ended(&self) -> Vec<(RunId, String)> {
        let ended = |event: Event| match event.kind {
            EventKind::NodeFinished { node, .. } => Some((event.run, node.node.to_string())),
            _ => None,
        };
        self.events().into_iter().filter_map(ended).collect()
    }

    /// The ended nodes of the root, in order.
    pub(crate) fn path(&self) -> Vec<String> {
        self.ended().into_iter().filter(|(run, _)| *run == RunId::DEFAULT).map(|(_, node)| node).collect()
    }

    /// Waits until `has_happened`.
    pub(crate) async fn until(&self, what: &str, has_happened: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !has_happened(self) {
            assert!(begun.elapsed() < FOREVER, "{what}: {:?}", self.ended());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The last run of the node with this id, which is not the root.
    pub(crate) async fn run_of(&self, id: &str) -> RunId {
        let key = format!("{}-", last(id));
        let is_its = |summary: &RunSummary| matches!(&summary.origin, Some(Origin::Child { key: of, .. }) if of.starts_with(&key));
        let runs = self.journal.runs().await.unwrap();
        runs.into_iter().rfind(is_its).unwrap_or_else(|| panic!("{id} has no run")).run
    }

    /// The ended nodes of a run, in order.
    pub(crate) fn nodes_of(&self, run: &RunId) -> Vec<String> {
        self.ended().into_iter().filter(|(of, _)| of == run).map(|(_, node)| node).collect()
    }

    /// The outcomes of a run's nodes, in order.
    pub(crate) async fn outcomes(&self, run: &RunId) -> Vec<NodeOutcome> {
        let records = self.journal.load(run).await.unwrap();
        let outcome = |entry: Entry| match entry {
            Entry::Outcome(outcome) => Some(outcome),
            _ => None,
        };
        records.into_iter().filter_map(|record| outcome(record.entry)).collect()
    }

    /// The result of a run below the root, if it has finished.
    pub(crate) async fn result_of(&self, run: &RunId) -> Option<V3Outcome> {
        let tokens = self.outcomes(run).await.into_iter().flat_map(|outcome| outcome.tokens);
        let exit = tokens.filter(|token| token.place == "exit").last()?;
        Some(serde_json::from_str(exit.payload.json().unwrap()).unwrap())
    }

    /// The memory of a group of nodes of a run, after each change.
    pub(crate) async fn memories(&self, run: &RunId, group: &str) -> Vec<serde_json::Value> {
        let of_group = |outcome: NodeOutcome| outcome.memory.filter(|memory| memory.group == group);
        let memories = self.outcomes(run).await.into_iter().filter_map(of_group);
        memories.map(|memory| serde_json::from_str(memory.value.json().unwrap()).unwrap()).collect()
    }

    /// The prompts of the calls whose title contains these words, in order.
    pub(crate) fn prompts(&self, title: &str) -> Vec<String> {
        self.agent.calls_to(title).into_iter().map(|call| call.prompt).collect()
    }
}
