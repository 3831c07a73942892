//! Map nodes: a child run for each item.

mod again;

use crate::support::{Log, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::run_id::RunId;
use interlocking::runtime::journal::{Entry, Origin};
use interlocking::runtime::{CancelToken, ChildFailure, Event, EventKind, Journal, MemoryJournal};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A part of the work: how long it takes, and whether it fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Part {
    name: String,
    takes: u64,
    fails: bool,
}

fn part(name: &str, takes: u64) -> Part {
    Part { name: name.to_owned(), takes, fails: false }
}

#[derive(Graph)]
#[graph(output = String)]
struct Piece {
    #[node(entry, input = Part, goto(exit))]
    work: LogicNode<Work>,
}

#[derive(Default, Clone)]
struct Bench {
    at_once: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    done: Arc<Mutex<Vec<String>>>,
}
struct Work(Bench);
impl LogicHandler<piece::work> for Work {
    async fn run(&self, part: Part, cx: &mut Cx<'_, piece::work>) -> Route<piece::work> {
        let at_once = self.0.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most.fetch_max(at_once, Ordering::SeqCst);
        // Released also if the work is interrupted.
        struct Leave(Arc<AtomicUsize>);
        impl Drop for Leave {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        let _leave = Leave(self.0.at_once.clone());
        pass(part.takes).await;
        self.0.done.lock().unwrap().push(part.name.clone());
        if part.fails {
            return Err(format!("{} cannot be made", part.name).into());
        }
        goto!(cx, piece::exit, format!("{} of {}", part.name, cx.siblings().await?.len()))
    }
}

#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Shop {
    #[node(entry, input = Vec<Part>, map = Piece, concurrency = 2, goto(sum))]
    pieces: MapNode<Pieces>,
    #[node(input = Vec<String>, goto(exit))]
    sum: LogicNode<Sum>,
}
struct Pieces(Bench);
impl MapHandler<shop::pieces> for Pieces {
    fn graph(&self, _: &Cx<'_, shop::pieces>) -> Result<Arc<Piece>, NodeError> {
        Ok(Arc::new(Piece { work: LogicNode(Work(self.0.clone())) }))
    }
    async fn items(&self, parts: &Vec<Part>, _: &mut Cx<'_, shop::pieces>) -> Result<Vec<Item<Piece>>, NodeError> {
        Ok(parts.iter().cloned().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<Part>,
        children: Children<Piece>,
        cx: &mut Cx<'_, shop::pieces>,
    ) -> Route<shop::pieces> {
        let pending = children.pending().len();
        let results = children.all().await;
        let told = results.into_iter().map(|child| match child.result {
            Ok(piece) => format!("{} {piece}", child.item),
            Err(error) => format!("{} {error}", child.item),
        });
        let told = told.chain([format!("{pending} in all")]).collect();
        goto!(cx, shop::sum, told)
    }
}
logic!(Sum for shop::sum, |told: Vec<String>, cx| goto!(cx, shop::exit, told));

fn shop(bench: &Bench) -> Run<Shop> {
    timed(Shop { pieces: MapNode(Pieces(bench.clone())), sum: LogicNode(Sum) })
}

/// Rule 15: results in item order, failures as values, and no more children at once than the table says.
#[tokio::test(start_paused = true)]
async fn children_run_side_by_side_and_their_results_come_in_the_order_of_items() {
    let (bench, log) = (Bench::default(), Log::new());
    let mut parts = vec![part("slow", 30), part("quick", 5), part("broken", 5), part("last", 5)];
    parts[2].fails = true;
    let report = shop(&bench).with_events(log.sink()).start(parts).await.unwrap();
    assert_eq!(report.took.as_millis(), 30, "the slow one beside the others");
    assert_eq!(
        finished(report),
        ["0 slow of 0", "1 quick of 1", "2 node `work` failed: broken cannot be made", "3 last of 1", "4 in all"]
    );
    assert_eq!(bench.most.load(Ordering::SeqCst), 2, "`concurrency = 2`");
    assert_eq!(*bench.done.lock().unwrap(), ["quick", "broken", "last", "slow"]);
    assert_eq!(log.lines().matches(" in run-").count(), 4 * 4, "{}", log.lines());
}

/// A panic in a child's executor, outside its nodes, is that child's error.
#[tokio::test(start_paused = true)]
async fn a_child_whose_executor_panics_is_a_failed_child() {
    let sink = |event: Event| {
        let is_childs = event.run != RunId::DEFAULT;
        assert!(!is_childs || !matches!(event.kind, EventKind::RunEnded { .. }), "the sink is broken");
    };
    let run = shop(&Bench::default()).with_events(Arc::new(sink));
    let told = finished(run.start(vec![part("a", 10), part("b", 20)]).await.unwrap());
    let [one, other, all] = &told[..] else { panic!("{told:?}") };
    for (nth, failed) in [one, other].into_iter().enumerate() {
        assert!(failed.starts_with(&format!("{nth} ")) && failed.ends_with("panicked: the sink is broken"), "{failed}");
    }
    assert_eq!(all, "2 in all");
}

/// Every event names its run, each child names its parent, and all use the same clock.
#[tokio::test(start_paused = true)]
async fn events_of_children_say_which_run_they_are_of() {
    let log = Log::new();
    let items = vec![part("a", 10), part("b", 20), part("c", 20)];
    finished(shop(&Bench::default()).with_events(log.sink()).start(items).await.unwrap());
    let events = log.events();
    assert!(events.is_sorted_by_key(|event| event.at_ms));
    let lines = |run: &RunId| -> Vec<String> {
        let events = events.iter().filter(|event| event.run == *run);
        events.map(|event| format!("{} {}", event.at_ms, serde_json::to_value(event).unwrap()["event"])).collect()
    };
    let mut children = 0;
    for event in &events {
        let EventKind::RunStarted { graph, origin, .. } = &event.kind else { continue };
        let Some(Origin::Child { parent, node, visit, key, .. }) = origin.as_deref() else {
            assert_eq!((graph.as_ref(), event.run.as_str(), origin), ("Shop", "run", &None));
            continue;
        };
        assert_eq!((graph.as_ref(), parent.as_str(), node.as_str(), *visit), ("Piece", "run", "pieces", 1));
        let part: Part = serde_json::from_str(key).unwrap();
        // Two at once: the third begins when the first has ended.
        let begins = if part.name == "c" { 10 } else { 0 };
        let told = |at: u64, event: &str| format!("{at} \"{event}\"");
        let ends = begins + part.takes;
        let expected =
            [(begins, "run_started"), (begins, "node_started"), (ends, "node_finished"), (ends, "run_ended")];
        assert_eq!(lines(&event.run), expected.map(|(at, event)| told(at, event)), "{}", part.name);
        children += 1;
    }
    assert_eq!(children, 3);
    let told = events.iter().filter_map(|event| match &event.kind {
        EventKind::MapStarted { node, items, ended, .. } => Some((node.node.as_ref(), *items, *ended)),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [("pieces", 3, 0)]);
}

/// PRG-33: without items the map is done at once.
#[tokio::test(start_paused = true)]
async fn no_items_are_done_at_once() {
    assert_eq!(finished(shop(&Bench::default()).start(Vec::new()).await.unwrap()), ["0 in all"]);
}

#[tokio::test(start_paused = true)]
async fn each_child_is_a_run_of_its_own_in_the_same_journal() {
    let journal = Arc::new(MemoryJournal::new());
    let run = shop(&Bench::default()).with_journal(journal.clone());
    finished(run.start(vec![part("a", 1), part("a", 1), part("b", 1)]).await.unwrap());
    let runs = journal.runs().await.unwrap();
    assert_eq!(runs.len(), 4);
    let mut keys: Vec<_> = runs
        .iter()
        .filter_map(|summary| match &summary.origin {
            Some(Origin::Child { parent, node, visit, attempt, key, number }) => {
                assert_eq!(*attempt, 1);
                assert_eq!((parent.as_str(), node.as_str(), *visit), ("run", "pieces", 1));
                assert_eq!(summary.ended.as_deref(), Some("finished"));
                assert!(summary.run.as_str().starts_with("run-"));
                Some((key.clone(), *number))
            }
            _ => None,
        })
        .collect();
    keys.sort();
    let key = |name: &str| serde_json::to_string(&part(name, 1)).unwrap();
    assert_eq!(keys, [(key("a"), 1), (key("a"), 2), (key("b"), 1)], "equal items are told apart by their order");
}

/// Children's finished work is not repeated; work that they had begun is.
#[tokio::test(start_paused = true)]
async fn a_resumed_map_takes_its_children_up_where_they_were() {
    let (bench, journal, cancel) = (Bench::default(), Arc::new(MemoryJournal::new()), CancelToken::new());
    let parts = || vec![part("one", 5), part("two", 50), part("three", 20)];
    let run = shop(&bench).with_journal(journal.clone()).with_cancel(cancel.clone()).start(parts());
    let (report, ()) = tokio::join!(run, async {
        pass(10).await;
        cancel.suspend();
    });
    assert_eq!(report.unwrap().outcome, Outcome::Suspended);
    assert_eq!((bench.at_once.load(Ordering::SeqCst), &**bench.done.lock().unwrap()), (0, &["one".to_owned()][..]));
    let ended = journal.runs().await.unwrap().into_iter().filter(|run| run.ended.is_some()).count();
    assert_eq!(ended, 1, "a child that was stopped with its parent has not ended");
    let report = shop(&bench).with_journal(journal.clone()).resume().await.unwrap();
    assert_eq!(finished(report), ["0 one of 1", "1 two of 0", "2 three of 1", "3 in all"]);
    assert_eq!(*bench.done.lock().unwrap(), ["one", "three", "two"], "none twice");
    let wholly = journal.runs().await.unwrap();
    assert!(wholly.iter().all(|run| run.ended.as_deref() == Some("finished")), "{wholly:?}");
}

#[tokio::test(start_paused = true)]
async fn children_are_cancelled_with_their_parent() {
    let (bench, journal, cancel) = (Bench::default(), Arc::new(MemoryJournal::new()), CancelToken::new());
    let run = shop(&bench).with_journal(journal.clone()).with_cancel(cancel.clone()).start(vec![part("long", 500)]);
    let (report, ()) = tokio::join!(run, async {
        pass(10).await;
        cancel.cancel();
    });
    assert_eq!(report.unwrap().outcome, Outcome::Cancelled);
    let runs = journal.runs().await.unwrap();
    assert!(runs.iter().all(|run| run.ended.as_deref() == Some("cancelled")), "{runs:?}");
}

/// PRG-32, PRG-38: results arrive one after the other, as they come, with the child's name.
#[tokio::test(start_paused = true)]
async fn a_handler_may_take_results_as_they_come() {
    #[derive(Graph)]
    #[graph(output = Vec<String>)]
    struct Race {
        #[node(entry, input = Vec<Part>, map = Piece, goto(exit))]
        pieces: MapNode<First>,
    }
    struct First;
    impl MapHandler<race::pieces> for First {
        fn graph(&self, _: &Cx<'_, race::pieces>) -> Result<Arc<Piece>, NodeError> {
            Ok(Arc::new(Piece { work: LogicNode(Work(Bench::default())) }))
        }
        async fn items(&self, parts: &Vec<Part>, _: &mut Cx<'_, race::pieces>) -> Result<Vec<Item<Piece>>, NodeError> {
            Ok(parts.iter().cloned().map(|part| Item::new(part.clone()).with_key(part.name)).collect())
        }
        async fn gather(
            &self,
            _: Vec<Part>,
            mut children: Children<Piece>,
            cx: &mut Cx<'_, race::pieces>,
        ) -> Route<race::pieces> {
            let mut taken = Vec::new();
            while let Some(child) = children.any().await {
                let pending = children.pending();
                assert!(!pending.contains(&child.run));
                taken.push(format!("{} {} left {}", child.key, child.result?, pending.len()));
            }
            assert!(children.any().await.is_none(), "PRG-33");
            goto!(cx, race::exit, taken)
        }
    }
    let run = timed(Race { pieces: MapNode(First) });
    let report = run.start(vec![part("c", 9), part("a", 3), part("b", 6)]).await.unwrap();
    assert_eq!(finished(report), ["a a of 2 left 2", "b b of 1 left 1", "c c of 0 left 0"]);
    crate::held::is_held::<Race>(module_path!());
}

/// A tree of runs of one graph, limited by the table and by the run's budget.
#[derive(Graph)]
#[graph(output = u32)]
struct Tree {
    #[node(entry, input = u32, map = Tree, depth = 3, goto(exit))]
    branch: MapNode<Grow>,
}
struct Grow;
impl MapHandler<tree::branch> for Grow {
    fn graph(&self, cx: &Cx<'_, tree::branch>) -> Result<Arc<Tree>, NodeError> {
        Ok(cx.own_graph()?)
    }
    async fn items(&self, levels: &u32, _: &mut Cx<'_, tree::branch>) -> Result<Vec<Item<Tree>>, NodeError> {
        let below = || Item::new(levels - 1);
        Ok(if *levels == 0 { Vec::new() } else { vec![below(), below()] })
    }
    async fn gather(&self, _: u32, children: Children<Tree>, cx: &mut Cx<'_, tree::branch>) -> Route<tree::branch> {
        let mut sum = 1;
        for child in children.all().await {
            match child.result {
                Ok(below) => sum += below,
                Err(ChildFailure::TooDeep { limit: 3 }) => sum += 1_000,
                Err(other) => return Err(other.into()),
            }
        }
        goto!(cx, tree::exit, sum)
    }
}

#[tokio::test(start_paused = true)]
async fn a_graph_may_be_its_own_child_as_deep_as_the_table_says() {
    let grown = |levels| async move { finished(timed(Tree { branch: MapNode(Grow) }).start(levels).await.unwrap()) };
    assert_eq!(grown(0).await, 1);
    assert_eq!(grown(3).await, 1 + 2 + 4 + 8);
    assert_eq!(grown(4).await, 1 + 2 + 4 + 8 + 16 * 1_000, "deeper is a failure of the child, as a value");
}

/// Rule 15: with `adopt`, a repeated entry takes over the children whose items have equal keys. Children that failed begin
/// anew, and so do those whose items say so.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Rounds {
    #[node(entry, input = Vec<Part>, map = Piece, adopt, goto(judge), visits = 3)]
    pieces: MapNode<Again>,
    #[node(input = Vec<String>, goto(pieces, exit))]
    judge: LogicNode<Judge>,
}
struct Again(Bench);
impl MapHandler<rounds::pieces> for Again {
    fn graph(&self, _: &Cx<'_, rounds::pieces>) -> Result<Arc<Piece>, NodeError> {
        Ok(Arc::new(Piece { work: LogicNode(Work(self.0.clone())) }))
    }
    async fn items(&self, parts: &Vec<Part>, _: &mut Cx<'_, rounds::pieces>) -> Result<Vec<Item<Piece>>, NodeError> {
        let item = |part: Part| {
            let item = Item::new(part.clone()).with_key(&part.name);
            if part.name == "fresh" { item.anew() } else { item }
        };
        Ok(parts.iter().cloned().map(item).collect())
    }
    async fn gather(
        &self,
        _: Vec<Part>,
        children: Children<Piece>,
        cx: &mut Cx<'_, rounds::pieces>,
    ) -> Route<rounds::pieces> {
        let told = children.all().await.into_iter().map(|child| match child.result {
            Ok(_) => child.key,
            Err(_) => format!("no {}", child.key),
        });
        goto!(cx, rounds::judge, told.collect())
    }
}
logic!(Judge for rounds::judge, |told: Vec<String>, cx| {
    match cx.visit() {
        1 => goto!(cx, rounds::pieces, vec![part("good", 5), part("bad", 5), part("new", 5), part("fresh", 5)]),
        _ => goto!(cx, rounds::exit, told),
    }
});

/// Rule 15: when the node is entered again, all items begin anew, also those that were done.
#[derive(Graph)]
#[graph(output = Vec<RunId>)]
struct Samples {
    #[node(entry, input = Vec<RunId>, map = Piece, goto(judge), visits = 3)]
    pieces: MapNode<Sample>,
    #[node(input = Vec<RunId>, goto(pieces, exit))]
    judge: LogicNode<Enough>,
}
struct Sample(Bench);
impl MapHandler<samples::pieces> for Sample {
    fn graph(&self, _: &Cx<'_, samples::pieces>) -> Result<Arc<Piece>, NodeError> {
        Ok(Arc::new(Piece { work: LogicNode(Work(self.0.clone())) }))
    }
    async fn items(&self, _: &Vec<RunId>, _: &mut Cx<'_, samples::pieces>) -> Result<Vec<Item<Piece>>, NodeError> {
        Ok(vec![Item::new(part("same", 5)), Item::new(part("long", 100))])
    }
    async fn gather(
        &self,
        mut runs: Vec<RunId>,
        mut children: Children<Piece>,
        cx: &mut Cx<'_, samples::pieces>,
    ) -> Route<samples::pieces> {
        // The first result is enough: the other child is left behind.
        runs.extend(children.any().await.map(|child| child.run));
        goto!(cx, samples::judge, runs)
    }
}
logic!(Enough for samples::judge, |runs: Vec<RunId>, cx| {
    match cx.visit() {
        3 => goto!(cx, samples::exit, runs),
        _ => goto!(cx, samples::pieces, runs),
    }
});

/// Dropping a run leaves its children free at once: the run that is resumed takes each of them over, once.
#[tokio::test(start_paused = true)]
async fn dropping_a_run_frees_its_children_at_once() {
    let (bench, journal) = (Bench::default(), Arc::new(MemoryJournal::new()));
    let run = || shop(&bench).with_journal(journal.clone());
    let limit = Duration::from_millis(10);
    tokio::time::timeout(limit, run().start(vec![part("one", 100), part("two", 100)])).await.unwrap_err();
    let report = run().resume().await.unwrap();
    assert_eq!(finished(report), ["0 one of 1", "1 two of 1", "2 in all"]);
    let restarted = journal.runs().await.unwrap().into_iter().map(|run| run.run);
    for run in restarted {
        let records = journal.records(&run);
        let resumed = records.iter().filter(|record| matches!(record.entry, Entry::Resumed { .. })).count();
        assert_eq!(resumed, 1, "{run}");
    }
}

held!(Piece, Shop, Tree, Rounds, Samples);
