//! A turn of a node's agent: what it is asked, in which session and workspace, and what it used.

use crate::context::begun_sessions::BegunSessions;
use crate::context::services::UntypedServices;
use crate::context::usage_guard::UsageGuard;
use crate::workspaces::{self, Moment, isolation};
use interlocking_agents::{
    AgentError, AgentErrorKind, Completion, Conversation, LostSession, Schema, SchemaViolation, SessionOp, Turn,
};
use interlocking_core::context::ContextError;
use interlocking_core::failure::NodeError;
use interlocking_core::frontier::Execution;
use interlocking_core::table::NodeRow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A turn of the agent of a node, without the node's types: it is compiled once, and not for each node.
pub(super) struct AgentCall<'run> {
    pub(super) untyped: &'run UntypedServices,
    pub(super) row: &'static NodeRow,
    pub(super) node: &'static str,
    pub(super) execution: Execution,
    pub(super) make_schema: fn() -> Result<Arc<Schema>, NodeError>,
    pub(super) check: fn(&serde_json::Value) -> Vec<SchemaViolation>,
}

/// What an agent did in a turn, or why it has no valid answer.
pub(super) type TurnResult = Result<Result<Completion, AgentError>, NodeError>;

impl<'run> AgentCall<'run> {
    /// Lets the node's agent do the turn.
    pub(super) fn converse(
        self,
        system: Option<String>,
        prompt: String,
        session: SessionOp,
    ) -> Pin<Box<dyn Future<Output = TurnResult> + Send + 'run>> {
        Box::pin(async move {
            let Self { untyped, row, node, execution, make_schema, check } = self;
            let role = row.agent.as_deref().unwrap_or(&row.name);
            let options = untyped.settings.options();
            let player = options
                .roles
                .player(role)
                .ok_or_else(|| ContextError::NoSupport { what: format!("no agent plays role `{role}`") })?;
            let by = untyped.by(execution);
            // An interrupted execution continues in the session that it had begun, which knows what was done.
            let nth = untyped.history().begin_conversation(&by);
            let begun = untyped.history().session(&by, nth, player.agent.name());
            let fresh = begun.is_some().then(|| session.clone());
            let workspace = match row.workspace {
                Some(_) => Some(untyped.workspace(row)?.path),
                None => None,
            };
            let turn = Turn {
                system,
                schema: Some(untyped.schema(execution.node, make_schema)?),
                workspace,
                read_only: row.read_only,
                sandbox: isolation::sandbox(&untyped.settings, untyped.net, row)?,
                model: player.model.clone().or_else(|| row.model.clone()),
                role: Some(role.to_owned()),
                ..Turn::new(begun.map_or(session, SessionOp::ContinueFrom), prompt)
            };
            let verify =
                |moment, agent| workspaces::verify(&*options.workspaces, row.workspace.as_deref(), moment, agent);
            isolation::refuse_hidden(&untyped.settings, untyped.net, row, &turn.session)?;
            if let SessionOp::ContinueFrom(session) = &turn.session
                && fresh.is_some()
            {
                player.agent.sessions().record_workspace(session, turn.workspace.as_deref())?;
            }
            verify(Moment::Before, None).await?;
            let usage_guard = UsageGuard::new(untyped, execution, player.agent.name(), role);
            let begun = BegunSessions::new(untyped, by, nth, player.agent.name());
            let events = |event| {
                usage_guard.note(&event);
                begun.note(&event);
                untyped.agent_event(node, execution, event);
            };
            let lost_session = match options.is_fork {
                true => LostSession::StartFresh,
                false => player.lost_session.unwrap_or(options.lost_session),
            };
            let conversation = Conversation::new(&*player.agent)
                .with_check(check)
                .with_nudges(player.nudges.unwrap_or(options.nudges))
                .with_lost_session(lost_session)
                .with_call_gate(&usage_guard);
            let conversation = match fresh {
                // If the agent has lost that session, the turn starts from the beginning.
                Some(session) => conversation.with_lost_session_fallback(session),
                None => conversation,
            };
            let outcome = conversation.run(turn, &events).await;
            drop(conversation);
            begun.written().await?;
            let (spent, session) = match &outcome {
                Ok(completion) => (completion.usage, Some(completion.session.clone())),
                Err(error) => (error.usage, error.session.clone()),
            };
            usage_guard.settle(session, spent);
            if !matches!(&outcome, Err(error) if matches!(*error.kind, AgentErrorKind::CallRefused { .. })) {
                verify(Moment::After, outcome.as_ref().err().map(ToString::to_string)).await?;
            }
            match outcome {
                Err(error) if matches!(*error.kind, AgentErrorKind::CallRefused { .. }) => {
                    // This is not a failure of this node: the run as a whole may not continue.
                    Err(untyped.settings.stopped().map_or_else(|| error.into(), Into::into))
                }
                outcome => Ok(outcome),
            }
        })
    }
}
