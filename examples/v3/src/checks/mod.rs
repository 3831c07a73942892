//! What is held against agents' answers: each check gives everything that it finds, in words for the agent.

pub mod violation;
pub mod plan;
pub mod source;
pub mod build;

pub use violation::Violation;
