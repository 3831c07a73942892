//! Two processes begin a run of one name over a repository: each has the journal open, and a work directory of its own.

use crate::pair::Pair;
use crate::repository::Scene;
use crate::support::call;
use clap::Args;
use interlocking::cli::repository::{Location, RepositoryOptions, RepositoryRun};
use interlocking::cli::{Cli, CommandError, Exit, Prepared, Start};
use std::fs;
use std::sync::{Arc, Mutex};

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

    let refused = other.begin().await.and_then(|mut second| {
        // Both are set up, and the first is ready first.
        first.ready().unwrap();
        second.ready()
    });
    assert!(session.exists());
    let refused = refused.unwrap_err();
    assert_eq!(refused.exit(), Exit::Journal, "{refused}");
    assert!(refused.to_string().starts_with("run `r1` is being executed by "), "{refused}");

    // Nothing holds the run until its executor claims it.
    first.ready().unwrap();
    let refused = other.begin().await.unwrap_err();
    assert_eq!(refused.exit(), Exit::Usage);
    let said = "there is a file of a run `r1` that is not in the journal";
    assert!(refused.to_string().contains(said), "{refused}");
    let _executor = one.start.journal.claim(&one.start.run).await.unwrap();
    assert_eq!(other.begin().await.unwrap_err().to_string(), refused.to_string());
    assert!(session.exists() && first.directory().exists() && !scene.at("other").exists());
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
