//! What happens to a turn whose session is lost.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use interlocking_agents::{
    Agent, AgentError, AgentErrorKind, AgentEvent, Conversation, LostSession, NoEvents, Reply, SessionError, SessionId,
    SessionOp, Sessions, Turn, TurnContext, Usage,
};
use serde_json::json;

use crate::common::{Recorded, agent, article_schema, fork, fresh, go_on, id, slug};

const ANYTHING: &str = "[[turn]]\ntimes = \"any\"\ntext = \"fine\"\ncost = 0.01";

fn is_lost(error: &AgentError, session: &str) -> bool {
    *error.kind == AgentErrorKind::Session(SessionError::Unknown { session: id(session) })
}

#[tokio::test]
async fn a_lost_session_is_an_error_unless_said_otherwise() {
    let agent = agent(ANYTHING);
    let conversation = Conversation::new(&agent);
    for turn in [go_on("gone-1", "two"), fork("gone-1", "two")] {
        assert!(is_lost(&conversation.run(turn, &NoEvents).await.unwrap_err(), "gone-1"));
    }
}

/// The turn runs with its own prompt in a new session, and the caller is told.
#[tokio::test]
async fn a_turn_may_begin_anew_and_says_so() {
    let agent = agent(ANYTHING);
    let conversation = Conversation::new(&agent).with_lost_session(LostSession::StartFresh);
    for (turn, session) in [
        (go_on("gone-1", "two"), "anew-1"),
        (fork("gone-1", "two"), "anew-2"),
        (Turn { role: Some("critic".to_owned()), ..go_on("gone-1", "two") }, "critic-1"),
        (Turn { role: Some("The Critic".to_owned()), ..go_on("gone-1", "two") }, "anew-3"),
    ] {
        let recorded = Recorded::default();
        let completion = conversation.run(turn, &recorded.sink()).await.unwrap();
        assert_eq!((&completion.session, &completion.lost), (&id(session), &vec![id("gone-1")]));
        assert!(recorded.events().contains(&AgentEvent::SessionLost { session: id("gone-1") }));
        let history = agent.history(&id(session)).unwrap();
        assert_eq!(history.iter().map(|exchange| exchange.prompt.as_str()).collect::<Vec<_>>(), ["two"]);
    }
    let completion = conversation.run(go_on("anew-1", "three"), &NoEvents).await.unwrap();
    assert_eq!((completion.session, completion.lost), (id("anew-1"), vec![]), "nothing is lost here");
}

/// Loses the sessions that it is to continue a number of times.
struct Forgetful {
    sessions: Sessions,
    losses: AtomicUsize,
    asked: Mutex<Vec<(SessionOp, String)>>,
}

const USAGE: Usage =
    Usage { calls: 1, input_tokens: 7, output_tokens: 0, cost: interlocking_agents::Cost::ZERO, unpriced_calls: 1 };

#[async_trait]
impl Agent for Forgetful {
    fn name(&self) -> &str {
        "forgetful"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let number = {
            let mut asked = self.asked.lock().unwrap();
            asked.push((turn.session.clone(), turn.prompt.clone()));
            asked.len()
        };
        if let SessionOp::ContinueFrom(session) | SessionOp::ForkFrom { parent: session, .. } = &turn.session
            && self.losses.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
        {
            let unknown = AgentError::new(SessionError::Unknown { session: session.clone() });
            return Err(AgentError { usage: USAGE, ..unknown });
        }
        let session = match &turn.session {
            SessionOp::ContinueFrom(session) => session.clone(),
            _ => SessionId::new(format!("s{number}")).unwrap(),
        };
        context.started(&session)?;
        // The very first answer is invalid.
        let output = if number == 1 { json!({}) } else { json!({ "title": "t", "words": 1 }) };
        Ok(Reply { output: Some(output), ..Reply::new(session, USAGE) })
    }
}

fn forgetful(losses: usize) -> Forgetful {
    Forgetful { sessions: Sessions::new(), losses: losses.into(), asked: Mutex::default() }
}

fn article() -> Turn {
    Turn { schema: Some(article_schema()), ..fresh("write") }
}

/// A correction makes no sense to an agent that does not know its answer, so the turn's own prompt is sent again.
#[tokio::test]
async fn a_session_that_is_lost_between_an_answer_and_its_correction_is_begun_anew_with_the_turns_prompt() {
    let agent = forgetful(1);
    let conversation = Conversation::new(&agent).with_lost_session(LostSession::StartFresh);
    let completion = conversation.run(article(), &NoEvents).await.unwrap();
    assert_eq!((completion.lost, completion.session), (vec![id("s1")], id("s3")));
    assert_eq!(completion.usage, USAGE + USAGE + USAGE, "the call that found out is paid for, too");
    let prompts: Vec<_> = agent.asked.lock().unwrap().iter().map(|(_, prompt)| prompt.clone()).collect();
    assert_eq!((prompts[0].as_str(), prompts[2].as_str()), ("write", "write"));
    assert!(prompts[1].starts_with(Conversation::CORRECTION_PROMPT));
    for session in ["s1", "s3"] {
        agent.sessions.hold(&SessionOp::ContinueFrom(id(session)), None).unwrap();
    }

    let agent = forgetful(1);
    let error = Conversation::new(&agent).run(article(), &NoEvents).await.unwrap_err();
    assert!(is_lost(&error, "s1"));
    assert_eq!(error.usage, USAGE + USAGE);
}

/// A caller that continues the session of an interrupted turn falls back on the operation of that turn, whatever the
/// policy; and the session of that operation can be lost as well.
#[tokio::test]
async fn a_lost_session_can_be_replaced_by_another_operation() {
    let instead = SessionOp::ForkFrom { parent: id("parent"), slug: slug("child") };
    for (losses, policy, lost) in [
        (1, LostSession::Fail, Some(vec![id("cut-off")])),
        (2, LostSession::Fail, None),
        (2, LostSession::StartFresh, Some(vec![id("cut-off"), id("parent")])),
    ] {
        let agent = forgetful(losses);
        let conversation =
            Conversation::new(&agent).with_lost_session(policy).with_lost_session_fallback(instead.clone());
        let outcome = conversation.run(go_on("cut-off", "two"), &NoEvents).await;
        let asked: Vec<_> = agent.asked.lock().unwrap().iter().map(|(operation, _)| operation.clone()).collect();
        assert_eq!(asked[1], instead);
        match lost {
            Some(lost) => assert_eq!(outcome.unwrap().lost, lost),
            None => assert!(is_lost(&outcome.unwrap_err(), "parent")),
        }
    }
}

/// An agent that loses every session does not keep a turn busy for ever.
#[tokio::test]
async fn a_turn_begins_anew_once() {
    /// Every answer needs a correction, and every correction finds the session lost.
    struct Hopeless(Forgetful);

    #[async_trait]
    impl Agent for Hopeless {
        fn name(&self) -> &str {
            "hopeless"
        }

        fn sessions(&self) -> &Sessions {
            self.0.sessions()
        }

        async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
            let reply = self.0.run(context, turn).await?;
            Ok(Reply { output: None, ..reply })
        }
    }

    let agent = Hopeless(forgetful(usize::MAX));
    let conversation = Conversation::new(&agent).with_lost_session(LostSession::StartFresh);
    assert!(is_lost(&conversation.run(article(), &NoEvents).await.unwrap_err(), "s3"));
    assert_eq!(agent.0.asked.lock().unwrap().len(), 4, "asked, lost, asked anew, lost");
}
