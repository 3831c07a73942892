//! Sessions: the agent performs the session operation for which `before` asks.

use crate::support::{Log, Recording, failed, finished, timed};
use askama::Template;
use interlocking::agents::{AgentEvent, LostSession};
use interlocking::prelude::*;
use interlocking::runtime::journal::fork::{ForkPoint, fork};
use interlocking::runtime::roles::{Player, Roles};
use interlocking::runtime::{EventKind, Journal, MemoryJournal};
use std::sync::Arc;

#[derive(Template)]
#[template(source = "{{ question }}", ext = "txt")]
struct Question<'a> {
    question: &'a str,
}

/// The nodes, each with its session operation.
type Plan = Vec<(String, SessionOp)>;

#[derive(Graph)]
#[graph(output = Vec<SessionId>)]
struct Talk {
    #[node(entry, input = (Plan, Vec<SessionId>), prompt = Question<'_>, output = String, goto(ask, exit), visits = 9)]
    ask: LLMNode<Asks>,
}

struct Asks;
impl LLMHandler<talk::ask> for Asks {
    async fn before<'a>(
        &'a self,
        (plan, _): &'a (Plan, Vec<SessionId>),
        cx: &mut Cx<'_, talk::ask>,
    ) -> Ask<Question<'a>> {
        let (question, session) = &plan[cx.visit() as usize - 1];
        Ok((Question { question }, session.clone()))
    }
    async fn after(
        &self,
        (plan, mut sessions): (Plan, Vec<SessionId>),
        reply: Reply<String>,
        cx: &mut Cx<'_, talk::ask>,
    ) -> Route<talk::ask> {
        sessions.push(reply.session);
        if sessions.len() == plan.len() { goto!(cx, talk::exit, sessions) } else { goto!(cx, self, (plan, sessions)) }
    }
}

fn id(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

fn slug(text: &str) -> Slug {
    Slug::new(text).unwrap()
}

const ANY: &str = "[[turn]]\ntimes = 'any'\noutput_json = '\"yes\"'\n";

/// PRG-04: each operation reaches the agent as it is. PRG-05: fresh has no earlier context, continue keeps it, and a
/// fork starts from its parent's and leaves the parent alone.
#[tokio::test(start_paused = true)]
async fn each_session_operation_does_what_it_says() {
    let agent = Recording::new(ANY);
    let plan = vec![
        ("one".to_owned(), SessionOp::StartFresh(slug("main"))),
        ("two".to_owned(), SessionOp::ContinueFrom(id("main-1"))),
        ("three".to_owned(), SessionOp::ForkFrom { parent: id("main-1"), slug: slug("side") }),
        ("four".to_owned(), SessionOp::ContinueFrom(id("main-1"))),
        ("five".to_owned(), SessionOp::ContinueFrom(id("side-1"))),
        ("six".to_owned(), SessionOp::StartFresh(slug("main"))),
    ];
    let operations: Vec<_> = plan.iter().map(|(_, operation)| operation.clone()).collect();
    let run = timed(Talk { ask: LLMNode(Asks) }).with_agent("ask", agent.clone());
    let sessions = finished(run.start((plan, Vec::new())).await.unwrap());
    assert_eq!(sessions, ["main-1", "main-1", "side-1", "main-1", "side-1", "main-2"].map(id));
    let reached: Vec<_> = agent.turns().into_iter().map(|turn| turn.session).collect();
    assert_eq!(reached, operations);
    let said = |session: &str| -> Vec<String> {
        let history = agent.scripted().history(&id(session)).unwrap();
        history.into_iter().map(|exchange| exchange.prompt).collect()
    };
    assert_eq!(said("main-1"), ["one", "two", "four"]);
    assert_eq!(said("side-1"), ["one", "two", "three", "five"]);
    assert_eq!(said("main-2"), ["six"]);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_does_not_exist_fails_the_run() {
    let plan = vec![("one".to_owned(), SessionOp::ContinueFrom(id("elsewhere-1")))];
    let run = timed(Talk { ask: LLMNode(Asks) }).with_agent("ask", Recording::new(ANY));
    let failure = failed(run.start((plan, Vec::new())).await.unwrap());
    assert_eq!(failure.kind, FailureKind::Agent);
    assert_eq!(failure.message, "there is no session `elsewhere-1`");
}

/// A run or a role can allow a node to start anew when its session is lost; the handler and the listeners of the run are
/// told.
#[tokio::test(start_paused = true)]
async fn a_lost_session_is_begun_anew_where_that_is_said() {
    let play = |run: LostSession, role: Option<LostSession>| async move {
        let plan = vec![("one".to_owned(), SessionOp::ContinueFrom(id("elsewhere-1")))];
        let mut roles = Roles::new();
        roles.bind("ask", Player { lost_session: role, ..Player::new(Recording::new(ANY)) });
        let log = Log::new();
        let talk = timed(Talk { ask: LLMNode(Asks) }).with_roles(roles).with_lost_sessions(run).with_events(log.sink());
        let report = talk.start((plan, Vec::new())).await.unwrap();
        let lost = AgentEvent::SessionLost { session: id("elsewhere-1") };
        let is_said =
            log.events().iter().any(|event| matches!(&event.kind, EventKind::Agent { agent, .. } if **agent == lost));
        (report, is_said)
    };
    for (run, role) in [
        (LostSession::StartFresh, None),
        (LostSession::Fail, Some(LostSession::StartFresh)),
        (LostSession::StartFresh, Some(LostSession::StartFresh)),
    ] {
        let (report, is_said) = play(run, role).await;
        assert_eq!(finished(report), [id("ask-1")]);
        assert!(is_said);
    }
    let (report, is_said) = play(LostSession::StartFresh, Some(LostSession::Fail)).await;
    assert_eq!(failed(report).message, "there is no session `elsewhere-1`");
    assert!(!is_said, "the failure says it");
}

/// A fork has the records of the other run, and agents without its sessions.
#[tokio::test(start_paused = true)]
async fn in_a_fork_a_session_of_the_other_run_is_begun_anew() {
    let plan = vec![
        ("one".to_owned(), SessionOp::StartFresh(slug("main"))),
        ("two".to_owned(), SessionOp::ContinueFrom(id("main-1"))),
        ("three".to_owned(), SessionOp::ForkFrom { parent: id("main-1"), slug: slug("side") }),
    ];
    let (journal, new) = (Arc::new(MemoryJournal::new()), "new".parse().unwrap());
    let talk = |role| {
        let mut roles = Roles::new();
        roles.bind("ask", Player { lost_session: role, ..Player::new(Recording::new(ANY)) });
        timed(Talk { ask: LLMNode(Asks) }).with_journal(journal.clone()).with_roles(roles)
    };
    finished(talk(None).start((plan, Vec::new())).await.unwrap());
    for role in [None, Some(LostSession::Fail)] {
        let before = ForkPoint::Before { node: "ask".to_owned(), visit: 2 };
        fork(&*journal, &RunId::DEFAULT, &before, &new).await.unwrap();
        let sessions = finished(talk(role).with_id(new.clone()).resume().await.unwrap());
        assert_eq!(sessions, ["main-1", "ask-1", "ask-2"].map(id));
        journal.remove(&new).await.unwrap();
    }
}

#[derive(Graph)]
#[graph(output = bool)]
struct Crowd {
    #[node(entry, input = String, prompt = Question<'_>, output = bool, agent = "one", fork(left, right))]
    begin: LLMNode<Begin>,
    #[node(input = SessionOp, prompt = Question<'_>, output = bool, agent = "one", goto(both))]
    left: LLMNode<Side>,
    #[node(input = SessionOp, prompt = Question<'_>, output = bool, agent = "one", goto(both))]
    right: LLMNode<Side>,
    #[node(join(left: bool, right: bool), goto(exit))]
    both: JoinNode<Both>,
}

held!(Talk, Crowd);

struct Begin;
impl LLMHandler<crowd::begin> for Begin {
    async fn before<'a>(&'a self, _: &'a String, _: &mut Cx<'_, crowd::begin>) -> Ask<Question<'a>> {
        Ok((Question { question: "begin" }, SessionOp::StartFresh(Slug::new("begin")?)))
    }
    async fn after(&self, how: String, reply: Reply<bool>, cx: &mut Cx<'_, crowd::begin>) -> Route<crowd::begin> {
        let operation = || match how.as_str() {
            "fork" => SessionOp::ForkFrom { parent: reply.session.clone(), slug: slug("side") },
            _ => SessionOp::ContinueFrom(reply.session.clone()),
        };
        fork!(cx, (operation(), operation()))
    }
}

