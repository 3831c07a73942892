//! Triggers from outside: patterns 23 and 24.

use crate::support::{pass, timed};
use crate::trace::{Does, Trace, played_with, send};
use interlocking::graph::Node;
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::{CancelToken, Journal, MemoryJournal};
use std::sync::Arc;
use std::time::Duration;

/// A child run that lasts for a given time.
#[derive(Graph)]
#[graph(output = ())]
struct Lasts {
    #[node(entry, input = (), goto(exit))]
    tick: LogicNode<Does>,
}
/// The door is attended from the evening to the night; a ring in that time is answered.
#[derive(Graph)]
#[graph(output = ())]
struct TransientTrigger {
    #[node(entry, input = (), fork(day, evening))]
    begin: ForkNode<Begin>,
    #[node(input = (), goto(night.waits))]
    day: LogicNode<Does>,
    #[node(input = (), graph = Lasts, goto(night.late))]
    evening: GraphNode<Lasts>,
    #[node(on(()), transient, goto(let_in, cancels(night.waits)), visits = 9)]
    bell: EventNode<Bell>,
    #[node(input = (), goto(night.waits))]
    let_in: LogicNode<Does>,
    #[node(join(waits: () from(day, let_in), late: () from(evening)), goto(exit))]
    night: JoinNode<Night>,
}
does!(
    lasts::tick => lasts::exit,
    transient_trigger::day => transient_trigger::night_waits,
    transient_trigger::let_in => transient_trigger::night_waits,
);
forks!(Begin for transient_trigger::begin, |(): (), cx| fork!(cx, ((), ())));
struct Bell;
impl EventHandler<transient_trigger::bell> for Bell {
    async fn handle(&self, (): (), cx: &mut Cx<'_, transient_trigger::bell>) -> Route<transient_trigger::bell> {
        goto!(cx, transient_trigger::let_in, ())
    }
}
joins!(Night for transient_trigger::night, |((), ()): ((), ()), cx| goto!(cx, transient_trigger::exit, ()));

fn door(trace: &Trace) -> TransientTrigger {
    TransientTrigger {
        begin: ForkNode(Begin),
        day: trace.does(20),
        evening: GraphNode(Lasts { tick: trace.does(60) }),
        bell: EventNode(Bell),
        let_in: trace.does(10),
        night: JoinNode(Night),
    }
}

/// Pattern 23: a ring that comes while no node waits for it is lost for good, also if a node is at work after which another would
/// wait.
#[tokio::test(start_paused = true)]
async fn transient_trigger() {
    let trace = Trace::new();
    let rings = [10, 15, 30, 35, 45].map(|at| (at, "bell", ()));
    let (_, told) = played_with(&trace, door(&trace), (), &rings).await;
    assert_eq!(
        told, "day 0–20, tick 0–60, let_in 30–40, let_in 45–55",
        "two at day are lost, and one while another is let in"
    );
}

/// Pattern 23: while no process executes the run, its state stays as it was: day, or evening. A missed ring is not considered
/// later.
#[tokio::test(start_paused = true)]
async fn a_transient_trigger_comes_while_nobody_executes_the_run() {
    for (ended_at, ended_again_at, heard) in [(10, 30, false), (30, 35, true)] {
        let (trace, journal) = (Trace::new(), Arc::new(MemoryJournal::new()));
        let run = || timed(door(&trace)).with_journal(journal.clone());
        drop(tokio::time::timeout(Duration::from_millis(ended_at), run().start(())).await);
        send(&journal, "bell", &()).await;
        drop(tokio::time::timeout(Duration::from_millis(ended_again_at - ended_at), run().resume()).await);
        crate::support::finished(run().resume().await.unwrap());
        assert_eq!(trace.told().contains("let_in"), heard, "{}", trace.told());
        let records = journal.load(&RunId::DEFAULT).await.unwrap();
        let received = records.iter().filter_map(|record| match &record.entry {
            Entry::Received { missed, .. } => Some(!missed),
            _ => None,
        });
        assert_eq!(received.collect::<Vec<_>>(), [heard], "what is lost is recorded");
    }
}

/// All letters are read, whenever there is time.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct PersistentTrigger {
    #[node(entry, input = (), goto(afternoon))]
    morning: LogicNode<Does>,
    #[node(input = (), goto(sum))]
    afternoon: LogicNode<Does>,
    #[node(input = (), goto(exit), memory(mail: Vec<String>))]
    sum: LogicNode<Sum>,
    #[node(on(String), resume, visits = 9, memory(mail: Vec<String>))]
    read: EventNode<Read>,
}
does!(persistent_trigger::morning => persistent_trigger::afternoon, persistent_trigger::afternoon => persistent_trigger::sum);
logic!(Sum for persistent_trigger::sum, |_: (), cx| goto!(cx, persistent_trigger::exit, cx.memory()));
struct Read(Trace);
impl EventHandler<persistent_trigger::read> for Read {
    async fn handle(&self, text: String, cx: &mut Cx<'_, persistent_trigger::read>) -> Route<persistent_trigger::read> {
        self.0.works(format!("read {text}"), 1).await;
        cx.update_memory(move |mail| mail.push(text.clone()));
        cx.resume()
    }
}

fn office(trace: &Trace) -> PersistentTrigger {
    PersistentTrigger {
        morning: trace.does(20),
        afternoon: trace.does(20),
        sum: LogicNode(Sum),
        read: EventNode(Read(trace.clone())),
    }
}

/// Pattern 24: a message that comes while no node can take it is kept, in order, until a node can.
#[tokio::test(start_paused = true)]
async fn persistent_trigger() {
    let trace = Trace::new();
    let letters = [(5, "read", "one"), (10, "read", "two"), (30, "read", "three")];
    let (read, told) = played_with(&trace, office(&trace), (), &letters).await;
    assert_eq!(read, ["one", "two", "three"]);
    assert_eq!(told, "morning 0–20, read one 20–21, read two 21–22, afternoon 22–42, read three 42–43");
}

/// Pattern 24: also while no process executes the run.
#[tokio::test(start_paused = true)]
async fn a_trigger_outlives_the_process() {
    let (trace, journal, cancel) = (Trace::new(), Arc::new(MemoryJournal::new()), CancelToken::new());
    let run = timed(office(&trace)).with_journal(journal.clone()).with_cancel(cancel.clone()).start(());
    let (report, ()) = tokio::join!(run, async {
        pass(5).await;
        cancel.suspend();
    });
    assert_eq!(report.unwrap().outcome, Outcome::Suspended);
    send(&journal, "read", &"while nobody is there").await;
    let resumed = timed(office(&trace)).with_journal(journal.clone()).resume().await;
    assert_eq!(crate::support::finished(resumed.unwrap()), ["while nobody is there"]);
}

held!(Lasts, TransientTrigger, PersistentTrigger);
