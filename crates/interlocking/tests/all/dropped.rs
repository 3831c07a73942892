//! A run that is dropped and resumed at once: its pending writes are completed before it goes on.

use crate::slow::Slow;
use crate::support::{finished, pass, timed};
use askama::Template;
use async_trait::async_trait;
use interlocking::agents::{Agent, AgentError, Reply as AgentReply, Sessions, Turn, TurnContext, Usage};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Entry, JournalError, Letter, LetterBody, ending, stop};
use interlocking::runtime::map::{Children, Item};
use interlocking::runtime::{Journal, StartError};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Diary = Arc<Mutex<Vec<String>>>;

#[derive(Template)]
#[template(source = "what next?", ext = "txt")]
struct Next;

/// A node that pays once, and then an agent that is asked.
#[derive(Graph)]
#[graph(output = String)]
struct Errand {
    #[node(entry, input = String, goto(ask))]
    pay: LogicNode<Pay>,
    #[node(input = String, prompt = Next, output = bool, goto(exit))]
    ask: LLMNode<Asks>,
}

/// Two errands, as child runs.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Household {
    #[node(entry, input = (), map = Errand, goto(exit))]
    errands: MapNode<Errands>,
}
held!(Errand, Household);

logic!(Pay(diary: Diary) for errand::pay, |whom: String, cx| {
    let pay = async {
        diary.lock().unwrap().push(format!("{whom} is paid"));
        Ok(())
    };
    cx.once("pay", pay).await?;
    pass(10).await;
    goto!(cx, errand::ask, whom)
});
struct Asks;
impl LLMHandler<errand::ask> for Asks {
    async fn before<'a>(&'a self, _: &'a String, _: &mut Cx<'_, errand::ask>) -> Ask<Next> {
        Ok((Next, SessionOp::StartFresh(Slug::new("ask")?)))
    }
    async fn after(&self, whom: String, _: Reply<bool>, cx: &mut Cx<'_, errand::ask>) -> Route<errand::ask> {
        goto!(cx, errand::exit, whom)
    }
}

fn errand(diary: &Diary) -> Errand {
    Errand { pay: LogicNode(Pay(diary.clone())), ask: LLMNode(Asks) }
}

struct Errands(Diary);
impl MapHandler<household::errands> for Errands {
    fn graph(&self, _: &Cx<'_, household::errands>) -> Result<Arc<Errand>, NodeError> {
        Ok(Arc::new(errand(&self.0)))
    }
    async fn items(&self, _: &(), _: &mut Cx<'_, household::errands>) -> Result<Vec<Item<Errand>>, NodeError> {
        Ok(["one", "other"].map(|whom| Item::new(whom.to_owned())).into())
    }
    async fn gather(
        &self,
        _: (),
        children: Children<Errand>,
        cx: &mut Cx<'_, household::errands>,
    ) -> Route<household::errands> {
        let paid = children.all().await.into_iter().map(|child| child.result);
        goto!(cx, household::exit, paid.collect::<Result<_, _>>()?)
    }
}

/// An agent that takes 50 ms, and records its prompts.
struct Helper {
    diary: Diary,
    sessions: Sessions,
}

