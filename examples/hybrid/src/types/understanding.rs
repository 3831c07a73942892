//! What the fix loop has learnt so far.

use super::FixApplied;
use interlocking::toolchain::FailurePattern;
use serde::{Deserialize, Serialize};

/// What is known after some rounds of repairs (HY-126).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnderstandingState {
    /// Every pattern seen, with its count.
    #[serde(alias = "usFailuresSeen")]
    pub failures_seen: Vec<FailurePattern>,
    /// Every repair made, in order.
    #[serde(alias = "usFixesApplied")]
    pub fixes_applied: Vec<FixApplied>,
    /// One line per round.
    #[serde(alias = "usLearnings")]
    pub learnings: Vec<String>,
    /// Whether the rounds seem to make progress.
    #[serde(alias = "usConverging")]
    pub converging: bool,
}

impl Default for UnderstandingState {
    /// Nothing seen yet, and converging by default (HY-126).
    fn default() -> Self {
        Self { failures_seen: Vec::new(), fixes_applied: Vec::new(), learnings: Vec::new(), converging: true }
    }
}
