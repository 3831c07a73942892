//! The first of several, or the first few: patterns 9, 29, 30 and 32.

use crate::trace::{Does, Trace, played};
use interlocking::graph::Node;
use interlocking::prelude::*;
use std::sync::{Arc, Mutex};

/// Three search; the first result counts, and the others stop.
#[derive(Graph)]
#[graph(output = String)]
struct CancellingDiscriminator {
    #[node(entry, input = u32, fork(web, archive, memory))]
    search: ForkNode<Search>,
    #[node(input = u32, goto(read, cancels(archive, memory)))]
    web: LogicNode<Does>,
    #[node(input = u32, goto(read, cancels(web, memory)))]
    archive: LogicNode<Does>,
    #[node(input = u32, goto(read, cancels(web, archive)))]
    memory: LogicNode<Does>,
    #[node(input = u32, goto(search, exit), visits = 2)]
    read: LogicNode<Read>,
}
does!(
    cancelling_discriminator::web => cancelling_discriminator::read,
    cancelling_discriminator::archive => cancelling_discriminator::read,
    cancelling_discriminator::memory => cancelling_discriminator::read,
);
forks!(Search for cancelling_discriminator::search, |round: u32, cx| fork!(cx, (round, round, round)));
logic!(Read(trace: Trace) for cancelling_discriminator::read, |round: u32, cx| {
    trace.works("read", 1).await;
    match round {
        1 => goto!(cx, cancelling_discriminator::search, 2),
        _ => goto!(cx, cancelling_discriminator::exit, "read twice".to_owned()),
    }
});

/// Pattern 29: the first branch that is done goes on, the others are ended, and the next round is not affected by this round.
#[tokio::test(start_paused = true)]
async fn cancelling_discriminator() {
    let trace = Trace::new();
    let graph = CancellingDiscriminator {
        search: ForkNode(Search),
        web: trace.does(30),
        archive: trace.does(10),
        memory: trace.does(20),
        read: LogicNode(Read(trace.clone())),
    };
    let round = |from: u32| {
        let (to, end) = (from + 10, from + 11);
        let losers = |who: &str| format!("{who} {from}–{to} cancelled");
        format!("{}, archive {from}–{to}, {}, read {to}–{end}", losers("web"), losers("memory"))
    };
    let told = format!("{}, {}", round(0), round(11));
    assert_eq!(played(&trace, graph, 1).await, ("read twice".to_owned(), told));
}

/// Three review; two are enough, and the third stops.
#[derive(Graph)]
#[graph(output = u32)]
struct CancellingPartialJoin {
    #[node(entry, input = u32, fork(anna, bert, carl), visits = 2)]
    send: ForkNode<Send3>,
    #[node(input = u32, goto(verdict))]
    anna: LogicNode<Does>,
    #[node(input = u32, goto(verdict))]
    bert: LogicNode<Does>,
    #[node(input = u32, goto(verdict))]
    carl: LogicNode<Does>,
    #[node(join(anna: u32, bert: u32, carl: u32), quorum = 2, cancels(anna, bert, carl), goto(send, exit))]
    verdict: JoinNode<Two>,
}
does!(
    cancelling_partial_join::anna => cancelling_partial_join::verdict,
    cancelling_partial_join::bert => cancelling_partial_join::verdict,
    cancelling_partial_join::carl => cancelling_partial_join::verdict,
);
forks!(Send3 for cancelling_partial_join::send, |round: u32, cx| fork!(cx, (round, round, round)));
/// Records whose reviews came.
#[derive(Clone, Default)]
struct Two(Arc<Mutex<Vec<[bool; 3]>>>);
type Reviews = (Option<u32>, Option<u32>, Option<u32>);
impl JoinHandler<cancelling_partial_join::verdict> for Two {
    async fn join(
        &self,
        (anna, bert, carl): Reviews,
        cx: &mut Cx<'_, cancelling_partial_join::verdict>,
    ) -> Route<cancelling_partial_join::verdict> {
        let came = [anna, bert, carl];
        self.0.lock().unwrap().push(came.map(|review| review.is_some()));
        match came.into_iter().flatten().sum() {
            2 => goto!(cx, cancelling_partial_join::send, 2),
            rounds => goto!(cx, cancelling_partial_join::exit, rounds),
        }
    }
}

/// Pattern 32: when the second of three has come, the next node goes on, the third branch is ended, and the next round is not
/// affected by this round.
#[tokio::test(start_paused = true)]
async fn cancelling_partial_join() {
    let (trace, two) = (Trace::new(), Two::default());
    let graph = CancellingPartialJoin {
        send: ForkNode(Send3),
        anna: trace.does(30),
        bert: trace.does(10),
        carl: trace.does(20),
        verdict: JoinNode(two.clone()),
    };
    let first = "anna 0–20 cancelled, bert 0–10, carl 0–20";
    let second = "anna 20–40 cancelled, bert 20–30, carl 20–40";
    assert_eq!(played(&trace, graph, 1).await, (4, format!("{first}, {second}")), "two reviews in the second round");
    assert_eq!(*two.0.lock().unwrap(), [[false, true, true]; 2]);
}

