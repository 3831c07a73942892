use std::sync::Arc;

use async_trait::async_trait;
use interlocking_agents::{
    Agent, AgentError, AgentErrorKind, AgentEvent, Conversation, Decision, NoEvents, Reply, Schema, Sessions, Slug,
    Turn, TurnContext, Usage, deserializes_as,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::common::{Recorded, agent, article_schema, fresh, id, run};

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema and what it refuses are used")]
enum Review {
    Approved,
    MoreTests { missing: Vec<String> },
    Stuck(String),
    Branch(Named),
    Branches(#[schemars(with = "Vec<String>")] Vec<Slug>),
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema and what it refuses are used")]
struct Named {
    #[schemars(with = "String")]
    name: Slug,
}

fn review(prompt: &str) -> Turn {
    let schema = Schema::new(schemars::schema_for!(Review).to_value()).unwrap();
    Turn { schema: Some(Arc::new(schema)), ..fresh(prompt) }
}

fn decision(tool: &str, input: Value) -> Decision {
    Decision { tool: tool.to_owned(), input }
}

fn ignored(recorded: &Recorded) -> Vec<String> {
    let events = recorded.events().into_iter();
    events
        .filter_map(|event| match event {
            AgentEvent::DecisionIgnored { tool } => Some(tool),
            _ => None,
        })
        .collect()
}

/// PRG-07: the output is parsed from the call of a decision tool.
#[tokio::test]
async fn a_decision_becomes_the_output() {
    let agent = agent(
        r#"
        [[turn]]
        text = "Almost."
        [[turn.decide]]
        tool = "MoreTests"
        input = { missing = ["empty list"] }

        [[turn]]
        [[turn.decide]]
        tool = "Approved"
        "#,
    );
    let recorded = Recorded::default();
    let completion = Conversation::new(&agent).run(review("Review."), &recorded.sink()).await.unwrap();
    assert_eq!(completion.output, json!({ "MoreTests": { "missing": ["empty list"] } }));
    assert_eq!((completion.text.as_deref(), completion.corrections), (Some("Almost."), 0));
    let input = json!({ "missing": ["empty list"] });
    assert_eq!(recorded.events()[2], AgentEvent::ToolUse { name: "MoreTests".to_owned(), input: input.clone() });
    let said = &agent.history(&id("write-1")).unwrap()[0];
    assert_eq!((&said.output, &said.decisions), (&None, &vec![decision("MoreTests", input)]));

    assert_eq!(run(&agent, review("Review.")).await.unwrap().output, "Approved");
}

/// CON-38, EVO-08: exactly one decision is accepted per turn, the first.
#[tokio::test]
async fn further_decisions_are_ignored_and_reported() {
    let agent = agent(
        r#"
        [[turn]]
        [[turn.decide]]
        tool = "Stuck"
        input = { value = "no compiler" }
        [[turn.decide]]
        tool = "Approved"
        [[turn.decide]]
        tool = "no such tool"
        input = 3
        "#,
    );
    let recorded = Recorded::default();
    let completion = Conversation::new(&agent).run(review("Review."), &recorded.sink()).await.unwrap();
    assert_eq!((completion.output, completion.corrections), (json!({ "Stuck": "no compiler" }), 0));
    assert_eq!(ignored(&recorded), ["Approved", "no such tool"]);
}

/// PRG-07: an invalid input is corrected like any invalid output. The correction refers to the tool and not to the
/// enum, which the model does not know.
#[tokio::test]
async fn a_wrong_input_is_corrected() {
    let agent = agent(
        r#"
        [[turn]]
        decide = [{ tool = "MoreTests", input = { missing = "all" } }, { tool = "Approved" }]
        [[turn]]
        contains = ["does not fit the JSON schema"]
        decide = [{ tool = "Approved", input = { because = "it is good" } }]
        [[turn]]
        contains = ["`Approved`"]
        decide = [{ tool = "Stuck", input = { value = 3 } }]
        [[turn]]
        contains = ["`Stuck`"]
        decide = [{ tool = "Branch", input = { name = "Not A Slug" } }]
        [[turn]]
        contains = ["`Branch`"]
        decide = [{ tool = "Branches", input = { value = ["fine", "Not Fine"] } }]
        [[turn]]
        contains = ["`Branches`"]
        decide = [{ tool = "Branch", input = { name = "a-slug" } }]
        "#,
    );
    let recorded = Recorded::default();
    let conversation = Conversation::new(&agent).with_corrections(5).with_check(deserializes_as::<Review>);
    let completion = conversation.run(review("Review."), &recorded.sink()).await.unwrap();
    assert_eq!((completion.output, completion.corrections), (json!({ "Branch": { "name": "a-slug" } }), 5));
    assert_eq!(ignored(&recorded), ["Approved"], "not taken instead of the wrong one");

    let history = agent.history(&id("write-1")).unwrap();
    let asked: Vec<_> = history[1..].iter().map(|said| said.prompt.lines().nth(2).unwrap()).collect();
    assert_eq!(
        asked[..3],
        [
            "- at `/missing`: \"all\" is not of type \"array\" (in the input of tool `MoreTests`)",
            "- at the root: Additional properties are not allowed ('because' was unexpected) (in the input of tool \
             `Approved`)",
            "- at `/value`: 3 is not of type \"string\" (in the input of tool `Stuck`)",
        ]
    );
    // Valid for the schema, but refused by the type.
    for (message, begin, end) in [
        (asked[3], "- at `/name`: \"Not A Slug\" is not a slug: ", " (in the input of tool `Branch`)"),
        (asked[4], "- at `/value/1`: \"Not Fine\" is not a slug: ", " (in the input of tool `Branches`)"),
    ] {
        assert!(message.starts_with(begin) && message.ends_with(end), "{message}");
    }
}

/// PRG-07: an unknown tool is corrected, with a list of the available tools.
#[tokio::test]
async fn an_unknown_tool_is_corrected() {
    let agent = agent(
        r#"
        [[turn]]
        decide = [{ tool = "approved" }]
        [[turn]]
        contains = ['there is no tool "approved" to decide with; there are `Approved`, `MoreTests`, `Stuck`, `Branch`, `Branches`']
        decide = [{ tool = "Approved" }]
        "#,
    );
    let completion = run(&agent, review("Review.")).await.unwrap();
    assert_eq!((completion.output, completion.corrections), (json!("Approved"), 1));
}

#[tokio::test]
async fn a_decision_that_is_never_right_is_in_the_error_as_it_was() {
    for (decide, output) in [
        ("{ tool = \"Reject\", input = { why = 1 } }", json!({ "tool": "Reject", "input": { "why": 1 } })),
        ("{ tool = \"Stuck\" }", json!({ "tool": "Stuck", "input": {} })),
    ] {
        let agent = agent(&format!("[[turn]]\ntimes = \"any\"\ndecide = [{decide}]"));
        let error = run(&agent, review("Review.")).await.unwrap_err();
        let AgentErrorKind::OutputInvalid { corrections: 2, output: last, .. } = *error.kind else { panic!("{error}") };
        assert_eq!(last, Some(output));
    }
}

/// A decision without decision tools is as invalid as one with an unknown tool, and is not lost.
#[tokio::test]
async fn a_decision_where_there_are_no_tools_is_corrected() {
    let article = Turn { schema: Some(article_schema()), ..fresh("Write.") };
    for turn in [article, fresh("Write.")] {
        let agent = agent(
            r#"
            [[turn]]
            contains = ["Write."]
            decide = [{ tool = "Approved" }]
            [[turn]]
            contains = ['- at the root: there is no tool "Approved" to decide with, nor any other']
            output = { title = "t", words = 1 }
            "#,
        );
        assert_eq!(run(&agent, turn).await.unwrap().output, json!({ "title": "t", "words": 1 }));
    }
}

/// Returns a decision and an output for the same turn.
struct Both(Sessions);

#[async_trait]
impl Agent for Both {
    fn name(&self) -> &str {
        "both"
    }

    fn sessions(&self) -> &Sessions {
        &self.0
    }

    async fn run(&self, _: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let tools = turn.schema.as_ref().and_then(|schema| schema.decisions()).unwrap();
        let decisions = tools.into_iter().map(|tool| decision(&tool.name, json!({}))).collect();
        Ok(Reply { output: Some(json!({ "Stuck": "x" })), decisions, ..Reply::new(id("s-1"), Usage::default()) })
    }
}

#[tokio::test]
async fn an_output_goes_before_all_decisions() {
    let (agent, recorded) = (Both(Sessions::new()), Recorded::default());
    let completion = Conversation::new(&agent).run(review("Review."), &recorded.sink()).await.unwrap();
    assert_eq!(completion.output, json!({ "Stuck": "x" }));
    assert_eq!(ignored(&recorded), ["Approved", "MoreTests", "Stuck", "Branch", "Branches"]);
}

/// A resumed process finds its decisions again.
#[tokio::test]
async fn decisions_are_remembered_in_histories() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.json");
    let opened = || agent("[[turn]]\ndecide = [{ tool = \"Approved\" }]").with_memory(&file).unwrap();
    Conversation::new(&opened()).run(review("Review."), &NoEvents).await.unwrap();
    assert_eq!(opened().history(&id("write-1")).unwrap()[0].decisions, [decision("Approved", json!({}))]);
}
