//! An agent that fails on demand, for tests of code that has to handle failures.
//!
//! - [`FaultyAgent`] wraps any agent. A [`FaultPlan`] says which of its calls fail with which [`Fault`].
//! - [`FaultyProgram`] is the same one level below, for authors of agents: a program with arbitrary broken output.
//!
//! ```
//! # use std::sync::Arc;
//! # use interlocking_agents::{Conversation, NoEvents, Script, ScriptedAgent, Slug, Turn};
//! use interlocking_agents::faults::{Fault, FaultPlan, FaultyAgent, Rule};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let scripted = ScriptedAgent::new(Script::parse("hello", "[[turn]]\noutput = \"hello\"")?);
//! let plan = FaultPlan::new().with(Rule::new(Fault::Crash { exit: Some(137), after_events: 1 }).on_call(1));
//! let agent = FaultyAgent::new(Arc::new(scripted), plan);
//! let error = Conversation::new(&agent).run(Turn::fresh(Slug::new("greet")?, "Say hello."), &NoEvents).await.unwrap_err();
//! assert_eq!(error.to_string(), "the agent ended without an answer (exit code 137): injected");
//! assert_eq!(agent.injected_of("crash"), 1);
//! assert!(agent.unused().is_empty(), "every fault of the plan has happened");
//! # Ok(())
//! # }
//! ```

mod agent;
mod fault;
mod plan;
#[cfg(unix)]
mod program;
mod spoil;

pub use agent::{FaultyAgent, Injected};
pub use fault::Fault;
pub use plan::{FaultPlan, Rule, UnusedRule};
#[cfg(unix)]
pub use program::FaultyProgram;
