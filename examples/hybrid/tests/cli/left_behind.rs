//! What remains of a run when it is over, however it has ended: its journal, the file with its paths, its commits and nothing
//! else.

use crate::artefacts::target_directory;
use crate::program::{Process, Ran, Repository, Session, Traces, without_mutants};
use std::fs;
use std::process::Command;

/// A repository and a journal, and their state before the run.
struct Scene {
    repository: Repository,
    session: Session,
    before: Traces,
}

impl Scene {
    async fn new() -> Self {
        let (repository, session) = (Repository::new().await, Session::new());
        let before = repository.traces();
        Self { repository, session, before }
    }

    /// The program. Its temporary files are checked, too.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.session.command(words);
        command.env("TMPDIR", self.repository.directory.path().join("temporary"));
        command
    }

    /// `run` as `r1` with these options.
    fn run(&self, more: &[&str]) -> Command {
        let target = target_directory();
        let more = [more, &["--run-id", "r1", "--target-dir", target.to_str().unwrap()]].concat();
        let arguments = self.repository.arguments(&more);
        self.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// A run whose first agent works for as long as the test needs.
    fn slow(&self) -> Process {
        let script = self.session.path().join("slow.toml");
        fs::write(&script, "[[turn]]\nagent = \"types\"\ndelay = \"10m\"\noutput = {}\n").unwrap();
        let mut process = Process::spawn(self.run(&["--script", script.to_str().unwrap()]));
        let is_at_work = |shown: &serde_json::Value| shown["executions"][0]["sessions"].is_array();
        self.session.wait_until(&mut process, "the agent starts", is_at_work);
        assert_ne!(self.repository.traces(), self.before, "the run is under way");
        process
    }

    #[track_caller]
    fn assert_nothing_is_left(&self) {
        assert_eq!(self.repository.traces(), self.before);
        assert_eq!(self.session.journal(), ["holders", "hybrid", "journal.db", "lock"]);
        assert_eq!(self.session.beside(), ["r1.json"]);
        assert_eq!(fs::read_dir(self.session.path().join("journal/holders")).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn nothing_is_left_of_a_run_that_succeeded() {
    let scene = Scene::new().await;
    let ran = Ran::of(scene.run(&["--scenario", "happy"]).output().unwrap());
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    scene.assert_nothing_is_left();
}

#[tokio::test]
async fn nothing_is_left_of_a_run_that_failed() {
    let scene = Scene::new().await;
    let ran = Ran::of(scene.run(&["--scenario", "build_lie"]).output().unwrap());
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    scene.assert_nothing_is_left();
}

/// The process that executes the run cleans up.
#[tokio::test]
async fn nothing_is_left_of_a_run_that_was_cancelled_under_way() {
    let scene = Scene::new().await;
    let process = scene.slow();
    let second = scene.session.call(&["resume", "r1"]);
    assert_eq!((second.exit, second.stdout.as_str()), (Some(7), ""), "{}", second.stderr);
    assert_eq!(scene.session.call(&["cancel", "r1"]).exit, Some(0));
    let ran = process.wait();
    assert_eq!(ran.exit, Some(6), "{}", ran.stderr);
    assert!(ran.stderr.contains("\nCancelled; `main` is where it was.\n"), "{}", ran.stderr);
    scene.assert_nothing_is_left();
}

/// No process executes the run, so the process that cancels it cleans up.
#[tokio::test]
async fn nothing_is_left_of_a_run_that_was_cancelled_while_it_stood_still() {
    let scene = Scene::new().await;
    let process = scene.slow();
    process.interrupt();
    assert_eq!(process.wait().exit, Some(6));
    assert_ne!(scene.repository.traces(), scene.before, "it can be resumed");
    let cancelled = Ran::of(scene.command(&["cancel", "r1"]).output().unwrap());
    assert_eq!((cancelled.exit, cancelled.stderr.as_str()), (Some(0), "r1 is cancelled\n"));
    scene.assert_nothing_is_left();
    let resumed = scene.session.call(&["resume", "r1"]);
    assert_eq!(resumed.exit, Some(6), "it tells again how it ended: {}", resumed.stderr);
    scene.assert_nothing_is_left();
}

#[tokio::test]
async fn nothing_is_left_of_a_run_that_was_killed_and_resumed() {
    let scene = Scene::new().await;
    let task = without_mutants(scene.session.path());
    let mut process = Process::spawn(scene.run(&["--spec", &task, "--scenario", "happy"]));
    scene.session.wait_until_done(&mut process, "blind_fork", 1);
    process.kill();
    assert_ne!(scene.repository.traces(), scene.before, "it can be resumed");
    let ran = Ran::of(scene.command(&["resume", "r1"]).output().unwrap());
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    scene.assert_nothing_is_left();
}
