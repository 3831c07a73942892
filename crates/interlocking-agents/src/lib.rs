//! Coding agents behind one trait: sessions, structured output that is validated, and a scripted agent.
//!
//! This crate knows no graph. It is useful to any program that sends prompts to coding agents and wants typed answers.
//!
//! Reading order:
//!
//! - [`SessionOp`], [`SessionId`]: start fresh, continue or fork; [`Sessions`]: one turn at a time in each,
//!   between processes too; [`LostSession`]: what if one is gone.
//! - [`Turn`] in, [`AgentEvent`]s during, [`Completion`] out, with its [`Usage`]; [`AgentError`] otherwise, which
//!   knows what to do next ([`AgentError::disposition`]) and what was spent.
//! - [`Schema`]: what the output must look like, checked by a real validator; [`deserializes_as`]: and what the type itself wants.
//!   [`DecisionTool`]s: the same for models that decide better by calling a tool than by filling in a `oneOf`.
//! - [`Agent`]: what an agent implements. [`Conversation`]: what one uses it with.
//! - [`Nudges`]: reminding an agent that says nothing. [`Admission`]: bounding many conversations together.
//! - [`program`]: running a program and all that comes of it, for agents that drive one. [`real_calls`]: a switch that forbids
//!   them to call their models.
//! - [`ScriptedAgent`]: an agent that plays a script, for tests and demonstrations. [`cassette`]: any agent recorded, and
//!   played back without it. [`faults`]: any agent, failing as told.
//! - [`ClaudeCode`], [`Codex`], [`Gemini`]: agents that are programs.
//! - `http` (with the feature of that name): models asked over HTTP, for turns that only think.
//! - [`backends`]: agents by name, from a file or from options.
//!
//! **Invariant:** a turn runs only under a [`SessionHold`], and only a [`Conversation`] takes one.
//!
//! **Invariant:** prompts and environment values never reach logs; `tracing` gets names, sizes and counts.

mod admission;
mod agent;
pub mod backends;
mod capabilities;
pub mod cassette;
pub mod claude;
mod codex;
mod conversation;
mod decision;
mod error;
mod event;
mod event_meter;
mod gemini;
#[cfg(feature = "http")]
pub mod http;
pub mod faults;
mod homes;
mod interrupt;
mod json_lines;
mod locked;
mod lost_session;
mod nudge;
mod process;
pub mod program;
mod pulse;
pub mod real_calls;
mod running_tools;
mod schema;
pub mod scripted;
mod session;
mod sessions;
mod shortened;
mod state_directory;
mod strict_schema;
mod turn;
mod typed;
mod usage;
mod written_by_agents;

pub use admission::{Admission, Admitted, NotAdmitted};
pub use agent::{Agent, TurnContext};
pub use capabilities::{Capabilities, SchemaSupport};
pub use cassette::{CassetteError, Recorder, Replayer};
pub use claude::{ClaudeCode, ClaudeSettings};
pub use codex::{Codex, CodexSettings};
pub use conversation::Conversation;
pub use decision::{Decision, DecisionTool};
pub use error::{AgentError, AgentErrorKind, Disposition};
pub use event::{AgentEvent, AgentEvents, NoEvents};
pub use gemini::{Gemini, GeminiPermissions, GeminiSettings};
#[cfg(feature = "http")]
pub use http::{HttpAnswers, HttpModel, HttpPrices, HttpProvider, HttpSettings};
pub use interrupt::Interrupt;
pub use lost_session::LostSession;
pub use nudge::{NudgeReason, Nudges};
pub use pulse::Working;
pub use real_calls::RealCalls;
pub use schema::{Schema, SchemaError, Violation};
pub use scripted::{Script, ScriptError, ScriptedAgent};
pub use session::{InvalidSessionId, InvalidSlug, SessionId, SessionOp, SessionOpKind, Slug};
pub use sessions::{SessionError, SessionHold, SessionUse, Sessions};
pub use turn::{Completion, Reply, Turn};
pub use typed::deserializes_as;
pub use usage::{Cost, InvalidCost, Ledger, LedgerEntry, Usage};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples in the documentation of agents.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/agents.md")]
struct Agents;
