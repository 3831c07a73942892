//! What an agent does when a node asks it, derived from the execution's dice.
//!
//! A dialogue is a list of acts, one per call. The last is repeated for as long as the agent is asked, so an
//! interrupted execution that asks again reaches the same result from any point.

use crate::mix::mix;
use interlocking_agents::{AgentErrorKind, Cost, Nudges, SessionError, SessionId, SessionOpKind, SessionUse, Usage};
use interlocking_reference_model::generate::Dice;
use std::time::Duration;

/// The name of the agent.
pub(crate) const AGENT: &str = "simulated";

/// How often a run's conversations correct an output.
pub(crate) const CORRECTIONS: u32 = 2;

/// How long an agent may be silent, where there is a limit.
const IDLE: Duration = Duration::from_millis(200);

/// The longest pause, in milliseconds, of an agent that must not count as idle under that limit.
const MAX_PAUSE: usize = 150;

/// How long an idle agent may take to end after the interrupt, in milliseconds.
const GRACE: u64 = 30;

/// What an agent does in one turn.
#[derive(Clone, Debug)]
pub(crate) struct Dialogue {
    /// The session that the node asks for, if there is one to continue or to fork; otherwise a fresh one.
    pub(crate) session: SessionOpKind,
    acts: Vec<Act>,
    /// Whether the node continues without an answer.
    pub(crate) takes_over: bool,
}

/// What the agent does in one call.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    /// How long it waits before it reports its session, in milliseconds; `None` if it never reports one.
    pub(crate) starts: Option<u64>,
    /// How long it waits before each message.
    pub(crate) pauses: Vec<u64>,
    /// For how long it reports to be working, in milliseconds; 0 if it does not.
    pub(crate) works: u64,
    pub(crate) does: Does,
    /// What the call costs, if it ends.
    pub(crate) usage: Usage,
    /// A random number.
    pub(crate) number: u64,
}

/// How a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Answers,
    /// With an output that is not valid.
    Errs,
    /// Without an output.
    Dithers,
    /// Only after it is interrupted, and then after this many milliseconds.
    Sleeps(u64),
    /// In practice never.
    Drags,
    /// With an error of the provider, after which the call may be repeated.
    Stumbles(Failing),
    /// With any other error.
    Fails(Failing),
}

/// Which error an agent fails with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failing {
    RateLimited(Option<u64>),
    Overloaded,
    Connection,
    Refused,
    PromptTooLong,
    StepLimit,
    BudgetLimit,
    Configuration,
    Crashed,
    TimedOut,
    Unsupported,
    Busy,
    Transient,
    Other,
}

/// The required result of a dialogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Must {
    Answer,
    /// The agent has no answer, and the node fails.
    Fail,
    /// The agent takes longer than the node's timeout.
    Drag,
}

/// When agents are reminded in the runs of a seed.
pub(crate) fn nudges(seed: u64) -> Nudges {
    let mut dice = Dice::new(mix(&[seed, 0x4d6e]));
    let idle = dice.percent(60).then_some(IDLE);
    Nudges { idle, limit: dice.below(4) as u32, grace: Duration::from_millis(GRACE) }
}

impl Dialogue {
    /// The dialogue of an execution; `timed` if its node has a timeout.
    pub(crate) fn new(dice: &mut Dice, nudges: &Nudges, must: Must, timed: bool) -> Self {
        use SessionOpKind::{Continue, Fork, Fresh};
        let session = *dice.pick(&[Fresh, Fresh, Fresh, Continue, Fork]);
        let takes_over = must == Must::Answer && dice.percent(8);
        let last = match must {
            Must::Drag => Does::Drags,
            Must::Answer if !takes_over => Does::Answers,
            _ => failing(dice, nudges),
        };
        let mut hitches = Vec::new();
        if dice.percent(45) {
            let errs = dice.below(1 + CORRECTIONS as usize);
            let reminded = dice.below(1 + nudges.limit as usize);
            hitches.extend((0..errs).map(|_| Does::Errs));
            hitches.extend((0..reminded).map(|_| silence(dice, nudges)));
            hitches.extend((0..dice.below(3)).map(|_| Does::Stumbles(provider(dice))));
        }
        for at in (1..hitches.len()).rev() {
            hitches.swap(at, dice.below(at + 1));
        }
        hitches.truncate(if timed { 2 } else { 8 });
        hitches.push(last);
        let acts = hitches.into_iter().map(|does| act(dice, nudges, does, timed)).collect();
        Self { session, acts, takes_over }
    }

    /// The act after `done` acts.
    pub(crate) fn act(&self, done: usize) -> &Act {
        &self.acts[done.min(self.acts.len() - 1)]
    }

    /// The failure of a turn without an answer; `None` if there is an answer.
    pub(crate) fn failure(&self, nudges: &Nudges) -> Option<AgentErrorKind> {
        let (limit, nudges) = (nudges.idle.unwrap_or_default(), nudges.limit);
        let invalid = || AgentErrorKind::OutputInvalid {
            corrections: CORRECTIONS,
            violations: Vec::new(),
            output: None,
            text: None,
        };
        match self.acts.last()?.does {
            Does::Answers | Does::Drags => None,
            Does::Dithers if nudges > 0 => Some(AgentErrorKind::NoDecision { nudges, text: None }),
            Does::Errs | Does::Dithers => Some(invalid()),
            Does::Sleeps(_) => Some(AgentErrorKind::Idle { limit, nudges }),
            Does::Stumbles(failing) | Does::Fails(failing) => Some(failing.kind()),
        }
    }
}

