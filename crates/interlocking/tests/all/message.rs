//! Event nodes: messages from outside and between the runs of a tree.

use crate::slow::Slow;
use crate::support::{Log, failed, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::fork::{ForkPoint, fork};
use interlocking::runtime::journal::{Entry, Letter, LetterBody, MessageRecord, RecordedPayload};
use interlocking::runtime::{CancelToken, Journal, MemoryJournal};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Merged {
    by: String,
    breaks: bool,
}

/// A loop of two nodes that a message may pause, or take back to its start.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Loop {
    #[node(entry, input = Vec<String>, goto(second), visits = 9)]
    first: LogicNode<First>,
    #[node(input = Vec<String>, goto(first, exit))]
    second: LogicNode<Second>,
    #[node(on(Merged), resume, goto(first, cancels(second)), visits = 3)]
    rebase: EventNode<Rebase>,
}

type Trace = Arc<Mutex<Vec<String>>>;

struct First;
impl LogicHandler<r#loop::first> for First {
    async fn run(&self, mut said: Vec<String>, cx: &mut Cx<'_, r#loop::first>) -> Route<r#loop::first> {
        pass(10).await;
        said.push(format!("first {}", cx.visit()));
        goto!(cx, r#loop::second, said)
    }
}
struct Second;
impl LogicHandler<r#loop::second> for Second {
    async fn run(&self, mut said: Vec<String>, cx: &mut Cx<'_, r#loop::second>) -> Route<r#loop::second> {
        pass(10).await;
        said.push(format!("second {}", cx.visit()));
        match cx.visit() {
            1 => goto!(cx, r#loop::first, said),
            _ => goto!(cx, r#loop::exit, said),
        }
    }
}
struct Rebase(Trace);
impl EventHandler<r#loop::rebase> for Rebase {
    async fn handle(&self, merged: Merged, cx: &mut Cx<'_, r#loop::rebase>) -> Route<r#loop::rebase> {
        pass(100).await;
        self.0.lock().unwrap().push(merged.by.clone());
        match merged.breaks {
            false => cx.resume(),
            true => goto!(cx, r#loop::first, vec![format!("after {}", merged.by)]),
        }
    }
}

fn looping(trace: &Trace, journal: &Arc<MemoryJournal>) -> Run<Loop> {
    let graph = Loop { first: LogicNode(First), second: LogicNode(Second), rebase: EventNode(Rebase(trace.clone())) };
    timed(graph).with_journal(journal.clone())
}

async fn send(journal: &MemoryJournal, by: &str, breaks: bool) {
    let message = serde_json::to_string(&Merged { by: by.to_owned(), breaks }).unwrap().into();
    let body = LetterBody::Message { node: "rebase".to_owned(), message };
    journal.post(&"run".parse().unwrap(), Letter { key: None, body }).await.unwrap();
}

/// Rules 13 and 14, CON-28: at a node boundary, with the loop paused.
#[tokio::test(start_paused = true)]
async fn a_message_is_handled_between_nodes_and_nothing_starts_meanwhile() {
    let (trace, journal, log) = (Trace::default(), Arc::new(MemoryJournal::new()), Log::new());
    let run = looping(&trace, &journal).with_events(log.sink()).start(Vec::new());
    let (report, ()) = tokio::join!(run, async {
        pass(5).await;
        send(&journal, "sibling", false).await;
    });
    let report = report.unwrap();
    assert_eq!(report.took.as_millis(), 140);
    assert_eq!(finished(report), ["first 1", "second 1", "first 2", "second 2"], "it resumes as if nothing had been");
    assert_eq!(log.line("started rebase 1.1"), "10 started rebase 1.1", "once `first`, which ran, was done");
    assert_eq!(log.line("started second 1.1"), "110 started second 1.1");
}

/// While a message is handled, a request by letter to cancel the run takes effect at once.
#[tokio::test(start_paused = true)]
async fn a_run_is_cancelled_while_it_handles_a_message() {
    let (trace, journal, log) = (Trace::default(), Arc::new(MemoryJournal::new()), Log::new());
    let (report, ()) = tokio::join!(looping(&trace, &journal).with_events(log.sink()).start(Vec::new()), async {
        pass(5).await;
        send(&journal, "sibling", false).await;
        pass(45).await;
        let letter = Letter { key: None, body: LetterBody::Cancel };
        journal.post(&"run".parse().unwrap(), letter).await.unwrap();
    });
    let report = report.unwrap();
    assert_eq!((report.outcome, report.took.as_millis()), (Outcome::Cancelled, 50));
    assert!(trace.lock().unwrap().is_empty());
    assert_eq!(log.line("cancelled rebase 1.1"), "50 cancelled rebase 1.1", "every start has an end");
}

/// Whatever stops a run, each start of an event node has an end among the events, and only one.
#[tokio::test(start_paused = true)]
async fn an_event_node_that_has_started_comes_to_an_end() {
    let (trace, journal, cancel, log) =
        (Trace::default(), Arc::new(MemoryJournal::new()), CancelToken::new(), Log::new());
    let run = looping(&trace, &journal).with_events(log.sink()).with_cancel(cancel.clone()).start(Vec::new());
    let (report, ()) = tokio::join!(run, async {
        pass(5).await;
        send(&journal, "sibling", false).await;
        pass(45).await;
        cancel.suspend();
    });
    assert_eq!(report.unwrap().outcome, Outcome::Suspended);
    assert_eq!(log.line("suspended rebase 1.1"), "50 suspended rebase 1.1");

    // Its table says `visits = 3`, and has no route for a fourth message.
    let (trace, journal, log) = (Trace::default(), Arc::new(MemoryJournal::new()), Log::new());
    let run = looping(&trace, &journal).with_events(log.sink()).start(Vec::new());
    let (report, ()) = tokio::join!(run, async {
        pass(5).await;
        for by in ["one", "two", "three", "four"] {
            send(&journal, by, false).await;
        }
    });
    let failure = failed(report.unwrap());
    assert_eq!((failure.node.as_str(), failure.visit), ("rebase", 4));
    let lines = log.lines();
    let of_last: Vec<_> = lines.lines().filter(|line| line.contains(" rebase 4.1")).collect();
    let failed = format!("310 failed rebase 4.1 after 0: {}", failure.message);
    assert_eq!(of_last, ["310 started rebase 4.1", "310 exhausted rebase 4.1", &*failed]);
}

/// V3-151: in the order in which they were sent, one at a time.
#[tokio::test(start_paused = true)]
async fn messages_are_handled_in_the_order_in_which_they_were_sent() {
    let (trace, journal) = (Trace::default(), Arc::new(MemoryJournal::new()));
    let run = looping(&trace, &journal).start(Vec::new());
    let (report, ()) = tokio::join!(run, async {
        pass(5).await;
        for by in ["one", "two", "three"] {
            send(&journal, by, false).await;
        }
    });
    assert_eq!(report.unwrap().took.as_millis(), 340);
    assert_eq!(*trace.lock().unwrap(), ["one", "two", "three"]);
}

/// Rule 14: a redirect clears its region, and is legal only if the region has a token; otherwise the run
/// resumes.
#[tokio::test(start_paused = true)]
async fn a_redirect_takes_the_run_from_where_it_is() {
    for (at, expected) in [
        // `second` is due: its token is cleared, and `first` begins again.
        (5, vec!["after sibling", "first 2", "second 1", "first 3", "second 2"]),
        // `first` is due, and `second` has no token.
        (15, vec!["first 1", "second 1", "first 2", "second 2"]),
    ] {
        let (trace, journal) = (Trace::default(), Arc::new(MemoryJournal::new()));
        let run = looping(&trace, &journal).start(Vec::new());
        let (report, ()) = tokio::join!(run, async {
            pass(at).await;
            send(&journal, "sibling", true).await;
        });
        assert_eq!(finished(report.unwrap()), expected, "at {at}");
    }
}

/// Whenever a run stops, its messages are handled once each, in order.
#[tokio::test(start_paused = true)]
async fn messages_survive_a_suspension_at_any_instant() {
    for at in (1..250).step_by(7) {
        let (trace, journal, cancel) = (Trace::default(), Arc::new(MemoryJournal::new()), CancelToken::new());
        let run = looping(&trace, &journal).with_cancel(cancel.clone()).start(Vec::new());
        let (report, (), ()) = tokio::join!(
            run,
            async {
                pass(3).await;
                send(&journal, "one", false).await;
                send(&journal, "two", true).await;
            },
            async {
                pass(at).await;
                cancel.suspend();
            }
        );
        assert_eq!(report.unwrap().outcome, Outcome::Suspended, "at {at}");
        let report = looping(&trace, &journal).resume().await.unwrap();
        assert_eq!(finished(report), ["after two", "first 2", "second 1", "first 3", "second 2"], "suspended at {at}");
        let records = journal.records(&"run".parse().unwrap());
        let handled = records.iter().filter(|record| matches!(&record.entry, Entry::Outcome(o) if o.node == "rebase"));
        assert_eq!(handled.count(), 2, "suspended at {at}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_after_the_exit_is_dropped() {
    let (trace, journal) = (Trace::default(), Arc::new(MemoryJournal::new()));
    finished(looping(&trace, &journal).start(Vec::new()).await.unwrap());
    send(&journal, "late", true).await;
    assert_eq!(finished(looping(&trace, &journal).resume().await.unwrap()).len(), 4);
    assert!(trace.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_run_can_be_cancelled_by_letter() {
    let (trace, journal) = (Trace::default(), Arc::new(MemoryJournal::new()));
    let run = looping(&trace, &journal).start(Vec::new());
    let (report, ()) = tokio::join!(run, async {
        pass(5).await;
        let letter = Letter { key: None, body: LetterBody::Cancel };
        journal.post(&"run".parse().unwrap(), letter).await.unwrap();
    });
    assert_eq!(report.unwrap().outcome, Outcome::Cancelled);
}

/// The messages of the original run have arrived already, so the fork does not send them again.
#[tokio::test(start_paused = true)]
async fn a_fork_sends_nothing_that_the_other_run_has_sent() {
    let (trace, journal) = (Trace::default(), Arc::new(MemoryJournal::new()));
    let [run, other, new]: [RunId; 3] = ["run", "other", "new"].map(|name| name.parse().unwrap());
    for id in [&run, &other] {
        finished(looping(&trace, &journal).with_id(id.clone()).start(Vec::new()).await.unwrap());
    }
    let kept = Arc::new(MemoryJournal::new());
    for mut record in journal.records(&run).into_iter().take(2).chain(journal.records(&other)) {
        if let Entry::Outcome(outcome) = &mut record.entry
            && record.run == run
        {
            let message = serde_json::to_string(&Merged { by: "run".to_owned(), breaks: false }).unwrap();
            let (to, node, message) = (other.clone(), "rebase".to_owned(), message.as_str().into());
            outcome.posted.push(MessageRecord { to, node, message });
        }
        kept.append(record).await.unwrap();
    }
    fork(&*kept, &run, &ForkPoint::End, &new).await.unwrap();
    finished(looping(&trace, &kept).with_id(new).resume().await.unwrap());
    assert_eq!(kept.letters(&other, 0).await.unwrap(), []);
    finished(looping(&trace, &kept).resume().await.unwrap());
    assert_eq!(kept.letters(&other, 0).await.unwrap().len(), 1, "it may have been killed before it has sent it");
}

/// Tells a run something.
#[derive(Graph)]
#[graph(output = ())]
struct Order {
    #[node(entry, input = RunId, goto(exit))]
    tell: LogicNode<Tell>,
}
logic!(Tell for order::tell, |hub: RunId, cx| {
    cx.send::<r#loop::rebase>(&hub, &Merged { by: cx.run_id().to_string(), breaks: false })?;
    goto!(cx, order::exit, ())
});

/// A run that has the name of a run that was removed is another run.
#[tokio::test(start_paused = true)]
async fn a_run_sends_what_a_removed_run_of_its_name_had_sent() {
    let journal = Arc::new(MemoryJournal::new());
    let [hub, order]: [RunId; 2] = ["run", "order-1"].map(|name| name.parse().unwrap());
    finished(looping(&Trace::default(), &journal).start(Vec::new()).await.unwrap());
    let run = || timed(Order { tell: LogicNode(Tell) }).with_journal(journal.clone()).with_id(order.clone());
    for times in 1..=2 {
        finished(run().start(hub.clone()).await.unwrap());
        finished(run().resume().await.unwrap());
        assert_eq!(journal.letters(&hub, 0).await.unwrap().len(), times, "once a run");
        journal.remove(&order).await.unwrap();
    }
}

/// CON-27: one of two siblings merges, and the other, which still runs, receives its message.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Team {
    #[node(entry, input = Vec<u64>, map = Member, goto(exit))]
    members: MapNode<Members>,
}

#[derive(Graph)]
#[graph(output = String)]
struct Member {
    #[node(entry, input = u64, goto(merge))]
    work: LogicNode<Write>,
    #[node(input = String, goto(exit), memory(heard: Vec<String>))]
    merge: LogicNode<Merge>,
    #[node(on(String), resume, visits = 9, memory(heard: Vec<String>))]
    hear: EventNode<Hear>,
}

logic!(Write for member::work, |takes: u64, cx| {
    pass(takes).await;
    goto!(cx, member::merge, format!("{takes}"))
});
logic!(Merge for member::merge, |text: String, cx| {
    for sibling in cx.siblings().await? {
        cx.send::<member::hear>(&sibling, &text)?;
    }
    let heard = cx.memory().join(" ");
    goto!(cx, member::exit, format!("{text} heard {heard}"))
});
struct Hear;
impl EventHandler<member::hear> for Hear {
    async fn handle(&self, text: String, cx: &mut Cx<'_, member::hear>) -> Route<member::hear> {
        cx.update_memory(move |heard| heard.push(text.clone()));
        cx.resume()
    }
}
struct Members;
impl MapHandler<team::members> for Members {
    fn graph(&self, _: &Cx<'_, team::members>) -> Result<Arc<Member>, NodeError> {
        Ok(Arc::new(Member { work: LogicNode(Write), merge: LogicNode(Merge), hear: EventNode(Hear) }))
    }
    async fn items(&self, items: &Vec<u64>, _: &mut Cx<'_, team::members>) -> Result<Vec<Item<Member>>, NodeError> {
        Ok(items.iter().copied().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<u64>,
        children: Children<Member>,
        cx: &mut Cx<'_, team::members>,
    ) -> Route<team::members> {
        let said = children.all().await.into_iter().map(|child| child.result).collect::<Result<_, _>>()?;
        goto!(cx, team::exit, said)
    }
}

/// V3-128: siblings receive a broadcast, except the sender and siblings that are done.
#[tokio::test(start_paused = true)]
async fn siblings_hear_of_each_other_while_they_run() {
    let report = timed(Team { members: MapNode(Members) }).start(vec![30, 10, 20]).await.unwrap();
    assert_eq!(finished(report), ["30 heard 10 20", "10 heard ", "20 heard 10"]);
}

/// A sibling that is resumed later than the others still counts as a sibling.
#[tokio::test(start_paused = true)]
async fn siblings_of_a_run_that_is_taken_up_are_those_that_the_journal_knows() {
    let journal = Slow::new(|_| 0);
    let team = || timed(Team { members: MapNode(Members) }).with_journal(journal.clone());
    tokio::time::timeout(std::time::Duration::from_millis(5), team().start(vec![30, 10, 20])).await.unwrap_err();
    pass(1).await;
    let is_last = |run: &RunId| {
        let records = journal.kept.records(run);
        matches!(&records[0].entry, Entry::Started { input, .. } if *input == RecordedPayload::from("20"))
    };
    let children = journal.children(&RunId::DEFAULT).await.unwrap().into_iter().map(|child| child.run);
    *journal.resumed_slowly.lock().unwrap() = children.into_iter().find(is_last);
    let report = team().resume().await.unwrap();
    assert_eq!(finished(report), ["30 heard 10", "10 heard ", "20 heard 10 30"]);
}

held!(Loop, Team, Member, Order);
