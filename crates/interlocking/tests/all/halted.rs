//! A tree of runs that stops while one of its runs handles a message: that run stops at once.

use crate::faltering::Faltering;
use crate::support::{pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::Journal;
use interlocking::runtime::journal::{Entry, Letter, LetterBody};
use interlocking::runtime::map::{Children, Item};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Waits for a person and takes messages meanwhile, or works.
#[derive(Graph)]
#[graph(output = String)]
struct Clerk {
    #[node(entry, input = bool, goto(ask, work))]
    begin: LogicNode<Begin>,
    #[node(input = (), question = String, answer = bool, goto(exit))]
    ask: HumanNode<Asks>,
    #[node(input = (), goto(exit))]
    work: LogicNode<Work>,
    #[node(on(String), resume, visits = 9)]
    mail: EventNode<Mail>,
}

#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Bureau {
    #[node(entry, input = Vec<bool>, map = Clerk, goto(exit))]
    clerks: MapNode<Clerks>,
    #[node(on(String), resume, visits = 9)]
    mail: EventNode<Mail>,
}
held!(Clerk, Bureau);

logic!(Begin for clerk::begin, |asks: bool, cx| {
    if asks { goto!(cx, clerk::ask, ()) } else { goto!(cx, clerk::work, ()) }
});
struct Asks;
impl HumanHandler<clerk::ask> for Asks {
    async fn ask(&self, _: &(), _: &mut Cx<'_, clerk::ask>) -> Result<String, NodeError> {
        Ok("done?".to_owned())
    }
    async fn answered(&self, _: (), _: bool, cx: &mut Cx<'_, clerk::ask>) -> Route<clerk::ask> {
        goto!(cx, clerk::exit, "asked".to_owned())
    }
}
logic!(Work for clerk::work, |_: (), cx| {
    pass(50).await;
    goto!(cx, clerk::exit, "worked".to_owned())
});
struct Mail(Arc<AtomicUsize>);
impl EventHandler<clerk::mail> for Mail {
    async fn handle(&self, _: String, cx: &mut Cx<'_, clerk::mail>) -> Route<clerk::mail> {
        self.0.fetch_add(1, Ordering::SeqCst);
        pass(1_000).await;
        self.0.fetch_add(100, Ordering::SeqCst);
        cx.resume()
    }
}
impl EventHandler<bureau::mail> for Mail {
    async fn handle(&self, _: String, cx: &mut Cx<'_, bureau::mail>) -> Route<bureau::mail> {
        self.0.fetch_add(1, Ordering::SeqCst);
        pass(1_000).await;
        self.0.fetch_add(100, Ordering::SeqCst);
        cx.resume()
    }
}

struct Clerks(Arc<AtomicUsize>);
impl MapHandler<bureau::clerks> for Clerks {
    fn graph(&self, _: &Cx<'_, bureau::clerks>) -> Result<Arc<Clerk>, NodeError> {
        let (begin, ask, work) = (LogicNode(Begin), HumanNode(Asks), LogicNode(Work));
        Ok(Arc::new(Clerk { begin, ask, work, mail: EventNode(Mail(self.0.clone())) }))
    }
    async fn items(&self, asks: &Vec<bool>, _: &mut Cx<'_, bureau::clerks>) -> Result<Vec<Item<Clerk>>, NodeError> {
        Ok(asks.iter().map(|asks| Item::new(*asks)).collect())
    }
    async fn gather(
        &self,
        _: Vec<bool>,
        children: Children<Clerk>,
        cx: &mut Cx<'_, bureau::clerks>,
    ) -> Route<bureau::clerks> {
        let told = children.all().await.into_iter().map(|child| child.result);
        goto!(cx, bureau::exit, told.collect::<Result<_, _>>()?)
    }
}

/// One child, or the parent, handles a message for a second; the other child's outcome at 50 ms cannot be recorded.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_tree_is_heard_while_a_message_is_handled() {
    for by_parent in [false, true] {
        let (handled, journal) = (Arc::new(AtomicUsize::new(0)), Arc::<Faltering>::default());
        let journal =
            journal.has_no_room(|record| matches!(&record.entry, Entry::Outcome(outcome) if outcome.node == "work"));
        let bureau = Bureau { clerks: MapNode(Clerks(handled.clone())), mail: EventNode(Mail(handled.clone())) };
        let (report, ()) = tokio::join!(timed(bureau).with_journal(journal.clone()).start(vec![true, false]), async {
            pass(5).await;
            let root = "run".parse().unwrap();
            // The child that works cannot take a message: it waits until the child is done.
            let children = journal.children(&root).await.unwrap().into_iter().map(|child| child.run);
            for run in if by_parent { vec![root] } else { children.collect() } {
                let body = LetterBody::Message { node: "mail".to_owned(), message: r#""a word""#.into() };
                journal.post(&run, Letter { key: None, body }).await.unwrap();
            }
        });
        let report = report.unwrap();
        assert_eq!((report.outcome.name(), report.took.as_millis()), ("journal_failed", 50), "by parent: {by_parent}");
        assert_eq!(handled.load(Ordering::SeqCst), 1, "it was begun, and not done");
    }
}
