//! Runs a turn until its output is valid, with corrections, reminders and retries.

pub(crate) mod activity;
pub(crate) mod call_gate;
pub(crate) mod decision;
pub(crate) mod interrupt;
pub(crate) mod nudge;
pub(crate) mod typed;

use serde_json::{Value, json};
use tracing::Instrument;

use crate::agent::error::{AgentError, AgentErrorKind, Disposition};
use crate::agent::event::{AgentEvent, AgentEvents};
use crate::agent::turn::{Completion, Reply, Turn};
use crate::agent::usage::Usage;
use crate::agent::{Agent, TurnContext};
use crate::conversation::activity::Activity;
use crate::conversation::call_gate::CallGate;
use crate::conversation::decision::{Decision, DecisionTool};
use crate::conversation::interrupt::Interrupt;
use crate::conversation::nudge::{NudgeReason, Nudges};
use crate::drivers::event_meter::EventMeter;
use crate::schema::{SchemaViolation, limited};
use crate::sessions::SessionHold;
use crate::sessions::lost_session::LostSession;
use crate::sessions::session::{SessionOp, Slug};

/// Runs turns with an agent: holds the session, validates the output, asks for corrections, reminds the agent to decide
/// and adds up the usage.
///
/// The session is held from the first round to the last, so no other turn can come between an answer and its
/// correction.
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
    nudges: Nudges,
    gate: Option<&'a dyn CallGate>,
    interrupt: Interrupt,
    lost: LostSession,
    instead: Option<SessionOp>,
    check: Option<Check<'a>>,
}

type Check<'a> = Box<dyn Fn(&Value) -> Vec<SchemaViolation> + Send + Sync + 'a>;

impl<'a> Conversation<'a> {
    /// The default number of correction rounds.
    pub const DEFAULT_CORRECTIONS: u32 = 2;

    /// The first words of every correction prompt, so that a script can match them.
    pub const CORRECTION_PROMPT: &'static str = "Your last answer does not fit the JSON schema it was asked for.";

    /// Conversations with this agent.
    pub fn new(agent: &'a dyn Agent) -> Self {
        let (corrections, nudges, interrupt) = (Self::DEFAULT_CORRECTIONS, Nudges::NONE, Interrupt::new());
        let (gate, lost, instead, check) = Default::default();
        Self { agent, corrections, nudges, gate, interrupt, lost, instead, check }
    }

    /// The same with at most this many correction rounds; 0 for none.
    pub fn with_corrections(self, corrections: u32) -> Self {
        Self { corrections, ..self }
    }

    /// The same with a check of the outputs that fit the schema; what it finds is corrected like a violation of the
    /// schema, and as many are listed as [of a schema](crate::Schema::violations). See
    /// [`deserializes_as`](crate::deserializes_as).
    pub fn with_check(self, check: impl Fn(&Value) -> Vec<SchemaViolation> + Send + Sync + 'a) -> Self {
        Self { check: Some(Box::new(check)), ..self }
    }

    /// The same with reminders; there are none by default.
    pub fn with_nudges(self, nudges: Nudges) -> Self {
        Self { nudges, ..self }
    }

    /// The same with another policy for lost sessions. It applies whether the session is lost when the turn begins or
    /// while it runs, and at most once per turn. By default the turn fails.
    pub fn with_lost_session(self, lost: LostSession) -> Self {
        Self { lost, ..self }
    }

    /// The same, but when the session of a turn is lost for the first time, the turn runs again with `operation`,
    /// whatever the policy for lost sessions, which applies to a further loss. For callers that continue the session of
    /// an interrupted turn: the original operation of that turn is a valid fallback.
    pub fn with_lost_session_fallback(self, operation: SessionOp) -> Self {
        Self { instead: Some(operation), ..self }
    }

    /// The same, asking `gate` for permission before each call.
    pub fn with_call_gate(self, gate: &'a dyn CallGate) -> Self {
        Self { gate: Some(gate), ..self }
    }

    /// The same, stopping when `interrupt` is requested.
    pub fn with_interrupt(self, interrupt: Interrupt) -> Self {
        Self { interrupt, ..self }
    }

    /// Runs `turn` and, while its output is missing or invalid, further rounds in the same session.
    ///
    /// Errors carry the usage of all rounds. Dropping the future cancels the turn and frees the session.
    pub async fn run(&self, turn: Turn, events: &dyn AgentEvents) -> Result<Completion, AgentError> {
        let span = tracing::info_span!(
            "agent_turn",
            agent = self.agent.name(),
            role = turn.role.as_deref(),
            operation = turn.session.kind().name(),
        );
        self.run_replacing_lost_sessions(turn, events).instrument(span).await
    }

