//! A repository, a script, and a run over them.

use hybrid::demo::{self, Scenario};
use hybrid::run::{Ended, Settings, run};
use hybrid::spec::{SpecFormat, Task};
use hybrid::stage::lay_out;
use interlocking::agents::{Agent, Script, ScriptedAgent};
use interlocking::runtime::{Cancel, Event};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// A repository for one test.
pub struct Stage {
    directory: TempDir,
    pub task: Task,
    pub agent: Arc<ScriptedAgent>,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Stage {
    /// The demonstration's seed and task, with the agents of a scenario.
    pub async fn new(scenario: Scenario) -> Self {
        Self::with_script(scenario.name(), scenario.script()).await
    }

    /// The same with other agents.
    pub async fn with_script(name: &str, script: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        lay_out(&directory.path().join("repository"), &target_directory()).await.unwrap();
        let script = Script::parse(name, script).unwrap();
        let agent = Arc::new(ScriptedAgent::new(script));
        let task = Task::parse("spec.toml", demo::SPEC, SpecFormat::Toml).unwrap();
        Self { directory, task, agent, events: Arc::default() }
    }

    /// Runs the protocol.
    pub async fn run(&self) -> Ended {
        self.run_with(self.agent.clone(), false).await
    }

    /// Runs the protocol with another agent, or keeps its worktrees.
    pub async fn run_with(&self, agent: Arc<dyn Agent>, keep: bool) -> Ended {
        let events = self.events.clone();
        let settings = Settings {
            task: self.task.clone(),
            repository: self.repository(),
            main: "main".into(),
            run: "r1".parse().unwrap(),
            directory: self.directory.path().join("worktrees"),
            target_directory: target_directory(),
            agent,
            sink: Arc::new(move |event: Event| events.lock().unwrap().push(event)),
            cancel: Cancel::new(),
            keep,
        };
        run(settings).await.unwrap()
    }

    pub fn repository(&self) -> PathBuf {
        self.directory.path().join("repository")
    }

    pub fn worktree(&self, name: &str) -> PathBuf {
        self.directory.path().join("worktrees").join(format!("{name}-r1"))
    }

    /// Every event of the run.
    pub fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }

    /// `git` in the repository.
    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.repository(), arguments)
    }
}

/// The git program, which reads no configuration but the repository's own.
pub fn git(directory: &Path, arguments: &[&str]) -> String {
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

/// One for all tests: what the demonstration depends on is compiled once.
pub fn target_directory() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("demonstration")
}
