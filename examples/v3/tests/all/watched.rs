//! An agent that records its calls.

use async_trait::async_trait;
use interlocking::agents::{Agent, AgentError, Reply, Script, ScriptedAgent, Sessions, Turn, TurnContext};
use interlocking::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Scripted agents whose calls are recorded.
pub(crate) struct Watched {
    scripted: ScriptedAgent,
    calls: Mutex<Vec<Call>>,
    holds: Mutex<Vec<(String, Arc<Gate>)>>,
    /// The sessions with a running turn.
    busy: Mutex<BTreeSet<SessionId>>,
}

/// Marks a session as having a running turn, until this is dropped.
struct Busy<'a> {
    all: &'a Mutex<BTreeSet<SessionId>>,
    session: SessionId,
}

impl<'a> Busy<'a> {
    fn in_session(all: &'a Mutex<BTreeSet<SessionId>>, session: &SessionId, title: &str) -> Self {
        assert!(all.lock().unwrap().insert(session.clone()), "two turns in {session}: {title}");
        Self { all, session: session.clone() }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap().remove(&self.session);
    }
}

/// The place at which a call waits.
struct Gate {
    reached: Semaphore,
    open: Semaphore,
}

/// A call that waits until it is released.
pub(crate) struct Hold {
    title: String,
    gate: Arc<Gate>,
}

/// Longer than anything takes, on any machine.
pub(crate) const FOREVER: Duration = Duration::from_secs(300);

impl Hold {
    /// Waits until the call has arrived.
    pub(crate) async fn reached(&self) {
        let there = timeout(FOREVER, self.gate.reached.acquire()).await;
        there.unwrap_or_else(|_| panic!("nobody has called {:?}", self.title)).unwrap().forget();
    }

    /// Releases the call.
    pub(crate) fn release(&self) {
        self.gate.open.add_permits(1);
    }
}

/// A call of an agent.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) role: String,
    pub(crate) session: SessionOp,
    /// The session in which it answered; `None` while it has not answered.
    pub(crate) answered_in: Option<SessionId>,
    pub(crate) prompt: String,
    /// The last part of the path of its workspace.
    pub(crate) place: String,
    pub(crate) workspace: PathBuf,
}

impl Call {
    /// The first line of the prompt, which names the role and the node.
    pub(crate) fn title(&self) -> &str {
        self.prompt.lines().next().unwrap_or_default()
    }

    /// The session that it was forked from.
    pub(crate) fn forked_from(&self) -> Option<&SessionId> {
        match &self.session {
            SessionOp::ForkFrom { parent, .. } => Some(parent),
            _ => None,
        }
    }
}

impl Watched {
    pub(crate) fn new(script: Script) -> Self {
        let mut scripted = ScriptedAgent::new(script);
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_AUTHOR_NAME", "An agent"),
            ("GIT_AUTHOR_EMAIL", "agent@interlocking.invalid"),
            ("GIT_COMMITTER_NAME", "An agent"),
            ("GIT_COMMITTER_EMAIL", "agent@interlocking.invalid"),
        ] {
            scripted = scripted.with_env(name, value);
        }
        Self { scripted, calls: Mutex::default(), holds: Mutex::default(), busy: Mutex::default() }
    }

    /// Makes the next call whose title contains these words wait.
    pub(crate) fn hold(&self, title: &str) -> Hold {
        let gate = Arc::new(Gate { reached: Semaphore::new(0), open: Semaphore::new(0) });
        self.holds.lock().unwrap().push((title.to_owned(), gate.clone()));
        Hold { title: title.to_owned(), gate }
    }

    /// Every call so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// The calls whose title contains these words.
    pub(crate) fn calls_to(&self, title: &str) -> Vec<Call> {
        self.calls().into_iter().filter(|call| call.title().contains(title)).collect()
    }
}

#[async_trait]
impl Agent for Watched {
    fn name(&self) -> &str {
        self.scripted.name()
    }

    fn sessions(&self) -> &Sessions {
        self.scripted.sessions()
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let workspace = turn.workspace.clone().unwrap_or_default();
        let call = Call {
            role: turn.role.clone().unwrap_or_default(),
            session: turn.session.clone(),
            answered_in: None,
            prompt: turn.prompt.clone(),
            place: workspace.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            workspace,
        };
        // V3-162, CON-19: no two calls continue one session at the same time.
        let _busy = match &turn.session {
            SessionOp::ContinueFrom(session) => Some(Busy::in_session(&self.busy, session, call.title())),
            _ => None,
        };
        let gate = {
            let mut holds = self.holds.lock().unwrap();
            let held = holds.iter().position(|(title, _)| call.title().contains(title));
            held.map(|at| holds.remove(at).1)
        };
        let place = {
            let mut calls = self.calls.lock().unwrap();
            calls.push(call);
            calls.len() - 1
        };
        if let Some(gate) = gate {
            gate.reached.add_permits(1);
            gate.open.acquire().await.unwrap().forget();
        }
        let reply = self.scripted.run(context, turn).await?;
        self.calls.lock().unwrap()[place].answered_in = Some(reply.session.clone());
        Ok(reply)
    }
}
