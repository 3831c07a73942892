//! Runs that are resumed, retried and forked around a decision, and nodes that are entered again.

use super::*;
use interlocking::runtime::journal::fork::{self, ForkPoint};
use interlocking::runtime::{CancelToken, Outcome};
use std::time::Duration;

/// However many records a process has written before it ends, the next process reaches the same result. If the decision was among
/// the records, no child is asked again, and no loser does any more work.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_resumed_after_any_record_decides_alike() {
    let voters = || vec![voter("first", 30), voter("b", 10), ill("c", 20), voter("d", 90), voter("e", 95)];
    let whole = Cut::new(None);
    let expected = finished(jury(&Booth::default()).with_journal(whole.clone()).start(voters()).await.unwrap());
    assert_eq!(expected, "first, b, failed, cancelled, cancelled");
    let records = whole.written();
    let decision = records.iter().position(|it| matches!(it.entry, Entry::Decided { .. })).unwrap();
    let mut after = 0;
    for cut in 1..records.len() {
        let (booth, journal) = (Booth::default(), Cut::new(Some(cut)));
        let report = jury(&booth).with_journal(journal.clone()).start(voters()).await.unwrap();
        assert!(matches!(report.outcome, Outcome::JournalFailed(_)), "{cut}: {:?}", report.outcome);
        journal.heal();
        let (before, log) = (booth.done(), Log::new());
        let report = jury(&booth).with_journal(journal.clone()).with_events(log.sink()).resume().await.unwrap();
        let took = report.took.as_millis();
        assert_eq!(finished(report), expected, "after {cut} records");
        let decisions = journal.entries(|it| matches!(it, Entry::Decided { .. }).then_some(()));
        assert_eq!(decisions.len(), 1, "after {cut} records");
        if cut > decision {
            let is_asked = |kind: &EventKind| matches!(kind, EventKind::Note { .. } | EventKind::NodeDecided { .. });
            assert!(!log.events().iter().any(|it| is_asked(&it.kind)), "after {cut} records");
            assert_eq!((booth.done(), took), (before, 0), "after {cut} records nothing is done again");
            after += 1;
        }
        for child in journal.runs().await.unwrap() {
            assert!(child.ended.is_some(), "after {cut} records {child:?} has ended");
        }
    }
    assert!(after >= 3, "between the decision and the end: {after}");
}

/// A process that is suspended before its quorum leaves the decision to the next.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_suspended_before_its_quorum_goes_on() {
    let (booth, journal, stop) = (Booth::default(), Arc::new(MemoryJournal::new()), CancelToken::new());
    let voters = vec![voter("a", 10), voter("b", 30), voter("c", 40)];
    let run = vestry(&booth).with_journal(journal.clone()).with_cancel(stop.clone());
    let (report, ()) = tokio::join!(run.start(voters), async {
        pass(20).await;
        stop.suspend();
    });
    assert!(matches!(report.unwrap().outcome, Outcome::Suspended));
    let report = vestry(&booth).with_journal(journal.clone()).resume().await.unwrap();
    assert_eq!((report.took.as_millis(), finished(report).as_str()), (30, "a, b, cancelled"), "b begins again");
}

/// Entered again, with `adopt`.
#[derive(Graph)]
#[graph(output = String)]
pub(super) struct Terms {
    #[node(entry, input = Vec<Voter>, map = Ballot, quorum = 1, adopt, goto(again))]
    votes: MapNode<Term>,
    #[node(input = String, goto(votes, exit), visits = 2)]
    again: LogicNode<Next>,
}
ballots!(Term for terms::votes, to terms::again);
logic!(Next for terms::again, |told: String, cx| {
    match cx.visit() {
        1 => goto!(cx, terms::votes, vec![voter("slow", 50), ill("quick", 5), voter("third", 60)]),
        _ => goto!(cx, terms::exit, told),
    }
});

/// The winner is adopted and wins at once; a child that was cancelled would begin anew.
#[tokio::test(start_paused = true)]
async fn who_was_cancelled_is_not_adopted() {
    let (booth, journal) = (Booth::default(), Arc::new(MemoryJournal::new()));
    let graph = Terms { votes: MapNode(Term(booth.clone())), again: LogicNode(Next) };
    let run = timed(graph).with_journal(journal.clone());
    let report = run.start(vec![voter("slow", 50), voter("quick", 10)]).await.unwrap();
    assert_eq!((report.took.as_millis(), finished(report).as_str()), (10, "cancelled, quick, cancelled"));
    assert_eq!(booth.done(), ["quick"]);
}

