//! Advisers that are at work when their run has ended.

use crate::support::{finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Entry, Letter, LetterBody};
use interlocking::runtime::{Journal, MemoryJournal};
use std::sync::Arc;
use std::time::Duration;

/// A clerk for each case.
#[derive(Graph)]
#[graph(output = usize)]
struct Office {
    #[node(entry, input = Vec<bool>, map = Clerk, goto(exit))]
    clerks: MapNode<Clerks>,
}

/// Asks a person, or leaves an adviser at work.
#[derive(Graph)]
#[graph(output = ())]
struct Clerk {
    #[node(entry, input = bool, goto(ask, exit), spawn(advise))]
    begin: LogicNode<Begin>,
    #[node(input = (), question = String, answer = bool, goto(exit))]
    ask: HumanNode<AskThem>,
    #[node(input = (), report = bool, reports_to(exit), visits = 1)]
    advise: AdvisoryNode<Advise>,
}

held!(Office, Clerk);

struct Clerks;
impl MapHandler<office::clerks> for Clerks {
    fn graph(&self, _: &Cx<'_, office::clerks>) -> Result<Arc<Clerk>, NodeError> {
        Ok(Arc::new(clerk(Advise::ForEver)))
    }
    async fn items(&self, asks: &Vec<bool>, _: &mut Cx<'_, office::clerks>) -> Result<Vec<Item<Clerk>>, NodeError> {
        Ok(asks.iter().copied().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<bool>,
        done: Children<Clerk>,
        cx: &mut Cx<'_, office::clerks>,
    ) -> Route<office::clerks> {
        goto!(cx, office::exit, done.all().await.len())
    }
}

logic!(Begin for clerk::begin, |asks: bool, cx| match asks {
    true => goto!(cx, clerk::ask, ()),
    false => {
        cx.spawn::<clerk::advise>(());
        goto!(cx, clerk::exit, ())
    }
});
struct AskThem;
impl HumanHandler<clerk::ask> for AskThem {
    async fn ask(&self, (): &(), _: &mut Cx<'_, clerk::ask>) -> Result<String, NodeError> {
        Ok("May I?".to_owned())
    }
    async fn answered(&self, (): (), _: bool, cx: &mut Cx<'_, clerk::ask>) -> Route<clerk::ask> {
        goto!(cx, clerk::exit, ())
    }
}
enum Advise {
    ForEver,
    /// Reports whether a message waits, long after the run has come to its exit.
    OnMail,
}
impl AdvisoryHandler<clerk::advise> for Advise {
    async fn advise(&self, (): (), cx: &mut Cx<'_, clerk::advise>) -> Result<bool, NodeError> {
        match self {
            Self::ForEver => std::future::pending().await,
            Self::OnMail => {
                pass(100).await;
                Ok(cx.has_mail().await?)
            }
        }
    }
}
impl Finish for Clerk {
    async fn finish(&self, (): (), _: interlocking::graph::ReportsOf<Self>) -> Result<(), NodeError> {
        Ok(())
    }
}

fn clerk(advise: Advise) -> Clerk {
    Clerk { begin: LogicNode(Begin), ask: HumanNode(AskThem), advise: AdvisoryNode(advise) }
}

/// A child that has ended does not count, whoever is at work for it.
#[tokio::test(start_paused = true)]
async fn a_run_waits_for_a_person_though_the_adviser_of_another_child_is_late() {
    let run = timed(Office { clerks: MapNode(Clerks) }).with_report_deadline(Duration::from_millis(10));
    let report = tokio::time::timeout(Duration::from_secs(5), run.start(vec![false, true])).await;
    let report = report.expect("the run ends as waiting").unwrap();
    assert!(matches!(report.outcome, Outcome::Waiting { .. }), "{:?}", report.outcome);
}

/// No message is handled after the exit, and nothing takes up the letters to a run that has ended.
#[tokio::test(start_paused = true)]
async fn an_adviser_that_is_late_has_no_mail() {
    for deadline_ms in [10, 1_000] {
        let journal = Arc::new(MemoryJournal::new());
        let run = timed(clerk(Advise::OnMail)).with_journal(journal.clone());
        let (report, ()) =
            tokio::join!(run.with_report_deadline(Duration::from_millis(deadline_ms)).start(false), async {
                pass(50).await;
                let body = LetterBody::Message { node: "begin".to_owned(), message: "true".into() };
                journal.post(&RunId::DEFAULT, Letter { key: None, body }).await.unwrap();
                pass(1_000).await;
            });
        finished(report.unwrap());
        let mut entries = journal.records(&RunId::DEFAULT).into_iter().map(|record| record.entry);
        let report = entries.find_map(|entry| match entry {
            Entry::Report { report, .. } => report,
            _ => None,
        });
        assert_eq!(report, Some("false".into()), "{deadline_ms}");
        drop(journal.claim(&RunId::DEFAULT).await.unwrap());
    }
}
