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
//! - [`Nudges`]: reminding an agent that says nothing. [`CallGate`]: bounding many conversations together.
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

mod agent;
mod sessions;
mod conversation;
mod schema;
mod drivers;
pub mod program;
pub mod backends;
pub mod scripted;
pub mod cassette;
pub mod faults;
pub mod real_calls;

pub use drivers::claude;
#[cfg(feature = "http")]
pub use drivers::http;

pub use agent::capabilities::{Capabilities, SchemaSupport};
pub use agent::error::{AgentError, AgentErrorKind, Disposition};
pub use agent::event::{AgentEvent, AgentEvents, NoEvents};
pub use agent::into_agent::IntoAgent;
pub use agent::turn::{Completion, Reply, Turn};
pub use agent::usage::{Cost, InvalidCost, Ledger, LedgerEntry, Usage};
pub use agent::{Agent, TurnContext};
pub use cassette::{CassetteError, Recorder, Replayer};
pub use conversation::Conversation;
pub use conversation::call_gate::{CallGate, CallPermit, CallRefused};
pub use conversation::decision::{Decision, DecisionTool};
pub use conversation::interrupt::Interrupt;
pub use conversation::nudge::{NudgeReason, Nudges};
pub use conversation::pulse::Working;
pub use conversation::typed::deserializes_as;
pub use drivers::claude::{ClaudeCode, ClaudeSettings};
pub use drivers::codex::{Codex, CodexSettings};
pub use drivers::gemini::{Gemini, GeminiPermissions, GeminiSettings};
#[cfg(feature = "http")]
pub use drivers::http::{HttpAnswers, HttpModel, HttpPrices, HttpProvider, HttpSettings};
pub use real_calls::RealCalls;
pub use schema::{Schema, SchemaError, SchemaViolation};
pub use scripted::{Script, ScriptError, ScriptedAgent};
pub use sessions::lost_session::LostSession;
pub use sessions::session::{InvalidSessionId, InvalidSlug, SessionId, SessionOp, SessionOpKind, Slug};
pub use sessions::{SessionError, SessionHold, SessionUse, Sessions};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples in the documentation of agents.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/agents.md")]
struct Agents;