/// One expert's work.
#[derive(Graph)]
#[graph(output = ())]
struct Expert {
    #[node(entry, input = (), goto(exit))]
    think: LogicNode<Does>,
}
/// Three experts are asked. The next node begins when enough have answered; later answers are received and change nothing, and
/// the round is over when all are done.
#[derive(Graph)]
#[graph(output = u32)]
struct Discriminator {
    #[node(entry, input = u32, fork(one, two, three, round.open), visits = 2)]
    ask: ForkNode<Ask3>,
    #[node(input = (), graph = Expert, goto(all))]
    one: GraphNode<AnExpert>,
    #[node(input = (), graph = Expert, goto(all))]
    two: GraphNode<AnExpert>,
    #[node(input = (), graph = Expert, goto(all))]
    three: GraphNode<AnExpert>,
    #[node(on(()), resume, goto(act, cancels(round.open)), visits = 6, memory(heard: u32))]
    heard: EventNode<Heard>,
    #[node(input = (), goto(round.open))]
    act: LogicNode<Does>,
    #[node(join(one: (), two: (), three: ()), goto(round.all))]
    all: JoinNode<All>,
    #[node(join(open: () from(ask, act), all: () from(all)), goto(ask, exit))]
    round: JoinNode<Round>,
}
does!(expert::think => expert::exit, discriminator::act => discriminator::round_open);
forks!(Ask3 for discriminator::ask, |_: u32, cx| fork!(cx, ((), (), (), ())));
struct AnExpert(Trace, u64);
macro_rules! experts {
    ($($node:ident),+) => { $(
        impl GraphHandler<discriminator::$node> for AnExpert {
            fn graph(&self, _: &Cx<'_, discriminator::$node>) -> Result<Arc<Expert>, NodeError> {
                Ok(Arc::new(Expert { think: self.0.does(self.1) }))
            }
            async fn entry(&self, (): &(), _: &mut Cx<'_, discriminator::$node>) -> Result<(), NodeError> {
                Ok(())
            }
            async fn after(
                &self,
                (): (),
                (): (),
                cx: &mut Cx<'_, discriminator::$node>,
            ) -> Route<discriminator::$node> {
                let run = cx.run_id().clone();
                cx.send::<discriminator::heard>(&run, &())?;
                goto!(cx, discriminator::all, ())
            }
        }
    )+ };
}
experts!(one, two, three);
/// How many answers are enough.
struct Heard(u32);
impl EventHandler<discriminator::heard> for Heard {
    async fn handle(&self, (): (), cx: &mut Cx<'_, discriminator::heard>) -> Route<discriminator::heard> {
        let heard = cx.memory() % 3 + 1;
        cx.update_memory(move |kept| *kept = heard);
        if heard == self.0 { goto!(cx, discriminator::act, ()) } else { cx.resume() }
    }
}
joins!(All for discriminator::all, |((), (), ()): ((), (), ()), cx| goto!(cx, discriminator::round_all, ()));
joins!(Round for discriminator::round, |((), ()): ((), ()), cx| match cx.visit() {
    1 => goto!(cx, discriminator::ask, 2),
    rounds => goto!(cx, discriminator::exit, rounds),
});

/// Two rounds of three experts who take 10, 20 and 40 ms, of whom `enough` must answer.
async fn asked(enough: u32) -> String {
    let trace = Trace::new();
    let expert = |milliseconds| GraphNode(AnExpert(trace.clone(), milliseconds));
    let graph = Discriminator {
        ask: ForkNode(Ask3),
        one: expert(20),
        two: expert(40),
        three: expert(10),
        heard: EventNode(Heard(enough)),
        act: trace.does(5),
        all: JoinNode(All),
        round: JoinNode(Round),
    };
    let (rounds, told) = played(&trace, graph, 1).await;
    assert_eq!(rounds, 2);
    told
}

/// Pattern 9, for branches that are child graphs: the first goes on, later ones are absorbed, and when all have come a new round
/// can begin.
#[tokio::test(start_paused = true)]
async fn structured_discriminator() {
    let first = "think 0–20, think 0–40, think 0–10, act 10–15";
    let second = "think 40–60, think 40–80, think 40–50, act 50–55";
    assert_eq!(asked(1).await, format!("{first}, {second}"));
}

/// Pattern 30, in the same way: the second of three goes on.
#[tokio::test(start_paused = true)]
async fn structured_partial_join() {
    let first = "think 0–20, think 0–40, think 0–10, act 20–25";
    let second = "think 40–60, think 40–80, think 40–50, act 60–65";
    assert_eq!(asked(2).await, format!("{first}, {second}"));
}

held!(CancellingDiscriminator, CancellingPartialJoin, Expert, Discriminator);
