//! Routes that a run takes only after several messages.

use interlocking::prelude::*;
use interlocking::testing::Enumerator;
use serde::{Deserialize, Serialize};

/// A customer asks again while a person works on the offer. The third question, and the third complaint, end it.
#[derive(Graph)]
#[graph(output = Offer)]
struct Haggling {
    #[node(entry, input = Offer, question = String, answer = bool, goto(exit))]
    price: HumanNode<Price>,
    #[node(on(Question), visits = 2, goto(price, cancels(price)), exhausted(exit, cancels(*)))]
    ask: EventNode<Customer>,
    #[node(on(Complaint), goto(price, times = 2, exhausted(exit, cancels(*)), cancels(price)))]
    complain: EventNode<Customer>,
}

/// As [`Haggling`], with more patience than a test.
#[derive(Graph)]
#[graph(output = Offer)]
struct Patience {
    #[node(entry, input = Offer, question = String, answer = bool, goto(exit))]
    price: HumanNode<Price>,
    #[node(on(Question), visits = 12, goto(price, cancels(price)), exhausted(exit, cancels(*)))]
    ask: EventNode<Customer>,
}

held!(Haggling, Patience);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Offer(u32);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Question;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Complaint;

impl From<Exhausted<Question>> for Offer {
    fn from(_: Exhausted<Question>) -> Self {
        Self(0)
    }
}

impl From<Exhausted<Self>> for Offer {
    fn from(exhausted: Exhausted<Self>) -> Self {
        exhausted.input
    }
}

struct Price;

impl HumanHandler<haggling::price> for Price {
    async fn ask(&self, _: &Offer, _: &mut Cx<'_, haggling::price>) -> Result<String, NodeError> {
        Ok("Agreed?".into())
    }

    async fn answered(&self, offer: Offer, _: bool, cx: &mut Cx<'_, haggling::price>) -> Route<haggling::price> {
        goto!(cx, haggling::exit, offer)
    }
}

impl HumanHandler<patience::price> for Price {
    async fn ask(&self, _: &Offer, _: &mut Cx<'_, patience::price>) -> Result<String, NodeError> {
        Ok("Agreed?".into())
    }

    async fn answered(&self, offer: Offer, _: bool, cx: &mut Cx<'_, patience::price>) -> Route<patience::price> {
        goto!(cx, patience::exit, offer)
    }
}

struct Customer;

impl EventHandler<haggling::ask> for Customer {
    async fn handle(&self, _: Question, cx: &mut Cx<'_, haggling::ask>) -> Route<haggling::ask> {
        goto!(cx, haggling::price, Offer(2))
    }
}

impl EventHandler<haggling::complain> for Customer {
    async fn handle(&self, _: Complaint, cx: &mut Cx<'_, haggling::complain>) -> Route<haggling::complain> {
        goto!(cx, haggling::price, Offer(1))
    }
}

impl EventHandler<patience::ask> for Customer {
    async fn handle(&self, _: Question, cx: &mut Cx<'_, patience::ask>) -> Route<patience::ask> {
        goto!(cx, patience::price, Offer(2))
    }
}

#[test]
fn a_run_has_as_many_messages_as_an_exhausted_route_takes() {
    let haggling = || Haggling { price: HumanNode(Price), ask: EventNode(Customer), complain: EventNode(Customer) };
    let enumerator = Enumerator::new(move |_| (Run::new(haggling()), Offer(3)));
    let enumerator = enumerator.with_message::<haggling::ask>(&Question);
    enumerator.with_message::<haggling::complain>(&Complaint).explore().assert_all_routes();
}

#[test]
fn a_route_that_takes_more_messages_than_a_run_has_is_said_to() {
    let patience = || Patience { price: HumanNode(Price), ask: EventNode(Customer) };
    let enumerator = Enumerator::new(move |_| (Run::new(patience()), Offer(3)));
    let report = enumerator.with_message::<patience::ask>(&Question).with_runs(20).explore();
    let missing: Vec<_> = report.missing().iter().map(ToString::to_string).collect();
    assert_eq!(missing, ["ask → exit (exhausted)"]);
    let text = report.to_string();
    assert!(
        text.contains("it takes 13 messages, and a run has at most 10: excuse it, `.with_excused_route(…)`"),
        "{text}"
    );
}
