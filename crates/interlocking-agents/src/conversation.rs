//! Running a turn until its output is valid.

use serde_json::{Value, json};
use tracing::Instrument;

use crate::agent::{Agent, TurnContext};
use crate::decision::{Decision, DecisionTool};
use crate::error::{AgentError, AgentErrorKind};
use crate::event::{AgentEvent, AgentEvents};
use crate::interrupt::Interrupt;
use crate::schema::Violation;
use crate::session::SessionOp;
use crate::turn::{Completion, Reply, Turn};
use crate::usage::Usage;

/// Runs turns with an agent: holds the session, validates the output, asks for corrections, sums up the usage.
///
/// The session is held from the first round to the last, so nobody can come between an answer and its correction.
///
/// ```
/// # use interlocking_agents::{Conversation, NoEvents, Script, ScriptedAgent, Slug, Turn};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = Script::parse("hello", "[[turn]]\ncontains = [\"Say hello\"]\noutput = \"hello\"")?;
/// let agent = ScriptedAgent::new(script);
/// let turn = Turn::fresh(Slug::new("greet")?, "Say hello.");
/// let completion = Conversation::new(&agent).run(turn, &NoEvents).await?;
/// assert_eq!(completion.output, "hello");
/// # Ok(())
/// # }
/// ```
pub struct Conversation<'a> {
    agent: &'a dyn Agent,
    corrections: u32,
    interrupt: Interrupt,
    check: Option<Check<'a>>,
}

type Check<'a> = Box<dyn Fn(&Value) -> Vec<Violation> + Send + Sync + 'a>;

impl<'a> Conversation<'a> {
    /// How often an invalid output may be corrected, unless [said otherwise](Self::with_corrections).
    pub const DEFAULT_CORRECTIONS: u32 = 2;

    /// The words that every correction prompt begins with, so that a script can match them.
    pub const CORRECTION_PROMPT: &'static str = "Your last answer does not fit the JSON schema it was asked for.";

    /// Conversations with this agent.
    pub fn new(agent: &'a dyn Agent) -> Self {
        Self { agent, corrections: Self::DEFAULT_CORRECTIONS, interrupt: Interrupt::new(), check: None }
    }

    /// The same with at most this many correction rounds; 0 for none.
    pub fn with_corrections(self, corrections: u32) -> Self {
        Self { corrections, ..self }
    }

    /// The same with a check of outputs that fit the schema; what it finds is corrected just so. See
    /// [`deserializes_as`](crate::deserializes_as).
    pub fn with_check(self, check: impl Fn(&Value) -> Vec<Violation> + Send + Sync + 'a) -> Self {
        Self { check: Some(Box::new(check)), ..self }
    }

    /// The same, ending by itself when `interrupt` is requested.
    pub fn with_interrupt(self, interrupt: Interrupt) -> Self {
        Self { interrupt, ..self }
    }

    /// Runs `turn` and, while its output is invalid, correction rounds in the same session.
    ///
    /// Errors carry the usage of all rounds. Dropping the future cancels the turn and frees the session.
    pub async fn run(&self, turn: Turn, events: &dyn AgentEvents) -> Result<Completion, AgentError> {
        let span = tracing::info_span!(
            "agent_turn",
            agent = self.agent.name(),
            role = turn.role.as_deref(),
            operation = turn.session.kind().name(),
        );
        self.rounds(turn, events).instrument(span).await
    }

    async fn rounds(&self, mut turn: Turn, events: &dyn AgentEvents) -> Result<Completion, AgentError> {
        let hold = self.agent.sessions().hold(&turn.session, turn.workspace.as_deref())?;
        let context = TurnContext { hold: &hold, events, interrupt: &self.interrupt };
        let mut usage = Usage::default();
        let mut corrections = 0;
        loop {
            let mut reply = self.call(&context, &turn, &mut usage).await?;
            let violations = match accept(&turn, &mut reply, events) {
                Err(violations) => violations,
                Ok(None) => self.broken_rules(&turn, &reply),
                Ok(Some(tool)) => {
                    let violations = self.broken_rules(&turn, &reply).into_iter();
                    violations.map(|violation| tool.violation_of_input(violation)).collect()
                }
            };
            if violations.is_empty() {
                let output = reply.output.unwrap_or(Value::Null);
                return Ok(Completion { session: reply.session, output, text: reply.text, usage, corrections });
            }
            if corrections == self.corrections {
                let (output, text) = (reply.output, reply.text);
                let kind = AgentErrorKind::OutputInvalid { corrections, violations, output, text };
                return Err(AgentError::new(kind).in_session(reply.session, usage));
            }
            corrections += 1;
            tracing::debug!(round = corrections, violations = violations.len(), "asking for a correction");
            turn.prompt = correction_prompt(&violations);
            turn.session = SessionOp::ContinueFrom(reply.session);
            events.emit(AgentEvent::Correction { round: corrections, violations });
        }
    }

