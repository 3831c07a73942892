//! `exclusive` on a graph node: a section of several nodes that no other execution of the same name interrupts.

use crate::support::{Log, finished, pass, timed};
use askama::Template;
use interlocking::agents::ScriptedAgent;
use interlocking::prelude::*;
use interlocking::runtime::journal::{Letter, LetterBody};
use interlocking::runtime::map::{Children, Item};
use interlocking::runtime::{Budgets, CancelToken, Journal, MemoryJournal, StartError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};
use std::time::Duration;

held!(Market, Stall, Sale, Count, Kiosk, Slow, Bank, Vault, Lock, Fair, Workshop, Page);

/// The till of a market: the section, by its run, that uses it, and all its uses, node by node.
#[derive(Clone, Default)]
struct Till(Arc<Mutex<(Option<String>, Vec<String>)>>);

impl Till {
    /// Uses the till, in the middle of a section or at its end.
    async fn work(&self, run: &RunId, node: &str, milliseconds: u64, is_last: bool) {
        {
            let mut state = self.0.lock().unwrap();
            let section = state.0.get_or_insert_with(|| run.to_string()).clone();
            state.1.push(format!("{run} {node}"));
            assert_eq!(section, run.as_str(), "{node} begins in the middle of another section: {:?}", state.1);
        }
        pass(milliseconds).await;
        if is_last {
            self.0.lock().unwrap().0 = None;
        }
    }

    fn nodes(&self) -> Vec<String> {
        let worked = self.0.lock().unwrap().1.clone();
        worked.iter().map(|who| who.rsplit(' ').next().unwrap().to_owned()).collect()
    }
}

/// A market: stalls sell, two at a time, while the till is counted.
#[derive(Graph)]
#[graph(output = u32)]
struct Market {
    #[node(entry, input = u32, fork(stalls, audit))]
    open: ForkNode<Open>,
    #[node(input = u32, map = Stall, concurrency = 2, goto(close))]
    stalls: MapNode<Stalls>,
    #[node(input = u32, goto(count))]
    audit: LogicNode<Walk>,
    #[node(input = u32, graph = Count, goto(close), exclusive = "till")]
    count: GraphNode<Count>,
    #[node(on(()), resume, exclusive = "till")]
    bell: EventNode<Bell>,
    #[node(join(stalls: u32, count: u32), goto(exit))]
    close: JoinNode<Close>,
}
#[derive(Graph)]
#[graph(output = u32)]
struct Stall {
    #[node(entry, input = u32, goto(sell))]
    serve: LogicNode<Serve>,
    #[node(input = u32, graph = Sale, goto(exit), exclusive = "till")]
    sell: GraphNode<Sale>,
}
#[derive(Graph)]
#[graph(output = u32)]
struct Sale {
    #[node(entry, input = u32, goto(change))]
    take: LogicNode<AtTill>,
    #[node(input = u32, goto(exit))]
    change: LogicNode<AtTill>,
}
#[derive(Graph)]
#[graph(output = u32)]
struct Count {
    #[node(entry, input = u32, fork(notes, coins))]
    empty: ForkNode<AtTill>,
    #[node(input = u32, goto(book))]
    notes: LogicNode<AtTill>,
    #[node(input = u32, goto(book))]
    coins: LogicNode<AtTill>,
    #[node(join(notes: u32, coins: u32), goto(exit))]
    book: JoinNode<AtTill>,
}

