use std::fs;
use std::sync::Arc;

use interlocking_agents::{AgentErrorKind, Conversation, NoEvents, Schema, Script, ScriptedAgent, Turn};
use serde_json::json;

use crate::common::{article_schema, fresh, fresh_in, run};

const README: &str = include_str!("../../README.md");

/// The first code block in this language that contains the text.
fn block(language: &str, containing: &str) -> String {
    README
        .split("```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'))
        .find(|block| block.contains(containing))
        .unwrap_or_else(|| panic!("no {language} block with {containing:?}"))
        .to_owned()
}

fn example() -> ScriptedAgent {
    ScriptedAgent::new(Script::parse("newsroom.toml", &block("toml", "[[turn]]")).unwrap())
}

#[tokio::test]
async fn the_example_script_plays() {
    let workspace = tempfile::tempdir().unwrap();
    let agent = example();
    let by = |role: &str, prompt: &str| Turn {
        role: Some(role.to_owned()),
        schema: Some(article_schema()),
        ..fresh_in(workspace.path(), prompt)
    };
    let conversation = Conversation::new(&agent);
    let written =
        conversation.run(by("writer", "Write an article about the borrow checker."), &NoEvents).await.unwrap();
    assert_eq!(written.output, json!({ "title": "Borrowing", "words": 5 }));
    assert_eq!(written.corrections, 1);
    assert_eq!(written.usage.to_string(), "$0.0143 in 2 calls, 1200 tokens in, 340 tokens out");

    let reviewed = conversation.run(by("critic", "Review it."), &NoEvents).await.unwrap();
    assert_eq!(reviewed.output["title"], "Borrowing, reviewed");
    let article = fs::read_to_string(workspace.path().join("article.md")).unwrap();
    assert_eq!(article, "# Borrowing\n\nRust lends, and gets it back.\n");
    assert_eq!(fs::read_to_string(workspace.path().join("reviews.log")).unwrap(), "reviewed\n");
    assert!(!workspace.path().join("check.sh").exists());

    let error = conversation.run(by("writer", "Publish it."), &NoEvents).await.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::RateLimited { retry_after: None });
    assert_eq!(agent.unused().len(), 1, "the critic could be asked once more");
}

#[tokio::test]
async fn the_example_script_decides() {
    let agent = ScriptedAgent::new(Script::parse("decides.toml", &block("toml", "[[turn.decide]]")).unwrap());
    let schema = Schema::new(json!({ "oneOf": [
        { "const": "Approved" },
        { "type": "object", "properties": { "MoreTests": { "type": "object" } }, "required": ["MoreTests"] }
    ] }));
    let turn = Turn { schema: Some(Arc::new(schema.unwrap())), role: Some("critic".to_owned()), ..fresh("Review it.") };
    assert_eq!(run(&agent, turn).await.unwrap().output, json!({ "MoreTests": { "missing": ["an empty list"] } }));
}

#[tokio::test]
async fn the_example_error_is_the_real_one() {
    let workspace = tempfile::tempdir().unwrap();
    let agent = example();
    let writer = |turn: Turn| Turn { role: Some("writer".to_owned()), ..turn };
    let first = fresh_in(workspace.path(), "Write an article about the borrow checker.");
    run(&agent, writer(first)).await.unwrap();
    let error = run(&agent, writer(fresh("Write an article about lifetimes."))).await.unwrap_err();
    assert_eq!(error.to_string(), block("text", "agent: writer").trim_end());
}

#[test]
fn the_example_mistake_is_the_real_one() {
    let error = Script::parse("newsroom.toml", "\n[[turn]]\ncontain = [\"x\"]").unwrap_err().to_string();
    let shown = block("text", "there is no such field");
    assert!(error.starts_with(shown.trim_end().trim_end_matches('…')), "{error}");
}
