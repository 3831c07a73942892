//! Runs in a test: a project, who plays the agents, and what is told of the run.

use crate::project::Project;
use crate::watched::Watched;
use interlocking::agents::Script;
use interlocking::prelude::*;
use interlocking::runtime::{Event, EventKind, Journal, MemoryJournal};
use std::sync::{Arc, Mutex};
use v3::graph::V3;
use v3::run::run;
use v3::types::outcome::V3Outcome;
use v3::types::scaffold::ScaffoldInput;
use v3::types::spec::Spec;
use v3::workbench::Workbench;

/// A run that can be taken up again: its journal, its agents, and what happened.
pub(crate) struct Play<'p> {
    pub(crate) project: &'p Project,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) agent: Arc<Watched>,
    workbench: Workbench,
    told: Arc<Mutex<Vec<Event>>>,
}

impl<'p> Play<'p> {
    pub(crate) fn new(project: &'p Project, script: Script, change: impl FnOnce(&mut Workbench)) -> Self {
        let checkouts = project.workspaces().checkouts_of(&RunId::DEFAULT);
        let mut workbench = Workbench::cargo(project.place().join("target"), checkouts);
        workbench.accept_weaker_isolation = true;
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

    /// What a run that finishes comes to.
    pub(crate) async fn outcome(&self, spec: Spec) -> V3Outcome {
        match self.start(spec).await {
            Outcome::Finished(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.told.lock().unwrap().clone()
    }

    /// The nodes that have ended, of all runs, in order: `RUN NODE`, where the root is called `default`.
    pub(crate) fn ended(&self) -> Vec<(RunId, String)> {
        let ended = |event: Event| match event.kind {
            EventKind::NodeFinished { node, .. } => Some((event.run, node.node.to_string())),
            _ => None,
        };
        self.events().into_iter().filter_map(ended).collect()
    }

    /// The nodes of the root that have ended, in order.
    pub(crate) fn path(&self) -> Vec<String> {
        self.ended().into_iter().filter(|(run, _)| *run == RunId::DEFAULT).map(|(_, node)| node).collect()
    }

    /// The prompts of the calls whose title has these words, in order.
    pub(crate) fn prompts(&self, title: &str) -> Vec<String> {
        self.agent.calls_to(title).into_iter().map(|call| call.prompt).collect()
    }
}
