//! `timed_out(…)` and `failed(…)`: the routes of a node that took too long, or failed.

mod covers;
mod human;
mod work;

use crate::support::{Dropped, Log, both_ways, failed, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Entry, NodeOutcome};
use interlocking::runtime::{Journal, MemoryJournal, Report};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Verdict {
    Printed(String),
    Broken(Failure),
}

impl From<Failure> for Verdict {
    fn from(failure: Failure) -> Self {
        Self::Broken(failure)
    }
}

/// The facts, or why they are not known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Facts(Result<String, Failure>);

impl From<Failure> for Facts {
    fn from(failure: Failure) -> Self {
        Self(Err(failure))
    }
}

#[derive(Graph)]
#[graph(output = Verdict)]
struct Press {
    #[node(entry, input = String, fork(write, check))]
    begin: ForkNode<Begin>,
    #[node(input = String, goto(desk), failed(mend), timed_out(late, cancels(check, desk)), timeout = "2s", memory = u32)]
    write: LogicNode<Write>,
    /// Takes the failure itself.
    #[node(input = Failure, goto(desk.write))]
    mend: LogicNode<Mend>,
    #[node(input = TimedOut, goto(exit))]
    late: LogicNode<Late>,
    /// A slot can take a failure as well. Without `timed_out`, a timeout is a failure like others.
    #[node(input = String, goto(desk), failed(desk), timeout = "5s")]
    check: LogicNode<Check>,
    #[node(join(write: String from(write, mend), check: Facts), goto(exit), failed(exit))]
    desk: JoinNode<Desk>,
}

held!(Press, Counting);

/// Behaves as `how` says of `node`, if it does: `write error, check panic late`.
async fn act(node: &str, how: &str, dropped: &Dropped) -> Result<(), NodeError> {
    let _guard = dropped.guard();
    let own = how.split(", ").find_map(|part| part.strip_prefix(node)).unwrap_or_default().trim();
    if own.contains("late") {
        pass(10).await;
    }
    match own.split(' ').next() {
        Some("error") => Err(std::io::Error::other("the disk is full"))?,
        Some("panic") => panic!("stepped on"),
        Some("slow") => pass(3_600_000).await,
        _ => {}
    }
    Ok(())
}

forks!(Begin for press::begin, |how: String, cx| fork!(cx, (how.clone(), how)));
logic!(Write(dropped: Dropped) for press::write, |how: String, cx| {
    cx.update_memory(|drafts| *drafts += 1);
    act("write", &how, dropped).await?;
    if how == "configuration" {
        cx.input_of::<press::late>()?;
    }
    goto!(cx, press::desk, format!("draft {}", cx.memory()))
});
logic!(Mend for press::mend, |failure: Failure, cx| {
    assert_eq!(cx.input_of::<press::write>()?, cx.entry()?.clone());
    goto!(cx, press::desk_write, format!("mended {:?}: {failure}", failure.kind))
});
logic!(Late for press::late, |late: TimedOut, cx| goto!(cx, press::exit, Verdict::Printed(format!("late: {late}"))));
logic!(Check(dropped: Dropped) for press::check, |how: String, cx| {
    act("check", &how, dropped).await?;
    goto!(cx, press::desk, Facts(Ok("facts".to_owned())))
});
joins!(Desk for press::desk, |(draft, facts): (String, Facts), cx| {
    if draft == "draft 1" && cx.entry().is_ok_and(|how| how == "desk error") {
        Err("no paper")?;
    }
    let facts = facts.0.unwrap_or_else(|failure| format!("none, {failure}"));
    goto!(cx, press::exit, Verdict::Printed(format!("{draft}; {facts}")))
});

fn press(write: &Dropped, check: &Dropped) -> Press {
    Press {
        begin: ForkNode(Begin),
        write: LogicNode(Write(write.clone())),
        mend: LogicNode(Mend),
        late: LogicNode(Late),
        check: LogicNode(Check(check.clone())),
        desk: JoinNode(Desk),
    }
}

async fn run(how: &str) -> Report<Verdict> {
    timed(press(&Dropped::default(), &Dropped::default())).start(how.to_owned()).await.unwrap()
}

