//! A node that is blind to another has an agent that cannot read the prompts in the other agent's
//! sessions.

use crate::isolation::{Apart, BOTH, apart_in};
use crate::support::{failed, finished};
use async_trait::async_trait;
use interlocking::agents::{
    Agent, AgentError, Reply as AgentReply, Script, ScriptedAgent, Sessions, Turn, TurnContext,
};
use interlocking::prelude::*;
use interlocking::runtime::isolation::IsolationOffer;
use interlocking::runtime::{StartError, WorkspaceError, Workspaces};
use interlocking::sandbox::Sandbox;
use interlocking::table::Isolation;
use std::path::PathBuf;
use std::sync::Arc;

/// The directory of the sessions of a role, or of one session.
type Store = fn(role: &str, session: Option<&SessionId>) -> PathBuf;

/// An agent whose programs would find sessions in the given directories.
struct Keeping {
    agent: ScriptedAgent,
    store: Store,
}

#[async_trait]
impl Agent for Keeping {
    fn name(&self) -> &str {
        "keeping"
    }

    fn sessions(&self) -> &Sessions {
        self.agent.sessions()
    }

    fn confines(&self) -> bool {
        true
    }

    fn session_store(&self, role: Option<&str>, session: Option<&SessionId>) -> Option<PathBuf> {
        Some((self.store)(role?, session))
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<AgentReply, AgentError> {
        // Whether the kernel confines it is not part of this test.
        let turn = Turn { sandbox: None, ..turn.clone() };
        self.agent.run(context, &turn).await
    }
}

/// Places that confine, and grant access to another directory.
struct Granting(Option<&'static str>);

#[async_trait]
impl Workspaces for Granting {
    fn locate(&self, _: &str) -> Result<PathBuf, WorkspaceError> {
        Ok(std::env::temp_dir())
    }

    fn isolation(&self, _: &str) -> IsolationOffer {
        IsolationOffer::of(Isolation::Sandbox)
    }

    fn sandbox(&self, _: &str) -> Result<Option<Sandbox>, WorkspaceError> {
        let sandbox = Sandbox::for_place("/places/own");
        Ok(Some(self.0.into_iter().fold(sandbox, Sandbox::write)))
    }

    async fn changes(&self, _: &str) -> Result<Vec<String>, WorkspaceError> {
        Ok(Vec::new())
    }
}

fn run(session: Option<&str>, grant: Option<&'static str>, store: Store) -> (Run<Apart>, Arc<Keeping>) {
    let agent = Arc::new(Keeping { agent: ScriptedAgent::new(Script::parse("both", BOTH).unwrap()), store });
    let session = session.map(|session| SessionId::new(session).unwrap());
    let run = apart_in(session).with_agent_for_others(agent.clone()).with_workspaces(Arc::new(Granting(grant)));
    (run, agent)
}

fn by_role(role: &str, _: Option<&SessionId>) -> PathBuf {
    PathBuf::from("/homes/roles").join(role)
}

/// If both sessions are in one directory, or one directory is inside the other.
#[tokio::test(start_paused = true)]
async fn a_run_does_not_start_where_one_agent_can_read_the_others_sessions() {
    let stores: [(Store, &str); 2] = [
        (|_, _| PathBuf::from("/homes"), "/homes"),
        (|role, _| PathBuf::from(if role == "tests" { "/homes" } else { "/homes/code" }), "/homes/code"),
    ];
    for (store, hidden) in stores {
        let (refused, agent) = run(None, None, store);
        let refused = refused.start("go".to_owned()).await.unwrap_err();
        let StartError::Isolation { unkept } = &refused else { panic!("{refused}") };
        assert_eq!(unkept.len(), 2);
        assert_eq!(
            unkept[0].to_string(),
            format!(
                "node `tests` demands a sandbox for its workspace `tests`, being blind to `code`, and there is a worktree: its \
                 agent can read what `code` was told and has said, in {hidden}: let them play different roles, and with a key \
                 of their own in place of a login that they share"
            )
        );
        assert_eq!(agent.agent.unused()[0].used, 0);
        let (accepted, _) = run(None, None, store);
        finished(accepted.with_weaker_isolation().start("go".to_owned()).await.unwrap());
    }
    finished(run(None, None, by_role).0.start("go".to_owned()).await.unwrap());
}

/// What a sandbox can reach is known only when the place exists.
#[tokio::test(start_paused = true)]
async fn nothing_is_started_in_a_sandbox_that_reaches_the_others_sessions() {
    let (run, agent) = run(None, Some("/"), by_role);
    let failure = failed(run.start("go".to_owned()).await.unwrap());
    assert_eq!(failure.kind, FailureKind::Workspace);
    let told = "reaches /homes/roles/code, where the sessions of `code` are, which `tests` is blind to: grant it its own role's alone";
    assert!(failure.message.contains(told), "{}", failure.message);
    assert_eq!(agent.agent.unused()[0].used, 0);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_started_in_a_session_of_the_other() {
    let (run, agent) = run(Some("of-code"), None, |role, session| {
        let whose = session.and_then(|session| session.as_str().strip_prefix("of-"));
        by_role(whose.unwrap_or(role), None)
    });
    let failure = failed(run.start("go".to_owned()).await.unwrap());
    assert_eq!(failure.kind, FailureKind::Workspace);
    let told = "node `tests` is to go on with session `of-code`, which is one of `code`'s, which it is blind to: start a fresh session";
    assert!(failure.message.contains(told), "{}", failure.message);
    assert!(agent.agent.history(&SessionId::new("of-code").unwrap()).is_none());
}
