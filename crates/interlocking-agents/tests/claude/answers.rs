use interlocking_agents::{AgentEvent, Conversation};
use interlocking_model_server::{Reaction, Rule, Script};
use serde_json::json;

use crate::common::{Bench, Recorded, article, run};

#[tokio::test]
async fn a_plain_answer() {
    let script = Script::new().rule(Rule::asked("Say hello").reply(Reaction::text("Hello.")));
    let Some(bench) = Bench::new(script) else { return };
    let recorded = Recorded::default();
    let agent = bench.agent();
    let completion = Conversation::new(&agent).run(bench.fresh("Say hello."), &recorded.sink()).await.unwrap();
    assert_eq!(completion.text.as_deref(), Some("Hello."));
    assert_eq!((completion.usage.calls, completion.usage.unpriced_calls), (1, 0));
    assert_eq!((completion.usage.input_tokens, completion.usage.output_tokens), (100, 10));
    assert!(completion.usage.cost.micro_dollars() > 0);
    let session = completion.session;
    let expected = [
        AgentEvent::Started { session: session.clone() },
        AgentEvent::Text { text: "Hello.".to_owned() },
        AgentEvent::Finished { session: Some(session), usage: completion.usage },
    ];
    assert_eq!(recorded.events(), expected);
}

#[tokio::test]
async fn a_structured_answer() {
    let output = json!({ "title": "Borrowing", "words": 5 });
    let script = Script::new().rule(Rule::asked("Write").reply(Reaction::output(output.clone())));
    let Some(bench) = Bench::new(script) else { return };
    let turn = interlocking_agents::Turn { schema: Some(article()), ..bench.fresh("Write.") };
    let completion = run(&bench.agent(), turn).await.unwrap();
    assert_eq!(completion.output, output);
    assert_eq!(completion.text, None);
    assert_eq!(completion.corrections, 0);
}
