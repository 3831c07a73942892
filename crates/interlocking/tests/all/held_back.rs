//! Effects of a refused call: on a message that would wait for the node, on a map that would, and on usage.

use crate::support::{Log, finished, pass, timed};
use askama::Template;
use async_trait::async_trait;
use interlocking::agents::{
    Agent, AgentError, AgentEvent, Reply as AgentReply, SessionError, Sessions, Turn, TurnContext, Usage,
};
use interlocking::prelude::*;
use interlocking::runtime::journal::{By, Entry, Letter, LetterBody};
use interlocking::runtime::{Budgets, CancelToken, Event, EventKind, Journal, MemoryJournal, Report};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[derive(Template)]
#[template(source = "Go on.", ext = "txt")]
struct GoOn;

/// Two agents and a person at the same time, an adviser beside them, and a message that has to be handled.
#[derive(Graph)]
#[graph(output = bool)]
struct Office {
    #[node(entry, input = (), fork(ask, check, sign), spawn(advise))]
    open: ForkNode<Open>,
    #[node(input = (), prompt = GoOn, output = bool, goto(close))]
    ask: LLMNode<Asks>,
    #[node(input = (), prompt = GoOn, output = bool, goto(close))]
    check: LLMNode<Asks>,
    #[node(input = (), question = (), answer = bool, goto(close))]
    sign: HumanNode<Signs>,
    #[node(join(asked: bool from(ask), checked: bool from(check), signed: bool from(sign)), goto(exit))]
    close: JoinNode<Close>,
    #[node(input = (), prompt = GoOn, output = bool, report = (), reports_to(exit))]
    advise: AdvisoryNode<Advises>,
    #[node(on(String), resume, visits = 9)]
    hear: EventNode<Hears>,
}

impl Finish for Office {
    async fn finish(&self, signed: bool, _: interlocking::graph::ReportsOf<Self>) -> Result<bool, NodeError> {
        Ok(signed)
    }
}

/// Whether an adviser is started, and whether the person fails.
#[derive(Clone, Copy, Default)]
struct Ways {
    advised: bool,
    fails: bool,
}

forks!(Open(ways: Ways) for office::open, |(): (), cx| {
    if ways.advised {
        cx.spawn::<office::advise>(());
    }
    fork!(cx, ((), (), ()))
});
struct Asks;
impl LLMHandler<office::ask> for Asks {
    async fn before<'a>(&'a self, (): &'a (), _: &mut Cx<'_, office::ask>) -> Ask<GoOn> {
        Ok((GoOn, SessionOp::StartFresh(Slug::new("ask")?)))
    }
    async fn after(&self, (): (), reply: Reply<bool>, cx: &mut Cx<'_, office::ask>) -> Route<office::ask> {
        goto!(cx, office::close, reply.output)
    }
}
impl LLMHandler<office::check> for Asks {
    async fn before<'a>(&'a self, (): &'a (), _: &mut Cx<'_, office::check>) -> Ask<GoOn> {
        Ok((GoOn, SessionOp::StartFresh(Slug::new("check")?)))
    }
    async fn after(&self, (): (), reply: Reply<bool>, cx: &mut Cx<'_, office::check>) -> Route<office::check> {
        goto!(cx, office::close, reply.output)
    }
}
struct Signs(Ways);
impl HumanHandler<office::sign> for Signs {
    async fn ask(&self, (): &(), _: &mut Cx<'_, office::sign>) -> Result<(), NodeError> {
        pass(5).await;
        if self.0.fails { Err("no ink".into()) } else { Ok(()) }
    }
    async fn answered(&self, (): (), signed: bool, cx: &mut Cx<'_, office::sign>) -> Route<office::sign> {
        goto!(cx, office::close, signed)
    }
}
joins!(Close for office::close, |(asked, checked, signed): (bool, bool, bool), cx| {
    goto!(cx, office::exit, asked && checked && signed)
});
struct Advises;
impl AdvisoryHandler<office::advise> for Advises {
    async fn advise(&self, (): (), cx: &mut Cx<'_, office::advise>) -> Result<(), NodeError> {
        cx.converse(GoOn, SessionOp::StartFresh(Slug::new("advise")?)).await.map(drop)
    }
}
struct Hears;
impl EventHandler<office::hear> for Hears {
    async fn handle(&self, _: String, cx: &mut Cx<'_, office::hear>) -> Route<office::hear> {
        cx.resume()
    }
}

