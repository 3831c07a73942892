//! Runs the graph with agents that the script `demo.toml` plays: no model, key or network is needed.

use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use project_name::graph::BestOfThree;
use std::sync::Arc;

#[tokio::test]
async fn the_answer_that_the_judge_chooses_is_given() {
    let script = Script::read(concat!(env!("CARGO_MANIFEST_DIR"), "/demo.toml")).unwrap();
    let agent = Arc::new(ScriptedAgent::new(script));
    let run = Run::new(BestOfThree::default()).with_agent_for_others(agent.clone());
    let report = run.start("What makes the tides?".to_owned()).await.unwrap();
    assert_eq!(
        report.outcome.finished().unwrap().text,
        "The moon, and less the sun."
    );
    assert!(agent.unused().is_empty(), "{:?}", agent.unused());
}

#[tokio::test]
async fn an_answer_that_there_is_not_fails_the_run() {
    let script = r#"turn = [
        { contains = ["Answer this"], output = { text = "The moon." }, times = 3 },
        { contains = ["Which of these answers"], output = { best = 4 } },
    ]"#;
    let agent = ScriptedAgent::parse("four.toml", script).unwrap();
    let run = Run::new(BestOfThree::default()).with_agent_for_others(agent);
    let failed = run.start("What makes the tides?".to_owned()).await.unwrap();
    let Outcome::Failed(failure) = failed.outcome else {
        panic!("there are three answers")
    };
    assert_eq!(failure.message, "the judge chose answer 4 of 3");
}
