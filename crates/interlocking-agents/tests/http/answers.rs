use interlocking_agents::{
    Agent, AgentEvent, Conversation, Cost, HttpAnswers, HttpModel, HttpPrices, HttpProvider, HttpSettings,
    SchemaSupport, Turn,
};
use interlocking_model_server::{Block, Dialect, ModelServer, Reaction, Rule, Script, Usage};
use serde_json::{Value, json};

use crate::common::{KEY, PROVIDERS, Recorded, Verdict, always, article, fresh, key, model, run, schema, settings};

#[tokio::test]
async fn a_plain_answer_with_its_tokens() {
    let usage = Usage { input: 1200, cached: 300, cache_written: 0, output: 340 };
    for provider in PROVIDERS {
        let server = always(Reaction::text("Borrowing is lending.").with_usage(usage));
        let (recorded, model) = (Recorded::default(), model(&server, provider));
        let turn = Turn { system: Some("Be brief.".to_owned()), ..fresh("What is borrowing?") };
        let completion = Conversation::new(&model).run(turn, &recorded.sink()).await.unwrap();

        assert_eq!(completion.text.as_deref(), Some("Borrowing is lending."), "{provider}");
        assert_eq!(completion.output, Value::Null);
        let used = completion.usage;
        assert_eq!((used.calls, used.input_tokens, used.output_tokens, used.unpriced_calls), (1, 1500, 340, 1));
        let request = &server.requests()[0];
        assert_eq!(
            (request.model(), request.system(), &*request.prompt()),
            ("model-x", "Be brief.", "What is borrowing?")
        );
        assert!(request.streams(), "{provider}: silence is told from thinking");
        assert_eq!(request.schema(), None);
        assert!(request.tools().is_empty());
        assert_eq!(
            recorded.events(),
            [
                AgentEvent::Started { session: completion.session.clone() },
                AgentEvent::Text { text: "Borrowing is lending.".to_owned() },
                AgentEvent::Finished { session: Some(completion.session), usage: used },
            ]
        );
    }
}

#[tokio::test]
async fn each_provider_gets_the_key_and_the_schema_in_its_own_way() {
    for provider in PROVIDERS {
        let server = always(Reaction::output(json!({ "title": "Borrowing", "words": null })));
        let model = model(&server, provider);
        let completion = run(&model, Turn { schema: article(), ..fresh("Write.") }).await.unwrap();
        assert_eq!(completion.output, json!({ "title": "Borrowing" }), "{provider}");
        assert_eq!(completion.text, None, "the text is the output");
        assert_eq!(model.capabilities().schemas, SchemaSupport::Enforced);

        let request = &server.requests()[0];
        let (dialect, header, key) = match provider {
            HttpProvider::Anthropic => (Dialect::Anthropic, "x-api-key", KEY.to_owned()),
            HttpProvider::Gemini => (Dialect::Gemini, "x-goog-api-key", KEY.to_owned()),
            HttpProvider::OpenAi => (Dialect::Chat, "authorization", format!("Bearer {KEY}")),
            _ => (Dialect::Responses, "authorization", format!("Bearer {KEY}")),
        };
        assert_eq!((request.dialect, request.header(header)), (dialect, Some(&*key)));
        // In strict mode every field is required; a field that may be missing is null.
        let words = match provider {
            HttpProvider::Anthropic => json!({ "type": ["integer", "null"] }),
            _ => json!({ "type": ["integer", "null"], "minimum": 0 }),
        };
        let expected = json!({
            "type": "object", "properties": { "title": { "type": "string" }, "words": words },
            "required": ["title", "words"], "additionalProperties": false
        });
        assert_eq!(request.schema(), Some(&expected), "{provider}");
        let strict = match provider {
            HttpProvider::OpenAi => request.body.pointer("/response_format/json_schema/strict"),
            HttpProvider::OpenAiResponses => request.body.pointer("/text/format/strict"),
            _ => Some(&Value::Bool(true)),
        };
        assert_eq!(strict, Some(&Value::Bool(true)), "{provider}");
    }
}

/// CON-38: an enum is requested inside an object, and taken out of it.
#[tokio::test]
async fn a_sum_type_is_put_into_an_object() {
    for provider in PROVIDERS {
        let server = always(Reaction::output(json!({ "answer": { "Rejected": { "reasons": ["long"] } } })));
        let completion = run(&model(&server, provider), Turn { schema: schema::<Verdict>(), ..fresh("Review.") }).await;
        assert_eq!(completion.unwrap().output, json!({ "Rejected": { "reasons": ["long"] } }), "{provider}");
        let sent = server.requests()[0].schema().unwrap().clone();
        assert_eq!(sent["type"], "object", "{provider}");
        assert_eq!(sent["properties"]["answer"]["anyOf"].as_array().map(Vec::len), Some(2), "{sent}");
    }
}

#[tokio::test]
async fn a_wrong_answer_is_corrected_in_the_same_session() {
    for provider in PROVIDERS {
        let script = Script::new()
            .rule(
                Rule::any().prompt("does not fit the JSON schema").reply(Reaction::output(json!({ "title": "Right" }))),
            )
            .rule(Rule::any().prompt("Write.").reply(Reaction::output(json!({ "title": 3 }))));
        let server = ModelServer::start(script).unwrap();
        let model = model(&server, provider);
        let turn = Turn { schema: article(), ..fresh("Write.") };
        let completion = Conversation::new(&model).run(turn, &|_| {}).await.unwrap();
        assert_eq!((completion.output, completion.corrections), (json!({ "title": "Right" }), 1), "{provider}");
        assert_eq!(completion.usage.calls, 2);

        let second = &server.requests()[1];
        assert_eq!(second.messages().len(), 3, "prompt, answer, correction: {:?}", second.messages());
        assert!(second.texts().any(|text| text == "{\"title\":3}"), "{provider}: it sees what it said");
        server.assert_all_matched();
    }
}

