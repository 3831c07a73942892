//! The protocol without a run: its values, and pure judgements.

pub mod agent;
pub mod plan;
pub mod ownership;
pub mod suitability;
pub mod report;
pub mod prediction;
pub mod deviation;
pub mod append_only;
pub mod invariant;
pub mod state;
pub mod quick;
pub mod bootstrap;
