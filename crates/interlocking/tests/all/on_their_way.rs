//! A message between runs of a tree can be in transit while no run works: then the tree does not stop to wait for
//! people.

use crate::slow::Slow;
use crate::support::{Log, finished, pass, timed};
use interlocking::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The part of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Part {
    /// Asks a question that is never answered, until a message comes.
    Listener,
    /// Sends the message, and ends a little later.
    Sender,
    /// Runs these parts as its children.
    Parent(Vec<Self>),
}

#[derive(Graph)]
#[graph(output = String)]
struct Talk {
    #[node(entry, input = Part, goto(ask, children, linger))]
    begin: LogicNode<Begin>,
    #[node(input = (), goto(exit))]
    linger: LogicNode<Linger>,
    #[node(input = Vec<Part>, map = Talk, depth = 2, goto(exit))]
    children: MapNode<Parts>,
    #[node(input = (), question = (), answer = (), goto(exit))]
    ask: HumanNode<Ask>,
    #[node(on(String), goto(exit, cancels(ask)))]
    hear: EventNode<Hear>,
}

held!(Talk);

logic!(Begin for talk::begin, |part: Part, cx| {
    match part {
        Part::Listener => goto!(cx, talk::ask, ()),
        Part::Parent(parts) => goto!(cx, talk::children, parts),
        Part::Sender => {
            pass(10).await;
            for sibling in cx.siblings().await? {
                cx.send::<talk::hear>(&sibling, &"news".to_owned())?;
            }
            goto!(cx, talk::linger, ())
        }
    }
});
logic!(Linger for talk::linger, |(): (), cx| {
    pass(10).await;
    goto!(cx, talk::exit, "sent".to_owned())
});

struct Parts;
impl MapHandler<talk::children> for Parts {
    fn graph(&self, cx: &Cx<'_, talk::children>) -> Result<Arc<Talk>, NodeError> {
        Ok(cx.own_graph()?)
    }
    async fn items(&self, parts: &Vec<Part>, _: &mut Cx<'_, talk::children>) -> Result<Vec<Item<Talk>>, NodeError> {
        Ok(parts.iter().cloned().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<Part>,
        children: Children<Talk>,
        cx: &mut Cx<'_, talk::children>,
    ) -> Route<talk::children> {
        let said: Vec<String> = children.all().await.into_iter().map(|child| child.result).collect::<Result<_, _>>()?;
        goto!(cx, talk::exit, said.join(", "))
    }
}

struct Ask;
impl HumanHandler<talk::ask> for Ask {
    async fn ask(&self, (): &(), _: &mut Cx<'_, talk::ask>) -> Result<(), NodeError> {
        Ok(())
    }
    async fn answered(&self, (): (), (): (), cx: &mut Cx<'_, talk::ask>) -> Route<talk::ask> {
        goto!(cx, talk::exit, "answered".to_owned())
    }
}

/// The time to handle a message, in milliseconds.
struct Hear(u64);
impl EventHandler<talk::hear> for Hear {
    async fn handle(&self, heard: String, cx: &mut Cx<'_, talk::hear>) -> Route<talk::hear> {
        pass(self.0).await;
        goto!(cx, talk::exit, format!("heard {heard}"))
    }
}

/// The listener and the sender are children of a child, so that events pass through two more runs.
fn family() -> Part {
    Part::Parent(vec![Part::Parent(vec![Part::Listener, Part::Sender])])
}

/// A run whose letters take `mail_takes` to arrive and `handling_takes` to be handled.
fn talk(mail_takes: u64, handling_takes: u64) -> (Run<Talk>, Log) {
    let log = Log::new();
    let journal = Slow::with_slow_mail(mail_takes);
    let graph = Talk {
        begin: LogicNode(Begin),
        linger: LogicNode(Linger),
        children: MapNode(Parts),
        ask: HumanNode(Ask),
        hear: EventNode(Hear(handling_takes)),
    };
    (timed(graph).with_journal(journal).with_events(log.sink()), log)
}

#[tokio::test(start_paused = true)]
async fn a_run_does_not_wait_for_people_while_a_message_is_on_its_way_or_handled() {
    for (mail_takes, handling_takes) in [(0, 0), (20, 0), (0, 20), (20, 20)] {
        let (run, _) = talk(mail_takes, handling_takes);
        let report = run.start(family()).await.unwrap();
        assert_eq!(finished(report), "heard news, sent", "mail {mail_takes} ms, handling {handling_takes} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_is_told_that_a_run_waits_while_a_message_is_on_its_way_or_handled() {
    let (run, log) = talk(20, 20);
    finished(run.with_wait_for_people().start(family()).await.unwrap());
    assert!(!log.lines().contains("Waiting"), "{}", log.lines());
}
