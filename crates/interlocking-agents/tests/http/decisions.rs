use interlocking_agents::{AgentEvent, Conversation, HttpAnswers, HttpModel, HttpProvider, HttpSettings, Turn};
use interlocking_model_server::{Block, ModelServer, Reaction, Rule, Script};
use serde_json::{Value, json};

use crate::common::{PROVIDERS, Recorded, Verdict, always, article, fresh, go_on, key, run, schema, settings};

fn deciding(server: &ModelServer, provider: HttpProvider) -> HttpModel {
    HttpModel::new(HttpSettings { answers: HttpAnswers::Decisions, ..settings(server, provider) }).with_key(key())
}

fn review() -> Turn {
    Turn { schema: schema::<Verdict>(), ..fresh("Review.") }
}

/// PRG-07: an enum becomes one tool per variant, and a call of a tool becomes the output.
#[tokio::test]
async fn a_model_decides_by_calling_a_tool() {
    for provider in PROVIDERS {
        let script = Script::new().rule(
            Rule::asked("Review.")
                .offers("Approved")
                .offers("Rejected")
                .reply(Reaction::tool("Rejected", json!({ "reasons": ["long"] }))),
        );
        let server = ModelServer::start(script).unwrap();
        let recorded = Recorded::default();
        let model = deciding(&server, provider);
        let completion = Conversation::new(&model).run(review(), &recorded.sink()).await.unwrap();
        assert_eq!(completion.output, json!({ "Rejected": { "reasons": ["long"] } }), "{provider}");
        let call = AgentEvent::ToolUse { name: "Rejected".to_owned(), input: json!({ "reasons": ["long"] }) };
        assert!(recorded.events().contains(&call), "{:?}", recorded.events());

        let request = &server.requests()[0];
        assert_eq!(request.schema(), None, "a decision is no answer in JSON");
        let demanded = match provider {
            HttpProvider::Anthropic => request.body["tool_choice"] == Value::Null,
            HttpProvider::Gemini => {
                request.body.pointer("/toolConfig/functionCallingConfig/mode") == Some(&json!("ANY"))
            }
            _ => request.body["tool_choice"] == "required",
        };
        assert!(demanded, "{provider}: {}", request.body);
        assert!(request.body.to_string().contains("It has to be done again."), "what the variant means is told");
        assert!(request.system().contains("calling exactly one of the tools"));
    }
}

/// CON-38: one decision is accepted.
#[tokio::test]
async fn the_first_of_several_decisions_counts() {
    for provider in PROVIDERS {
        let calls = [
            Block::Text("Fine.".to_owned()),
            Block::Tool { name: "Approved".to_owned(), input: json!({}) },
            Block::Tool { name: "Rejected".to_owned(), input: json!({ "reasons": [] }) },
        ];
        let server = always(Reaction::blocks(calls));
        let recorded = Recorded::default();
        let model = deciding(&server, provider);
        let completion = Conversation::new(&model).run(review(), &recorded.sink()).await.unwrap();
        assert_eq!(completion.output, json!("Approved"), "{provider}");
        assert_eq!(completion.text.as_deref(), Some("Fine."));
        assert!(recorded.events().contains(&AgentEvent::DecisionIgnored { tool: "Rejected".to_owned() }));
    }
}

/// Decisions are described in words when the session continues: tool calls would need results, and the tools would have
/// to be offered again.
#[tokio::test]
async fn a_wrong_decision_is_corrected_and_the_session_goes_on_without_tools() {
    for provider in PROVIDERS {
        let script = Script::new()
            .rule(Rule::any().prompt("in the input of tool `Rejected`").reply(Reaction::tool("Approved", json!({}))))
            .rule(Rule::asked("Review.").reply(Reaction::tool("Rejected", json!({ "reasons": "long" }))))
            .rule(Rule::asked("Why?").reply(Reaction::text("It is short.")));
        let server = ModelServer::start(script).unwrap();
        let model = deciding(&server, provider);
        let completion = Conversation::new(&model).run(review(), &|_| {}).await.unwrap();
        assert_eq!((completion.output, completion.corrections), (json!("Approved"), 1), "{provider}");
        let why = run(&model, go_on(&completion.session, "Why?")).await.unwrap();
        assert_eq!(why.text.as_deref(), Some("It is short."));

        let last = server.requests().pop().unwrap();
        assert!(last.tools().is_empty());
        let texts: Vec<_> = last.texts().collect();
        assert_eq!(texts.len(), 5, "{texts:?}");
        assert_eq!(texts[1], "[called `Rejected` with {\"reasons\":\"long\"}]", "{provider}");
        assert_eq!(texts[3], "[called `Approved` with {}]", "{provider}");
        server.assert_all_matched();
    }
}

#[tokio::test]
async fn what_is_no_sum_type_is_asked_for_as_a_whole() {
    let server = always(Reaction::output(json!({ "title": "Borrowing" })));
    let turn = Turn { schema: article(), ..fresh("Write.") };
    let completion = run(&deciding(&server, HttpProvider::OpenAi), turn).await.unwrap();
    assert_eq!(completion.output, json!({ "title": "Borrowing" }));
    assert!(server.requests()[0].tools().is_empty());
    assert!(server.requests()[0].schema().is_some());
}
