//! The agent that plays every role: it answers, or fails, as chosen.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use interlocking_agents::faults::{FaultPlan, FaultyAgent, Rule};
use interlocking_agents::{
    Agent, AgentError, AgentErrorKind, Reply, SessionId, SessionOp, Sessions, Turn, TurnContext, Usage,
};

use crate::chance::Chance;
use crate::log::Log;
use crate::samples::{Behaviour, Sample, Samples};

pub(crate) struct Player {
    pub(crate) samples: Arc<Samples>,
    pub(crate) chance: Chance,
    pub(crate) log: Arc<Log>,
    pub(crate) sessions: Sessions,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    begun: u32,
    /// By execution: its behaviour in all of its calls, corrections and reminders included.
    behaviours: HashMap<String, Behaviour>,
}

impl Player {
    pub(crate) fn new(samples: Arc<Samples>, chance: Chance, log: Arc<Log>) -> Self {
        Self { samples, chance, log, sessions: Sessions::new(), state: Mutex::default() }
    }

    fn session(&self, turn: &Turn) -> Result<SessionId, AgentError> {
        let slug = match &turn.session {
            SessionOp::ContinueFrom(session) => return Ok(session.clone()),
            SessionOp::StartFresh(slug) | SessionOp::ForkFrom { slug, .. } => slug,
        };
        let mut state = self.state();
        state.begun += 1;
        let message = |error: &dyn std::fmt::Display| format!("a session cannot be named: {error}");
        SessionId::new(format!("{slug}-{}", state.begun))
            .map_err(|error| AgentErrorKind::Other { message: message(&error), transient: false }.into())
    }

    /// The behaviour of the calling execution, chosen at its first call.
    fn behaviour(&self, session: &SessionId, turn: &Turn) -> Result<Behaviour, AgentError> {
        let other = |message: String| AgentError::from(AgentErrorKind::Other { message, transient: false });
        let caller = self.log.caller(session);
        let caller = caller.ok_or_else(|| other(format!("nobody has said who asks in session `{session}`")))?;
        let key = caller.key();
        if let Some(behaviour) = self.state().behaviours.get(&key) {
            return Ok(behaviour.clone());
        }
        let schema = turn.schema.as_ref().map(|schema| schema.as_value());
        let (choices, mut behaviours): (Vec<_>, Vec<_>) =
            self.samples.behaviours(&caller.graph, &caller.node, schema).into_iter().unzip();
        if !behaviours.iter().any(|behaviour| matches!(behaviour, Behaviour::Answers(_))) {
            return Err(other(format!(
                "no answer is known for node `{}`, and none could be made from its schema: give one, `with_sample`",
                caller.node
            )));
        }
        let family = if self.log.is_ours(&caller.graph) {
            caller.node.to_string()
        } else {
            format!("{}/{}", caller.graph, caller.node)
        };
        let behaviour = behaviours.swap_remove(self.chance.choose(key.clone(), &family, choices, true));
        self.state().behaviours.insert(key, behaviour.clone());
        Ok(behaviour)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Agent for Player {
    fn name(&self) -> &str {
        "enumerator"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// It starts no program.
    fn confines(&self) -> bool {
        true
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let session = self.session(turn)?;
        // This emits an event with the execution at once, by which the log knows the caller.
        context.started(&session)?;
        let behaviour = self.behaviour(&session, turn)?;
        let plain = Sample { value: serde_json::Value::Null, deed: None };
        match behaviour {
            Behaviour::Answers(sample) => {
                Answering { session, sample, sessions: &self.sessions }.run(context, turn).await
            }
            Behaviour::Fails(fault) => {
                let answering = Answering { session, sample: plain, sessions: self.sessions.clone() };
                let plan = FaultPlan::new().with(Rule::new(fault).always());
                FaultyAgent::new(Arc::new(answering), plan).run(context, turn).await
            }
        }
    }
}

/// Gives one answer.
struct Answering<S> {
    session: SessionId,
    sample: Sample,
    sessions: S,
}

#[async_trait]
impl<S: std::borrow::Borrow<Sessions> + Send + Sync> Agent for Answering<S> {
    fn name(&self) -> &str {
        "enumerator"
    }

    fn sessions(&self) -> &Sessions {
        self.sessions.borrow()
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        context.started(&self.session)?;
        if let (Some(deed), Some(workspace)) = (&self.sample.deed, &turn.workspace) {
            deed(workspace).map_err(|error| AgentErrorKind::Other {
                message: format!("the sample's deed in {} failed: {error}", workspace.display()),
                transient: false,
            })?;
        }
        let usage = Usage { calls: 1, ..Usage::default() };
        Ok(Reply { output: Some(self.sample.value.clone()), ..Reply::new(self.session.clone(), usage) })
    }
}
