//! Conversations of nodes that ask an agent several times in one execution.

use crate::support::{Recording, finished, pass, timed};
use askama::Template;
use interlocking::agents::SessionOp;
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::{CancelToken, MemoryJournal, Outcome};
use std::sync::Arc;

#[derive(Template)]
#[template(source = "Judge {{ what }}.", ext = "txt")]
struct Judge<'a> {
    what: &'a str,
}

/// An adviser that has two things judged, one after the other.
#[derive(Graph)]
#[graph(output = ())]
struct Trial {
    #[node(entry, input = (), goto(exit), spawn(advise))]
    open: LogicNode<Open>,
    #[node(input = (), prompt = Judge<'_>, output = bool, agent = "judge", report = bool, reports_to(exit))]
    advise: AdvisoryNode<Advise>,
}

held!(Trial);

logic!(Open for trial::open, |(): (), cx| {
    cx.spawn::<trial::advise>(());
    goto!(cx, trial::exit, ())
});
struct Advise;
impl AdvisoryHandler<trial::advise> for Advise {
    async fn advise(&self, (): (), cx: &mut Cx<'_, trial::advise>) -> Result<bool, NodeError> {
        let mut are_good = true;
        for what in ["tests", "code"] {
            let session = SessionOp::StartFresh(Slug::new(what)?);
            are_good &= cx.converse(Judge { what }, session).await?.output;
        }
        Ok(are_good)
    }
}
impl Finish for Trial {
    async fn finish(&self, (): (), reports: interlocking::graph::ReportsOf<Self>) -> Result<(), NodeError> {
        assert!(reports.advise.into_iter().all(|report| report.result.is_ok_and(|is_good| is_good)));
        Ok(())
    }
}

const SCRIPT: &str = "
    [[turn]]
    delay = '10ms'
    times = 'any'
    output_json = 'true'
";

fn trial(agent: &Arc<Recording>, journal: &Arc<MemoryJournal>) -> Run<Trial> {
    timed(Trial { open: LogicNode(Open), advise: AdvisoryNode(Advise) })
        .with_agent("judge", agent.clone())
        .with_id("demo".parse().unwrap())
        .with_journal(journal.clone())
}

/// A session contains its questions, so a resumed execution must ask each question in the session
/// in which it was asked before.
#[tokio::test(start_paused = true)]
async fn each_conversation_of_a_resumed_execution_goes_on_in_its_own_session() {
    for (suspended_after_ms, begun) in [(5, 1), (15, 2)] {
        let (journal, cancel) = (Arc::new(MemoryJournal::new()), CancelToken::new());
        let agent = Recording::new(SCRIPT);
        let run = trial(&agent, &journal).with_cancel(cancel.clone());
        let (report, ()) = tokio::join!(run.start(()), async {
            pass(suspended_after_ms).await;
            cancel.suspend();
        });
        assert_eq!(report.unwrap().outcome, Outcome::Suspended);
        let records = journal.records(&"demo".parse().unwrap()).into_iter();
        let sessions: Vec<_> = records
            .filter_map(|record| match record.entry {
                Entry::Session { conversation, session, .. } => Some((conversation, session)),
                _ => None,
            })
            .collect();
        assert_eq!(sessions.iter().map(|(nth, _)| *nth).collect::<Vec<_>>(), (1..=begun).collect::<Vec<_>>());

        let asked_before = agent.turns().len();
        finished(trial(&agent, &journal).resume().await.unwrap());
        let turns = agent.turns().split_off(asked_before);
        assert_eq!(turns.len(), 2);
        for (nth, turn) in (1..).zip(turns) {
            match sessions.iter().find(|(conversation, _)| *conversation == nth) {
                Some((_, session)) => assert_eq!(turn.session, SessionOp::ContinueFrom(session.clone())),
                None => assert!(matches!(turn.session, SessionOp::StartFresh(_)), "{:?}", turn.session),
            }
        }
    }
}