    /// Runs the turn, and runs it again from the beginning if its session is lost.
    async fn run_replacing_lost_sessions(
        &self,
        mut turn: Turn,
        events: &dyn AgentEvents,
    ) -> Result<Completion, AgentError> {
        let fresh = || SessionOp::StartFresh(Slug::for_role(turn.role.as_deref()));
        let policy = (self.lost == LostSession::StartFresh).then(fresh);
        let mut instead = self.instead.clone().into_iter().chain(policy);
        let (mut lost, mut before) = (Vec::new(), Usage::default());
        loop {
            let error = match self.rounds(turn.clone(), events).await {
                Ok(completion) => return Ok(Completion { usage: before + completion.usage, lost, ..completion }),
                Err(error) => error,
            };
            before += error.usage;
            match (LostSession::found_in(&error).cloned(), instead.next()) {
                (Some(session), Some(operation)) => {
                    tracing::warn!(%session, "a session is lost, so the turn begins anew");
                    events.emit(AgentEvent::SessionLost { session: session.clone() });
                    lost.push(session);
                    turn.session = operation;
                }
                _ => return Err(AgentError { usage: before, ..error }),
            }
        }
    }

    async fn rounds(&self, mut turn: Turn, events: &dyn AgentEvents) -> Result<Completion, AgentError> {
        let hold = self.agent.sessions().hold(&turn.session, turn.workspace.as_deref())?;
        let mut usage = Usage::default();
        let (mut corrections, mut nudges) = (0, 0);
        loop {
            let called = self.call(&hold, events, &mut turn, &mut usage).await;
            let (reason, failure) = match called {
                Ok(reply) if self.is_undecided(&turn, &reply) => {
                    let kind = AgentErrorKind::NoDecision { nudges, text: reply.text };
                    (NudgeReason::NoDecision, AgentError::new(kind).in_session(reply.session, usage))
                }
                Ok(mut reply) => {
                    let violations = match accept(&turn, &mut reply, events) {
                        Err(violations) => violations,
                        Ok(None) => self.violations_of(&turn, &reply),
                        Ok(Some(tool)) => {
                            let violations = self.violations_of(&turn, &reply).into_iter();
                            violations.map(|violation| tool.violation_of_input(violation)).collect()
                        }
                    };
                    let violations = limited(violations);
                    if violations.is_empty() {
                        let output = reply.output.unwrap_or(Value::Null);
                        let (session, text) = (reply.session, reply.text);
                        return Ok(Completion { session, output, text, usage, corrections, nudges, lost: Vec::new() });
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
                    continue;
                }
                Err(AgentError { kind, session, usage }) => match *kind {
                    AgentErrorKind::Idle { limit, .. } => {
                        let kind = Box::new(AgentErrorKind::Idle { limit, nudges });
                        (NudgeReason::Idle, AgentError { kind, session, usage })
                    }
                    kind => return Err(AgentError { kind: Box::new(kind), session, usage }),
                },
            };
            if nudges == self.nudges.limit {
                return Err(failure);
            }
            nudges += 1;
            tracing::debug!(round = nudges, ?reason, "reminding the agent");
            events.emit(AgentEvent::Nudge { round: nudges, reason });
            // An agent that fell idle before its session was known cannot be reminded in a session, so the turn's
            // prompt is sent again.
            if let Some(session) = failure.session {
                turn.prompt = Nudges::PROMPT.to_owned();
                turn.session = SessionOp::ContinueFrom(session);
            }
        }
    }

    /// Whether the agent ended its turn without a required output, and reminders are enabled.
    fn is_undecided(&self, turn: &Turn, reply: &Reply) -> bool {
        let silent = reply.output.is_none() && reply.decisions.is_empty();
        silent && turn.schema.is_some() && self.nudges.limit > 0
    }

    /// Makes one call of the agent, or several if calls fail with a transient error. Usage is added up for failed calls
    /// too.
    async fn call(
        &self,
        hold: &SessionHold,
        events: &dyn AgentEvents,
        turn: &mut Turn,
        usage: &mut Usage,
    ) -> Result<Reply, AgentError> {
        loop {
            let permit = match self.gate {
                None => None,
                Some(gate) => Some(gate.acquire(self.agent.name()).await.map_err(|refusal| {
                    let kind = Box::new(AgentErrorKind::CallRefused { reason: refusal.reason });
                    AgentError { kind, session: hold.session(), usage: *usage }
                })?),
            };
            tracing::debug!(prompt_bytes = turn.prompt.len(), "calling the agent");
            let outcome = self.call_once(hold, events, turn).await;
            let (session, spent) = match &outcome {
                Ok(reply) => (Some(&reply.session), reply.usage),
                Err(error) => (error.session.as_ref(), error.usage),
            };
            *usage += spent;
            events.emit(AgentEvent::Finished { session: session.cloned(), usage: spent });
            let again = permit.is_some_and(|permit| permit.ended(outcome.as_ref().map(|reply| reply.usage)));
            let error = match outcome {
                Ok(reply) => {
                    // The agent may have forgotten to report the session, and must not have used one that another turn
                    // holds.
                    hold.started(&reply.session)
                        .map_err(|error| AgentError::new(error).in_session(reply.session.clone(), *usage))?;
                    return Ok(reply);
                }
                Err(error) => error,
            };
            // A session that could not be used cannot be continued.
            let unusable = matches!(*error.kind, AgentErrorKind::Session(_));
            let held = if unusable { None } else { hold.session() };
            let error = AgentError { session: error.session.or(held), usage: *usage, ..error };
            match error.disposition() {
                Disposition::ResumeSession { session, .. } if again => turn.session = SessionOp::ContinueFrom(session),
                Disposition::Retry { .. } if again => {}
                _ => return Err(error),
            }
            events.emit(AgentEvent::Retry { reason: error.to_string() });
        }
    }

    /// Makes one call of the agent, and interrupts it if it is idle for too long.
    async fn call_once(&self, hold: &SessionHold, events: &dyn AgentEvents, turn: &Turn) -> Result<Reply, AgentError> {
        let meter = EventMeter::default();
        let outcome = self.call_until_idle(hold, events, &meter, turn).await.map_err(AgentError::shortened);
        if let events_left_out @ 1.. = meter.left_out() {
            tracing::warn!(
                events = events_left_out,
                "an agent reported more events than are passed on; the others were left out"
            );
            events.emit(AgentEvent::LeftOut { events: events_left_out });
        }
        outcome
    }

    async fn call_until_idle(
        &self,
        hold: &SessionHold,
        events: &dyn AgentEvents,
        meter: &EventMeter,
        turn: &Turn,
    ) -> Result<Reply, AgentError> {
        let (idle, activity) = (Interrupt::new(), Activity::new());
        let context = TurnContext { hold, events, interrupt: &self.interrupt, idle: &idle, activity: &activity, meter };
        let mut call = self.agent.run(&context, turn);
        let Some(limit) = self.nudges.idle else { return call.await };
        tokio::select! {
            biased;
            outcome = &mut call => return outcome,
            () = activity.until_idle(limit) => {}
        }
        tracing::debug!(?limit, "interrupting an idle agent");
        idle.request();
        let kind = Box::new(AgentErrorKind::Idle { limit, nudges: 0 });
        match tokio::time::timeout(self.nudges.grace, call).await {
            Ok(Err(error)) if *error.kind == AgentErrorKind::Cancelled && !self.interrupt.is_requested() => {
                Err(AgentError { kind, ..error })
            }
            // The call ended by itself before the interruption took effect, or the whole turn was interrupted.
            Ok(outcome) => outcome,
            Err(_) => {
                let interrupted = Usage { calls: 1, unpriced_calls: 1, ..Usage::default() };
                Err(AgentError { kind, session: hold.session(), usage: interrupted })
            }
        }
    }

    fn violations_of(&self, turn: &Turn, reply: &Reply) -> Vec<SchemaViolation> {
        match (violations_of(turn, reply), &self.check) {
            (violations, Some(check)) if violations.is_empty() => check(reply.output.as_ref().unwrap_or(&Value::Null)),
            (violations, _) => violations,
        }
    }
}

/// Turns the first decision of a reply without output into its output, and returns the tool that was called.
///
/// Only one decision is accepted: a model that is offered several tools may call several.
fn accept(
    turn: &Turn,
    reply: &mut Reply,
    events: &dyn AgentEvents,
) -> Result<Option<DecisionTool>, Vec<SchemaViolation>> {
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
        None => vec![SchemaViolation { path: String::new(), message: no_such_tool(&decision.tool, &tools) }],
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

fn violations_of(turn: &Turn, reply: &Reply) -> Vec<SchemaViolation> {
    match (&turn.schema, &reply.output) {
        (None, _) => Vec::new(),
        (Some(schema), Some(output)) => schema.violations(output),
        // Some programs report success when the model answered in plain text.
        (Some(_), None) => {
            vec![SchemaViolation {
                path: String::new(),
                message: "there is no structured output, only text".to_owned(),
            }]
        }
    }
}

fn correction_prompt(violations: &[SchemaViolation]) -> String {
    let mut prompt = format!("{}\n\n", Conversation::CORRECTION_PROMPT);
    for violation in violations {
        prompt.push_str(&format!("- {violation}\n"));
    }
    prompt.push_str("\nAnswer again with the complete output, corrected. The work itself need not be done again.\n");
    prompt
}
