//! A small newsroom: an agent that writes, and plain Rust that decides.

use askama::Template;
use expect_test::expect;
use interlocking::prelude::*;
use interlocking::testing::{Choices, Ending, Enumerator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
struct Topic(String);

#[derive(Serialize, Deserialize, JsonSchema)]
struct Article {
    title: String,
    words: u32,
}

#[derive(Graph)]
#[graph(output = Article)]
struct Newsroom {
    #[node(entry, input = Topic, prompt = WritePrompt<'_>, output = Article, agent = "writer", goto(review))]
    write: LLMNode<Write>,
    #[node(input = Article, goto(write, exit), visits = 3)]
    review: LogicNode<Review>,
}

held!(Newsroom);

#[derive(Template)]
#[template(source = "Write about {{ topic }}, attempt {{ visit }}.", ext = "txt")]
struct WritePrompt<'a> {
    topic: &'a str,
    visit: u32,
}

struct Write;

impl LLMHandler<newsroom::write> for Write {
    async fn before<'a>(&'a self, topic: &'a Topic, cx: &mut Cx<'_, newsroom::write>) -> Ask<WritePrompt<'a>> {
        Ok((WritePrompt { topic: &topic.0, visit: cx.visit() }, SessionOp::StartFresh(Slug::new("write")?)))
    }

    async fn after(&self, _: Topic, reply: Reply<Article>, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        goto!(cx, newsroom::review, reply.output)
    }
}

struct Review {
    /// The minimum number of words in an article.
    least: u64,
}

impl LogicHandler<newsroom::review> for Review {
    async fn run(&self, article: Article, cx: &mut Cx<'_, newsroom::review>) -> Route<newsroom::review> {
        match u64::from(article.words) >= self.least {
            true => goto!(cx, newsroom::exit, article),
            false => goto!(cx, newsroom::write, cx.entry()?.clone()),
        }
    }
}

fn enumerator() -> Enumerator<Newsroom> {
    Enumerator::new(|_| {
        let graph = Newsroom { write: LLMNode(Write), review: LogicNode(Review { least: 300 }) };
        (Run::new(graph), Topic("interlockings".into()))
    })
}

#[test]
fn every_route_is_taken_with_answers_that_are_made_from_the_schema() {
    let report = enumerator().explore();
    report.assert_all_routes();
    expect![[r#"
        Newsroom: 3 of 3 routes were taken in 3 runs

        taken: write → review run 1, no choices
        taken: review → write run 1, no choices
        taken: review → exit  run 3, write.1.1=generated-3
        bound exceeded, so that the run failed: review
    "#]]
    .assert_eq(&report.to_string());
}

#[test]
fn a_route_that_a_report_names_is_taken_again() {
    let report = enumerator().explore();
    let choices = report.choices_of("review -> exit").unwrap();
    // Converted to text, and back.
    let again: Choices = choices.to_string().parse().unwrap();
    let replayed = enumerator().replay(&again);
    assert_eq!(replayed.ending, Ending::Finished);
    assert_eq!(replayed.unused, Choices::none());
    assert!(replayed.taken.iter().any(|route| route.to_string() == "review → exit"), "{replayed:?}");
    expect![[r#"write.1.1=generated-3 {"title":"text","words":4294967295}"#]].assert_eq(&replayed.chosen.join("\n"));
}

/// A regression test that was stored as text is reported when no run makes its choices.
#[test]
fn choices_that_no_run_makes_are_told() {
    let choices = "write.1.1=generated-3; write.1.1 ends=never; writer.1.1=generated-3";
    let replayed = enumerator().replay(&choices.parse().unwrap());
    assert_eq!(replayed.unused.to_string(), "write.1.1 ends=never; writer.1.1=generated-3");
}

#[test]
fn a_route_that_no_answer_leads_to_is_reported_with_what_to_do() {
    let report = enumerator().with_generated(0).with_sample::<newsroom::write>(&article(12)).explore();
    assert_eq!(report.missing().len(), 1);
    expect![[r#"
        Newsroom: 2 of 3 routes were taken in 29 runs, and nothing is left to be tried

        NOT TAKEN: review → exit
          `review` ran 45 times, first with no choices, and went to `write`
          `write`, the nearest before it that is asked, did all 8 things that there are to be tried: give an answer that leads there, `.with_sample::<newsroom::write>(…)`, or vary what `review` meets, `Chance`

        taken: write → review run 1, no choices
        taken: review → write run 1, no choices
        bound exceeded, so that the run failed: review
    "#]].assert_eq(&report.to_string());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| report.assert_all_routes()));
    assert_eq!(panicked.unwrap_err().downcast_ref::<String>(), Some(&report.to_string()));
}

/// With 31 answers and 7 failures at each of three visits there are too many runs to try them all.
#[test]
fn a_search_for_what_cannot_be_is_bounded() {
    let short = |_: &interlocking::testing::Chance| {
        let graph = Newsroom { write: LLMNode(Write), review: LogicNode(Review { least: u64::MAX }) };
        (Run::new(graph), Topic("interlockings".into()))
    };
    let report = Enumerator::new(short).with_runs(500).explore();
    assert_eq!((report.runs(), report.missing().len()), (500, 1));
    assert!(report.to_string().contains("were left to be tried"), "{report}");
}

#[test]
fn a_sample_is_enough() {
    let enumerator = enumerator().with_generated(0).with_faults([]);
    let report = enumerator.with_sample::<newsroom::write>(&article(12)).with_sample::<newsroom::write>(&article(300));
    report.explore().assert_all_routes();
}

#[test]
fn a_route_may_be_excused_as_long_as_it_is_not_taken() {
    let excused = || enumerator().with_excused_route("review -> exit", "nobody writes so much");
    let report = excused().with_generated(0).with_sample::<newsroom::write>(&article(12)).explore();
    report.assert_all_routes();
    assert!(report.to_string().contains("excused: review → exit (nobody writes so much)"), "{report}");
    let report = excused().explore();
    assert!(report.missing().is_empty());
}

#[test]
#[should_panic(
    expected = "`Newsroom` has no route `review -> nowhere`; its routes are\n  write → review\n  review → write"
)]
fn an_excuse_for_no_route_is_refused() {
    drop(enumerator().with_excused_route("review -> nowhere", "?"));
}

fn article(words: u32) -> Article {
    Article { title: "Signals".into(), words }
}
