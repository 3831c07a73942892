use std::sync::Mutex;

use async_trait::async_trait;
use interlocking_agents::{
    Agent, AgentError, AgentErrorKind, AgentEvent, Conversation, Disposition, NoEvents, Reply, SessionError, SessionId,
    SessionOp, Sessions, Turn, TurnContext, Usage,
};

use crate::common::{Recorded, fork, fresh, go_on, id};

/// An agent that uses only the public API. It answers in a given session and keeps the operations that it was asked
/// for.
struct OwnAgent {
    sessions: Sessions,
    answers_in: SessionId,
    announces: bool,
    seen: Mutex<Vec<SessionOp>>,
}

#[async_trait]
impl Agent for OwnAgent {
    fn name(&self) -> &str {
        "own"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        self.seen.lock().unwrap().push(turn.session.clone());
        assert!(!turn.prompt.contains("panic"), "as told");
        if self.announces {
            context.started(&self.answers_in)?;
        }
        tokio::task::yield_now().await;
        Ok(Reply::new(self.answers_in.clone(), Usage::default()))
    }
}

fn own(answers_in: &str, announces: bool) -> OwnAgent {
    OwnAgent { sessions: Sessions::new(), answers_in: id(answers_in), announces, seen: Mutex::default() }
}

/// PRG-04: each operation reaches the backend unchanged, with its data.
#[tokio::test]
async fn every_operation_reaches_the_agent() {
    let agent = own("s-1", true);
    for turn in [fresh("x"), go_on("s-1", "x"), fork("parent", "x")] {
        Conversation::new(&agent).run(turn, &NoEvents).await.unwrap();
    }
    let expected = [fresh("x").session, go_on("s-1", "x").session, fork("parent", "x").session];
    assert_eq!(*agent.seen.lock().unwrap(), expected);
}

#[tokio::test]
async fn an_agent_that_forks_by_continuing_the_parent_is_caught() {
    for announces in [true, false] {
        let agent = own("parent", announces);
        let error = Conversation::new(&agent).run(fork("parent", "x"), &NoEvents).await.unwrap_err();
        assert_eq!(*error.kind, AgentErrorKind::Session(SessionError::NotForked { session: id("parent") }));
    }
}

/// Two agents of one backend share its registry, and therefore the guard.
#[tokio::test]
async fn agents_that_share_a_backend_share_its_sessions() {
    let one = own("s-1", true);
    let other = OwnAgent { sessions: one.sessions.clone(), ..own("s-1", true) };
    let (conversation, rival) = (Conversation::new(&one), Conversation::new(&other));
    let (first, second) =
        tokio::join!(conversation.run(go_on("s-1", "x"), &NoEvents), rival.run(go_on("s-1", "x"), &NoEvents));
    assert!(first.is_ok());
    assert!(matches!(*second.unwrap_err().kind, AgentErrorKind::Session(SessionError::Busy { .. })));
    assert!(other.seen.lock().unwrap().is_empty(), "it never reached the agent");
}

/// An agent that wraps another agent and suppresses its events.
struct Quiet(OwnAgent);

#[async_trait]
impl Agent for Quiet {
    fn name(&self) -> &str {
        "quiet"
    }

    fn sessions(&self) -> &Sessions {
        self.0.sessions()
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        self.0.run(&context.with_events(&NoEvents), turn).await
    }
}

#[tokio::test]
async fn an_agent_can_wrap_another_and_keep_its_events_back() {
    let recorded = Recorded::default();
    let agent = Quiet(own("s-1", true));
    Conversation::new(&agent).run(fresh("x"), &recorded.sink()).await.unwrap();
    let finished = AgentEvent::Finished { session: Some(id("s-1")), usage: Usage::default() };
    assert_eq!(recorded.events(), [finished]);
}

#[tokio::test]
async fn an_agent_that_panics_gives_its_session_back() {
    let agent = std::sync::Arc::new(own("s-1", true));
    let inside = std::sync::Arc::clone(&agent);
    let task = tokio::spawn(async move { Conversation::new(&*inside).run(go_on("s-1", "panic"), &NoEvents).await });
    assert!(task.await.unwrap_err().is_panic());
    Conversation::new(&*agent).run(go_on("s-1", "x"), &NoEvents).await.unwrap();
}

#[test]
fn dispositions_follow_what_helps() {
    let limit = std::time::Duration::from_secs(90);
    let wait = AgentErrorKind::RateLimited { retry_after: Some(limit) };
    assert_eq!(AgentError::new(wait.clone()).disposition(), Disposition::Retry { after: Some(limit) });
    assert_eq!(
        AgentError::new(wait).in_session(id("s"), Usage::default()).disposition(),
        Disposition::ResumeSession { session: id("s"), after: Some(limit) }
    );
    let other = |transient| AgentErrorKind::Other { message: "mine".to_owned(), transient };
    assert_eq!(AgentError::new(other(true)).disposition(), Disposition::Retry { after: None });
    assert_eq!(AgentError::new(other(false)).disposition(), Disposition::GiveUp);
    assert_eq!(
        AgentErrorKind::Idle { limit, nudges: 3 }.to_string(),
        "the agent showed no activity for 90s after 3 reminders"
    );
    let unsupported =
        AgentErrorKind::Unsupported { agent: "gemini".to_owned(), operation: fork("p", "x").session.kind() };
    assert_eq!(unsupported.to_string(), "agent `gemini` cannot fork a session");
}
