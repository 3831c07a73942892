//! Patterns in which the state decides what may run: patterns 16 to 18, 39 and 40.

use crate::support::{finished, pass, timed};
use crate::trace::{Does, Trace, played, played_with};
use interlocking::graph::Node;
use interlocking::prelude::*;
use interlocking::runtime::human::OpenQuestion;
use interlocking::runtime::journal::{Letter, LetterBody};
use interlocking::runtime::{Journal, MemoryJournal, Report};
use std::sync::Arc;
use std::time::Duration;

/// The first answer, by telephone or by mail, decides the way; no handler chooses it beforehand.
#[derive(Graph)]
#[graph(output = String)]
struct DeferredChoice {
    #[node(entry, input = (), fork(phone, mail))]
    ask: ForkNode<AskBoth>,
    #[node(input = (), question = String, answer = String, goto(talk, cancels(mail)))]
    phone: HumanNode<Answered>,
    #[node(input = (), question = String, answer = String, goto(write, cancels(phone)))]
    mail: HumanNode<Answered>,
    #[node(input = String, goto(exit))]
    talk: LogicNode<Does>,
    #[node(input = String, goto(exit))]
    write: LogicNode<Does>,
}
does!(deferred_choice::talk => deferred_choice::exit, deferred_choice::write => deferred_choice::exit);
forks!(AskBoth for deferred_choice::ask, |(): (), cx| fork!(cx, ((), ())));
struct Answered;
macro_rules! answered {
    ($($node:ident => $next:ident),+) => { $(
        impl HumanHandler<deferred_choice::$node> for Answered {
            async fn ask(&self, (): &(), cx: &mut Cx<'_, deferred_choice::$node>) -> Result<String, NodeError> {
                Ok(cx.node().to_owned())
            }
            async fn answered(
                &self,
                (): (),
                answer: String,
                cx: &mut Cx<'_, deferred_choice::$node>,
            ) -> Route<deferred_choice::$node> {
                goto!(cx, deferred_choice::$next, answer)
            }
        }
    )+ };
}
answered!(phone => talk, mail => write);

fn waiting<O: std::fmt::Debug>(report: Report<O>) -> Vec<OpenQuestion> {
    match report.outcome {
        Outcome::Waiting { questions } => questions,
        other => panic!("{other:?}"),
    }
}

/// Pattern 16: both ways are open until an event from outside takes one of them, which closes the other.
#[tokio::test(start_paused = true)]
async fn deferred_choice() {
    for (by, way) in [("phone", "talk 0–1"), ("mail", "write 0–1")] {
        let (trace, journal) = (Trace::new(), Arc::new(MemoryJournal::new()));
        let run = || {
            timed(DeferredChoice {
                ask: ForkNode(AskBoth),
                phone: HumanNode(Answered),
                mail: HumanNode(Answered),
                talk: trace.does(1),
                write: trace.does(1),
            })
            .with_journal(journal.clone())
        };
        let questions = waiting(run().start(()).await.unwrap());
        assert_eq!(questions.len(), 2, "nothing is decided: {questions:?}");
        assert_eq!(trace.told(), "");
        let (first, late) = (by, if by == "mail" { "phone" } else { "mail" });
        for (nth, by) in [first, late].into_iter().enumerate() {
            let to = questions.iter().find(|question| question.by.node == by).unwrap().by.clone();
            let answer = format!("\"answer {nth}\"").as_str().into();
            let letter = Letter { key: None, body: LetterBody::Answer { to, answer } };
            journal.post(&RunId::DEFAULT, letter).await.unwrap();
            assert_eq!(finished(run().resume().await.unwrap()), "answer 0", "the other comes too late");
        }
        assert_eq!(trace.told(), way);
    }
}

/// Lessons in a partial order, one at a time, as there is one pupil.
#[derive(Graph)]
#[graph(output = ())]
struct InterleavedParallel {
    #[node(entry, input = (), fork(read, draw))]
    begin: ForkNode<Begin>,
    #[node(input = (), goto(solve), exclusive = "pupil")]
    read: LogicNode<Does>,
    #[node(input = (), goto(done), exclusive = "pupil")]
    solve: LogicNode<Does>,
    #[node(input = (), goto(done), exclusive = "pupil")]
    draw: LogicNode<Does>,
    #[node(join(solve: (), draw: ()), goto(exit))]
    done: JoinNode<Home>,
}
does!(
    interleaved_parallel::read => interleaved_parallel::solve,
    interleaved_parallel::solve => interleaved_parallel::done,
    interleaved_parallel::draw => interleaved_parallel::done,
);
forks!(Begin for interleaved_parallel::begin, |(): (), cx| fork!(cx, ((), ())));
joins!(Home for interleaved_parallel::done, |((), ()): ((), ()), cx| goto!(cx, interleaved_parallel::exit, ()));