async fn printed(how: &str) -> String {
    match finished(run(how).await) {
        Verdict::Printed(text) => text,
        Verdict::Broken(failure) => panic!("{failure}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_fails_goes_where_its_table_says() {
    assert_eq!(printed("plain").await, "draft 1; facts", "nothing fails");
    for (how, text) in [
        ("write error", "mended Handler: node `write` failed: the disk is full; facts"),
        ("write error late", "mended Handler: node `write` failed: the disk is full; facts"),
        ("write panic", "mended Panic: node `write` panicked: stepped on; facts"),
        ("write panic late", "mended Panic: node `write` panicked: stepped on; facts"),
        ("check error", "draft 1; none, node `check` failed: the disk is full"),
        ("check slow", "draft 1; none, node `check` took longer than its timeout of 5s"),
        (
            "write error, check panic",
            "mended Handler: node `write` failed: the disk is full; none, node `check` panicked: stepped on",
        ),
    ] {
        assert_eq!(printed(how).await, text, "{how}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_takes_too_long_goes_where_its_table_says_for_that() {
    let (write, check, log) = (Dropped::default(), Dropped::default(), Log::new());
    let run = timed(press(&write, &check)).with_events(log.sink());
    let report = run.start("write slow, check slow".to_owned()).await.unwrap();
    assert_eq!(report.took.as_millis(), 2_000);
    let late = Verdict::Printed("late: node `write` took longer than its timeout of 2s".to_owned());
    assert_eq!(finished(report), late);
    assert!(write.happened() && check.happened(), "what the nodes were doing is dropped");
    assert_eq!(
        log.line("failed write 1.1"),
        "2000 failed write 1.1 after 2000: took longer than its timeout of 2s, goes to late"
    );
    assert_eq!(log.line("cancelled check 1.1"), "2000 cancelled check 1.1", "the route clears what the table says");
}

#[tokio::test(start_paused = true)]
async fn the_route_may_lead_to_the_exit() {
    let Verdict::Broken(failure) = finished(run("desk error").await) else { panic!("it failed") };
    assert_eq!(failure.to_string(), "node `desk` failed: no paper");
}

/// The run was not configured with what the handler asks for: that is not the node's failure.
#[tokio::test(start_paused = true)]
async fn what_the_run_lacks_fails_it() {
    let failure = failed(run("configuration").await);
    assert_eq!((failure.kind, failure.node.as_str()), (FailureKind::Configuration, "write"));
}

#[derive(Graph)]
#[graph(output = u32)]
struct Counting {
    #[node(entry, input = Again, goto(count, exit), failed(count), attempts = 3, memory = u32)]
    count: LogicNode<Count>,
}
logic!(Count for counting::count, |before: Again, cx| {
    assert_eq!(before.0, cx.memory(), "the update of the attempt that failed never happened");
    cx.update_memory(|count| *count += 1);
    match cx.attempt() {
        1 => Err("once more")?,
        2 => goto!(cx, self, Again(1)),
        _ => goto!(cx, counting::exit, cx.memory()),
    }
});
#[derive(Debug, Serialize, Deserialize)]
struct Again(u32);
impl From<Failure> for Again {
    fn from(_: Failure) -> Self {
        Self(0)
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_failed_node_asked_for_does_not_count() {
    for run in both_ways(|| Counting { count: LogicNode(Count) }) {
        assert_eq!(finished(run.start(Again(0)).await.unwrap()), 2);
    }
}

/// The records of a run.
async fn outcomes(how: &str) -> Vec<NodeOutcome> {
    let journal = Arc::new(MemoryJournal::new());
    let run = timed(press(&Dropped::default(), &Dropped::default())).with_journal(journal.clone());
    let id = run.start(how.to_owned()).await.unwrap().run;
    let records = journal.load(&id).await.unwrap();
    records
        .into_iter()
        .filter_map(|record| if let Entry::Outcome(outcome) = record.entry { Some(outcome) } else { None })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn the_record_says_how_the_node_failed_and_which_way_it_took() {
    let outcomes = outcomes("write error").await;
    let write = outcomes.iter().find(|outcome| outcome.node == "write").unwrap();
    let failure = write.failed.as_ref().unwrap();
    assert_eq!((&failure.kind, failure.message.as_str()), (&FailureKind::Handler, "the disk is full"));
    assert_eq!(write.tokens[0].place, "mend");
    assert!(write.memory.is_none());
    let net = <Press as interlocking::graph::Graph>::net();
    assert_eq!(write.alternative, net.node(1).failed);
    assert!(outcomes.iter().all(|outcome| outcome.node == "write" || outcome.failed.is_none()));
}
