//! What a run has noted of a visit, to do nothing of it twice, is forgotten when the visit is over.

use crate::support::{finished, pass, timed};
use interlocking::graph::ReportsOf;
use interlocking::prelude::*;
use interlocking::runtime::MemoryJournal;
use interlocking::runtime::journal::{Entry, RecordedPayload};
use std::sync::Arc;

/// Visits that are over in every way: `work` has gone on, `stuck` was cancelled, `aside` has reported.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Visits {
    #[node(entry, input = (), fork(work, stuck), spawn(aside))]
    begin: LogicNode<Begin>,
    #[node(input = (), goto(again), visits = 3)]
    work: LogicNode<Work>,
    #[node(input = (), goto(work), goto(count, cancels(stuck)))]
    again: LogicNode<Again>,
    #[node(input = (), goto(exit, cancels(*)))]
    stuck: LogicNode<Stuck>,
    #[node(input = (), report = (), reports_to(exit))]
    aside: AdvisoryNode<Aside>,
    #[node(input = (), goto(exit))]
    count: LogicNode<Count>,
}
held!(Visits);

impl Finish for Visits {
    async fn finish(&self, noted: Vec<String>, _: ReportsOf<Self>) -> Result<Vec<String>, NodeError> {
        Ok(noted)
    }
}

/// Has an effect, whose result the run notes for as long as the visit may be repeated.
macro_rules! once {
    ($cx:ident) => {
        $cx.once("effect", async { Ok(()) }).await?
    };
}

logic!(Begin for visits::begin, |(): (), cx| {
    once!(cx);
    cx.spawn::<visits::aside>(());
    fork!(cx, ((), ()))
});
logic!(Work for visits::work, |(): (), cx| {
    once!(cx);
    goto!(cx, visits::again, ())
});
logic!(Again for visits::again, |(): (), cx| {
    pass(1).await;
    match cx.visit() {
        3 => goto!(cx, visits::count, ()),
        _ => goto!(cx, visits::work, ()),
    }
});
logic!(Stuck for visits::stuck, |(): (), cx| {
    once!(cx);
    std::future::pending::<()>().await;
    goto!(cx, visits::exit, Vec::new())
});
struct Aside;
impl AdvisoryHandler<visits::aside> for Aside {
    async fn advise(&self, (): (), cx: &mut Cx<'_, visits::aside>) -> Result<(), NodeError> {
        once!(cx);
        Ok(())
    }
}
logic!(Count(journal: Arc<MemoryJournal>) for visits::count, |(): (), cx| {
    once!(cx);
    let records = journal.records(cx.run_id());
    let noted = records.iter().filter_map(|record| match &record.entry {
        // The journal has the text, and so have these records.
        Entry::Once { by, value: RecordedPayload::Json(text), .. } if Arc::strong_count(text) > 2 => Some(by.to_string()),
        _ => None,
    });
    let noted = noted.collect();
    assert_eq!(records.iter().filter(|record| matches!(record.entry, Entry::Once { .. })).count(), 7);
    goto!(cx, visits::exit, noted)
});

#[tokio::test(start_paused = true)]
async fn visits_that_are_over_are_forgotten() {
    let journal = Arc::new(MemoryJournal::new());
    let (begin, work, again, stuck) = (LogicNode(Begin), LogicNode(Work), LogicNode(Again), LogicNode(Stuck));
    let (aside, count) = (AdvisoryNode(Aside), LogicNode(Count(journal.clone())));
    let run = timed(Visits { begin, work, again, stuck, aside, count }).with_journal(journal);
    assert_eq!(finished(run.start(()).await.unwrap()), ["count.1.1"], "the visit that is not over");
}