/// Pattern 17: each lesson once, `read` before `solve`, `draw` at any time, and never two at the same time.
#[tokio::test(start_paused = true)]
async fn interleaved_parallel_routing() {
    let trace = Trace::new();
    let graph = InterleavedParallel {
        begin: ForkNode(Begin),
        read: trace.does(10),
        solve: trace.does(5),
        draw: trace.does(20),
        done: JoinNode(Home),
    };
    let (_, told) = played(&trace, graph, ()).await;
    assert_eq!(told, "read 0–10, draw 10–30, solve 30–35");
    assert!(trace.is_one_at_a_time());
}

/// Opening hours: a child run that lasts as long as the shop is open.
#[derive(Graph)]
#[graph(output = ())]
struct Hours {
    #[node(entry, input = (), goto(exit))]
    tick: LogicNode<Does>,
}
/// Bids are accepted while the auction is open: while `sale.open` has a token and `sale.over` has none.
#[derive(Graph)]
#[graph(output = Vec<u64>)]
struct Milestone {
    #[node(entry, input = (), fork(preview, hours))]
    announce: ForkNode<Announce>,
    #[node(input = (), graph = Hours, goto(sale.open))]
    preview: GraphNode<Hours>,
    #[node(input = (), graph = Hours, goto(sale.over))]
    hours: GraphNode<Hours>,
    #[node(on(u64), resume, goto(register, cancels(sale.open)), visits = 9)]
    bid: EventNode<Bid>,
    #[node(input = u64, goto(sale.open), memory(bids: Vec<u64>))]
    register: LogicNode<Register>,
    #[node(join(open: () from(preview, register), over: () from(hours)), goto(ship), memory(bids: Vec<u64>))]
    sale: JoinNode<Sale>,
    #[node(input = Vec<u64>, goto(exit))]
    ship: LogicNode<Does>,
}
does!(hours::tick => hours::exit, milestone::ship => milestone::exit);
forks!(Announce for milestone::announce, |(): (), cx| fork!(cx, ((), ())));
struct Bid;
impl EventHandler<milestone::bid> for Bid {
    async fn handle(&self, bid: u64, cx: &mut Cx<'_, milestone::bid>) -> Route<milestone::bid> {
        goto!(cx, milestone::register, bid)
    }
}
logic!(Register(trace: Trace) for milestone::register, |bid: u64, cx| {
    trace.works(format!("register {bid}"), 5).await;
    cx.update_memory(move |bids| bids.push(bid));
    goto!(cx, milestone::sale_open, ())
});
joins!(Sale for milestone::sale, |((), ()): ((), ()), cx| goto!(cx, milestone::ship, cx.memory()));

/// Pattern 18: the task is enabled while the other branch is in that state, not before and not after, and does not change the
/// state.
#[tokio::test(start_paused = true)]
async fn milestone() {
    let trace = Trace::new();
    let hours = |milliseconds| GraphNode(Hours { tick: trace.does(milliseconds) });
    let graph = Milestone {
        announce: ForkNode(Announce),
        preview: hours(10),
        hours: hours(50),
        bid: EventNode(Bid),
        register: LogicNode(Register(trace.clone())),
        sale: JoinNode(Sale),
        ship: trace.does(20),
    };
    // The fourth comes at the last moment, and the end of the auction waits until it is registered.
    let bids = [(5, "bid", 1_u64), (20, "bid", 2), (30, "bid", 3), (48, "bid", 4), (60, "bid", 5)];
    let (taken, told) = played_with(&trace, graph, (), &bids).await;
    assert_eq!(taken, [2, 3, 4]);
    assert_eq!(told, "tick 0–10, tick 0–50, register 2 20–25, register 3 30–35, register 4 48–53, ship 53–73");
}

