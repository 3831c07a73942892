//! Map nodes that are entered again, and children that are adopted.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_map_that_adopts_keeps_what_was_done() {
    let bench = Bench::default();
    let run = timed(Rounds { pieces: MapNode(Again(bench.clone())), judge: LogicNode(Judge) });
    let mut bad = part("bad", 5);
    bad.fails = true;
    let report = run.start(vec![part("good", 5), bad, part("fresh", 5)]).await.unwrap();
    assert_eq!(finished(report), ["good", "bad", "new", "fresh"]);
    let mut done = bench.done.lock().unwrap().clone();
    done.sort();
    assert_eq!(done, ["bad", "bad", "fresh", "fresh", "good", "new"], "`good` once, `bad` and `fresh` again");
}

#[tokio::test(start_paused = true)]
async fn a_map_that_is_entered_again_begins_its_items_anew() {
    let (bench, journal) = (Bench::default(), Arc::new(MemoryJournal::new()));
    let run = timed(Samples { pieces: MapNode(Sample(bench.clone())), judge: LogicNode(Enough) });
    let runs = finished(run.with_journal(journal.clone()).start(Vec::new()).await.unwrap());
    assert_eq!(*bench.done.lock().unwrap(), ["same", "same", "same"], "once a visit");
    assert_eq!(runs.iter().collect::<std::collections::BTreeSet<_>>().len(), 3, "each a run of its own: {runs:?}");
    let mut visits = Vec::new();
    for summary in journal.runs().await.unwrap() {
        let Some(Origin::Child { visit, .. }) = summary.origin else { continue };
        visits.push((visit, summary.ended));
    }
    visits.sort();
    let ended = |visit, how: &str| (visit, Some(how.to_owned()));
    let each = |visit| [ended(visit, "cancelled"), ended(visit, "finished")];
    assert_eq!(visits, [each(1), each(2), each(3)].concat());
}

/// After a crash the interrupted visit goes on with its own children; it does not use those of the visit before.
#[tokio::test(start_paused = true)]
async fn a_visit_that_was_interrupted_goes_on_with_its_own_children() {
    let (bench, journal, cancel) = (Bench::default(), Arc::new(MemoryJournal::new()), CancelToken::new());
    let graph = || Samples { pieces: MapNode(Sample(bench.clone())), judge: LogicNode(Enough) };
    let run = timed(graph()).with_journal(journal.clone()).with_cancel(cancel.clone()).start(Vec::new());
    let (report, ()) = tokio::join!(run, async {
        pass(7).await;
        cancel.suspend();
    });
    assert_eq!((report.unwrap().outcome, journal.runs().await.unwrap().len()), (Outcome::Suspended, 1 + 2 * 2));
    finished(timed(graph()).with_journal(journal.clone()).resume().await.unwrap());
    assert_eq!(journal.runs().await.unwrap().len(), 1 + 3 * 2, "the second visit's were resumed, not begun anew");
    assert_eq!(*bench.done.lock().unwrap(), ["same", "same", "same"]);
}

