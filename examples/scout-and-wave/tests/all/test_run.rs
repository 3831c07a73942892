//! Runs in a test: a project, the agents, and the events of the run.

use crate::project::Project;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use interlocking::runtime::journal::answer::{answer, open_questions};
use interlocking::runtime::{Event, EventKind, Journal, MemoryJournal};
use interlocking::toolchain::{Recorder, Runner, Toolchain};
use interlocking::workspaces::FilePath;
use scout_and_wave::graph::{BlockedQuestion, ReviewAnswer, SawResult, ScoutAndWave};
use scout_and_wave::request::Request;
use scout_and_wave::run::run;
use scout_and_wave::workbench::Workbench;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

pub(crate) const DOCUMENT: &str = "docs/IMPL-stats.md";

/// A run that can be resumed: its journal, its agents, and its events.
pub(crate) struct TestRun<'p> {
    pub(crate) project: &'p Project,
    pub(crate) journal: Arc<dyn Journal>,
    id: RunId,
    agent: Arc<ScriptedAgent>,
    /// The stand-in for the gate's programs, if there is one.
    recorder: Option<Arc<Recorder>>,
    /// The toolchain that the user has configured, if there is one.
    toolchain: Option<Toolchain>,
    told: Arc<Mutex<Vec<Event>>>,
}

impl<'p> TestRun<'p> {
    pub(crate) fn new(project: &'p Project, script: Script) -> Self {
        let agent = Arc::new(ScriptedAgent::new(script));
        let (journal, id) = (Arc::new(MemoryJournal::new()), RunId::DEFAULT);
        Self { project, journal, id, agent, recorder: None, toolchain: None, told: Arc::default() }
    }

    /// Another run on a project: it has no knowledge of the run before.
    pub(crate) fn of_another_run(project: &'p Project, script: Script, id: &str) -> Self {
        Self { id: id.parse().unwrap(), ..Self::new(project, script) }
    }

    /// The same, where the gate's commands are only recorded.
    pub(crate) fn with_gate(self, recorder: &Arc<Recorder>) -> Self {
        Self { recorder: Some(recorder.clone()), ..self }
    }

    /// The same with a toolchain that the user has configured.
    pub(crate) fn with_toolchain(self, toolchain: Toolchain) -> Self {
        Self { toolchain: Some(toolchain), ..self }
    }

    fn run(&self) -> Run<ScoutAndWave> {
        let workspaces = self.project.workspaces();
        let (target, checkouts) = (self.project.place().join("target"), workspaces.checkouts_of(&self.id));
        let toolchain = self.toolchain.clone().unwrap_or_default();
        let runner = Runner::with_weaker_isolation(toolchain, target, checkouts).with_recorder(self.recorder.clone());
        let workbench = Workbench { runner, is_configured: self.toolchain.is_some() };
        let told = self.told.clone();
        run(workbench)
            .with_id(self.id.clone())
            .with_agent_for_others(self.agent.clone())
            .with_workspaces(Arc::new(workspaces))
            .with_journal(self.journal.clone())
            .with_events(Arc::new(move |event: Event| told.lock().unwrap().push(event)))
    }

    /// Starts the run, as far as it goes without a person.
    pub(crate) async fn start(&self) -> Outcome<SawResult> {
        self.begin(Self::feature()).await
    }

    pub(crate) fn feature() -> Request {
        let document = FilePath::new(DOCUMENT).unwrap();
        Request::Feature { task: "Statistics of texts".to_owned(), document }
    }

    /// Starts the run in a process that waits for people, who answer its questions one after the other.
    pub(crate) async fn start_with_people(&self, answers: &[serde_json::Value]) -> Outcome<SawResult> {
        let people = async {
            for said in answers {
                while open_questions(&*self.journal, &self.id).await.unwrap().is_empty() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                self.answer(said).await;
            }
            std::future::pending().await
        };
        tokio::select! {
            ended = self.run().with_wait_for_people().start(Self::feature()) => ended.unwrap().outcome,
            outcome = people => outcome,
        }
    }

    /// A run for another command.
    pub(crate) async fn begin(&self, request: Request) -> Outcome<SawResult> {
        self.run().start(request).await.unwrap().outcome
    }

    pub(crate) async fn resume(&self) -> Outcome<SawResult> {
        self.run().resume().await.unwrap().outcome
    }

