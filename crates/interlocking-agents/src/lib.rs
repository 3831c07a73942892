//! Coding agents behind one trait: sessions, structured output that is validated, and a scripted agent.
//!
//! This crate has no notion of graphs. It is useful to any program that sends prompts to coding agents and wants typed
//! answers.
//!
//! Reading order:
//!
//! - [`SessionOp`], [`SessionId`]: start, continue or fork a session. [`Sessions`]: allows one turn at a time in each
//!   session, across processes too. [`LostSession`]: what to do if a session is gone.
//! - [`Turn`] is the input, [`AgentEvent`]s are reported during the turn, [`Completion`] is the result, with its
//!   [`Usage`]. [`AgentError`] is the failure; it says what to do next ([`AgentError::disposition`]) and what was
//!   spent.
//! - [`Schema`]: what the output must look like, checked by a JSON schema validator. [`deserializes_as`]: checks that
//!   the output also deserializes as the Rust type, and [`deserialize_output`] does it. [`DecisionTool`]s: the same for
//!   models that decide better by calling a tool than by filling in a `oneOf`.
//! - [`Agent`]: the trait that an agent implements. [`Conversation`]: runs turns with an agent.
//! - [`Nudges`]: reminding an agent that is silent. [`CallGate`]: limiting many conversations together.
//! - [`program`]: running a program and all its child processes, for agents that drive one. [`real_calls`]: a switch
//!   that forbids agents to call their models.
//! - [`ScriptedAgent`]: an agent that plays a script, for tests and demonstrations. [`cassette`]: records any agent,
//!   and replays it without the agent. [`faults`]: makes any agent fail on demand.
//! - [`ClaudeCode`], [`Codex`], [`Gemini`]: agents that are programs.
//! - `http` (with the feature of that name): models over HTTP, for turns without tools.
//! - [`backends`]: agents by name, configured in a file or by options.
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
pub use conversation::activity::Working;
pub use conversation::call_gate::{CallGate, CallPermit, CallRefused};
pub use conversation::decision::{Decision, DecisionTool};
pub use conversation::interrupt::Interrupt;
pub use conversation::nudge::{NudgeReason, Nudges};
pub use conversation::typed::{deserialize_output, deserializes_as};
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

/// The examples in the book's chapter on agents.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/agents.md")]
struct Agents;
