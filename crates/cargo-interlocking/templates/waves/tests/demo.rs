//! Runs the graph in a new git repository, with agents that the script `demo.toml` plays: no model, key or network is needed.

use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use interlocking::worktree::{Repository, Signature};
use project_name::graph::{Goal, Waves};
use std::sync::Arc;

#[tokio::test]
async fn the_waves_land_as_one() {
    let place = tempfile::tempdir().unwrap();
    let project = Repository::init(place.path().join("project")).unwrap();
    let main = project.main_worktree().unwrap().unwrap();
    std::fs::write(main.path().join("README.md"), "# Greetings\n").unwrap();
    main.commit_all(&Signature::new("Me", "me@example.org").unwrap(), "Begin")
        .unwrap();

    let script = Script::read(concat!(env!("CARGO_MANIFEST_DIR"), "/demo.toml")).unwrap();
    let agent = Arc::new(ScriptedAgent::new(script));
    let run = Run::new(Waves::default())
        .with_agent_for_others(agent.clone())
        .with_workspaces(Arc::new(GitWorkspaces::new(
            project.clone(),
            place.path().join("runs"),
        )));
    let landed = run
        .start(Goal {
            text: "a greeting".to_owned(),
        })
        .await
        .unwrap()
        .outcome
        .finished()
        .unwrap();

    assert_eq!(main.head().unwrap(), landed);
    assert!(
        ["hello.sh", "world.sh", "greet.sh"]
            .iter()
            .all(|file| main.path().join(file).exists())
    );
    assert!(project.branches().unwrap().len() == 1 && project.worktrees().unwrap().is_empty());
    assert!(agent.unused().is_empty(), "{:?}", agent.unused());
}
