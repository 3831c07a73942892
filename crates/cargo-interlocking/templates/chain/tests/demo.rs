//! Runs the graph with agents that the script `demo.toml` plays: no model, key or network is needed.

use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use project_name::graph::{Article, Topic};
use std::sync::Arc;

#[tokio::test]
async fn a_draft_is_written_again_until_the_reviewer_finds_no_fault() {
    let script = Script::read(concat!(env!("CARGO_MANIFEST_DIR"), "/demo.toml")).unwrap();
    let agent = Arc::new(ScriptedAgent::new(script));
    let run = Run::new(Article::default()).with_agent_for_others(agent.clone());
    let report = run
        .start(Topic {
            subject: "tides".to_owned(),
        })
        .await
        .unwrap();
    assert_eq!(report.visits_of("draft"), 2);
    assert_eq!(
        report.outcome.finished().unwrap().text,
        "The moon pulls, and the sea gives way."
    );
    assert!(agent.unused().is_empty(), "{:?}", agent.unused());
}
