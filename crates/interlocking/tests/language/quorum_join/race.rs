//! `quorum = 1`: the first good answer, among agents whose calls cost money.

use crate::support::{Log, finished, pass, timed};
use askama::Template;
use async_trait::async_trait;
use interlocking::agents::{Agent, AgentError, Cost, Reply as AgentReply, Sessions, Turn, TurnContext, Usage};
use interlocking::prelude::*;
use interlocking::runtime::journal::account::account;
use interlocking::runtime::{Journal, MemoryJournal};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Template)]
#[template(source = "{{ who }} {{ question }}", ext = "txt")]
struct Question {
    who: &'static str,
    question: String,
}

/// Three agents are asked; the first proper answer goes on.
#[derive(Graph)]
#[graph(output = Option<u64>)]
struct Race {
    #[node(entry, input = String, fork(quick, sure, last))]
    begin: ForkNode<Begin>,
    #[node(input = String, prompt = Question, output = u64, agent = "racer", goto(first))]
    quick: LLMNode<Racer>,
    #[node(input = String, prompt = Question, output = u64, agent = "racer", goto(first))]
    sure: LLMNode<Racer>,
    #[node(input = String, prompt = Question, output = u64, agent = "racer", goto(first))]
    last: LLMNode<Racer>,
    #[node(join(quick: u64 optional, sure: u64 optional, last: u64 optional), quorum = 1, cancels(*), goto(exit))]
    first: JoinNode<First>,
}

held!(Race);

forks!(Begin for race::begin, |question: String, cx| fork!(cx, (question.clone(), question.clone(), question)));
struct Racer;
/// An answer of 0 counts as no answer.
macro_rules! racers {
    ($($node:ident),+) => { $(
        impl LLMHandler<race::$node> for Racer {
            async fn before<'a>(&'a self, question: &'a String, _: &mut Cx<'_, race::$node>) -> Ask<Question> {
                let question = Question { who: stringify!($node), question: question.clone() };
                Ok((question, SessionOp::StartFresh(Slug::new(stringify!($node))?)))
            }
            async fn after(&self, _: String, reply: Reply<u64>, cx: &mut Cx<'_, race::$node>) -> Route<race::$node> {
                let answer = Some(reply.output).filter(|answer| *answer > 0);
                goto!(cx, race::first, answer)
            }
        }
    )+ };
}
racers!(quick, sure, last);
joins!(First for race::first, |answers: (Option<u64>, Option<u64>, Option<u64>), cx| {
    let (quick, sure, last) = answers;
    goto!(cx, race::exit, quick.or(sure).or(last))
});

/// `quick` takes one second and says 0, `sure` two and says 7, `last` a minute; a cent each.
#[derive(Default)]
struct Paid {
    sessions: Sessions,
    calls: AtomicU32,
}

#[async_trait]
impl Agent for Paid {
    fn name(&self) -> &str {
        "paid"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<AgentReply, AgentError> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        let session = SessionId::new(format!("s-{call}")).unwrap();
        context.started(&session)?;
        let (seconds, answer) = match turn.prompt.split(' ').next() {
            Some("quick") => (1, 0),
            Some("sure") => (2, 7),
            _ => (60, 8),
        };
        pass(seconds * 1_000).await;
        Ok(AgentReply { output: Some(json!(answer)), ..AgentReply::new(session, cents(1)) })
    }
}

fn cents(calls: u32) -> Usage {
    Usage { calls, cost: Cost::from_micro_dollars(u64::from(calls) * 10_000), ..Usage::default() }
}

fn race() -> Race {
    Race {
        begin: ForkNode(Begin),
        quick: LLMNode(Racer),
        sure: LLMNode(Racer),
        last: LLMNode(Racer),
        first: JoinNode(First),
    }
}

/// A loser is stopped in the middle of its turn, which is on the bill as a call with an unknown price.
#[tokio::test(start_paused = true)]
async fn the_first_good_answer_wins_and_the_losers_are_paid_for() {
    let (agent, journal, log) = (Arc::<Paid>::default(), Arc::<MemoryJournal>::default(), Log::new());
    let run = timed(race()).with_agent("racer", agent.clone()).with_journal(journal.clone()).with_events(log.sink());
    let report = run.start("what?".to_owned()).await.unwrap();
    assert_eq!(report.took.as_millis(), 2_000, "nobody waits for the last");
    let usage = cents(2) + Usage { calls: 1, unpriced_calls: 1, ..Usage::default() };
    assert_eq!(report.usage(), usage);
    assert_eq!(account(&*journal, &report.run).await.unwrap().total, usage);
    assert_eq!(log.line("cancelled last 1.1"), "2000 cancelled last 1.1");
    let records = journal.load(&report.run).await.unwrap().len();
    assert_eq!(finished(report), Some(7));

    // Resumed from the journal: no agent is asked again.
    let again = timed(race()).with_agent("racer", agent.clone()).with_journal(journal.clone()).resume().await.unwrap();
    assert_eq!((again.usage(), agent.calls.load(Ordering::SeqCst)), (usage, 3));
    assert_eq!(finished(again), Some(7));
    let id = "run".parse().unwrap();
    assert_eq!(journal.load(&id).await.unwrap().len(), records, "and nothing is recorded");
}

/// Every racer may be called, whichever wins.
#[test]
fn the_bound_of_agent_calls_counts_the_losers() {
    let calls = <Race as interlocking::graph::Graph>::AGENT_CALLS;
    assert_eq!((calls.at_most, calls.exact), (Some(3), true));
}
