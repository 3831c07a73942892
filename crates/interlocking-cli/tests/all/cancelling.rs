//! Cancelling a run also removes what it has outside the journal.

use crate::support::{Closed, Program, call_printing};
use interlocking::cli::{CommandError, Start};
use interlocking::runtime::journal::fork::{ForkPoint, fork};
use std::sync::{Arc, Mutex};

/// No process executes the run, also not during the removal. Another `cancel` repeats a removal that has failed, or
/// whose process was killed.
#[tokio::test]
async fn who_cancels_a_run_that_nobody_executes_clears_up() {
    let cleared = Arc::new(Mutex::new(Vec::new()));
    let seen = cleared.clone();
    let program = Program::new().with_cleanup(move |start: Start| {
        let seen = seen.clone();
        async move {
            let is_held = start.journal.claim(&start.run).await.is_err();
            seen.lock().unwrap().push((start.run.to_string(), is_held));
            if start.run.as_str() == "r2" { Err(CommandError::new("the worktree is in use")) } else { Ok(()) }
        }
    });
    let mut pages = String::new();
    for run in ["r1", "r2"] {
        program.waiting(run).await;
        pages += &program.call(&["cancel", run]).await.page();
    }
    for run in ["r1", "r2"] {
        pages += &program.call(&["cancel", run]).await.page();
    }
    assert_eq!(*cleared.lock().unwrap(), ["r1", "r2", "r1", "r2"].map(|run| (run.to_owned(), true)));
    expect_test::expect![[r#"
        exit 0
        ! r1 is cancelled
        exit 8
        ! r2 is cancelled
        ! error: the worktree is in use
        !   to do: `review cancel r2 --journal PLACE` tries that again
        exit 0
        ! r1 was cancelled before
        exit 8
        ! r2 was cancelled before
        ! error: the worktree is in use
        !   to do: `review cancel r2 --journal PLACE` tries that again
    "#]]
    .assert_eq(&pages);
}

#[tokio::test]
async fn a_closed_output_does_not_keep_a_cancelled_run_from_being_cleared_up() {
    let cleared = Arc::new(Mutex::new(Vec::new()));
    let seen = cleared.clone();
    let program = Program::new().with_cleanup(move |start: Start| {
        seen.lock().unwrap().push(start.run.to_string());
        async { Ok(()) }
    });
    program.waiting("r1").await;
    let ran = call_printing(&program.cli, &program.place, &["cancel", "r1", "--json"], None, Closed).await;
    assert_eq!((ran.exit, &*cleared.lock().unwrap()), (8, &vec!["r1".to_owned()]), "{ran:?}");
}

/// Nobody takes up a run whose worktrees are gone.
#[tokio::test]
async fn runs_are_held_from_their_clean_up_until_they_are_removed() {
    let held = Arc::new(Mutex::new(Vec::new()));
    let seen = held.clone();
    let program = Program::new().with_cleanup(move |start: Start| {
        let seen = seen.clone();
        async move {
            let is_first_held = start.journal.claim(&"r1".parse()?).await.is_err();
            seen.lock().unwrap().push((start.run.to_string(), is_first_held));
            Ok(())
        }
    });
    for run in ["r1", "r2"] {
        program.waiting(run).await;
    }
    let pruned = program.call(&["prune", "--keep-last", "0", "--unfinished", "--json"]).await;
    assert_eq!((pruned.exit, &pruned.json()["runs"]), (0, &serde_json::json!(["r1", "r2"])));
    assert_eq!(*held.lock().unwrap(), [("r1".to_owned(), true), ("r2".to_owned(), true)]);
}

/// A run that stops between the clean-up and the removal is cleaned up, too. With `--json`, errors are JSON.
#[tokio::test]
async fn nothing_is_left_of_a_run_that_is_removed_with_others() {
    let cleared = Arc::new(Mutex::new(Vec::new()));
    let seen = cleared.clone();
    let program = Program::new().with_cleanup(move |start: Start| {
        let seen = seen.clone();
        async move {
            seen.lock().unwrap().push(start.run.to_string());
            if start.run.as_str() == "r1" {
                fork(&*start.journal, &start.run, &ForkPoint::End, &"late".parse()?).await?;
            }
            Err(CommandError::new("the worktree is in use"))
        }
    });
    program.waiting("r1").await;
    let pruned = program.call(&["prune", "--keep-last", "0", "--unfinished", "--json"]).await;
    assert_eq!((pruned.exit, &pruned.json()["runs"]), (8, &serde_json::json!(["r1", "late"])));
    assert_eq!(*cleared.lock().unwrap(), ["r1", "late"]);
    let errors: Vec<serde_json::Value> =
        pruned.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let what =
        ["r1", "late"].map(|run| format!("not all that {run} has made could be removed: the worktree is in use"));
    assert_eq!(errors.iter().map(|error| error["error"]["what"].as_str().unwrap()).collect::<Vec<_>>(), what);
}