/// Whether a child is adopted is decided once it has stopped: a child that fails while it is stopped is begun anew.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_child_that_fails_while_it_is_stopped_is_not_adopted() {
    #[derive(Graph)]
    #[graph(output = String)]
    struct Slow {
        #[node(entry, input = String, goto(exit))]
        work: LogicNode<Pass>,
        #[node(observes(work), report = u32, reports_to(exit))]
        witness: ObserverNode<Idle>,
    }
    logic!(Pass for slow::work, |name: String, cx| goto!(cx, slow::exit, name));
    struct Idle;
    impl ObserverHandler<slow::witness> for Idle {
        async fn observe(&self, _: &Observation, _: &mut u32) -> Result<(), NodeError> {
            Ok(())
        }
    }
    static TRIED: AtomicUsize = AtomicUsize::new(0);
    impl Finish for Slow {
        async fn finish(&self, name: String, _: interlocking::graph::ReportsOf<Self>) -> Result<String, NodeError> {
            if name == "slow" && TRIED.fetch_add(1, Ordering::SeqCst) == 0 {
                // A blocking call cannot be aborted.
                std::thread::sleep(Duration::from_millis(200));
                return Err("too late".into());
            }
            Ok(name)
        }
    }
    #[derive(Graph)]
    #[graph(output = Vec<String>)]
    struct Twice {
        #[node(entry, input = Vec<String>, map = Slow, adopt, goto(pieces, exit), visits = 3)]
        pieces: MapNode<Both>,
    }
    struct Both;
    impl MapHandler<twice::pieces> for Both {
        fn graph(&self, _: &Cx<'_, twice::pieces>) -> Result<Arc<Slow>, NodeError> {
            Ok(Arc::new(Slow { work: LogicNode(Pass), witness: ObserverNode(Idle) }))
        }
        async fn items(&self, _: &Vec<String>, _: &mut Cx<'_, twice::pieces>) -> Result<Vec<Item<Slow>>, NodeError> {
            Ok(vec![Item::new("slow".to_owned()), Item::new("quick".to_owned())])
        }
        async fn gather(
            &self,
            _: Vec<String>,
            mut children: Children<Slow>,
            cx: &mut Cx<'_, twice::pieces>,
        ) -> Route<twice::pieces> {
            if cx.visit() == 1 {
                while TRIED.load(Ordering::SeqCst) == 0 {
                    children.any().await;
                    tokio::task::yield_now().await;
                }
                return goto!(cx, twice::pieces, Vec::new());
            }
            let told = children.all().await.into_iter().map(|child| child.result.unwrap_or_else(|e| e.to_string()));
            goto!(cx, twice::exit, told.collect())
        }
    }
    let journal = Arc::new(MemoryJournal::new());
    let run = Run::new(Twice { pieces: MapNode(Both) }).with_journal(journal.clone());
    assert_eq!(finished(run.start(Vec::new()).await.unwrap()), ["slow", "quick"]);
    let ended = journal.runs().await.unwrap().into_iter().filter(|run| run.ended.as_deref() == Some("failed")).count();
    assert_eq!(ended, 1, "it had failed, and was begun anew");
    crate::held::is_held::<Slow>(module_path!());
    crate::held::is_held::<Twice>(module_path!());
}

/// A piece for each key and part.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Alike {
    #[node(entry, input = Vec<(String, Part)>, map = Piece, concurrency = 1, goto(exit))]
    pieces: MapNode<Keyed>,
}
struct Keyed;
impl MapHandler<alike::pieces> for Keyed {
    fn graph(&self, _: &Cx<'_, alike::pieces>) -> Result<Arc<Piece>, NodeError> {
        Ok(Arc::new(Piece { work: LogicNode(Work(Bench::default())) }))
    }
    async fn items(
        &self,
        parts: &Vec<(String, Part)>,
        _: &mut Cx<'_, alike::pieces>,
    ) -> Result<Vec<Item<Piece>>, NodeError> {
        Ok(parts.iter().cloned().map(|(key, part)| Item::new(part).with_key(key)).collect())
    }
    async fn gather(
        &self,
        _: Vec<(String, Part)>,
        children: Children<Piece>,
        cx: &mut Cx<'_, alike::pieces>,
    ) -> Route<alike::pieces> {
        let children = children.all().await.into_iter();
        let told = children.map(|child| format!("{}: {}", child.key, child.result.unwrap_or_default()));
        goto!(cx, alike::exit, told.collect())
    }
}

/// Items with equal keys are distinguished by their order, and never confused with an item whose own key looks the
/// same.
#[tokio::test(start_paused = true)]
async fn no_two_items_share_a_run() {
    let keys = ["a", "a", "a#1", "a~2", "a", "a#2"];
    let items = keys.iter().zip(1..).map(|(key, nth)| ((*key).to_owned(), part(&format!("part {nth}"), 1)));
    let journal = Arc::new(MemoryJournal::new());
    let run = timed(Alike { pieces: MapNode(Keyed) }).with_journal(journal.clone());
    let told = finished(run.start(items.collect()).await.unwrap());
    let parts: Vec<_> = told.iter().filter_map(|told| told.split(": ").nth(1)).collect();
    assert_eq!(parts, ["part 1 of 0", "part 2 of 0", "part 3 of 0", "part 4 of 0", "part 5 of 0", "part 6 of 0"]);
    assert_eq!(journal.runs().await.unwrap().len(), 1 + keys.len());
    crate::held::is_held::<Alike>(module_path!());
}

/// A run is removed with its child runs. A later run with its name begins its own, for its own items.
#[tokio::test(start_paused = true)]
async fn a_run_with_the_name_of_a_removed_one_begins_its_own_children() {
    let journal = Arc::new(MemoryJournal::new());
    for name in ["first", "second"] {
        let run = timed(Alike { pieces: MapNode(Keyed) }).with_journal(journal.clone());
        let told = finished(run.start(vec![("a".to_owned(), part(name, 1))]).await.unwrap());
        assert_eq!(told, [format!("a: {name} of 0")]);
        journal.remove(&RunId::DEFAULT).await.unwrap();
        assert_eq!(journal.runs().await.unwrap(), []);
    }
}
