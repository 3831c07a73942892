//! The agent: it does what dialogues say, in virtual time, and remembers its sessions from one process to the next.

use crate::calls::{Call, Ended, Prompted, Returned};
use crate::dialogue::{AGENT, Act, Does};
use crate::minds::Mind;
use crate::mix::{mix, mix_text};
use crate::world::{What, World};
use crate::{
    asked::{Asking, Said},
    asking::said,
};
use async_trait::async_trait;
use interlocking_agents::{
    Agent, AgentError, AgentErrorKind, AgentEvent, Reply, SessionError, SessionId, SessionOp, SessionOpKind, Sessions,
    Turn, TurnContext,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The agent as one process knows it.
pub(crate) struct Simulant {
    world: Arc<World>,
    sessions: Sessions,
    /// How many calls are under way.
    open: AtomicUsize,
}

impl Simulant {
    pub(crate) fn new(world: Arc<World>) -> Arc<Self> {
        Arc::new(Self { world, sessions: Sessions::new(), open: AtomicUsize::new(0) })
    }

    /// What is asked, and which prompt that is.
    fn asked(&self, turn: &Turn) -> Result<(Asking, Prompted), AgentError> {
        let prompted = Prompted::of(&turn.prompt);
        let about = match (&turn.session, prompted) {
            (_, Prompted::First) => serde_json::from_str(&turn.prompt).ok(),
            (SessionOp::ContinueFrom(session), _) => {
                self.world.minds().sessions.get(session).map(|mind| mind.about.clone())
            }
            _ => None,
        };
        let message = || format!("nobody knows what this is about: {:?} {:?}", turn.session, turn.prompt);
        let unknown = || AgentErrorKind::Other { message: message(), transient: false };
        let about = about.ok_or_else(unknown)?;
        Ok((about, prompted))
    }

    /// Whether a session is known that a turn goes on in. Now and then one is lost with the process that used it, where its
    /// node would begin a new one.
    fn knows(&self, session: &SessionId, about: &Asking, may_be_lost: bool) -> bool {
        let executor = self.world.executor();
        let mut minds = self.world.minds();
        let Some(mind) = minds.sessions.get_mut(session) else { return false };
        if may_be_lost && mind.about == *about && mind.executor != executor {
            let chance = mix(&[self.world.seed, mix_text(session.as_str()), executor.into()]);
            mind.is_lost |= chance.is_multiple_of(5);
        }
        (mind.about, mind.executor) = (about.clone(), executor);
        !mind.is_lost
    }

    /// Begins the session of a turn, or goes on with it.
    fn begin(&self, turn: &Turn, about: &Asking) -> SessionId {
        let mut minds = self.world.minds();
        let session = match &turn.session {
            SessionOp::ContinueFrom(session) => session.clone(),
            SessionOp::StartFresh(_) | SessionOp::ForkFrom { .. } => {
                let id = format!("s{}-{}", minds.sessions.len(), about.by);
                SessionId::new(id).expect("the names of nodes are such")
            }
        };
        let mind = Mind { about: about.clone(), executor: self.world.executor(), is_lost: false };
        minds.sessions.insert(session.clone(), mind);
        minds.latest.insert((about.run.clone(), about.by.clone()), session.clone());
        session
    }

    /// One call.
    async fn call(&self, context: &TurnContext<'_>, turn: &Turn, about: &Asking) -> Result<Reply, AgentError> {
        let choice = self.world.choice_of(about);
        let Some(dialogue) = choice.dialogue.as_ref() else {
            let message = format!("{} has no agent", about.by);
            return Err(AgentErrorKind::Other { message, transient: false }.into());
        };
        let key = (about.run.clone(), about.by.clone());
        let done = self.world.minds().done.get(&key).copied().unwrap_or_default();
        let act = dialogue.act(done);
        let may_be_lost = dialogue.session == SessionOpKind::Fresh && Prompted::of(&turn.prompt) == Prompted::First;
        if let SessionOp::ContinueFrom(session) = &turn.session
            && !self.knows(session, about, may_be_lost)
        {
            let unknown = AgentError::new(SessionError::Unknown { session: session.clone() });
            return Err(AgentError { usage: act.usage, ..unknown });
        }
        let mut session = None;
        if let Some(after) = act.starts {
            pass(after).await;
            let begun = self.begin(turn, about);
            self.world.log(What::Opened { run: about.run.clone(), by: about.by.clone(), session: begun.clone() });
            context.started(&begun)?;
            session = Some(begun);
        }
        for pause in &act.pauses {
            pass(*pause).await;
            context.emit(AgentEvent::Text { text: String::new() });
        }
        if act.works > 0 {
            let _working = context.working();
            pass(act.works).await;
        }
        let finished = || *self.world.minds().done.entry(key.clone()).or_default() += 1;
        let failed =
            |kind: AgentErrorKind| AgentError { kind: Box::new(kind), session: session.clone(), usage: act.usage };
        match act.does {
            Does::Drags => {
                let _working = context.working();
                pass(1_000_000).await;
                Err(failed(AgentErrorKind::Overloaded))
            }
            Does::Sleeps(on) => {
                context.interrupted().await;
                finished();
                pass(on).await;
                Err(failed(AgentErrorKind::Cancelled))
            }
            Does::Stumbles(failing) | Does::Fails(failing) => {
                finished();
                Err(failed(failing.kind()))
            }
            Does::Answers | Does::Errs | Does::Dithers => {
                finished();
                let session = session.expect("who is answered has one");
                let said = Said { number: said(&choice, &about.input) };
                Ok(Reply { output: output(act, said), ..Reply::new(session, act.usage) })
            }
        }
    }
}

/// The output of a call that ends well.
fn output(act: &Act, said: Said) -> Option<Value> {
    match (act.does, act.number % 4) {
        (Does::Dithers, _) => None,
        (Does::Answers, _) => Some(json!(said)),
        (_, 0) => Some(json!({ "number": "one" })),
        (_, 1) => Some(json!([])),
        // The schema has nothing against it, and no number of the type is so large.
        (_, 2) => Some(json!({ "number": 1e300 })),
        _ => Some(json!({ "number": -1 })),
    }
}

async fn pass(milliseconds: u64) {
    if milliseconds > 0 {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }
}

/// Counts a call that is under way.
struct Open<'a>(&'a AtomicUsize);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[async_trait]
impl Agent for Simulant {
    fn name(&self) -> &str {
        AGENT
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let (about, prompted) = self.asked(turn)?;
        let open = self.open.fetch_add(1, Ordering::Relaxed) + 1;
        let _open = Open(&self.open);
        let (run, by) = (about.run.clone(), about.by.clone());
        let session = turn.session.clone();
        self.world.log(What::Called(Call { run: run.clone(), by: by.clone(), session, prompted, open }));
        let result = self.call(context, turn, &about).await;
        let (ended, session, usage) = match &result {
            Ok(reply) => (Ended::of_output(reply.output.as_ref()), Some(reply.session.clone()), reply.usage),
            Err(error) => (Ended::of_error(&error.kind), error.session.clone(), error.usage),
        };
        self.world.log(What::Returned(Returned { run, by, ended, session, usage }));
        result
    }
}