/// Takes a second for an answer, and loses every session.
#[derive(Default)]
struct Forgetful {
    sessions: Sessions,
    calls: AtomicUsize,
}

#[async_trait]
impl Agent for Forgetful {
    fn name(&self) -> &str {
        "forgetful"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<AgentReply, AgentError> {
        let nth = self.calls.fetch_add(1, Ordering::SeqCst);
        let usage = Usage { calls: 1, output_tokens: 10, ..Usage::default() };
        if let SessionOp::ContinueFrom(session) = &turn.session {
            let unknown = AgentError::new(SessionError::Unknown { session: session.clone() });
            return Err(AgentError { usage, ..unknown });
        }
        let session = SessionId::new(format!("{}-{nth}", turn.role.as_deref().unwrap_or_default())).unwrap();
        context.started(&session)?;
        pass(1_000).await;
        Ok(AgentReply { output: Some(json!(true)), ..AgentReply::new(session, usage) })
    }
}

/// A run of the office, with a new agent as in a new process.
fn office(ways: Ways, journal: &Arc<MemoryJournal>) -> Run<Office> {
    let graph = Office {
        open: ForkNode(Open(ways)),
        ask: LLMNode(Asks),
        check: LLMNode(Asks),
        sign: HumanNode(Signs(ways)),
        close: JoinNode(Close),
        advise: AdvisoryNode(Advises),
        hear: EventNode(Hears),
    };
    let agent = Arc::new(Forgetful::default());
    timed(graph).with_journal(journal.clone()).with_agent_for_others(agent).with_wait_for_people()
}

async fn post(journal: &MemoryJournal, body: LetterBody) {
    journal.post(&"run".parse().unwrap(), Letter { key: None, body }).await.unwrap();
}

fn message() -> LetterBody {
    LetterBody::Message { node: "hear".to_owned(), message: "\"news\"".into() }
}

fn signature() -> LetterBody {
    let to = By { node: "sign".to_owned(), visit: 1, attempt: 1 };
    LetterBody::Answer { to, answer: "true".into() }
}

fn recorded(journal: &MemoryJournal) -> Usage {
    let calls = journal.records(&"run".parse().unwrap()).into_iter().flat_map(|record| match record.entry {
        Entry::Outcome(outcome) => outcome.calls,
        Entry::Report { calls, .. } | Entry::Spent { calls, .. } => calls,
        _ => Vec::new(),
    });
    calls.map(|call| call.usage).sum()
}

/// A message waits for running nodes, and a held-back node does not go on: neither may wait for the other for ever, nor may
/// outcomes that are to be absorbed once the message is handled.
#[tokio::test(start_paused = true)]
async fn a_message_that_waits_for_what_is_held_back_does_not_keep_the_run() {
    for letters in [vec![message()], vec![message(), signature()]] {
        let journal = Arc::new(MemoryJournal::new());
        let run = office(Ways::default(), &journal).with_budgets(Budgets::unlimited().with_calls(1));
        let is_signed = letters.len() > 1;
        let (report, ()) = tokio::join!(tokio::time::timeout(Duration::from_secs(60), run.start(())), async {
            for letter in letters {
                pass(100).await;
                post(&journal, letter).await;
            }
        });
        let report = report.expect("it hangs").unwrap();
        assert_eq!(report.outcome.name(), "budget_exhausted");
        let going_on = office(Ways::default(), &journal).resume();
        let (report, ()) = tokio::join!(going_on, async {
            pass(5_000).await;
            if !is_signed {
                post(&journal, signature()).await;
            }
        });
        assert_eq!(report.as_ref().unwrap().visits_of("hear"), 1, "it is handled when the run goes on");
        assert!(finished(report.unwrap()));
    }
}

/// A call finds out that a session is lost. That call is paid for, and so is the call that begins anew.
#[tokio::test(start_paused = true)]
async fn the_call_that_finds_a_session_lost_is_paid_for() {
    let (journal, cancel) = (Arc::new(MemoryJournal::new()), CancelToken::new());
    let run = office(Ways::default(), &journal).with_cancel(cancel.clone()).start(());
    let (report, ()) = tokio::join!(run, async {
        pass(500).await;
        cancel.suspend();
    });
    assert_eq!(report.unwrap().usage().calls, 2);
    post(&journal, signature()).await;
    let log = Log::new();
    let report = office(Ways::default(), &journal).with_events(log.sink()).resume().await.unwrap();
    assert_eq!(report.usage(), recorded(&journal));
    let is_lost = |event: &&Event| matches!(&event.kind, EventKind::Agent { agent, .. } if matches!(**agent, AgentEvent::SessionLost { .. }));
    assert_eq!(log.events().iter().filter(is_lost).count(), 2, "and that is said");
    let usage = Usage { calls: 6, output_tokens: 40, unpriced_calls: 2, ..Usage::default() };
    assert_eq!(report.usage(), usage, "for each of the two one was interrupted, one found nothing, and one answered");
}

/// Work beside a failing run is stopped, and paid for.
#[tokio::test(start_paused = true)]
async fn what_an_adviser_was_using_up_when_its_run_failed_is_recorded() {
    let journal = Arc::new(MemoryJournal::new());
    let report: Report<bool> = office(Ways { advised: true, fails: true }, &journal).start(()).await.unwrap();
    assert_eq!(report.outcome.name(), "failed");
    assert_eq!(report.usage(), Usage { calls: 3, unpriced_calls: 3, ..Usage::default() });
    assert_eq!(recorded(&journal), report.usage());
}

/// One item after the other, each with a person.
#[derive(Graph)]
#[graph(output = usize)]
struct Street {
    #[node(entry, input = Vec<u32>, map = House, concurrency = 1, goto(exit))]
    knock: MapNode<Knocks>,
}

#[derive(Graph)]
#[graph(output = bool)]
struct House {
    #[node(entry, input = u32, question = u32, answer = bool, goto(exit))]
    door: HumanNode<Door>,
}

held!(Office, Street, House);

struct Door;
impl HumanHandler<house::door> for Door {
    async fn ask(&self, number: &u32, _: &mut Cx<'_, house::door>) -> Result<u32, NodeError> {
        Ok(*number)
    }
    async fn answered(&self, _: u32, opened: bool, cx: &mut Cx<'_, house::door>) -> Route<house::door> {
        goto!(cx, house::exit, opened)
    }
}
struct Knocks;
impl MapHandler<street::knock> for Knocks {
    fn graph(&self, _: &Cx<'_, street::knock>) -> Result<Arc<House>, NodeError> {
        Ok(Arc::new(House { door: HumanNode(Door) }))
    }
    async fn items(&self, numbers: &Vec<u32>, _: &mut Cx<'_, street::knock>) -> Result<Vec<Item<House>>, NodeError> {
        Ok(numbers.iter().copied().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<u32>,
        children: Children<House>,
        cx: &mut Cx<'_, street::knock>,
    ) -> Route<street::knock> {
        goto!(cx, street::exit, children.all().await.len())
    }
}

/// Children that wait for their turn cannot make progress: the run waits for the person whom the first child has asked.
#[tokio::test(start_paused = true)]
async fn a_map_whose_other_children_cannot_begin_waits_for_the_first() {
    let journal = Arc::new(MemoryJournal::new());
    let street = || timed(Street { knock: MapNode(Knocks) }).with_journal(journal.clone());
    let mut report = tokio::time::timeout(Duration::from_secs(60), street().start(vec![1, 2, 3])).await;
    for number in 1..=3 {
        let Outcome::Waiting { questions } = report.expect("it hangs").unwrap().outcome else { panic!("it goes on") };
        let [open] = &questions[..] else { panic!("{questions:?}") };
        assert_eq!(open.question, json!(number));
        let answer = LetterBody::Answer { to: open.by.clone(), answer: "true".into() };
        journal.post(&open.run, Letter { key: None, body: answer }).await.unwrap();
        report = tokio::time::timeout(Duration::from_secs(60), street().resume()).await;
    }
    assert_eq!(finished(report.unwrap().unwrap()), 3);
}
