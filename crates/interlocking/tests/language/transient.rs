//! `transient` on an event node: a message that comes while no node waits for it is lost, and reported as missed.

use crate::support::{Log, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Letter, LetterBody};
use interlocking::runtime::map::{Children, Item};
use interlocking::runtime::{EventKind, Journal, MemoryJournal};
use std::sync::Arc;

/// A kitchen: guests sit down after a while, and are served the meals that are called out while they sit. Dishes are washed all
/// the time. The cook takes additional orders while cooking.
#[derive(Graph)]
#[graph(output = u64)]
struct Kitchen {
    #[node(entry, input = (), fork(arrive, wash, cook))]
    open: ForkNode<Open>,
    #[node(input = (), goto(closed.table))]
    arrive: LogicNode<Arrive>,
    #[node(input = (), goto(closed))]
    wash: LogicNode<Wash>,
    #[node(input = (), map = Dish, goto(closed))]
    cook: MapNode<Cook>,
    #[node(on(u64), transient, goto(serve, cancels(closed.table)), visits = 9)]
    call: EventNode<Call>,
    #[node(on(u64), transient, adds_to(cook))]
    order: EventNode<Order>,
    #[node(input = u64, goto(closed.table))]
    serve: LogicNode<Serve>,
    #[node(join(table: u64 from(arrive, serve), wash: (), cook: u64), goto(exit))]
    closed: JoinNode<Closed>,
}
#[derive(Graph)]
#[graph(output = u64)]
struct Dish {
    #[node(entry, input = u64, goto(exit))]
    fry: LogicNode<Fry>,
}
held!(Kitchen, Dish);

forks!(Open for kitchen::open, |(): (), cx| fork!(cx, ((), (), ())));
logic!(Arrive for kitchen::arrive, |(): (), cx| {
    pass(20).await;
    goto!(cx, kitchen::closed_table, 0)
});
logic!(Wash for kitchen::wash, |(): (), cx| {
    pass(40).await;
    goto!(cx, kitchen::closed, ())
});
logic!(Serve for kitchen::serve, |meal: u64, cx| {
    pass(10).await;
    goto!(cx, kitchen::closed_table, meal)
});
logic!(Fry for dish::fry, |takes: u64, cx| {
    pass(takes).await;
    goto!(cx, dish::exit, takes)
});
joins!(Closed for kitchen::closed, |(served, (), cooked): (u64, (), u64), cx| {
    goto!(cx, kitchen::exit, 1_000 * served + cooked)
});
struct Call;
impl EventHandler<kitchen::call> for Call {
    async fn handle(&self, meal: u64, cx: &mut Cx<'_, kitchen::call>) -> Route<kitchen::call> {
        goto!(cx, kitchen::serve, meal)
    }
}
struct Order;
impl EventHandler<kitchen::order> for Order {
    async fn handle(&self, takes: u64, cx: &mut Cx<'_, kitchen::order>) -> Route<kitchen::order> {
        cx.add::<kitchen::cook>([Item::new(takes)])
    }
}
struct Cook;
impl MapHandler<kitchen::cook> for Cook {
    fn graph(&self, _: &Cx<'_, kitchen::cook>) -> Result<Arc<Dish>, NodeError> {
        Ok(Arc::new(Dish { fry: LogicNode(Fry) }))
    }
    async fn items(&self, (): &(), _: &mut Cx<'_, kitchen::cook>) -> Result<Vec<Item<Dish>>, NodeError> {
        Ok(vec![Item::new(60)])
    }
    async fn gather(&self, (): (), children: Children<Dish>, cx: &mut Cx<'_, kitchen::cook>) -> Route<kitchen::cook> {
        goto!(cx, kitchen::closed, children.all().await.into_iter().filter_map(|child| child.result.ok()).sum())
    }
}

/// Sends these meals and orders, each at its millisecond; gives what was cooked and served, and the messages that were missed.
async fn served(messages: &[(u64, &str, u64)]) -> (u64, Vec<u64>) {
    let (journal, log) = (Arc::new(MemoryJournal::new()), Log::new());
    let graph = Kitchen {
        open: ForkNode(Open),
        arrive: LogicNode(Arrive),
        wash: LogicNode(Wash),
        cook: MapNode(Cook),
        call: EventNode(Call),
        order: EventNode(Order),
        serve: LogicNode(Serve),
        closed: JoinNode(Closed),
    };
    let run = timed(graph).with_journal(journal.clone()).with_events(log.sink());
    let (report, ()) = tokio::join!(run.start(()), async {
        let mut now = 0;
        for (at, node, message) in messages {
            pass(at - now).await;
            now = *at;
            let body = LetterBody::Message { node: (*node).to_owned(), message: message.to_string().as_str().into() };
            journal.post(&RunId::DEFAULT, Letter { key: None, body }).await.unwrap();
        }
    });
    let events = log.events();
    let missed = events.iter().filter(|event| matches!(event.kind, EventKind::Message { missed: true, .. }));
    (finished(report.unwrap()), missed.map(|event| event.at_ms).collect())
}

/// Pattern 23: whether a message is taken is decided when it comes, even if a node works then; a message that is taken is handled
/// later.
#[tokio::test(start_paused = true)]
async fn a_message_is_heard_by_who_waits_when_it_comes() {
    // At 10 the guest has not sat down; at 30 he has, and is served once the dishes are washed; at 45 he is being served.
    assert_eq!(served(&[(10, "call", 1), (30, "call", 2), (45, "call", 3)]).await, (2_060, vec![10, 45]));
    // The second finds no guest waiting, as the first has taken the token.
    assert_eq!(served(&[(30, "call", 2), (35, "call", 3)]).await, (2_060, vec![]));
}

/// Items are added to a map that is running.
#[tokio::test(start_paused = true)]
async fn a_message_that_adds_items_is_heard_while_a_map_is_at_work() {
    assert_eq!(served(&[(45, "order", 7)]).await, (67, vec![]));
    // The meal keeps the kitchen open until after the map's end.
    assert_eq!(served(&[(57, "call", 2), (63, "order", 7)]).await, (2_060, vec![63]));
}
