//! Runs the graph with an agent that the script `demo.toml` plays: no model, key or network is needed.

use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Journal, Letter, LetterBody, MemoryJournal};
use project_name::graph::{Assignment, Correspondence};
use std::sync::Arc;

fn run(journal: &Arc<MemoryJournal>) -> Run<Correspondence> {
    let script = Script::read(concat!(env!("CARGO_MANIFEST_DIR"), "/demo.toml")).unwrap();
    Run::new(Correspondence::default())
        .with_agent_for_others(ScriptedAgent::new(script))
        .with_journal(journal.clone())
}

/// Answers the only open question, as another process could, days later.
async fn answer(
    journal: &MemoryJournal,
    outcome: Outcome<project_name::graph::Letter>,
    answer: &str,
) {
    let Outcome::Waiting { questions } = outcome else {
        panic!("nobody is asked")
    };
    let body = LetterBody::Answer {
        to: questions[0].by.clone(),
        answer: answer.into(),
    };
    journal
        .post(&questions[0].run, Letter { key: None, body })
        .await
        .unwrap();
}

#[tokio::test]
async fn a_letter_goes_out_once_it_is_approved() {
    let journal = Arc::new(MemoryJournal::new());
    let asked = run(&journal)
        .start(Assignment {
            about: "the tides".to_owned(),
            wish: None,
        })
        .await
        .unwrap();
    answer(
        &journal,
        asked.outcome,
        r#"{"approved": false, "wish": "say why"}"#,
    )
    .await;
    let asked = run(&journal).resume().await.unwrap();
    answer(&journal, asked.outcome, r#"{"approved": true}"#).await;
    let report = run(&journal).resume().await.unwrap();
    assert_eq!(
        report.outcome.finished().unwrap().text,
        "The tide is late: the moon is. Regards."
    );
}