    /// Resumes the run until so many nodes have ended or noted something, and kills it then; `None` if it was killed. Work on
    /// threads of its own has ended when this returns, as when a process is gone.
    pub(crate) fn resume_until(&self, moment: usize) -> Option<Outcome<SawResult>> {
        let left = AtomicUsize::new(moment);
        self.resume_until_told(move |kind| {
            let counts = matches!(kind, EventKind::NodeFinished { .. } | EventKind::Note { .. });
            counts && left.fetch_sub(1, Ordering::SeqCst) == 1
        })
    }

    /// Resumes the run until a node has ended, and kills it then.
    pub(crate) fn resume_until_after(&self, name: &'static str) -> Option<Outcome<SawResult>> {
        self.resume_until_told(move |kind| matches!(kind, EventKind::NodeFinished { node, .. } if node.node == *name))
    }

    /// Starts the run until it notes this, and kills it then.
    pub(crate) fn start_until_noted(&self, noted: &'static str) -> Option<Outcome<SawResult>> {
        let is_noted = move |kind: &EventKind| matches!(kind, EventKind::Note { text, .. } if text == noted);
        self.until_told(Some(Self::feature()), is_noted)
    }

    /// Resumes the run until an event for which `is_it` holds, and kills it then.
    pub(crate) fn resume_until_told(
        &self,
        is_it: impl Fn(&EventKind) -> bool + Send + Sync + 'static,
    ) -> Option<Outcome<SawResult>> {
        self.until_told(None, is_it)
    }

    /// Starts the run with a command, or resumes it, until an event for which `is_it` holds, and kills it then.
    pub(crate) fn until_told(
        &self,
        begin: Option<Request>,
        is_it: impl Fn(&EventKind) -> bool + Send + Sync + 'static,
    ) -> Option<Outcome<SawResult>> {
        let told = Arc::new(Notify::new());
        let tells = told.clone();
        let counted = move |event: Event| {
            if is_it(&event.kind) {
                tells.notify_one();
            }
        };
        let process = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let run = self.run().with_events(Arc::new(counted));
                let going = async {
                    match begin {
                        Some(request) => run.start(request).await,
                        None => run.resume().await,
                    }
                };
                tokio::select! {
                    biased;
                    () = told.notified() => None,
                    ended = going => Some(ended.unwrap().outcome),
                }
            })
        };
        std::thread::scope(|scope| scope.spawn(process).join().unwrap())
    }

    pub(crate) async fn retry(&self) -> Outcome<SawResult> {
        self.run().retry().await.unwrap().outcome
    }

    /// Approves the review, and resumes the run.
    pub(crate) async fn approve(&self) -> Outcome<SawResult> {
        self.answer(&ReviewAnswer::Approve { acknowledge_caveats: false }).await;
        self.resume().await
    }

    /// The question about a blocked wave.
    pub(crate) async fn question(&self) -> BlockedQuestion {
        let [question] = &open_questions(&*self.journal, &self.id).await.unwrap()[..] else { panic!() };
        serde_json::from_value(question.question.clone()).unwrap()
    }

    /// Answers the question about a blocked wave, and resumes the run.
    pub(crate) async fn unblock(&self, said: serde_json::Value) -> Outcome<SawResult> {
        self.answer(&said).await;
        self.resume().await
    }

    /// Answers the only open question.
    pub(crate) async fn answer(&self, said: &impl serde::Serialize) {
        let [question] = &open_questions(&*self.journal, &self.id).await.unwrap()[..] else { panic!() };
        answer(&*self.journal, &self.id, &question.by, &serde_json::to_value(said).unwrap()).await.unwrap();
    }

    /// Each node that started, including child runs, in order; an agent with its label.
    pub(crate) fn started(&self) -> Vec<String> {
        let started = |event: &Event| match &event.kind {
            EventKind::NodeStarted(node) => Some(node.node.to_string()),
            _ => None,
        };
        self.told.lock().unwrap().iter().filter_map(started).collect()
    }

    /// The states that the orchestrator noted.
    pub(crate) fn states(&self) -> Vec<String> {
        let noted = |event: &Event| match &event.kind {
            EventKind::Note { text, .. } if text.starts_with(|first: char| first.is_ascii_uppercase()) => {
                Some(text.clone())
            }
            _ => None,
        };
        self.told.lock().unwrap().iter().filter_map(noted).collect()
    }

    /// The number of turns of the script that were not played.
    pub(crate) fn unplayed(&self) -> usize {
        self.agent.unused().len()
    }
}
