//! The simulated agent: it follows the dialogues in virtual time, and remembers its sessions across processes.

use crate::agent_memory::SessionMemory;
use crate::calls::{Call, Ended, Prompted, Returned};
use crate::dialogue::{AGENT, Act, Does};
use crate::mix::{mix, mix_text};
use crate::world::{LogEvent, World};
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

/// The agent as seen by one process.
pub(crate) struct SimulatedAgent {
    world: Arc<World>,
    sessions: Sessions,
    /// How many calls are in progress.
    open: AtomicUsize,
}

impl SimulatedAgent {
    pub(crate) fn new(world: Arc<World>) -> Arc<Self> {
        Arc::new(Self { world, sessions: Sessions::new(), open: AtomicUsize::new(0) })
    }

    /// The request of a turn, and the sort of its prompt.
    fn asked(&self, turn: &Turn) -> Result<(Asking, Prompted), AgentError> {
        let prompted = Prompted::of(&turn.prompt);
        let about = match (&turn.session, prompted) {
            (_, Prompted::First) => serde_json::from_str(&turn.prompt).ok(),
            (SessionOp::ContinueFrom(session), _) => {
                self.world.agent_memory().sessions.get(session).map(|memory| memory.about.clone())
            }
            _ => None,
        };
        let message = || format!("nobody knows what this is about: {:?} {:?}", turn.session, turn.prompt);
        let unknown = || AgentErrorKind::Other { message: message(), transient: false };
        let about = about.ok_or_else(unknown)?;
        Ok((about, prompted))
    }

    /// Whether the agent knows the session that a turn continues. Sometimes a session is lost with the process that
    /// used it, if the node would then begin a new session.
    fn knows(&self, session: &SessionId, about: &Asking, may_be_lost: bool) -> bool {
        let executor = self.world.executor();
        let mut agent_memory = self.world.agent_memory();
        let Some(memory) = agent_memory.sessions.get_mut(session) else { return false };
        if may_be_lost && memory.about == *about && memory.executor != executor {
            let chance = mix(&[self.world.seed, mix_text(session.as_str()), executor.into()]);
            memory.is_lost |= chance.is_multiple_of(5);
        }
        (memory.about, memory.executor) = (about.clone(), executor);
        !memory.is_lost
    }

    /// Begins the session of a turn, or continues it.
    fn begin(&self, turn: &Turn, about: &Asking) -> SessionId {
        let mut agent_memory = self.world.agent_memory();
        let session = match &turn.session {
            SessionOp::ContinueFrom(session) => session.clone(),
            SessionOp::StartFresh(_) | SessionOp::ForkFrom { .. } => {
                let id = format!("s{}-{}", agent_memory.sessions.len(), about.by);
                SessionId::new(id).expect("the names of nodes are such")
            }
        };
        let memory = SessionMemory { about: about.clone(), executor: self.world.executor(), is_lost: false };
        agent_memory.sessions.insert(session.clone(), memory);
        agent_memory.latest.insert((about.run.clone(), about.by.clone()), session.clone());
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
        let done = self.world.agent_memory().done.get(&key).copied().unwrap_or_default();
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
            self.world.log(LogEvent::Opened { run: about.run.clone(), by: about.by.clone(), session: begun.clone() });
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
        let finished = || *self.world.agent_memory().done.entry(key.clone()).or_default() += 1;
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

/// The output of a call that ends without an error.
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

/// Counts a call that is in progress.
struct Open<'a>(&'a AtomicUsize);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[async_trait]
impl Agent for SimulatedAgent {
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
        self.world.log(LogEvent::Called(Call { run: run.clone(), by: by.clone(), session, prompted, open }));
        let result = self.call(context, turn, &about).await;
        let (ended, session, usage) = match &result {
            Ok(reply) => (Ended::of_output(reply.output.as_ref()), Some(reply.session.clone()), reply.usage),
            Err(error) => (Ended::of_error(&error.kind), error.session.clone(), error.usage),
        };
        self.world.log(LogEvent::Returned(Returned { run, by, ended, session, usage }));
        result
    }
}