    /// One call of the agent, whose usage is added up whether it ends well or badly.
    async fn call(&self, context: &TurnContext<'_>, turn: &Turn, usage: &mut Usage) -> Result<Reply, AgentError> {
        tracing::debug!(prompt_bytes = turn.prompt.len(), "calling the agent");
        let outcome = self.agent.run(context, turn).await;
        let (session, spent) = match &outcome {
            Ok(reply) => (Some(&reply.session), reply.usage),
            Err(error) => (error.session.as_ref(), error.usage),
        };
        *usage += spent;
        context.emit(AgentEvent::Finished { session: session.cloned(), usage: spent });
        let reply = outcome.map_err(|error| {
            // A session that could not be used is none to come back to.
            let unusable = matches!(*error.kind, AgentErrorKind::Session(_));
            let held = if unusable { None } else { context.hold.session() };
            AgentError { session: error.session.or(held), usage: *usage, ..error }
        })?;
        // An agent may have forgotten to say so, and it must not have ended up in a session that somebody else uses.
        context
            .hold
            .started(&reply.session)
            .map_err(|error| AgentError::new(error).in_session(reply.session.clone(), *usage))?;
        Ok(reply)
    }

    fn broken_rules(&self, turn: &Turn, reply: &Reply) -> Vec<Violation> {
        match (broken_rules(turn, reply), &self.check) {
            (violations, Some(check)) if violations.is_empty() => check(reply.output.as_ref().unwrap_or(&Value::Null)),
            (violations, _) => violations,
        }
    }
}

/// Turns the first decision of a reply without output into its output, and says which tool that was.
///
/// One decision is accepted: a model that is offered several tools may well call several.
fn accept(turn: &Turn, reply: &mut Reply, events: &dyn AgentEvents) -> Result<Option<DecisionTool>, Vec<Violation>> {
    let mut decisions = std::mem::take(&mut reply.decisions).into_iter();
    let accepted = if reply.output.is_none() { decisions.next() } else { None };
    for Decision { tool, .. } in decisions {
        tracing::warn!(?tool, "ignoring a decision, as one is accepted per turn");
        events.emit(AgentEvent::DecisionIgnored { tool });
    }
    let Some(decision) = accepted else { return Ok(None) };
    let tools = turn.schema.as_ref().and_then(|schema| schema.decisions()).unwrap_or_default();
    let tool = tools.iter().find(|tool| tool.name == decision.tool);
    let violations = match tool {
        Some(tool) => tool.violations(&decision.input),
        None => vec![Violation { path: String::new(), message: no_such_tool(&decision.tool, &tools) }],
    };
    match tool {
        Some(tool) if violations.is_empty() => {
            reply.output = Some(tool.value(decision.input));
            Ok(Some(tool.clone()))
        }
        _ => {
            reply.output = Some(json!(decision));
            Err(violations)
        }
    }
}

fn no_such_tool(name: &str, tools: &[DecisionTool]) -> String {
    if tools.is_empty() {
        return format!("there is no tool {name:?} to decide with, nor any other");
    }
    let names: Vec<_> = tools.iter().map(|tool| format!("`{}`", tool.name)).collect();
    format!("there is no tool {name:?} to decide with; there are {}", names.join(", "))
}

fn broken_rules(turn: &Turn, reply: &Reply) -> Vec<Violation> {
    match (&turn.schema, &reply.output) {
        (None, _) => Vec::new(),
        (Some(schema), Some(output)) => schema.violations(output),
        // Some programs report success when the model answered in plain text.
        (Some(_), None) => {
            vec![Violation { path: String::new(), message: "there is no structured output, only text".to_owned() }]
        }
    }
}

fn correction_prompt(violations: &[Violation]) -> String {
    let mut prompt = format!("{}\n\n", Conversation::CORRECTION_PROMPT);
    for violation in violations {
        prompt.push_str(&format!("- {violation}\n"));
    }
    prompt.push_str("\nAnswer again with the complete output, corrected. The work itself need not be done again.\n");
    prompt
}
