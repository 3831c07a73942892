//! An event node with an agent: it has messages from outside, and answers of its agent.

use askama::Template;
use interlocking::prelude::*;
use interlocking::testing::Enumerator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Items come in while a page waits for a person, and an agent decides whether one is more important.
#[derive(Graph)]
#[graph(output = String)]
struct RSSReader {
    #[node(entry, input = String, goto(approve))]
    lay_out: LogicNode<LayOut>,
    #[node(input = String, question = String, answer = bool, goto(exit))]
    approve: HumanNode<Approve>,
    #[node(on(String), prompt = Question<'_>, output = Verdict, resume, goto(exit, cancels(*)), agent = "editor")]
    item: EventNode<Arrives>,
}

held!(RSSReader);

#[derive(Serialize, Deserialize, JsonSchema)]
enum Verdict {
    Later,
    First(String),
}

#[derive(Template)]
#[template(source = "Is this more important: {{ item }}?", ext = "txt")]
struct Question<'a> {
    item: &'a str,
}

struct LayOut;
impl LogicHandler<rss_reader::lay_out> for LayOut {
    async fn run(&self, page: String, cx: &mut Cx<'_, rss_reader::lay_out>) -> Route<rss_reader::lay_out> {
        goto!(cx, rss_reader::approve, page)
    }
}

struct Approve;
impl HumanHandler<rss_reader::approve> for Approve {
    async fn ask(&self, page: &String, _: &mut Cx<'_, rss_reader::approve>) -> Result<String, NodeError> {
        Ok(page.clone())
    }

    async fn answered(
        &self,
        page: String,
        _: bool,
        cx: &mut Cx<'_, rss_reader::approve>,
    ) -> Route<rss_reader::approve> {
        goto!(cx, rss_reader::exit, page)
    }
}

struct Arrives;
impl EventHandler<rss_reader::item> for Arrives {
    async fn handle(&self, item: String, cx: &mut Cx<'_, rss_reader::item>) -> Route<rss_reader::item> {
        let session = SessionOp::StartFresh(Slug::new("item")?);
        let reply = cx.converse(Question { item: &item }, session).await?;
        match reply.output {
            Verdict::Later => cx.resume(),
            Verdict::First(why) => goto!(cx, rss_reader::exit, why),
        }
    }
}

fn enumerator() -> Enumerator<RSSReader> {
    let enumerator = Enumerator::new(|_| {
        let graph = RSSReader { lay_out: LogicNode(LayOut), approve: HumanNode(Approve), item: EventNode(Arrives) };
        (Run::new(graph), "page one".to_owned())
    });
    enumerator.with_faults([])
}

#[test]
fn a_message_is_no_answer_of_the_agent_that_is_asked_about_it() {
    let report = enumerator().with_message::<rss_reader::item>(&"hi".to_owned()).explore();
    report.assert_all_routes();

    let report = enumerator()
        .with_message::<rss_reader::item>(&"hi".to_owned())
        .with_sample::<rss_reader::item>(&Verdict::Later)
        .with_sample::<rss_reader::item>(&Verdict::First("a flood".to_owned()))
        .with_answer::<rss_reader::approve>(&true)
        .with_generated(0)
        .explore();
    report.assert_all_routes();
    let choices = report.choices_of("item -> exit").unwrap().to_string();
    assert!(choices.contains("item.1.1=sample-2"), "the message is none of the two samples: {choices}");
}

/// The answer is a text in JSON, so the node could take it as a message.
#[test]
fn an_answer_of_the_agent_is_no_message() {
    let report = enumerator().with_sample::<rss_reader::item>(&Verdict::Later).explore();
    let missing: Vec<_> = report.missing().iter().map(ToString::to_string).collect();
    assert_eq!(missing, ["item → exit", "item → resume"]);
    let text = report.to_string();
    assert!(text.contains("no message came to `item`"), "{text}");
    // The module that the derive has made.
    assert!(text.contains("give it one: `.with_message::<rss_reader::item>(…)`"), "{text}");
}
