//! The variants gate: what becomes of each variant of a prompt.
//!
//! Of all variants of a prompt number, one is merged, the `main` one. Others are kept for later as an `alternative`, or
//! put away by a `discard`. This module is the rule, without git; with feature `gate`, `VariantsGate` keeps to it in a
//! repository.

mod decision;
mod decisions;
#[cfg(feature = "gate")]
mod repository;
#[cfg(feature = "gate")]
mod store;

pub use decision::{Answer, Decision, DecisionError};
pub use decisions::{Completion, Decisions, GateReturn, ProtocolResult, RuleError, Settled, UnmergedAlternative};
#[cfg(feature = "gate")]
pub use repository::{GateError, VariantsGate};
#[cfg(feature = "gate")]
pub use store::StoreError;