forks!(Open for market::open, |stalls: u32, cx| fork!(cx, (stalls, 0)));
logic!(Walk for market::audit, |none: u32, cx| {
    pass(4).await;
    goto!(cx, market::count, none)
});
logic!(Serve for stall::serve, |stall: u32, cx| {
    pass(u64::from(stall)).await;
    goto!(cx, stall::sell, stall)
});
joins!(Close for market::close, |(sold, counted): (u32, u32), cx| goto!(cx, market::exit, 100 * counted + sold));
struct AtTill(Till);
impl LogicHandler<sale::take> for AtTill {
    async fn run(&self, stall: u32, cx: &mut Cx<'_, sale::take>) -> Route<sale::take> {
        self.0.work(cx.run_id(), "take", 3, false).await;
        goto!(cx, sale::change, stall)
    }
}
impl LogicHandler<sale::change> for AtTill {
    async fn run(&self, _: u32, cx: &mut Cx<'_, sale::change>) -> Route<sale::change> {
        self.0.work(cx.run_id(), "change", 2, true).await;
        goto!(cx, sale::exit, 1)
    }
}
impl ForkHandler<count::empty> for AtTill {
    async fn fork(&self, none: u32, cx: &mut Cx<'_, count::empty>) -> Route<count::empty> {
        self.0.work(cx.run_id(), "empty", 3, false).await;
        fork!(cx, (none, none))
    }
}
impl LogicHandler<count::notes> for AtTill {
    async fn run(&self, none: u32, cx: &mut Cx<'_, count::notes>) -> Route<count::notes> {
        self.0.work(cx.run_id(), "notes", 5, false).await;
        goto!(cx, count::book, none)
    }
}
impl LogicHandler<count::coins> for AtTill {
    async fn run(&self, none: u32, cx: &mut Cx<'_, count::coins>) -> Route<count::coins> {
        self.0.work(cx.run_id(), "coins", 2, false).await;
        goto!(cx, count::book, none)
    }
}
impl JoinHandler<count::book> for AtTill {
    async fn join(&self, _: (u32, u32), cx: &mut Cx<'_, count::book>) -> Route<count::book> {
        self.0.work(cx.run_id(), "book", 1, true).await;
        goto!(cx, count::exit, 1)
    }
}
struct Stalls(Till);
impl MapHandler<market::stalls> for Stalls {
    fn graph(&self, _: &Cx<'_, market::stalls>) -> Result<Arc<Stall>, NodeError> {
        Ok(Arc::new(stall(&self.0)))
    }
    async fn items(&self, stalls: &u32, _: &mut Cx<'_, market::stalls>) -> Result<Vec<Item<Stall>>, NodeError> {
        Ok((0..*stalls).map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: u32,
        children: Children<Stall>,
        cx: &mut Cx<'_, market::stalls>,
    ) -> Route<market::stalls> {
        goto!(cx, market::close, children.all().await.into_iter().filter_map(|child| child.result.ok()).sum())
    }
}
struct Bell(Till);
impl EventHandler<market::bell> for Bell {
    async fn handle(&self, (): (), cx: &mut Cx<'_, market::bell>) -> Route<market::bell> {
        self.0.work(cx.run_id(), "bell", 2, true).await;
        cx.resume()
    }
}

fn stall(till: &Till) -> Stall {
    let at_till = || LogicNode(AtTill(till.clone()));
    Stall { serve: LogicNode(Serve), sell: GraphNode(Sale { take: at_till(), change: at_till() }) }
}

fn count(till: &Till) -> Count {
    let at_till = || AtTill(till.clone());
    Count {
        empty: ForkNode(at_till()),
        notes: LogicNode(at_till()),
        coins: LogicNode(at_till()),
        book: JoinNode(at_till()),
    }
}

fn market(till: &Till, journal: &Arc<MemoryJournal>) -> Run<Market> {
    let graph = Market {
        open: ForkNode(Open),
        stalls: MapNode(Stalls(till.clone())),
        audit: LogicNode(Walk),
        count: GraphNode(count(till)),
        bell: EventNode(Bell(till.clone())),
        close: JoinNode(Close),
    };
    timed(graph).with_journal(journal.clone())
}

/// Pattern 39: no execution of the same name begins between the nodes of a section, although parts of one section run
/// concurrently.
#[tokio::test(start_paused = true)]
async fn nothing_comes_between_the_nodes_of_a_section() {
    for recorded in [true, false] {
        let (till, log) = (Till::default(), Log::new());
        let run = market(&till, &Arc::new(MemoryJournal::new())).with_events(log.sink());
        let run = if recorded { run } else { run.without_journal() };
        assert_eq!(finished(run.start(4).await.unwrap()), 104);
        let by_turns = "take change take change empty notes coins book take change take change";
        assert_eq!(till.nodes().join(" "), by_turns, "{}", log.lines());
        assert!(
            log.lines().lines().any(|line| line.contains("NodeWaits") && line.contains("count")),
            "{}",
            log.lines()
        );
    }
}

/// Whenever everything is killed, or suspended: a section that had begun goes on before any other begins.
#[tokio::test(start_paused = true)]
async fn a_section_goes_on_before_others_begin_in_the_next_process() {
    for milliseconds in 0..=33 {
        for suspends in [false, true] {
            let (till, journal) = (Till::default(), Arc::new(MemoryJournal::new()));
            // Three processes, of which two are interrupted.
            for process in 0..2 {
                let cancel = CancelToken::new();
                let run = market(&till, &journal).with_cancel(cancel.clone());
                let run = async move { if process == 0 { run.start(4).await } else { run.resume().await } };
                if suspends {
                    let ((), _) = tokio::join!(
                        async {
                            pass(milliseconds / (process + 1)).await;
                            cancel.suspend();
                        },
                        run
                    );
                } else {
                    drop(tokio::time::timeout(Duration::from_millis(milliseconds / (process + 1)), run).await);
                    // Values held by the tasks of the dropped run are dropped when the runtime polls these tasks.
                    pass(0).await;
                }
            }
            let resumed = tokio::time::timeout(Duration::from_secs(5), market(&till, &journal).resume());
            assert_eq!(finished(resumed.await.expect("nobody waits for ever").unwrap()), 104, "{milliseconds} ms");
            assert!(till.nodes().len() >= 12, "{:?}", till.nodes());
        }
    }
}

/// A message is handled between sections by a handler that needs their turn, and neither waits for the other.
#[tokio::test(start_paused = true)]
async fn who_handles_messages_takes_turns_with_sections() {
    for at in 0..20 {
        let (till, journal) = (Till::default(), Arc::new(MemoryJournal::new()));
        let (report, ()) =
            tokio::join!(tokio::time::timeout(Duration::from_secs(5), market(&till, &journal).start(3)), async {
                pass(at).await;
                let body = LetterBody::Message { node: "bell".to_owned(), message: "null".into() };
                journal.post(&RunId::DEFAULT, Letter { key: None, body }).await.unwrap();
            });
        assert_eq!(finished(report.expect("nobody waits for ever").unwrap()), 103, "{at} ms");
        assert_eq!(till.nodes().iter().filter(|node| *node == "bell").count(), 1, "{:?}", till.nodes());
    }
}

/// A sale that takes too long is stopped, and so is a sale whose customer leaves: the next begins when the sale has stopped
/// completely.
#[derive(Graph)]
#[graph(output = String)]
struct Kiosk {
    #[node(entry, input = (), fork(slow, quick, leave))]
    open: ForkNode<OpenKiosk>,
    #[node(input = (), graph = Slow, goto(shut.slow), timeout = "10ms", timed_out(shut.slow), exclusive = "till")]
    slow: GraphNode<Slow>,
    #[node(input = (), graph = Slow, goto(shut.quick), exclusive = "till")]
    quick: GraphNode<Slow>,
    #[node(input = (), goto(last, cancels(quick, shut.quick)))]
    leave: LogicNode<Leave>,
    #[node(input = (), goto(shut.quick), exclusive = "till")]
    last: LogicNode<Last>,
    #[node(join(slow: Slept from(slow), quick: Slept from(quick, last)), goto(exit, cancels(*)))]
    shut: JoinNode<Shut>,
}
#[derive(Graph)]
#[graph(output = Slept)]
struct Slow {
    #[node(entry, input = (), goto(exit))]
    sleep: LogicNode<Sleep>,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Slept(bool);
impl From<interlocking::failure::TimedOut> for Slept {
    fn from(_: interlocking::failure::TimedOut) -> Self {
        Self(false)
    }
}
forks!(OpenKiosk for kiosk::open, |(): (), cx| fork!(cx, ((), (), ())));
/// A customer at the kiosk who takes a moment to leave.
struct There(Arc<Mutex<u32>>);
impl Drop for There {
    fn drop(&mut self) {
        *self.0.lock().unwrap() -= 1;
    }
}
fn there(kiosk: &Arc<Mutex<u32>>) -> There {
    *kiosk.lock().unwrap() += 1;
    assert_eq!(*kiosk.lock().unwrap(), 1, "somebody is there");
    There(kiosk.clone())
}
logic!(Sleep(kiosk: Arc<Mutex<u32>>) for slow::sleep, |(): (), cx| {
    let _there = there(kiosk);
    pass(1_000).await;
    goto!(cx, slow::exit, Slept(true))
});
logic!(Leave for kiosk::leave, |(): (), cx| {
    pass(30).await;
    goto!(cx, kiosk::last, ())
});
logic!(Last(kiosk: Arc<Mutex<u32>>) for kiosk::last, |(): (), cx| {
    let _there = there(kiosk);
    pass(5).await;
    goto!(cx, kiosk::shut_quick, Slept(true))
});
joins!(Shut for kiosk::shut, |(slow, quick): (Slept, Slept), cx| {
    goto!(cx, kiosk::exit, format!("{} {}", slow.0, quick.0))
});

#[tokio::test(start_paused = true)]
async fn a_section_that_is_stopped_keeps_others_out_until_it_has() {
    let (kiosk, log) = (Arc::default(), Log::new());
    let slow = || GraphNode(Slow { sleep: LogicNode(Sleep(Arc::clone(&kiosk))) });
    let graph = Kiosk {
        open: ForkNode(OpenKiosk),
        slow: slow(),
        quick: slow(),
        leave: LogicNode(Leave),
        last: LogicNode(Last(kiosk.clone())),
        shut: JoinNode(Shut),
    };
    let report = timed(graph).with_events(log.sink()).start(()).await.unwrap();
    assert_eq!(finished(report), "false true", "{}", log.lines());
    assert_eq!(log.events().last().unwrap().at_ms, 35, "the first was stopped at 10, the second at 30");
}

/// Graphs that cannot be sections.
#[derive(Graph)]
#[graph(output = ())]
struct Bank {
    #[node(entry, input = (), goto(deep))]
    open: LogicNode<Goes>,
    #[node(input = (), graph = Vault, goto(exit), exclusive = "vault")]
    deep: GraphNode<Vault>,
}
#[derive(Graph)]
#[graph(output = ())]
struct Vault {
    #[node(entry, input = (), goto(unlock), exclusive = "key")]
    fetch: LogicNode<Goes>,
    #[node(input = (), graph = Lock, goto(exit))]
    unlock: GraphNode<Lock>,
    #[node(on(()), resume)]
    alarm: EventNode<Goes>,
}
#[derive(Graph)]
#[graph(output = ())]
struct Lock {
    #[node(entry, input = (), question = String, answer = String, goto(exit))]
    ask: HumanNode<Goes>,
}
struct Goes;
macro_rules! goes {
    ($($node:path => $to:path),+) => { $(
        impl LogicHandler<$node> for Goes {
            async fn run(&self, (): (), cx: &mut Cx<'_, $node>) -> Route<$node> {
                goto!(cx, $to, ())
            }
        }
    )+ };
}
goes!(bank::open => bank::deep, vault::fetch => vault::unlock);
impl EventHandler<vault::alarm> for Goes {
    async fn handle(&self, (): (), cx: &mut Cx<'_, vault::alarm>) -> Route<vault::alarm> {
        cx.resume()
    }
}
impl HumanHandler<lock::ask> for Goes {
    async fn ask(&self, (): &(), _: &mut Cx<'_, lock::ask>) -> Result<String, NodeError> {
        Ok(String::new())
    }
    async fn answered(&self, (): (), _: String, cx: &mut Cx<'_, lock::ask>) -> Route<lock::ask> {
        goto!(cx, lock::exit, ())
    }
}

#[tokio::test(start_paused = true)]
async fn a_graph_that_waits_for_somebody_outside_is_no_section() {
    let lock = Lock { ask: HumanNode(Goes) };
    let vault = Vault { fetch: LogicNode(Goes), unlock: GraphNode(lock), alarm: EventNode(Goes) };
    let error = Run::new(Bank { open: LogicNode(Goes), deep: GraphNode(vault) }).start(()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "what is `exclusive` must not wait while it has the turn, nor be stopped in the middle:\n  \
         `deep` of `Bank` → `fetch` of `Vault`: it waits for a turn itself, and two runs could wait for each other for ever\n  \
         `deep` of `Bank` → `unlock` of `Vault` → `ask` of `Lock`: it waits for a person, and all runs that wait for the turn would wait, too\n  \
         `deep` of `Bank` → `alarm` of `Vault`: it takes messages, and as long as some come all runs that wait for the turn would wait\n\
         end the child graph before, or say `exclusive` at the nodes within that need it"
    );
}

/// A map that stops its children and resumes them later would leave a section unfinished.
#[derive(Graph)]
#[graph(output = u32)]
struct Fair {
    #[node(entry, input = u32, map = Stall, adopt, goto(exit))]
    stalls: MapNode<FairStalls>,
}
struct FairStalls;
impl MapHandler<fair::stalls> for FairStalls {
    fn graph(&self, _: &Cx<'_, fair::stalls>) -> Result<Arc<Stall>, NodeError> {
        Ok(Arc::new(stall(&Till::default())))
    }
    async fn items(&self, _: &u32, _: &mut Cx<'_, fair::stalls>) -> Result<Vec<Item<Stall>>, NodeError> {
        Ok(Vec::new())
    }
    async fn gather(&self, none: u32, _: Children<Stall>, cx: &mut Cx<'_, fair::stalls>) -> Route<fair::stalls> {
        goto!(cx, fair::exit, none)
    }
}

#[tokio::test(start_paused = true)]
async fn a_map_that_adopts_runs_no_sections() {
    let error = Run::new(Fair { stalls: MapNode(FairStalls) }).start(0).await.unwrap_err();
    let StartError::UnfitSections { unfit } = &error else { panic!("{error}") };
    assert_eq!(unfit[0].way, ["`stalls` of `Fair`", "`sell` of `Stall`"]);
    assert!(error.to_string().contains("would be stopped in the middle of it"), "{error}");
}

/// A workshop in which `tidy` has to wait until a page is written and read.
#[derive(Graph)]
#[graph(output = ())]
struct Workshop {
    #[node(entry, input = (), fork(page, tidy))]
    open: ForkNode<OpenWorkshop>,
    #[node(input = (), graph = Page, goto(shut), exclusive = "desk")]
    page: GraphNode<Page>,
    #[node(input = (), goto(shut), exclusive = "desk")]
    tidy: LogicNode<Tidy>,
    #[node(join(page: Words, tidy: ()), goto(exit))]
    shut: JoinNode<ShutWorkshop>,
}
#[derive(Graph)]
#[graph(output = Words)]
struct Page {
    #[node(entry, input = (), goto(write))]
    begin: LogicNode<Tidy>,
    #[node(input = Words, output = Words, goto(read))]
    write: LLMNode,
    #[node(input = Words, output = Words, goto(exit))]
    read: LLMNode,
}
#[derive(Serialize, Deserialize, JsonSchema, Template)]
#[template(source = "Go on after {{ text }}.", ext = "txt")]
struct Words {
    text: String,
}
forks!(OpenWorkshop for workshop::open, |(): (), cx| fork!(cx, ((), ())));
/// Notes that it has run.
struct Tidy(Arc<Mutex<Vec<String>>>);
impl LogicHandler<workshop::tidy> for Tidy {
    async fn run(&self, (): (), cx: &mut Cx<'_, workshop::tidy>) -> Route<workshop::tidy> {
        self.0.lock().unwrap().push("tidy".to_owned());
        goto!(cx, workshop::shut, ())
    }
}
impl LogicHandler<page::begin> for Tidy {
    async fn run(&self, (): (), cx: &mut Cx<'_, page::begin>) -> Route<page::begin> {
        self.0.lock().unwrap().push("begin".to_owned());
        goto!(cx, page::write, Words { text: "nothing".to_owned() })
    }
}
struct ShutWorkshop(Arc<Mutex<Vec<String>>>);
impl JoinHandler<workshop::shut> for ShutWorkshop {
    async fn join(&self, (page, ()): (Words, ()), cx: &mut Cx<'_, workshop::shut>) -> Route<workshop::shut> {
        self.0.lock().unwrap().push(page.text);
        goto!(cx, workshop::exit, ())
    }
}

/// A node that waits for a section that is held back waits for the next process; the run does not wait for ever in this one.
#[tokio::test(start_paused = true)]
async fn a_section_whose_budget_is_used_up_goes_on_in_the_next_process() {
    let (told, journal) = (Arc::<Mutex<Vec<String>>>::default(), Arc::new(MemoryJournal::new()));
    let run = |calls| {
        let graph = Workshop {
            open: ForkNode(OpenWorkshop),
            page: GraphNode(Page {
                begin: LogicNode(Tidy(told.clone())),
                write: LLMNode(PassOn),
                read: LLMNode(PassOn),
            }),
            tidy: LogicNode(Tidy(told.clone())),
            shut: JoinNode(ShutWorkshop(told.clone())),
        };
        let script = r#"turn = [{ output = { text = "page" }, times = "any" }]"#;
        let agent = ScriptedAgent::parse("script.toml", script).unwrap();
        let budgets = Budgets::unlimited().with_calls(calls);
        timed(graph).with_journal(journal.clone()).with_agent_for_others(Arc::new(agent)).with_budgets(budgets)
    };
    let stopped = tokio::time::timeout(Duration::from_secs(5), run(1).start(())).await;
    let outcome = stopped.expect("the run does not wait for ever").unwrap().outcome;
    assert!(matches!(outcome, Outcome::BudgetExhausted(_)), "{outcome:?}");
    assert_eq!(*told.lock().unwrap(), ["begin"], "nobody came in between");
    finished(run(9).resume().await.unwrap());
    assert_eq!(*told.lock().unwrap(), ["begin", "tidy", "page"]);
}