/// Two sections share the till: paying and counting. Each consists of several steps.
#[derive(Graph)]
#[graph(output = ())]
struct CriticalSection {
    #[node(entry, input = (), fork(pay, collect, browse))]
    open: ForkNode<OpenShop>,
    #[node(input = (), graph = Payment, goto(closed), exclusive = "till")]
    pay: GraphNode<Payment>,
    #[node(input = (), goto(count))]
    collect: LogicNode<Does>,
    #[node(input = (), graph = Count, goto(closed), exclusive = "till")]
    count: GraphNode<Count>,
    #[node(input = (), goto(closed))]
    browse: LogicNode<Does>,
    #[node(join(pay: (), count: (), browse: ()), goto(exit))]
    closed: JoinNode<Closed>,
}
#[derive(Graph)]
#[graph(output = ())]
struct Payment {
    #[node(entry, input = (), goto(change))]
    take: LogicNode<Does>,
    #[node(input = (), goto(exit))]
    change: LogicNode<Does>,
}
#[derive(Graph)]
#[graph(output = ())]
struct Count {
    #[node(entry, input = (), goto(book))]
    empty: LogicNode<Does>,
    #[node(input = (), goto(exit))]
    book: LogicNode<Does>,
}
does!(
    critical_section::collect => critical_section::count,
    critical_section::browse => critical_section::closed,
    payment::take => payment::change,
    payment::change => payment::exit,
    count::empty => count::book,
    count::book => count::exit,
);
forks!(OpenShop for critical_section::open, |(): (), cx| fork!(cx, ((), (), ())));
joins!(Closed for critical_section::closed, |((), (), ()): ((), (), ()), cx| goto!(cx, critical_section::exit, ()));

fn shop(trace: &Trace) -> CriticalSection {
    CriticalSection {
        open: ForkNode(OpenShop),
        pay: GraphNode(Payment { take: trace.does(20), change: trace.does(10) }),
        collect: trace.does(5),
        count: GraphNode(Count { empty: trace.does(5), book: trace.does(5) }),
        browse: trace.does(35),
        closed: JoinNode(Closed),
    }
}

/// Pattern 39: once one section has begun, the other waits until all of it is done; other nodes go on meanwhile. The same holds
/// if the process ends in the middle.
#[tokio::test(start_paused = true)]
async fn critical_section() {
    let trace = Trace::new();
    let (_, told) = played(&trace, shop(&trace), ()).await;
    assert_eq!(told, "collect 0–5, browse 0–35, take 0–20, change 20–30, empty 30–35, book 35–40");
    for milliseconds in 0..=40 {
        let (trace, journal) = (Trace::new(), Arc::new(MemoryJournal::new()));
        let run = || timed(shop(&trace)).with_journal(journal.clone());
        let killed = tokio::time::timeout(Duration::from_millis(milliseconds), run().start(())).await;
        drop(killed);
        pass(0).await;
        finished(run().resume().await.unwrap());
        let told = trace.told();
        let at = |who: &str| told.rfind(&format!("{who} ")).unwrap();
        assert!(at("take") < at("change") && at("change") < at("empty") && at("empty") < at("book"), "{told}");
    }
}

/// Three chores for one person.
#[derive(Graph)]
#[graph(output = ())]
struct InterleavedRouting {
    #[node(entry, input = (), fork(wash, iron, fold))]
    split: ForkNode<Split>,
    #[node(input = (), goto(done), exclusive = "hands")]
    wash: LogicNode<Does>,
    #[node(input = (), goto(done), exclusive = "hands")]
    iron: LogicNode<Does>,
    #[node(input = (), goto(done), exclusive = "hands")]
    fold: LogicNode<Does>,
    #[node(join(wash: (), iron: (), fold: ()), goto(rest))]
    done: JoinNode<Done>,
    #[node(input = (), goto(exit))]
    rest: LogicNode<Does>,
}
does!(
    interleaved_routing::wash => interleaved_routing::done,
    interleaved_routing::iron => interleaved_routing::done,
    interleaved_routing::fold => interleaved_routing::done,
    interleaved_routing::rest => interleaved_routing::exit,
);
forks!(Split for interleaved_routing::split, |(): (), cx| fork!(cx, ((), (), ())));
joins!(Done for interleaved_routing::done, |((), (), ()): ((), (), ()), cx| goto!(cx, interleaved_routing::rest, ()));

/// Pattern 40: each once, in some order, never two at the same time, and the next node after all.
#[tokio::test(start_paused = true)]
async fn interleaved_routing() {
    let trace = Trace::new();
    let graph = InterleavedRouting {
        split: ForkNode(Split),
        wash: trace.does(10),
        iron: trace.does(20),
        fold: trace.does(5),
        done: JoinNode(Done),
        rest: trace.does(1),
    };
    let (_, told) = played(&trace, graph, ()).await;
    assert_eq!(told, "wash 0–10, iron 10–30, fold 30–35, rest 35–36");
    assert!(trace.is_one_at_a_time());
}

held!(DeferredChoice, InterleavedParallel, Hours, Milestone, CriticalSection, Payment, Count, InterleavedRouting);
