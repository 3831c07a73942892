//! The variants gate, which decides what happens to each variant of a prompt.
//!
//! Of all variants of a prompt number, only the `main` variant is merged. The others are kept for later as an `alternative`, or
//! archived by a `discard`. This module contains the rules, without git. With feature `gate`, `VariantsGate` applies them in a
//! repository.

mod decision;
mod decisions;
#[cfg(feature = "gate")]
mod repository;
#[cfg(feature = "gate")]
mod store;

pub use decision::{Answer, Decision, DecisionError};
pub use decisions::{
    Completion, Decisions, GateReturn, ProtocolResult, RecordedDecision, RuleError, UnmergedAlternative,
};
#[cfg(feature = "gate")]
pub use repository::{GateError, VariantsGate};
#[cfg(feature = "gate")]
pub use store::StoreError;