/// Two of three must agree, and the chairman must be well.
#[derive(Graph)]
#[graph(output = String)]
struct Board {
    #[node(entry, input = Vec<Voter>, map = Clinic, quorum = 2, goto(exit))]
    votes: MapNode<Members>,
}
struct Members {
    booth: Booth,
    /// The patients that do not fail any more, and whether the chairman is cured.
    cured: Arc<Mutex<(Vec<String>, bool)>>,
}
impl MapHandler<board::votes> for Members {
    fn graph(&self, _: &Cx<'_, board::votes>) -> Result<Arc<Clinic>, NodeError> {
        Ok(Arc::new(Clinic { vote: LogicNode(Patient { booth: self.booth.clone(), cured: self.cured.clone() }) }))
    }
    async fn items(&self, voters: &Vec<Voter>, _: &mut Cx<'_, board::votes>) -> Result<Vec<Item<Clinic>>, NodeError> {
        Ok(voters.iter().cloned().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<Voter>,
        children: Children<Clinic>,
        cx: &mut Cx<'_, board::votes>,
    ) -> Route<board::votes> {
        let children = children.all().await;
        if children.iter().filter(|child| child.result.is_ok()).count() < 2 || !self.cured.lock().unwrap().1 {
            return Err("no majority".into());
        }
        goto!(cx, board::exit, told(children.into_iter().map(|child| child.result)))
    }
}
#[derive(Graph)]
#[graph(output = String)]
struct Clinic {
    #[node(entry, input = Voter, goto(exit))]
    vote: LogicNode<Patient>,
}
struct Patient {
    booth: Booth,
    cured: Arc<Mutex<(Vec<String>, bool)>>,
}
impl LogicHandler<clinic::vote> for Patient {
    async fn run(&self, voter: Voter, cx: &mut Cx<'_, clinic::vote>) -> Route<clinic::vote> {
        pass(voter.takes).await;
        self.booth.0.lock().unwrap()[1].push(voter.name.clone());
        if voter.fails && !self.cured.lock().unwrap().0.contains(&voter.name) {
            return Err("cannot vote".into());
        }
        goto!(cx, clinic::exit, voter.name)
    }
}

/// A retried run keeps a quorum that was reached, and tries again for one that was not.
#[tokio::test(start_paused = true)]
async fn a_retry_voids_only_what_was_out_of_reach() {
    crate::held::is_held::<Board>(module_path!());
    crate::held::is_held::<Clinic>(module_path!());
    let (booth, journal) = (Booth::default(), Cut::new(None));
    let cured: Arc<Mutex<(Vec<String>, bool)>> = Arc::default();
    let run = || {
        let (booth, cured) = (booth.clone(), cured.clone());
        timed(Board { votes: MapNode(Members { booth, cured }) }).with_journal(journal.clone())
    };
    let failed = |report: Report<String>| matches!(report.outcome, Outcome::Failed(_));
    let voters = vec![ill("a", 5), voter("b", 30), ill("c", 10), voter("d", 90)];
    // Two fail, and only two are left: both are waited for, and then the chairman fails.
    assert!(failed(run().start(voters).await.unwrap()));
    assert_eq!(booth.done(), ["a", "c", "b", "d"]);
    let decisions =
        || journal.entries(|it| if let Entry::Decided { reached, .. } = it { Some(*reached) } else { None });
    assert_eq!(decisions(), [true]);
    // The quorum stays reached: no voter votes again, although two had failed.
    cured.lock().unwrap().0 = vec!["a".to_owned(), "c".to_owned()];
    assert!(failed(run().retry().await.unwrap()));
    cured.lock().unwrap().1 = true;
    assert_eq!(finished(run().retry().await.unwrap()), "failed, b, failed, d");
    assert_eq!((booth.done().len(), decisions().len()), (4, 1));

    let (booth, journal) = (Booth::default(), Cut::new(None));
    let cured: Arc<Mutex<(Vec<String>, bool)>> = Arc::new(Mutex::new((Vec::new(), true)));
    let run = || {
        let (booth, cured) = (booth.clone(), cured.clone());
        timed(Board { votes: MapNode(Members { booth, cured }) }).with_journal(journal.clone())
    };
    let voters = vec![ill("a", 5), voter("b", 30), ill("c", 10)];
    assert!(failed(run().start(voters).await.unwrap()));
    assert_eq!(booth.done(), ["a", "c"]);
    // Voters that failed or were cancelled are tried again.
    cured.lock().unwrap().0 = vec!["a".to_owned()];
    assert_eq!(finished(run().retry().await.unwrap()), "a, b, failed");
    assert_eq!(booth.done(), ["a", "c", "a", "c", "b"]);
    let decisions = journal.entries(|it| if let Entry::Decided { reached, .. } = it { Some(*reached) } else { None });
    assert_eq!(decisions, [false, true]);
}

/// A fork of a run whose map was at work has children of its own, and makes its own decision.
#[tokio::test(start_paused = true)]
async fn a_fork_decides_by_itself() {
    let (booth, journal) = (Booth::default(), Cut::new(None));
    let run = vestry(&booth).with_journal(journal.clone());
    let voters = vec![voter("a", 10), voter("b", 20), voter("c", 30)];
    tokio::time::timeout(Duration::from_millis(15), run.start(voters)).await.unwrap_err();
    pass(1).await;
    finished(vestry(&booth).with_journal(journal.clone()).resume().await.unwrap());
    let of = RunId::DEFAULT;
    let records = journal.load(&of).await.unwrap();
    let decision = records.iter().position(|it| matches!(it.entry, Entry::Decided { .. })).unwrap();
    let new: RunId = "other".parse().unwrap();
    fork::fork(&*journal, &of, &ForkPoint::Records(decision as u64 + 1), &new).await.unwrap();
    let report = vestry(&booth).with_journal(journal.clone()).with_id(new.clone()).resume().await.unwrap();
    assert_eq!(finished(report), "a, b, cancelled");
    let own = journal.children(&new).await.unwrap();
    assert_eq!(own.len(), 3, "{own:?}");
    let decided = journal.load(&new).await.unwrap().into_iter().filter(|it| matches!(it.entry, Entry::Decided { .. }));
    assert_eq!(decided.count(), 1);
}