#[async_trait]
impl Agent for Helper {
    fn name(&self) -> &str {
        "helper"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<AgentReply, AgentError> {
        let session = match &turn.session {
            SessionOp::ContinueFrom(session) => {
                self.diary.lock().unwrap().push(format!("{session} goes on"));
                session.clone()
            }
            _ => {
                let mut diary = self.diary.lock().unwrap();
                diary.push("a session begins".to_owned());
                let begun = diary.iter().filter(|line| *line == "a session begins").count();
                SessionId::new(format!("s-{begun}")).unwrap()
            }
        };
        context.started(&session)?;
        pass(50).await;
        Ok(AgentReply { output: Some(json!(true)), ..AgentReply::new(session, Usage { calls: 1, ..Usage::default() }) })
    }
}

fn prepared<G: interlocking::graph::Graph>(graph: G, diary: &Diary, journal: &Arc<Slow>) -> Run<G> {
    let helper = Helper { diary: diary.clone(), sessions: Sessions::default() };
    timed(graph).with_agent("ask", Arc::new(helper)).with_journal(journal.clone())
}

/// A journal in which writes of nodes take 20 ms, and writes of the run itself at a resume take longer.
fn slow() -> Arc<Slow> {
    Slow::new(|entry| match entry {
        Entry::Once { .. } | Entry::Session { .. } => 20,
        Entry::Resumed { .. } => 30,
        _ => 0,
    })
}

fn run() -> RunId {
    "run".parse().unwrap()
}

/// Executes a run for so many milliseconds, and drops it.
async fn dropped_after<T>(milliseconds: u64, run: impl Future<Output = T>) {
    let cut = tokio::time::timeout(Duration::from_millis(milliseconds), run).await;
    assert!(cut.is_err(), "it came to its end");
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_was_being_recorded_is_not_done_again() {
    let (diary, journal) = (Diary::default(), slow());
    dropped_after(10, prepared(errand(&diary), &diary, &journal).start("one".to_owned())).await;
    let report = prepared(errand(&diary), &diary, &journal).resume().await.unwrap();
    assert_eq!(finished(report), "one");
    assert_eq!(*diary.lock().unwrap(), ["one is paid", "a session begins"]);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_being_recorded_goes_on() {
    let (diary, journal) = (Diary::default(), slow());
    dropped_after(40, prepared(errand(&diary), &diary, &journal).start("one".to_owned())).await;
    let report = prepared(errand(&diary), &diary, &journal).resume().await.unwrap();
    assert_eq!(report.usage().calls, 2, "the turn that was dropped is one");
    assert_eq!(finished(report), "one");
    assert_eq!(*diary.lock().unwrap(), ["one is paid", "a session begins", "s-1 goes on"]);
}

/// Both children work when their run is dropped; the bill of the resumed run has the turns that they had begun.
#[tokio::test(start_paused = true)]
async fn the_same_is_so_of_child_runs() {
    for at in [10, 40] {
        let (diary, journal) = (Diary::default(), slow());
        let household = || prepared(Household { errands: MapNode(Errands(diary.clone())) }, &diary, &journal);
        dropped_after(at, household().start(())).await;
        let report = household().resume().await.unwrap();
        let calls = if at == 10 { 2 } else { 4 };
        assert_eq!(report.usage().calls, calls, "dropped after {at}");
        assert_eq!(finished(report), ["one", "other"]);
        let mut diary = diary.lock().unwrap().clone();
        diary.sort();
        let begun = ["a session begins", "a session begins", "one is paid", "other is paid"];
        let goes_on: &[&str] = if at == 10 { &[] } else { &["s-1 goes on", "s-2 goes on"] };
        assert_eq!(diary, [&begun[..], goes_on].concat(), "dropped after {at}");
    }
}

/// Only pending writes of this process are waited for; an executor, here or elsewhere, holds its run.
#[tokio::test(start_paused = true)]
async fn a_run_that_somebody_executes_is_refused_at_once() {
    let (diary, journal) = (Diary::default(), slow());
    let refused = async {
        pass(10).await;
        let (before, refused) =
            (tokio::time::Instant::now(), prepared(errand(&diary), &diary, &journal).resume().await);
        assert!(matches!(refused, Err(StartError::Entry(JournalError::Held { .. }))), "{refused:?}");
        assert_eq!(before.elapsed(), Duration::ZERO);
    };
    let executed = prepared(errand(&diary), &diary, &journal).start("one".to_owned());
    tokio::join!(dropped_after(15, executed), refused);
    let (_, executed) = (refused_by_others(&diary, &journal).await, prepared(errand(&diary), &diary, &journal));
    assert_eq!(finished(executed.resume().await.unwrap()), "one");
}

/// Another process cannot resume the run until this process has written everything.
async fn refused_by_others(diary: &Diary, journal: &Arc<Slow>) {
    let claim = loop {
        match journal.claim(&run()).await {
            Ok(claim) => break claim,
            Err(_) => pass(1).await,
        }
    };
    let refused = prepared(errand(diary), diary, journal).resume().await;
    assert!(matches!(refused, Err(StartError::Entry(JournalError::Held { .. }))), "{refused:?}");
    drop(claim);
}

/// No executor is left that would receive a request, so the run is cancelled directly.
#[tokio::test(start_paused = true)]
async fn a_run_that_was_dropped_can_be_cancelled_at_once() {
    let (diary, journal) = (Diary::default(), slow());
    dropped_after(10, prepared(errand(&diary), &diary, &journal).start("one".to_owned())).await;
    let stopped = stop::stop(&*journal, &run()).await.unwrap();
    assert_eq!(stopped, stop::Stop::Cancelled { runs: vec![run()] });
    let records = journal.kept.records(&run());
    assert_eq!(ending(&records), Some("cancelled"));
    assert!(records.iter().any(|record| matches!(record.entry, Entry::Once { .. })), "what was done is recorded");
    let wish = Letter { key: None, body: LetterBody::Cancel };
    assert!(journal.letters(&run(), 0).await.unwrap().iter().all(|posted| posted.letter != wish));
}
