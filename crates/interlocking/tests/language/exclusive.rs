//! `exclusive = "name"`: executions that never overlap, in a whole tree of runs.

use crate::support::{Log, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Letter, LetterBody};
use interlocking::runtime::map::{Children, Item};
use interlocking::runtime::{CancelToken, Journal, MemoryJournal};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A desk that must never be used by two nodes at once. It records its users in order.
#[derive(Clone, Default)]
struct Desk(Arc<Mutex<(Option<String>, Vec<String>)>>);

/// A seat at the desk, taken until this is dropped.
struct Seat(Desk);

impl Desk {
    #[track_caller]
    fn sit_down(&self, who: &str) -> Seat {
        let mut state = self.0.lock().unwrap();
        let before = state.0.replace(who.to_owned());
        state.1.push(who.to_owned());
        drop(state);
        assert_eq!(before, None, "{who} comes while somebody is there");
        Seat(self.clone())
    }

    async fn use_it(&self, who: &str, milliseconds: u64) {
        let _seat = self.sit_down(who);
        pass(milliseconds).await;
    }

    fn users(&self) -> Vec<String> {
        self.0.lock().unwrap().1.clone()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.0.lock().unwrap().0 = None;
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Book(Vec<String>);

/// Interleaved routing: all nodes, in any order, one at a time.
#[derive(Graph)]
#[graph(output = Book)]
struct Rota {
    #[node(entry, input = u64, fork(wash, iron, fold))]
    split: ForkNode<Split>,
    #[node(input = u64, goto(done), exclusive = "desk", memory(book: Book), timeout = "15ms")]
    wash: LogicNode<Chore>,
    #[node(input = u64, goto(done), exclusive = "desk", memory(book: Book), timeout = "15ms")]
    iron: LogicNode<Chore>,
    #[node(input = u64, goto(done), exclusive = "desk", memory(book: Book), timeout = "15ms")]
    fold: LogicNode<Chore>,
    #[node(join(wash: (), iron: (), fold: ()), goto(exit), memory(book: Book))]
    done: JoinNode<Done>,
}
forks!(Split for rota::split, |takes: u64, cx| fork!(cx, (takes, takes, takes)));
struct Chore(Desk);
/// Reads the book, works, and writes the book back with one more line: an update in between would be lost.
macro_rules! chores {
    ($($node:ident),+) => { $(
        impl LogicHandler<rota::$node> for Chore {
            async fn run(&self, takes: u64, cx: &mut Cx<'_, rota::$node>) -> Route<rota::$node> {
                let mut book = cx.memory();
                self.0.use_it(stringify!($node), takes).await;
                book.0.push(stringify!($node).to_owned());
                cx.update_memory(move |kept| *kept = book.clone());
                goto!(cx, rota::done, ())
            }
        }
    )+ };
}
chores!(wash, iron, fold);
joins!(Done for rota::done, |((), (), ()): ((), (), ()), cx| goto!(cx, rota::exit, cx.memory()));

fn rota(desk: &Desk) -> Run<Rota> {
    timed(Rota {
        split: ForkNode(Split),
        wash: LogicNode(Chore(desk.clone())),
        iron: LogicNode(Chore(desk.clone())),
        fold: LogicNode(Chore(desk.clone())),
        done: JoinNode(Done),
    })
}

/// Pattern 40. Each node sees what those before it have remembered. Its timeout begins with its turn: the third has waited longer
/// than its timeout.
#[tokio::test(start_paused = true)]
async fn all_of_a_fork_run_in_some_order_one_at_a_time() {
    for recorded in [true, false] {
        let (desk, log) = (Desk::default(), Log::new());
        let run = rota(&desk).with_events(log.sink());
        let run = if recorded { run } else { run.without_journal() };
        let Book(book) = finished(run.start(10).await.unwrap());
        assert_eq!(book, desk.users(), "nothing that was remembered is lost");
        assert_eq!(book, ["wash", "iron", "fold"], "in the order in which they asked");
        assert_eq!(log.events().last().unwrap().at_ms, 30);
        let waits = |node: &str| log.lines().lines().any(|line| line.starts_with("0 NodeWaits") && line.contains(node));
        assert!(!waits("wash") && waits("iron") && waits("fold"), "{}", log.lines());
    }
}

/// The desk panics when two use it at once: the tests above and below rely on that.
#[tokio::test(start_paused = true)]
#[should_panic(expected = "comes while somebody is there")]
async fn the_desk_notices_two() {
    let desk = Desk::default();
    tokio::join!(desk.use_it("one", 1), desk.use_it("other", 1));
}

/// Interleaved parallel routing: a partial order, one at a time.
#[derive(Graph)]
#[graph(output = ())]
struct Lesson {
    #[node(entry, input = (), fork(read, draw))]
    begin: ForkNode<Begin>,
    #[node(input = (), goto(solve), exclusive = "pupil")]
    read: LogicNode<Task>,
    #[node(input = (), goto(done), exclusive = "pupil")]
    solve: LogicNode<Task>,
    #[node(input = (), goto(done), exclusive = "pupil")]
    draw: LogicNode<Task>,
    #[node(join(solve: (), draw: ()), goto(exit))]
    done: JoinNode<Home>,
}
forks!(Begin for lesson::begin, |(): (), cx| fork!(cx, ((), ())));
struct Task(Desk);
impl LogicHandler<lesson::read> for Task {
    async fn run(&self, (): (), cx: &mut Cx<'_, lesson::read>) -> Route<lesson::read> {
        self.0.use_it("read", 10).await;
        goto!(cx, lesson::solve, ())
    }
}
impl LogicHandler<lesson::solve> for Task {
    async fn run(&self, (): (), cx: &mut Cx<'_, lesson::solve>) -> Route<lesson::solve> {
        self.0.use_it("solve", 10).await;
        goto!(cx, lesson::done, ())
    }
}
impl LogicHandler<lesson::draw> for Task {
    async fn run(&self, (): (), cx: &mut Cx<'_, lesson::draw>) -> Route<lesson::draw> {
        self.0.use_it("draw", 10).await;
        goto!(cx, lesson::done, ())
    }
}
joins!(Home for lesson::done, |((), ()): ((), ()), cx| goto!(cx, lesson::exit, ()));

/// Pattern 17: `read` before `solve`, `draw` at any time, never two at the same time.
#[tokio::test(start_paused = true)]
async fn branches_take_turns_node_by_node() {
    let (desk, log) = (Desk::default(), Log::new());
    let task = || LogicNode(Task(desk.clone()));
    let graph = Lesson { begin: ForkNode(Begin), read: task(), solve: task(), draw: task(), done: JoinNode(Home) };
    finished(timed(graph).with_events(log.sink()).start(()).await.unwrap());
    assert_eq!(desk.users(), ["read", "draw", "solve"], "whoever waits comes before who comes again");
    assert_eq!(log.events().last().unwrap().at_ms, 30);
}

/// A critical section in a whole tree: a shop counts its till while its clerks, and their clerks, pay in.
#[derive(Graph)]
#[graph(output = u32)]
struct Shop {
    #[node(entry, input = u32, fork(count, clerks))]
    open: ForkNode<Open>,
    #[node(input = u32, goto(count, close), attempts = 4, exclusive = "till")]
    count: LogicNode<Count>,
    #[node(input = u32, map = Clerk, goto(close))]
    clerks: MapNode<Clerks>,
    #[node(join(count: (), clerks: u32), goto(exit))]
    close: JoinNode<Close>,
}
#[derive(Graph)]
#[graph(output = u32)]
struct Clerk {
    #[node(entry, input = u32, goto(pay))]
    pack: LogicNode<Pack>,
    #[node(input = u32, goto(helpers, exit), exclusive = "till")]
    pay: LogicNode<Pay>,
    #[node(input = u32, map = Clerk, depth = 3, goto(exit))]
    helpers: MapNode<Helpers>,
}
held!(Rota, Lesson, Shop, Clerk, Office);

forks!(Open for shop::open, |clerks: u32, cx| fork!(cx, (clerks, clerks)));
logic!(Count(till: Desk) for shop::count, |clerks: u32, cx| {
    till.use_it("count", 3).await;
    if cx.is_final_attempt() { goto!(cx, shop::close, ()) } else { goto!(cx, self, clerks) }
});
logic!(Pack for clerk::pack, |helpers: u32, cx| {
    pass(2).await;
    goto!(cx, clerk::pay, helpers)
});
logic!(Pay(till: Desk) for clerk::pay, |helpers: u32, cx| {
    till.use_it(cx.run_id().as_str(), 5).await;
    if helpers == 0 { goto!(cx, clerk::exit, 1) } else { goto!(cx, clerk::helpers, helpers) }
});
joins!(Close for shop::close, |((), paid): ((), u32), cx| goto!(cx, shop::exit, paid));
struct Clerks(Desk);
impl MapHandler<shop::clerks> for Clerks {
    fn graph(&self, _: &Cx<'_, shop::clerks>) -> Result<Arc<Clerk>, NodeError> {
        Ok(Arc::new(Clerk { pack: LogicNode(Pack), pay: LogicNode(Pay(self.0.clone())), helpers: MapNode(Helpers) }))
    }
    async fn items(&self, clerks: &u32, _: &mut Cx<'_, shop::clerks>) -> Result<Vec<Item<Clerk>>, NodeError> {
        Ok((0..*clerks).map(Item::new).collect())
    }
    async fn gather(&self, _: u32, children: Children<Clerk>, cx: &mut Cx<'_, shop::clerks>) -> Route<shop::clerks> {
        goto!(cx, shop::close, children.all().await.into_iter().filter_map(|child| child.result.ok()).sum())
    }
}
struct Helpers;
impl MapHandler<clerk::helpers> for Helpers {
    fn graph(&self, cx: &Cx<'_, clerk::helpers>) -> Result<Arc<Clerk>, NodeError> {
        Ok(cx.own_graph()?)
    }
    async fn items(&self, helpers: &u32, _: &mut Cx<'_, clerk::helpers>) -> Result<Vec<Item<Clerk>>, NodeError> {
        Ok((0..*helpers).map(|_| Item::new(0)).collect())
    }
    async fn gather(
        &self,
        _: u32,
        children: Children<Clerk>,
        cx: &mut Cx<'_, clerk::helpers>,
    ) -> Route<clerk::helpers> {
        let paid: u32 = children.all().await.into_iter().filter_map(|child| child.result.ok()).sum();
        goto!(cx, clerk::exit, 1 + paid)
    }
}

fn shop(till: &Desk, journal: &Arc<MemoryJournal>) -> Run<Shop> {
    let graph = Shop {
        open: ForkNode(Open),
        count: LogicNode(Count(till.clone())),
        clerks: MapNode(Clerks(till.clone())),
        close: JoinNode(Close),
    };
    timed(graph).with_journal(journal.clone())
}

/// Pattern 39, with children and children of children.
#[tokio::test(start_paused = true)]
async fn a_critical_section_is_one_for_a_whole_tree_of_runs() {
    let (till, log, journal) = (Desk::default(), Log::new(), Arc::new(MemoryJournal::new()));
    let paid = finished(shop(&till, &journal).with_events(log.sink()).start(3).await.unwrap());
    assert_eq!(paid, 3 + 3, "three clerks, of whom one has one helper and one has two");
    assert_eq!(till.users().len(), 4 + 6, "{:?}", till.users());
    assert!(log.events().last().unwrap().at_ms >= 4 * 3 + 6 * 5, "they took turns");
}

/// Whenever everything is killed, or suspended: the holder of the till and the waiting nodes go on, and still take turns.
#[tokio::test(start_paused = true)]
async fn a_tree_that_is_killed_while_some_wait_goes_on_correctly() {
    for milliseconds in 0..=40 {
        for suspends in [false, true] {
            let (till, journal, cancel) = (Desk::default(), Arc::new(MemoryJournal::new()), CancelToken::new());
            let run = shop(&till, &journal).with_cancel(cancel.clone()).start(3);
            if suspends {
                let (report, ()) = tokio::join!(run, async {
                    pass(milliseconds).await;
                    cancel.suspend();
                });
                assert!(report.unwrap().outcome.finished().is_none(), "it takes longer");
            } else {
                assert!(tokio::time::timeout(Duration::from_millis(milliseconds), run).await.is_err());
                // Values held by the tasks of the dropped run are dropped when the runtime polls these tasks.
                pass(0).await;
            }
            let before = till.users().len();
            let resumed = tokio::time::timeout(Duration::from_secs(5), shop(&till, &journal).resume());
            assert_eq!(finished(resumed.await.expect("nobody waits for ever").unwrap()), 6, "after {milliseconds} ms");
            assert!(till.users().len() >= 10 && before <= 10, "all have been there: {:?}", till.users());
        }
    }
}

/// All node kinds that can be exclusive: a visitor waits at the counter until the porter sends him away.
#[derive(Graph)]
#[graph(output = u64)]
struct Office {
    #[node(entry, input = (), fork(clerk, visitor, patient, porter), spawn(archive), exclusive = "counter")]
    open: ForkNode<OpenOffice>,
    #[node(input = (), goto(closed), exclusive = "counter")]
    clerk: LogicNode<AtCounter>,
    #[node(input = (), goto(closed, cancels(porter)), exclusive = "counter")]
    visitor: LogicNode<AtCounter>,
    #[node(input = (), goto(closed), exclusive = "counter")]
    patient: LogicNode<AtCounter>,
    #[node(input = (), goto(closed, cancels(visitor)))]
    porter: LogicNode<Porter>,
    #[node(join(clerk: (), patient: (), visitor: () from(porter, visitor)), goto(exit), exclusive = "counter")]
    closed: JoinNode<Closed>,
    #[node(on(()), resume, exclusive = "counter")]
    bell: EventNode<Bell>,
    #[node(input = (), report = u64, reports_to(exit), exclusive = "counter")]
    archive: AdvisoryNode<Archive>,
}
struct OpenOffice;
impl ForkHandler<office::open> for OpenOffice {
    async fn fork(&self, (): (), cx: &mut Cx<'_, office::open>) -> Route<office::open> {
        cx.spawn::<office::archive>(());
        fork!(cx, ((), (), (), ()))
    }
}
struct AtCounter(Desk);
impl LogicHandler<office::clerk> for AtCounter {
    async fn run(&self, (): (), cx: &mut Cx<'_, office::clerk>) -> Route<office::clerk> {
        self.0.use_it("clerk", 10).await;
        goto!(cx, office::closed, ())
    }
}
impl LogicHandler<office::visitor> for AtCounter {
    async fn run(&self, (): (), cx: &mut Cx<'_, office::visitor>) -> Route<office::visitor> {
        self.0.use_it("visitor", 10).await;
        goto!(cx, office::closed, ())
    }
}
impl LogicHandler<office::patient> for AtCounter {
    async fn run(&self, (): (), cx: &mut Cx<'_, office::patient>) -> Route<office::patient> {
        self.0.use_it("patient", 10).await;
        goto!(cx, office::closed, ())
    }
}
logic!(Porter for office::porter, |(): (), cx| {
    pass(5).await;
    goto!(cx, office::closed, ())
});
joins!(Closed(counter: Desk) for office::closed, |((), (), ()): ((), (), ()), cx| {
    counter.use_it("closed", 10).await;
    goto!(cx, office::exit, 0)
});
struct Bell(Desk);
impl EventHandler<office::bell> for Bell {
    async fn handle(&self, (): (), cx: &mut Cx<'_, office::bell>) -> Route<office::bell> {
        self.0.use_it("bell", 10).await;
        cx.resume()
    }
}
struct Archive(Desk);
impl AdvisoryHandler<office::archive> for Archive {
    async fn advise(&self, (): (), _: &mut Cx<'_, office::archive>) -> Result<u64, NodeError> {
        self.0.use_it("archive", 10).await;
        Ok(1)
    }
}
impl Finish for Office {
    async fn finish(&self, output: u64, reports: interlocking::graph::ReportsOf<Self>) -> Result<u64, NodeError> {
        let reported: Result<Vec<u64>, _> = reports.archive.into_iter().map(|report| report.result).collect();
        Ok(output + reported?.into_iter().sum::<u64>())
    }
}

#[tokio::test(start_paused = true)]
async fn every_kind_takes_turns_and_who_is_cancelled_leaves_the_queue() {
    let (desk, log, journal) = (Desk::default(), Log::new(), Arc::new(MemoryJournal::new()));
    let counter = || AtCounter(desk.clone());
    let graph = Office {
        open: ForkNode(OpenOffice),
        clerk: LogicNode(counter()),
        visitor: LogicNode(counter()),
        patient: LogicNode(counter()),
        porter: LogicNode(Porter),
        closed: JoinNode(Closed(desk.clone())),
        bell: EventNode(Bell(desk.clone())),
        archive: AdvisoryNode(Archive(desk.clone())),
    };
    let run = timed(graph).with_events(log.sink()).with_journal(journal.clone()).start(());
    let (report, ()) = tokio::join!(run, async {
        pass(1).await;
        let body = LetterBody::Message { node: "bell".to_owned(), message: "null".into() };
        journal.post(&"run".parse().unwrap(), Letter { key: None, body }).await.unwrap();
    });
    assert_eq!(finished(report.unwrap()), 1);
    let users = desk.users();
    assert_eq!(users, ["archive", "clerk", "patient", "bell", "closed"], "{}", log.lines());
    assert_eq!(log.line("cancelled visitor 1.1"), "5 cancelled visitor 1.1");
    assert_eq!(log.events().last().unwrap().at_ms, 50, "nobody waited for the visitor");
}
