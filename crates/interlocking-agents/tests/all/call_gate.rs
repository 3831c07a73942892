use std::sync::Mutex;

use async_trait::async_trait;
use interlocking_agents::{
    AgentError, AgentErrorKind, AgentEvent, CallGate, CallPermit, CallRefused, Conversation, NoEvents, Turn, Usage,
};

use crate::common::{Recorded, agent, article_schema, fresh, go_on, id};

/// Permits a number of calls, and requests a retry for every failure.
struct Turnstile {
    left: Mutex<u32>,
    ended: Mutex<Vec<String>>,
}

struct Through<'t>(&'t Turnstile);

impl Turnstile {
    fn new(calls: u32) -> Self {
        Self { left: Mutex::new(calls), ended: Mutex::default() }
    }

    fn ended(&self) -> Vec<String> {
        self.ended.lock().unwrap().clone()
    }
}

#[async_trait]
impl CallGate for Turnstile {
    async fn acquire(&self, agent: &str) -> Result<Box<dyn CallPermit + '_>, CallRefused> {
        let mut left = self.left.lock().unwrap();
        *left = left.checked_sub(1).ok_or_else(|| CallRefused { reason: format!("`{agent}` has had enough") })?;
        Ok(Box::new(Through(self)))
    }
}

impl CallPermit for Through<'_> {
    fn ended(self: Box<Self>, outcome: Result<Usage, &AgentError>) -> bool {
        let said = match outcome {
            Ok(usage) => format!("well: {}", usage.cost),
            Err(error) => format!("{error}: {}", error.usage.cost),
        };
        self.0.ended.lock().unwrap().push(said);
        outcome.is_err()
    }
}

#[tokio::test]
async fn a_call_that_failed_in_passing_is_made_again_in_its_session() {
    let agent = agent(
        r#"
        [[turn]]
        session = "fresh"
        fail = "overloaded"
        cost = 0.25
        [[turn]]
        session = "continue"
        fail = "rate_limited"
        cost = 0.5
        [[turn]]
        session = "continue"
        text = "Done."
        cost = 1.0
        "#,
    );
    let (turnstile, recorded) = (Turnstile::new(3), Recorded::default());
    let conversation = Conversation::new(&agent).with_call_gate(&turnstile);
    let completion = conversation.run(fresh("Write."), &recorded.sink()).await.unwrap();
    assert_eq!((completion.session, completion.corrections, completion.nudges), (id("write-1"), 0, 0));
    assert_eq!(completion.usage.to_string(), "$1.75 in 3 calls, 0 tokens in, 0 tokens out");
    let history = agent.history(&id("write-1")).unwrap();
    assert!(history.iter().all(|exchange| exchange.prompt == "Write."), "the same prompt each time");
    assert_eq!(
        turnstile.ended(),
        [
            "the provider is overloaded or broken: $0.25",
            "the provider limits the rate of requests: $0.50",
            "well: $1.00"
        ],
        "each call by itself"
    );
    let retries = recorded.events().into_iter().filter(|event| matches!(event, AgentEvent::Retry { .. }));
    assert_eq!(retries.count(), 2);
}

#[tokio::test]
async fn what_would_fail_again_is_not_repeated() {
    let agent = agent("[[turn]]\nfail = 'refused'");
    let turnstile = Turnstile::new(9);
    let error = Conversation::new(&agent).with_call_gate(&turnstile).run(fresh("x"), &NoEvents).await.unwrap_err();
    assert!(matches!(*error.kind, AgentErrorKind::Refused { .. }));
    assert_eq!(turnstile.ended().len(), 1);
}

#[tokio::test]
async fn every_round_is_admitted_and_a_refusal_keeps_what_was_spent() {
    let agent = agent("[[turn]]\ntimes = 'any'\noutput = { title = 1, words = 1 }\ncost = 0.5");
    for (calls, spent, session) in [(0, "$0.00", None), (2, "$1.00", Some(id("write-1")))] {
        let turnstile = Turnstile::new(calls);
        let turn = Turn { schema: Some(article_schema()), ..fresh("x") };
        let conversation = Conversation::new(&agent).with_call_gate(&turnstile);
        let error = conversation.run(turn, &NoEvents).await.unwrap_err();
        let reason = "`scripted` has had enough".to_owned();
        assert_eq!(*error.kind, AgentErrorKind::CallRefused { reason });
        assert_eq!(error.to_string(), "the agent was not called: `scripted` has had enough");
        assert_eq!((error.usage.cost.to_string().as_str(), error.session), (spent, session));
    }
}

/// The session is held while a call waits for its permit, so no other turn can come between a call and its retry.
#[tokio::test]
async fn the_session_is_held_while_a_call_waits() {
    struct Never;
    #[async_trait]
    impl CallGate for Never {
        async fn acquire(&self, _: &str) -> Result<Box<dyn CallPermit + '_>, CallRefused> {
            std::future::pending().await
        }
    }
    let agent = agent("[[turn]]\ntimes = 'any'");
    Conversation::new(&agent).run(fresh("x"), &NoEvents).await.unwrap();
    let (conversation, other) = (Conversation::new(&agent).with_call_gate(&Never), Conversation::new(&agent));
    tokio::select! {
        biased;
        outcome = conversation.run(go_on("write-1", "x"), &NoEvents) => panic!("{outcome:?}"),
        outcome = other.run(go_on("write-1", "y"), &NoEvents) => {
            assert!(matches!(*outcome.unwrap_err().kind, AgentErrorKind::Session(_)));
        }
    }
}
