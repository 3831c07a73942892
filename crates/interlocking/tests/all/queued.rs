//! Records that wait for one another when the journal refuses a record of another run of their tree. Found by simulated runs.

use crate::slow::Slow;
use crate::support::{finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A record of `slow` delays the outcome of `quick`, and a child's outcome cannot be recorded.
#[derive(Graph)]
#[graph(output = u32)]
struct Office {
    #[node(entry, input = (), fork(slow, quick, child))]
    open: ForkNode<Open>,
    #[node(input = (), goto(close))]
    slow: LogicNode<Slowly>,
    #[node(input = (), goto(close))]
    quick: LogicNode<Quickly>,
    #[node(input = (), graph = Branch, goto(close))]
    child: GraphNode<Branch>,
    #[node(join(slow: (), quick: u32, child: ()), goto(exit))]
    close: JoinNode<Close>,
}

#[derive(Graph)]
#[graph(output = ())]
struct Branch {
    #[node(entry, input = (), goto(exit))]
    work: LogicNode<Work>,
}

held!(Office, Branch);

forks!(Open for office::open, |(): (), cx| fork!(cx, ((), (), ())));
logic!(Slowly for office::slow, |(): (), cx| {
    cx.once("slow", async { Ok(()) }).await?;
    goto!(cx, office::close, ())
});
logic!(Quickly(done: Arc<AtomicU32>) for office::quick, |(): (), cx| {
    let count = done.fetch_add(1, Ordering::SeqCst) + 1;
    pass(1).await;
    goto!(cx, office::close, count)
});
logic!(Work for branch::work, |(): (), cx| {
    pass(5).await;
    if cx.restarts() == 0 {
        cx.once("refused", async { Ok(()) }).await?;
    }
    goto!(cx, branch::exit, ())
});
joins!(Close for office::close, |((), count, ()): ((), u32, ()), cx| goto!(cx, office::exit, count));

fn is_once(entry: &Entry, of: &str) -> bool {
    matches!(entry, Entry::Once { name, .. } if name == of)
}

/// An outcome that waits to be recorded when the journal refuses a child's record is not recorded: the tree has stopped before
/// that.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_waits_is_not_recorded_once_its_tree_has_stopped() {
    let journal =
        Slow::refusing(|entry| 20 * u64::from(is_once(entry, "slow")), |record| is_once(&record.entry, "refused"));
    let done = Arc::<AtomicU32>::default();
    let office = || {
        let (slow, quick) = (LogicNode(Slowly), LogicNode(Quickly(done.clone())));
        let child = GraphNode(Branch { work: LogicNode(Work) });
        let graph = Office { open: ForkNode(Open), slow, quick, child, close: JoinNode(Close) };
        timed(graph).with_journal(journal.clone())
    };
    assert_eq!(office().start(()).await.unwrap().outcome.name(), "journal_failed");
    let records = journal.kept.records(&RunId::DEFAULT);
    let outcomes = records.iter().filter_map(|record| match &record.entry {
        Entry::Outcome(outcome) => Some(outcome.node.as_str()),
        _ => None,
    });
    assert_eq!(outcomes.collect::<Vec<_>>(), ["open"]);
    assert_eq!(finished(office().resume().await.unwrap()), 2, "what was not recorded is done again");
}