#[tokio::test]
async fn a_text_instead_of_an_answer_is_no_output() {
    let server = always(Reaction::text("I would rather not."));
    let model = model(&server, HttpProvider::OpenAi);
    let error = run(&model, Turn { schema: article(), ..fresh("Write.") }).await.unwrap_err();
    assert!(error.to_string().contains("there is no structured output, only text"), "{error}");
}

#[tokio::test]
async fn a_prompted_schema_is_told_and_the_answer_is_found_in_the_text() {
    let server = always(Reaction::text("Here you are:\n```json\n{\"title\": \"Lending\"}\n```"));
    let settings = HttpSettings { answers: HttpAnswers::Prompted, ..settings(&server, HttpProvider::OpenAi) };
    let model = HttpModel::new(settings).with_key(key());
    assert_eq!(model.capabilities().schemas, SchemaSupport::Prompted);
    let turn = Turn { schema: article(), system: Some("Be brief.".to_owned()), ..fresh("Write.") };
    let completion = run(&model, turn).await.unwrap();
    assert_eq!(completion.output, json!({ "title": "Lending" }));
    let request = &server.requests()[0];
    assert_eq!(request.schema(), None);
    assert!(request.system().starts_with("Be brief.\n\nAnswer with one JSON value"), "{}", request.system());
    assert!(request.system().contains("\"title\""));
    assert_eq!(request.prompt(), "Write.", "the conversation is not filled with schemas");
}

/// DeepSeek does not support schemas, so no schema is sent.
#[tokio::test]
async fn a_provider_without_schemas_is_prompted() {
    let server = always(Reaction::text("{\"title\": \"Lending\"}"));
    let model = model(&server, HttpProvider::DeepSeek);
    assert_eq!(model.capabilities().schemas, SchemaSupport::Prompted);
    let completion = run(&model, Turn { schema: article(), ..fresh("Write.") }).await.unwrap();
    assert_eq!(completion.output, json!({ "title": "Lending" }));
    assert_eq!(server.requests()[0].schema(), None);
}

#[tokio::test]
async fn prices_make_the_cost_known() {
    let usage = Usage { input: 1_000_000, cached: 1_000_000, cache_written: 0, output: 100_000 };
    let server = always(Reaction::text("yes").with_usage(usage));
    for provider in PROVIDERS {
        let prices = HttpPrices { input: 3.0, output: 15.0, cached_input: Some(0.3) };
        let priced = HttpSettings { prices: Some(prices), ..settings(&server, provider) };
        let model = HttpModel::new(priced).with_key(key());
        assert!(model.capabilities().costs);
        let completion = run(&model, fresh("?")).await.unwrap();
        assert_eq!((completion.usage.cost, completion.usage.unpriced_calls), (Cost::from_micro_dollars(4_800_000), 0));
    }
}

#[tokio::test]
async fn settings_and_turns_say_which_model_and_how_long() {
    let server = always(Reaction::text("yes"));
    for (provider, field) in [
        (HttpProvider::Anthropic, "/max_tokens"),
        (HttpProvider::OpenAi, "/max_tokens"),
        (HttpProvider::OpenAiResponses, "/max_output_tokens"),
        (HttpProvider::Gemini, "/generationConfig/maxOutputTokens"),
    ] {
        let settings = HttpSettings { max_tokens: Some(77), ..settings(&server, provider) };
        let turn = Turn { model: Some("model-y".to_owned()), ..fresh("?") };
        run(&HttpModel::new(settings).with_key(key()), turn).await.unwrap();
        let request = server.requests().pop().unwrap();
        assert_eq!(request.model(), "model-y", "{provider}");
        assert_eq!(request.body.pointer(field), Some(&json!(77)), "{provider}: {}", request.body);
    }
}

/// Thoughts are not part of the answer.
#[tokio::test]
async fn thoughts_are_no_part_of_the_answer() {
    let thoughts = [Block::Thinking("Let me see.".to_owned()), Block::Text("yes".to_owned())];
    let server = always(Reaction::blocks(thoughts));
    for provider in [HttpProvider::Anthropic, HttpProvider::OpenAi, HttpProvider::Gemini] {
        let completion = run(&model(&server, provider), fresh("?")).await.unwrap();
        assert_eq!(completion.text.as_deref(), Some("yes"), "{provider}");
    }
}

#[tokio::test]
async fn an_answer_that_was_prompted_for_is_the_json_that_fits() {
    let server = always(Reaction::text("As [1] says: {\"title\": \"Borrowing\"}, of {\"more\": [2]}."));
    let settings = HttpSettings { answers: HttpAnswers::Prompted, ..settings(&server, HttpProvider::OpenAi) };
    let model = HttpModel::new(settings).with_key(key());
    let completion = run(&model, Turn { schema: article(), ..fresh("Write.") }).await.unwrap();
    assert_eq!(completion.output, json!({ "title": "Borrowing" }));
}
