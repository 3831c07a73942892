//! A message that redirects the run from a question to a person: the question counts as a visit, whether it is
//! answered or not.

use crate::support::{pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Letter, LetterBody};
use interlocking::runtime::{Journal, MemoryJournal};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct GivenUp(String);
impl From<Exhausted<String>> for GivenUp {
    fn from(order: Exhausted<String>) -> Self {
        Self(format!("given up: {}", order.input))
    }
}

/// A person confirms an order; after two changes there is no further question.
#[derive(Graph)]
#[graph(output = String)]
struct Confirmed {
    #[node(entry, input = String, goto(confirm))]
    order: LogicNode<Order>,
    #[node(input = String, question = String, answer = bool, goto(exit), visits = 2, exhausted(give_up))]
    confirm: HumanNode<Confirm>,
    #[node(on(String), goto(confirm, cancels(*)), visits = 10)]
    changed: EventNode<Changed>,
    #[node(input = GivenUp, goto(exit))]
    give_up: LogicNode<GiveUp>,
}

held!(Confirmed);

logic!(Order for confirmed::order, |order: String, cx| {
    pass(10).await;
    goto!(cx, confirmed::confirm, order)
});
struct Confirm;
impl HumanHandler<confirmed::confirm> for Confirm {
    async fn ask(&self, order: &String, _: &mut Cx<'_, confirmed::confirm>) -> Result<String, NodeError> {
        Ok(format!("{order}?"))
    }
    async fn answered(&self, order: String, _: bool, cx: &mut Cx<'_, confirmed::confirm>) -> Route<confirmed::confirm> {
        goto!(cx, confirmed::exit, order)
    }
}
struct Changed;
impl EventHandler<confirmed::changed> for Changed {
    async fn handle(&self, order: String, cx: &mut Cx<'_, confirmed::changed>) -> Route<confirmed::changed> {
        goto!(cx, confirmed::confirm, order)
    }
}
logic!(GiveUp for confirmed::give_up, |given_up: GivenUp, cx| goto!(cx, confirmed::exit, given_up.0));

/// Places an order, and changes it at these milliseconds; gives the outcome, and how often `confirm` was entered.
async fn ordered(changes: &[(u64, &str)]) -> (Outcome<String>, u32) {
    let journal = Arc::new(MemoryJournal::new());
    let graph = Confirmed {
        order: LogicNode(Order),
        confirm: HumanNode(Confirm),
        changed: EventNode(Changed),
        give_up: LogicNode(GiveUp),
    };
    let run = timed(graph).with_journal(journal.clone()).with_wait_for_people();
    let (report, ()) = tokio::join!(run.start("tea".to_owned()), async {
        let mut now = 0;
        for (at, order) in changes {
            pass(at - now).await;
            now = *at;
            let message = serde_json::to_string(order).unwrap().into();
            let body = LetterBody::Message { node: "changed".to_owned(), message };
            journal.post(&RunId::DEFAULT, Letter { key: None, body }).await.unwrap();
        }
        pass(100).await;
        let cancel = Letter { key: None, body: LetterBody::Cancel };
        let _ = journal.post(&RunId::DEFAULT, cancel).await;
    });
    let report = report.unwrap();
    let visits = report.visits_of("confirm");
    (report.outcome, visits)
}

#[tokio::test(start_paused = true)]
async fn who_is_asked_when_a_message_comes_has_been_visited() {
    let (outcome, _) = ordered(&[(20, "coffee"), (30, "cocoa")]).await;
    assert_eq!(outcome, Outcome::Finished("given up: cocoa".to_owned()), "asked for tea, and for coffee");
    // At 5 the order is still being made: when it is done, the message takes its token before a question is asked.
    let (outcome, visits) = ordered(&[(5, "coffee"), (30, "cocoa")]).await;
    assert_eq!((outcome, visits), (Outcome::Cancelled, 2), "asked for coffee, and for cocoa");
}
