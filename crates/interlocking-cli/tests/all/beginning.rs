//! Two processes begin a run of one name over a repository: each has the journal open, and a work directory of its own.

use crate::pair::Pair;
use crate::scene::Scene;
use crate::support::call;
use clap::Args;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::cli::repository::{Account, Conclusion, Location, RepositoryOptions, RepositoryRun};
use interlocking::cli::{Cli, CommandError, Exit, Prepared, Start};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Claim, JournalError};
use interlocking::runtime::roles::Roles;
use serde_json::Value;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a program is given for a new run.
#[derive(Clone)]
struct Given {
    location: Location,
    options: RepositoryOptions,
    start: Start,
}

/// The options of a new run.
#[derive(Args)]
struct New {
    #[command(flatten)]
    location: Location,
}

impl Given {
    /// What a process is given that is told to run `r1` with worktrees in this directory.
    async fn of_process(scene: &Scene, work: &str) -> Self {
        let given = Arc::new(Mutex::new(None));
        let for_set_up = given.clone();
        let none = |_: RepositoryOptions, _: Start| async { Err::<Prepared<Pair>, _>(CommandError::new("none")) };
        let cli = Cli::new("pair", none).with_new_runs(move |options: RepositoryOptions, new: New, start: Start| {
            *for_set_up.lock().unwrap() = Some(Self { location: new.location, options, start });
            async { Err::<(String, Prepared<Pair>), _>(CommandError::new("enough")) }
        });
        let (repo, work) = (scene.at("project").display().to_string(), scene.at(work).display().to_string());
        call(&cli, &scene.place, &["run", "--run-id", "r1", "--repo", &repo, "--work-dir", &work], None).await;
        let given = given.lock().unwrap().take();
        given.unwrap()
    }

    async fn claim(&self) -> Result<Claim, JournalError> {
        self.start.journal.claim(&self.start.run).await
    }

    /// A claim that was dropped is released a moment later.
    async fn claim_once_free(&self) -> Claim {
        let claimed = async {
            loop {
                match self.claim().await {
                    Err(JournalError::Held { .. }) => tokio::time::sleep(Duration::from_millis(5)).await,
                    claimed => return claimed.unwrap(),
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(10), claimed).await.unwrap()
    }

    async fn begin(&self) -> Result<RepositoryRun, CommandError> {
        RepositoryRun::begin(self.location.clone(), &self.options, self.start.clone(), ()).await
    }
}

#[tokio::test]
async fn of_two_runs_of_one_name_the_second_is_refused_and_leaves_what_the_first_has() {
    let scene = Scene::new();
    let (one, other) = (Given::of_process(&scene, "one").await, Given::of_process(&scene, "other").await);
    let mut first = one.begin().await.unwrap();
    let session = first.agents_directory().join("session");
    fs::write(&session, "what an agent remembers").unwrap();

    let refused = other.begin().await.unwrap_err();
    assert!(session.exists());
    assert_eq!(refused.exit(), Exit::Journal, "{refused}");
    assert!(refused.to_string().starts_with("run `r1` is being executed by "), "{refused}");

    // The executor gets the run from this process: no other comes in between.
    let run = first.ready(Run::new(Pair::default())).unwrap();
    for process in [&one, &other] {
        assert!(matches!(process.claim().await, Err(JournalError::Held { .. })));
    }
    let refused = other.begin().await.unwrap_err();
    assert_eq!(refused.exit(), Exit::Usage);
    let said = "there is a file of a run `r1` that is not in the journal";
    assert!(refused.to_string().contains(said), "{refused}");
    assert!(session.exists() && first.directory().exists() && !scene.at("other").exists());
    drop(run);
    other.claim_once_free().await;
}

/// What a run that has failed leaves is not removed under the hands of a process that has retried it in the meantime.
#[tokio::test]
async fn the_end_of_a_failed_run_leaves_alone_what_another_process_has_taken_up() {
    let scene = Scene::new();
    let (one, other) = (Given::of_process(&scene, "one").await, Given::of_process(&scene, "one").await);
    let facts = || -> Value { serde_json::from_slice(&fs::read(scene.at("journal/pair/r1.json")).unwrap()).unwrap() };
    let mut first = one.begin().await.unwrap();
    let silent = Arc::new(ScriptedAgent::new(Script::parse("nobody's", "").unwrap()));
    let run = Run::new(Pair::default()).with_roles(Roles::all(silent));
    let run = run.with_workspaces(Arc::new(first.workspaces().unwrap()));
    let run = run.with_id(one.start.run.clone()).with_journal(one.start.journal.clone());
    let report = first.ready(run).unwrap().start("a greeting".to_owned()).await.unwrap();
    assert!(matches!(report.outcome, Outcome::Failed(_)), "{:?}", report.outcome);

    drop(other.claim_once_free().await);
    let mut retried = other.start.clone();
    (retried.is_resumed, retried.is_retried) = (true, true);
    let mut second = RepositoryRun::<()>::resume(&other.options, retried).await.unwrap();
    let run = second.ready(Run::new(Pair::default())).unwrap();
    let work = second.directory().join("work");
    fs::write(&work, "of the retry").unwrap();
    // The retry may have stopped by then, and holds the run no more.
    drop(run);
    let head = scene.head("main").unwrap();
    let account = Account::new(&first, report.ledger, 0.0, (head, head), None::<()>).unwrap();
    let conclusion = Conclusion { exit: Exit::Failed, lines: Vec::new(), next: None, left_behind: None };
    let ending = first.finish(&account, conclusion, true, true).await.unwrap();
    assert_eq!(ending.exit, Exit::Failed);
    assert!(work.exists());
    assert_eq!(facts()["isThere"], true);
}

/// Another process holds the run for a moment, and does not execute it.
#[tokio::test]
async fn a_run_that_does_not_start_is_taken_back_once_nobody_holds_it() {
    let scene = Scene::new();
    let (one, other) = (Given::of_process(&scene, "one").await, Given::of_process(&scene, "other").await);
    let mut run = one.begin().await.unwrap();
    drop(run.ready(Run::new(Pair::default())).unwrap());
    let claim = other.claim_once_free().await;
    let directory = run.directory().to_owned();
    let (abandoned, ()) = tokio::join!(run.abandon(|| std::future::ready(())), async {
        tokio::time::sleep(Duration::from_millis(70)).await;
        assert!(directory.exists());
        drop(claim);
    });
    abandoned.unwrap();
    assert!(!directory.exists() && !scene.at("journal/pair").exists());
}

#[tokio::test]
async fn the_name_of_a_run_that_was_not_ready_is_free_and_its_directories_are_gone() {
    let scene = Scene::new();
    let given = Given::of_process(&scene, "one").await;
    for _ in 0..2 {
        let run = given.begin().await.unwrap();
        let directories = [run.agents_directory(), run.directory().to_owned()];
        assert!(directories.iter().all(|directory| directory.exists()));
        drop(run);
        assert!(!directories.iter().any(|directory| directory.exists()));
    }
}
