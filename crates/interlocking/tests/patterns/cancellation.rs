//! Cancellation: patterns 19, 20, 25 and 43.

use crate::support::timed;
use crate::trace::{Does, Trace, played};
use interlocking::graph::Node;
use interlocking::prelude::*;
use interlocking::runtime::journal::{Letter, LetterBody};
use interlocking::runtime::{Journal, MemoryJournal};
use std::sync::Arc;

/// A print that is called off. The press prints something else first.
#[derive(Graph)]
#[graph(output = ())]
struct CancelTask {
    #[node(entry, input = (), fork(other, print, call_off))]
    order: ForkNode<Order>,
    #[node(input = (), goto(done), exclusive = "press")]
    other: LogicNode<Does>,
    #[node(input = (), goto(done, cancels(call_off)), exclusive = "press")]
    print: LogicNode<Does>,
    #[node(input = (), goto(done, cancels(print)))]
    call_off: LogicNode<Does>,
    #[node(join(other: (), print: () from(print, call_off)), goto(exit))]
    done: JoinNode<Done>,
}
does!(
    cancel_task::other => cancel_task::done,
    cancel_task::print => cancel_task::done,
    cancel_task::call_off => cancel_task::done,
);
forks!(Order for cancel_task::order, |(): (), cx| fork!(cx, ((), (), ())));
joins!(Done for cancel_task::done, |((), ()): ((), ()), cx| goto!(cx, cancel_task::exit, ()));

/// Pattern 19: a task that is enabled is withdrawn, one that runs is stopped, and one that is done stays done.
#[tokio::test(start_paused = true)]
async fn cancel_task() {
    for (after, expected) in [
        (10, "other 0–20, call_off 0–10"),
        (30, "other 0–20, call_off 0–30, print 20–30 cancelled"),
        (90, "other 0–20, call_off 0–60 cancelled, print 20–60"),
    ] {
        let trace = Trace::new();
        let graph = CancelTask {
            order: ForkNode(Order),
            other: trace.does(20),
            print: trace.does(40),
            call_off: trace.does(after),
            done: JoinNode(Done),
        };
        assert_eq!(played(&trace, graph, ()).await.1, expected);
    }
}

/// One branch of two nodes and a half-filled join form a region; the other nodes are outside it.
#[derive(Graph)]
#[graph(output = String)]
struct CancelRegion {
    #[node(entry, input = (), fork(quote, check, watch, log))]
    begin: ForkNode<Begin>,
    #[node(input = (), goto(offer))]
    quote: LogicNode<Does>,
    #[node(input = (), goto(sign))]
    check: LogicNode<Does>,
    #[node(input = (), goto(offer))]
    sign: LogicNode<Does>,
    #[node(join(quote: (), sign: ()), goto(end.deal, cancels(watch)))]
    offer: JoinNode<Offer>,
    #[node(input = String, goto(end.deal, cancels(quote, check, sign, offer)))]
    watch: LogicNode<Does>,
    #[node(input = (), goto(end.log))]
    log: LogicNode<Does>,
    #[node(join(deal: String from(offer, watch), log: ()), goto(exit))]
    end: JoinNode<End>,
}
does!(
    cancel_region::quote => cancel_region::offer,
    cancel_region::check => cancel_region::sign,
    cancel_region::sign => cancel_region::offer,
    cancel_region::watch => cancel_region::end_deal,
    cancel_region::log => cancel_region::end_log,
);
forks!(Begin for cancel_region::begin, |(): (), cx| fork!(cx, ((), (), "the price has changed".to_owned(), ())));
joins!(Offer for cancel_region::offer, |((), ()): ((), ()), cx| goto!(cx, cancel_region::end_deal, "offered".to_owned()));
joins!(End for cancel_region::end, |(deal, ()): (String, ()), cx| goto!(cx, cancel_region::exit, deal));

/// Pattern 25: everything in the region that works or waits is ended, however far it has come, and nothing else.
#[tokio::test(start_paused = true)]
async fn cancel_region() {
    for (after, output, expected) in [
        (5, "the price has changed", "quote 0–5 cancelled, check 0–5 cancelled, watch 0–5, log 0–50"),
        (15, "the price has changed", "quote 0–10, check 0–15 cancelled, watch 0–15, log 0–50"),
        (25, "the price has changed", "quote 0–10, check 0–20, watch 0–25, log 0–50, sign 20–25 cancelled"),
        (35, "offered", "quote 0–10, check 0–20, watch 0–30 cancelled, log 0–50, sign 20–30"),
    ] {
        let trace = Trace::new();
        let graph = CancelRegion {
            begin: ForkNode(Begin),
            quote: trace.does(10),
            check: trace.does(20),
            sign: trace.does(10),
            offer: JoinNode(Offer),
            watch: trace.does(after),
            log: trace.does(50),
            end: JoinNode(End),
        };
        assert_eq!(played(&trace, graph, ()).await, (output.to_owned(), expected.to_owned()));
    }
}

/// The branch that reaches the exit first ends the run, which has then finished.
#[derive(Graph)]
#[graph(output = String)]
struct ExplicitTermination {
    #[node(entry, input = (), fork(seek, wait))]
    begin: ForkNode<BeginSearch>,
    #[node(input = String, goto(found))]
    seek: LogicNode<Does>,
    #[node(input = String, goto(exit, cancels(*)))]
    found: LogicNode<Does>,
    #[node(input = String, goto(exit, cancels(*)))]
    wait: LogicNode<Does>,
}
does!(
    explicit_termination::seek => explicit_termination::found,
    explicit_termination::found => explicit_termination::exit,
    explicit_termination::wait => explicit_termination::exit,
);
forks!(BeginSearch for explicit_termination::begin, |(): (), cx| {
    fork!(cx, ("found".to_owned(), "too late".to_owned()))
});

fn search(trace: &Trace, waits: u64) -> ExplicitTermination {
    ExplicitTermination {
        begin: ForkNode(BeginSearch),
        seek: trace.does(10),
        found: trace.does(10),
        wait: trace.does(waits),
    }
}

/// Patterns 43 and 20: at the exit all remaining work is ended, and the case has completed.
#[tokio::test(start_paused = true)]
async fn explicit_termination() {
    for (waits, output, expected) in [
        (100, "found", "seek 0–10, wait 0–20 cancelled, found 10–20"),
        (15, "too late", "seek 0–10, wait 0–15, found 10–15 cancelled"),
    ] {
        let trace = Trace::new();
        let graph = search(&trace, waits);
        assert_eq!(played(&trace, graph, ()).await, (output.to_owned(), expected.to_owned()));
    }
}

/// Pattern 20: a whole case is cancelled from outside, and has not completed.
#[tokio::test(start_paused = true)]
async fn cancel_case() {
    let (trace, journal) = (Trace::new(), Arc::new(MemoryJournal::new()));
    let run = timed(search(&trace, 100)).with_journal(journal.clone());
    let (report, ()) = tokio::join!(run.start(()), async {
        crate::support::pass(12).await;
        journal.post(&RunId::DEFAULT, Letter { key: None, body: LetterBody::Cancel }).await.unwrap();
    });
    assert_eq!(report.unwrap().outcome, Outcome::Cancelled);
    crate::support::pass(0).await;
    assert_eq!(trace.told(), "seek 0–10, wait 0–12 cancelled, found 10–12 cancelled");
}

held!(CancelTask, CancelRegion, ExplicitTermination);
