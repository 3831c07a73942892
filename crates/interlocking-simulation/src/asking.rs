//! How nodes ask the agent: the prompt, the output and the handlers.

use crate::asked::{Asking, Said, Turned};
use crate::body::Body;
use crate::choice::Choice;
use crate::dialogue::sort_of;
use crate::graph::Simulated;
use crate::markers::At;
use crate::mix::{mix, mix_text};
use crate::token::Token;
use crate::world::{LogEvent, World};
use interlocking_agents::{AgentError, SessionOp, SessionOpKind, Slug};
use interlocking_core::context::Cx;
use interlocking_core::failure::NodeError;
use interlocking_core::graph::Graph;
use interlocking_core::net::NodeIndex;
use interlocking_core::route::Route;
use interlocking_core::table::NodeKind;
use interlocking_runtime::RunContext;
use interlocking_runtime::llm::{Ask, FromHandler, LLM, LLMHandler, Reply};

impl<const LEVEL: usize, const INDEX: NodeIndex> LLM for At<LEVEL, INDEX> {
    type Prompt<'a> = Asking;
    type Output = Said;
    type PromptFrom = FromHandler;
}

/// The number that an agent answers.
pub(crate) fn said(choice: &Choice, input: &[u64]) -> u64 {
    mix(&[choice.number, 0x5a, mix(input)])
}

/// The value that a node's tokens depend on besides the node's input: the agent's answer, or its failure.
pub(crate) fn heard(world: &World, choice: &Choice, input: &[u64]) -> u64 {
    let Some(dialogue) = &choice.dialogue else { return 0 };
    match dialogue.failure(&world.nudges()) {
        None => said(choice, input),
        Some(kind) => mix_text(&sort_of(&kind)),
    }
}

impl Body {
    /// The prompt and the session of an execution.
    fn ask<const LEVEL: usize, const INDEX: NodeIndex>(
        &self,
        choice: &Choice,
        input: &[u64],
        cx: &Cx<'_, At<LEVEL, INDEX>>,
    ) -> Result<(Asking, SessionOp), NodeError> {
        let (run, by) = (cx.run_id().clone(), Self::by(cx));
        let slug = Slug::new(by.node.clone())?;
        let kind = choice.dialogue.as_ref().map_or(SessionOpKind::Fresh, |dialogue| dialogue.session);
        // Visits of an advisory node run side by side, and a session does one turn at a time.
        let alone = Simulated::<LEVEL>::net().row(INDEX).kind != NodeKind::Advisory;
        let earlier = alone.then(|| self.0.agent_memory().earlier(&run, &by)).flatten();
        let session = match (kind, earlier) {
            (SessionOpKind::Continue, Some(session)) => SessionOp::ContinueFrom(session),
            (SessionOpKind::Fork, Some(parent)) => SessionOp::ForkFrom { parent, slug },
            _ => SessionOp::StartFresh(slug),
        };
        self.0.log(LogEvent::Asks { run: run.clone(), by: by.clone(), session: session.clone() });
        Ok((Asking { level: LEVEL, run, by, input: input.to_vec() }, session))
    }

    /// Logs the result of a turn; returns the number of the answer.
    fn answered<const LEVEL: usize, const INDEX: NodeIndex>(
        &self,
        reply: &Reply<Said>,
        cx: &Cx<'_, At<LEVEL, INDEX>>,
    ) -> u64 {
        let rounds = Some((reply.corrections, reply.nudges));
        let turned = Turned { run: cx.run_id().clone(), by: Self::by(cx), usage: reply.usage, rounds };
        self.0.log(LogEvent::Turned(turned));
        reply.output.number
    }

    /// The same for a turn without an answer; returns the error, unless the node continues without an answer.
    fn unanswered<const LEVEL: usize, const INDEX: NodeIndex>(
        &self,
        choice: &Choice,
        error: AgentError,
        cx: &Cx<'_, At<LEVEL, INDEX>>,
    ) -> Result<u64, NodeError> {
        let turned = Turned { run: cx.run_id().clone(), by: Self::by(cx), usage: error.usage, rounds: None };
        self.0.log(LogEvent::Turned(turned));
        match choice.dialogue.as_ref().is_some_and(|dialogue| dialogue.takes_over) {
            true => Ok(mix_text(&sort_of(&error.kind))),
            false => Err(error.into()),
        }
    }

    /// Asks the agent, if the node has one; returns the value that the node's tokens depend on besides the input.
    pub(crate) async fn converse<const LEVEL: usize, const INDEX: NodeIndex>(
        &self,
        choice: &Choice,
        input: &[u64],
        cx: &mut Cx<'_, At<LEVEL, INDEX>>,
    ) -> Result<u64, NodeError> {
        if choice.dialogue.is_none() {
            return Ok(0);
        }
        let (prompt, session) = self.ask(choice, input, cx)?;
        match cx.converse(prompt, session).await {
            Ok(reply) => Ok(self.answered(&reply, cx)),
            Err(error) => match error.downcast::<AgentError>() {
                Ok(error) => self.unanswered(choice, *error, cx),
                Err(error) => Err(error),
            },
        }
    }
}

impl<const LEVEL: usize, const INDEX: NodeIndex> LLMHandler<At<LEVEL, INDEX>> for Body {
    async fn before<'a>(&'a self, input: &'a Token<LEVEL>, cx: &mut Cx<'_, At<LEVEL, INDEX>>) -> Ask<Asking> {
        let choice = self.begin(cx);
        self.ask(&choice, input.numbers(), cx)
    }

    async fn after(
        &self,
        input: Token<LEVEL>,
        reply: Reply<Said>,
        cx: &mut Cx<'_, At<LEVEL, INDEX>>,
    ) -> Route<At<LEVEL, INDEX>> {
        let choice = self.choice(cx);
        let number = self.answered(&reply, cx);
        self.work(&choice, cx).await?;
        Self::leave(&choice, input.numbers(), number, cx)
    }

    async fn unanswered(
        &self,
        input: Token<LEVEL>,
        error: AgentError,
        cx: &mut Cx<'_, At<LEVEL, INDEX>>,
    ) -> Route<At<LEVEL, INDEX>> {
        let choice = self.choice(cx);
        let number = self.unanswered(&choice, error, cx)?;
        self.work(&choice, cx).await?;
        Self::leave(&choice, input.numbers(), number, cx)
    }
}