struct Side;
macro_rules! side {
    ($node:ident) => {
        impl LLMHandler<crowd::$node> for Side {
            async fn before<'a>(&'a self, how: &'a SessionOp, _: &mut Cx<'_, crowd::$node>) -> Ask<Question<'a>> {
                Ok((Question { question: stringify!($node) }, how.clone()))
            }
            async fn after(
                &self,
                _: SessionOp,
                reply: Reply<bool>,
                cx: &mut Cx<'_, crowd::$node>,
            ) -> Route<crowd::$node> {
                goto!(cx, crowd::both, reply.output)
            }
        }
    };
}
side!(left);
side!(right);
joins!(Both for crowd::both, |(left, right): (bool, bool), cx| goto!(cx, crowd::exit, left && right));

fn crowd(agent: &Arc<Recording>) -> Run<Crowd> {
    let graph = Crowd { begin: LLMNode(Begin), left: LLMNode(Side), right: LLMNode(Side), both: JoinNode(Both) };
    timed(graph).with_agent("one", agent.clone())
}

const SLOW: &str = "[[turn]]\ntimes = 'any'\ndelay = '1s'\noutput_json = 'true'\n";

/// Two branches that continue one session at the same time would corrupt its history: the second is refused, the first
/// is stopped, and the session is free again.
#[tokio::test(start_paused = true)]
async fn two_branches_cannot_continue_one_session_at_once() {
    let agent = Recording::new(SLOW);
    let report = crowd(&agent).start("continue".to_owned()).await.unwrap();
    assert_eq!(report.took.as_millis(), 1_000, "refused at once");
    let failure = failed(report);
    assert_eq!((failure.node.as_str(), &failure.kind), ("right", &FailureKind::Agent));
    assert!(failure.message.starts_with("session `begin-1` is busy: "), "{}", failure.message);
    assert_eq!(agent.turns().len(), 2, "the second never reached the agent");
    let session = SessionOp::ContinueFrom(SessionId::new("begin-1").unwrap());
    interlocking::agents::Agent::sessions(&*agent).hold(&session, None).unwrap();
}

/// Two forks at the same time are allowed: a fork only reads its parent.
#[tokio::test(start_paused = true)]
async fn two_branches_can_fork_one_session_at_once() {
    let agent = Recording::new(SLOW);
    let report = crowd(&agent).start("fork".to_owned()).await.unwrap();
    assert_eq!(report.took.as_millis(), 2_000, "both at once");
    assert!(finished(report));
    for (session, question) in [("side-1", "left"), ("side-2", "right")] {
        let history = agent.scripted().history(&id(session)).unwrap();
        let prompts: Vec<_> = history.iter().map(|exchange| exchange.prompt.as_str()).collect();
        assert_eq!(prompts, ["begin", question]);
    }
}
