//! A repository, a script, and a run over them.

use crate::agent_script::AgentScript;
use crate::artefacts::target_directory;
use crate::slot::Slot;
use crate::trace::Trace;
use crate::watched::{Call, Watched, worktrees_of};
use hybrid::demo;
use hybrid::run::{Ended, Settings, run};
use hybrid::spec::{SpecFormat, Task};
use hybrid::stage::lay_out;
use hybrid::types::{Check, HybridFailure, HybridResult, VerificationStatus};
use interlocking::runtime::event::EventKind;
use interlocking::runtime::roles::Roles;
use interlocking::runtime::{CancelToken, Event};
use interlocking::toolchain::{CommandLine, Harness};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use tokio::sync::OnceCell;

/// A repository for one test, and the agents that work in it.
pub(crate) struct Stage {
    pub(crate) task: Task,
    pub(crate) agent: Arc<Watched>,
    /// The commit of the user's branch before the run.
    pub(crate) base: String,
    /// A file that the event sink creates once a node has finished.
    signal: Option<(&'static str, PathBuf)>,
    events: Arc<Mutex<Vec<Event>>>,
    slot: Slot,
}

/// The bug in the implementation with which the demonstration's fix scenario begins.
pub(crate) const BUG: &str = "self.items.len\\(\\) > self.capacity";

/// The seed's repository, made and built once in each process.
static SEED: OnceCell<Slot> = OnceCell::const_new();

impl Stage {
    /// The demonstration's seed and task.
    pub(crate) async fn new(script: AgentScript) -> Self {
        let seed = SEED.get_or_init(async || {
            let slot = Slot::take();
            lay_out(&slot.path().join("repository"), &target_directory(), false).await.unwrap();
            slot
        });
        let (seed, slot) = (seed.await.path().join("repository"), Slot::take());
        let repository = slot.path().join("repository");
        copy(&seed, &repository);
        let events = Arc::default();
        let mut task = Task::parse("spec.toml", demo::SPEC, SpecFormat::Toml).unwrap();
        // Starting a language server takes longer than most runs, so only tests about it use one.
        task.language_server = "no-such-server".into();
        // The same holds for trying mutants.
        task.mechanical_mutants = 0;
        Self {
            task,
            agent: Arc::new(Watched::new(script.script(), repository.clone(), Arc::clone(&events))),
            base: git(&repository, &["rev-parse", "main"]),
            signal: None,
            events,
            slot,
        }
    }

    /// The same without compilation, for tests that are not about verdicts: every build passes, and the tests fail while the
    /// implementation has a stub, or the bug of the demonstration. Agents, graph, git and source checks are unchanged.
    pub(crate) async fn quick(script: AgentScript) -> Self {
        let mut stage = Self::new(script).await;
        let holds = format!("! grep -qE 'todo!|{BUG}' src/lib.rs");
        stage.task.toolchain.harness = Harness::ExitCode;
        stage.task.toolchain.build_command = CommandLine::new("true", &[]);
        stage.task.toolchain.test_command = CommandLine::new("sh", &["-c", &holds]);
        stage
    }

    /// The same with another budget of every loop.
    pub(crate) fn at_most(mut self, attempts: u8) -> Self {
        self.task.spec.strictness.max_fix_attempts = attempts;
        self
    }

    /// The same, where every build begins only after a node has finished.
    pub(crate) fn building_after(mut self, node: &'static str) -> Self {
        let signal = self.slot.path().join("signal");
        let build = &self.task.toolchain.build_command;
        let wait = format!("while ! test -e {}; do sleep 0.05; done; exec {build}", signal.display());
        self.task.toolchain.build_command = CommandLine::new("sh", &["-c", &wait]);
        self.signal = Some((node, signal));
        self
    }

    /// Runs the protocol.
    pub(crate) async fn run(&self) -> Ended {
        self.script(false).await
    }

    /// Runs the protocol, and keeps the worktrees.
    pub(crate) async fn run_and_keep(&self) -> Ended {
        self.script(true).await
    }

    async fn script(&self, keep: bool) -> Ended {
        run(Settings { keep, ..self.settings() }).await.unwrap()
    }

