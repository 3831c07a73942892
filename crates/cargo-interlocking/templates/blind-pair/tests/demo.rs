//! Runs the graph in a new git repository, with agents that the script `demo.toml` plays: no model, key or network is needed.

use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use interlocking::worktree::{CommitId, Repository, Signature};
use project_name::graph::BlindPair;
use std::path::Path;
use std::sync::Arc;

/// Runs the graph with `agent` and the task "a greeting" in a new repository in `place`: the repository and the outcome.
async fn played(place: &Path, agent: Arc<ScriptedAgent>) -> (Repository, Outcome<CommitId>) {
    let project = Repository::init(place.join("project")).unwrap();
    let main = project.main_worktree().unwrap().unwrap();
    std::fs::write(main.path().join("README.md"), "# Greetings\n").unwrap();
    main.commit_all(&Signature::new("Me", "me@example.org").unwrap(), "Begin")
        .unwrap();

    let run = Run::new(BlindPair::default())
        .with_agent_for_others(agent)
        .with_workspaces(Arc::new(GitWorkspaces::new(
            project.clone(),
            place.join("runs"),
        )));
    let report = run.start("a greeting".to_owned()).await.unwrap();
    (project, report.outcome)
}

fn script() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/demo.toml")).unwrap()
}

fn agent(script: &str) -> Arc<ScriptedAgent> {
    Arc::new(ScriptedAgent::new(
        Script::parse("demo.toml", script).unwrap(),
    ))
}

#[tokio::test]
async fn what_passes_its_check_lands() {
    let place = tempfile::tempdir().unwrap();
    let agent = agent(&script());
    let (project, outcome) = played(place.path(), agent.clone()).await;
    let landed = outcome.finished().unwrap();

    let main = project.main_worktree().unwrap().unwrap();
    assert_eq!(main.head().unwrap(), landed);
    assert!(main.path().join("program.sh").exists() && main.path().join("check.sh").exists());
    assert!(project.branches().unwrap().len() == 1 && project.worktrees().unwrap().is_empty());
    assert!(agent.unused().is_empty(), "{:?}", agent.unused());
}

#[tokio::test]
async fn what_fails_its_check_does_not_land_and_what_the_check_said_is_told() {
    let place = tempfile::tempdir().unwrap();
    let fails = script().replace(
        "test \\\"$(sh program.sh)\\\" = hello",
        "sh program.sh; env; sleep 3000 & exit 1",
    );
    let (project, outcome) = played(place.path(), agent(&fails)).await;
    let Outcome::Failed(failure) = outcome else {
        panic!("{outcome:?}")
    };

    let main = project.main_worktree().unwrap().unwrap();
    assert!(!main.path().join("program.sh").exists());
    let said = failure.to_string();
    assert!(
        said.contains("nothing lands") && said.contains("hello"),
        "{said}"
    );
    assert!(
        said.contains("PATH=") && !said.contains("CARGO"),
        "the check has variables of this process: {said}"
    );
}
