//! Checks of agents' answers: each returns all of its findings, as messages for the agent.

pub mod violation;
pub mod plan;
pub mod source;
pub mod build;

pub use violation::Violation;