    /// The settings of a run over it.
    pub(crate) fn settings(&self) -> Settings {
        let (events, signal) = (self.events.clone(), self.signal.clone());
        let sink = move |event: Event| {
            if let (EventKind::NodeFinished { node, .. }, Some((awaited, file))) = (&event.kind, &signal)
                && node.node == *awaited
            {
                std::fs::write(file, "").unwrap();
            }
            events.lock().unwrap().push(event);
        };
        Settings {
            task: self.task.clone(),
            past: None,
            repository: self.repository(),
            main: "main".into(),
            land_on: None,
            run: "r1".parse().unwrap(),
            directory: self.slot.path().join("worktrees"),
            target_directory: target_directory(),
            journal: None,
            roles: Roles::all(self.agent.clone()),
            sink: Arc::new(sink),
            cancel: CancelToken::new(),
            keep: false,
            accept_weaker_isolation: false,
        }
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.slot.path().join("repository")
    }

    /// The path of a worktree of the run.
    pub(crate) fn worktree(&self, place: &str) -> PathBuf {
        self.slot.path().join("worktrees/r1").join(place)
    }

    pub(crate) fn trace(&self) -> Trace {
        Trace::new(&self.events.lock().unwrap())
    }

    /// The calls of an agent, in order.
    pub(crate) fn calls_of(&self, role: &str) -> Vec<Call> {
        self.agent.calls().into_iter().filter(|call| call.role == role).collect()
    }

    /// `git` in the repository.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.repository(), arguments)
    }

    /// The commits that the run kept in the archive: the name and the subject of each.
    pub(crate) fn archive(&self) -> Vec<(String, String)> {
        let references = self.git(&["for-each-ref", "--format=%(refname) %(subject)", "refs/interlocking/archive"]);
        let lines = references.lines().map(|line| {
            let (name, subject) = line.split_once(' ').unwrap();
            (name.strip_prefix("refs/interlocking/archive/r1/").unwrap().to_owned(), subject.to_owned())
        });
        lines.collect()
    }

    /// Compares a success with the repository, and gives the result.
    ///
    /// HY-25, HY-26: `main` is at the run's commit, with its files, and nothing of the run is left.
    #[track_caller]
    pub(crate) fn assert_landed(&self, ended: &Ended) -> HybridResult {
        let result = ended.result.clone().unwrap();
        assert!(result.succeeded(), "{:#?}", result.failure());
        assert_eq!(ended.main.1.to_string(), self.git(&["rev-parse", "main"]));
        assert_ne!(self.git(&["rev-parse", "main"]), self.base);
        self.git(&["merge-base", "--is-ancestor", &self.base, "main"]);
        assert_eq!(self.agent.unused(), [0; 0], "everything in the script was played");
        self.assert_tidy(ended, &result);
        result
    }

    /// Compares a failure with the repository, and gives the result and its reason.
    ///
    /// HY-25, CON-70: `main` is untouched. HY-26: the worktrees are gone. HY-258, CON-81: there is a result all the same, with a
    /// typed reason and everything that was gathered until then.
    #[track_caller]
    pub(crate) fn assert_not_landed(&self, ended: &Ended) -> (HybridResult, HybridFailure) {
        let result = ended.result.clone().unwrap();
        assert!(!result.succeeded());
        assert_eq!(self.git(&["rev-parse", "main"]), self.base);
        assert_eq!(ended.main.0, ended.main.1);
        self.assert_tidy(ended, &result);
        let failure = result.failure().cloned().unwrap();
        assert!(result.witness.narrative.ends_with(&format!("The run did not succeed: {failure}.")));
        let reread: HybridResult = serde_json::from_value(serde_json::to_value(&result).unwrap()).unwrap();
        assert_eq!(reread, result, "a result can be stored");
        (result, failure)
    }

    #[track_caller]
    fn assert_tidy(&self, ended: &Ended, result: &HybridResult) {
        assert!(ended.left_behind.is_none(), "{:?}", ended.left_behind);
        assert_eq!(worktrees_of(&self.repository()).into_keys().collect::<Vec<_>>(), [""; 0]);
        assert_eq!(self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]), "main");
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        self.git(&["fsck", "--strict"]);
        assert_eq!(result.lattice().checks().len(), 9);
        // HY-246: every call is counted, whatever its result.
        assert_eq!(result.total_cost, ended.ledger.total().cost);
    }
}

/// The result of a check.
#[track_caller]
pub(crate) fn check(result: &HybridResult, check: Check) -> (bool, &str) {
    let report = result.lattice().checks().iter().find(|report| report.check == check).unwrap();
    (report.status == VerificationStatus::Verified, &report.detail)
}

/// The git program, which reads only the repository's configuration.
#[track_caller]
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}
