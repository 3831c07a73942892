//! The graph, played by the script `demo.toml`, in a git repository of its own: without a model, a key or a network.

use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use interlocking::worktree::{Repository, Signature};
use project_name::graph::BlindPair;
use std::sync::Arc;

#[tokio::test]
async fn what_passes_its_check_lands() {
    let place = tempfile::tempdir().unwrap();
    let project = Repository::init(place.path().join("project")).unwrap();
    let main = project.main_worktree().unwrap().unwrap();
    std::fs::write(main.path().join("README.md"), "# Greetings\n").unwrap();
    main.commit_all(&Signature::new("Me", "me@example.org").unwrap(), "Begin")
        .unwrap();

    let script = Script::read(concat!(env!("CARGO_MANIFEST_DIR"), "/demo.toml")).unwrap();
    let agent = Arc::new(ScriptedAgent::new(script));
    let run = Run::new(BlindPair::default())
        .with_agent_for_others(agent.clone())
        .with_workspaces(Arc::new(GitWorkspaces::new(
            project.clone(),
            place.path().join("runs"),
        )));
    let landed = run
        .start("a greeting".to_owned())
        .await
        .unwrap()
        .outcome
        .finished()
        .unwrap();

    assert_eq!(main.head().unwrap(), landed);
    assert!(main.path().join("program.sh").exists() && main.path().join("check.sh").exists());
    assert!(project.branches().unwrap().len() == 1 && project.worktrees().unwrap().is_empty());
    assert!(agent.unused().is_empty(), "{:?}", agent.unused());
}