/// The last act of an agent that has no answer.
fn failing(dice: &mut Dice, nudges: &Nudges) -> Does {
    match dice.below(10) {
        0..2 => Does::Errs,
        2 => Does::Dithers,
        3 if nudges.idle.is_some() => Does::Sleeps(dozes(dice)),
        _ => {
            use Failing::*;
            Does::Fails(*dice.pick(&[
                Refused,
                PromptTooLong,
                StepLimit,
                BudgetLimit,
                Configuration,
                Crashed,
                TimedOut,
                Unsupported,
                Busy,
                Transient,
                Other,
            ]))
        }
    }
}

/// An act after which an agent is reminded.
fn silence(dice: &mut Dice, nudges: &Nudges) -> Does {
    if nudges.idle.is_some() && dice.percent(60) { Does::Sleeps(dozes(dice)) } else { Does::Dithers }
}

/// How long it takes to end after the interrupt: within the grace period, or longer.
fn dozes(dice: &mut Dice) -> u64 {
    dice.below(2 * GRACE as usize) as u64
}

fn provider(dice: &mut Dice) -> Failing {
    match dice.below(4) {
        0 => Failing::RateLimited(None),
        1 => Failing::RateLimited(Some(dice.below(300) as u64)),
        2 => Failing::Overloaded,
        _ => Failing::Connection,
    }
}

fn act(dice: &mut Dice, nudges: &Nudges, does: Does, timed: bool) -> Act {
    let longest = match (timed, nudges.idle) {
        (true, _) => 60,
        (false, Some(_)) => MAX_PAUSE,
        (false, None) => 600,
    };
    let mut pause = || if dice.percent(50) { 0 } else { dice.below(longest) as u64 };
    let (first, pauses) = (pause(), [pause(), pause()]);
    let pauses = pauses[..dice.below(3)].to_vec();
    // A call that returns has a session.
    let starts = matches!(does, Does::Answers | Does::Errs | Does::Dithers) || dice.percent(60);
    let works = if !timed && dice.percent(10) { dice.below(800) as u64 } else { 0 };
    let priced = dice.percent(80);
    let usage = Usage {
        calls: 1,
        input_tokens: dice.below(1_000) as u64,
        output_tokens: dice.below(1_000) as u64,
        cost: Cost::from_micro_dollars(if priced { dice.below(10_000) as u64 } else { 0 }),
        unpriced_calls: u32::from(!priced),
    };
    let number = dice.below(1 << 30) as u64;
    Act { starts: starts.then_some(first), pauses, works, does, usage, number }
}

impl Failing {
    pub(crate) fn kind(self) -> AgentErrorKind {
        let reason = || "it was to fail".to_owned();
        match self {
            Self::RateLimited(after) => AgentErrorKind::RateLimited { retry_after: after.map(Duration::from_millis) },
            Self::Overloaded => AgentErrorKind::Overloaded,
            Self::Connection => AgentErrorKind::Connection { reason: reason() },
            Self::Refused => AgentErrorKind::Refused { reason: reason() },
            Self::PromptTooLong => AgentErrorKind::PromptTooLong,
            Self::StepLimit => AgentErrorKind::StepLimit,
            Self::BudgetLimit => AgentErrorKind::BudgetLimit,
            Self::Configuration => AgentErrorKind::Configuration { reason: reason() },
            Self::Crashed => AgentErrorKind::Crashed { exit: None, reason: reason() },
            Self::TimedOut => AgentErrorKind::TimedOut { limit: IDLE },
            Self::Unsupported => {
                AgentErrorKind::Unsupported { agent: AGENT.to_owned(), operation: SessionOpKind::Fresh }
            }
            Self::Busy => {
                let session = SessionId::new("somewhere").expect("it is one");
                AgentErrorKind::Session(SessionError::Busy { session, used_by: SessionUse::Fork, process: None })
            }
            Self::Transient => AgentErrorKind::Other { message: reason(), transient: true },
            Self::Other => AgentErrorKind::Other { message: reason(), transient: false },
        }
    }
}

/// A short text for the sort of error: with its numbers, but without data that cannot be predicted.
pub(crate) fn sort_of(kind: &AgentErrorKind) -> String {
    match kind {
        AgentErrorKind::OutputInvalid { corrections, .. } => format!("invalid after {corrections} corrections"),
        AgentErrorKind::NoDecision { nudges, .. } => format!("no decision after {nudges} reminders"),
        other => format!("{other:?}"),
    }
}

/// The usage of an interrupted call, whose cost is unknown.
pub(crate) const INTERRUPTED_USAGE: Usage =
    Usage { calls: 1, input_tokens: 0, output_tokens: 0, cost: Cost::ZERO, unpriced_calls: 1 };
