//! The states of a run, and the transitions between them (SAW-18 to SAW-34, SAW-106, SAW-107).

use serde::{Deserialize, Serialize};
use std::fmt;

/// The state of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// Nothing has begun.
    #[default]
    Idle,
    /// Suitability is judged, and nothing is written.
    Checking,
    /// The scout reads, and its plan becomes the document.
    Scouting,
    /// The document is there, and a person reads it. Interfaces may change.
    Reviewed,
    /// The next wave may begin.
    WavePending,
    /// Its agents work.
    WaveExecuting,
    /// Their work is merged.
    WaveMerging,
    /// It is merged, and the gate has passed.
    WaveVerified,
    /// It cannot go on without a person.
    Blocked(BlockReason),
    /// Every wave is verified.
    Complete,
    /// A precondition does not hold (CON-98).
    NotSuitable,
}

/// Why a wave is blocked; each reason has possible answers of its own (CON-97).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BlockReason {
    /// The gate fails.
    Verification,
    /// An agent did not complete its work, or its report is not true.
    AgentFailure,
    /// A contract cannot be implemented, is missing, or was changed.
    Contract,
    /// Agents own, or touched, the same files.
    Ownership,
}

/// A transition that the protocol does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the protocol has no transition from {from} to {to}")]
pub struct UndefinedTransition {
    /// The current state.
    pub from: State,
    /// The requested state.
    pub to: State,
}

impl BlockReason {
    /// All reasons.
    pub const ALL: [Self; 4] = [Self::Verification, Self::AgentFailure, Self::Contract, Self::Ownership];
}

impl State {
    /// All states.
    pub const ALL: [Self; 14] = [
        Self::Idle,
        Self::Checking,
        Self::Scouting,
        Self::Reviewed,
        Self::WavePending,
        Self::WaveExecuting,
        Self::WaveMerging,
        Self::WaveVerified,
        Self::Blocked(BlockReason::Verification),
        Self::Blocked(BlockReason::AgentFailure),
        Self::Blocked(BlockReason::Contract),
        Self::Blocked(BlockReason::Ownership),
        Self::Complete,
        Self::NotSuitable,
    ];

    /// The possible next states.
    pub fn next(self) -> &'static [Self] {
        use BlockReason::{AgentFailure, Contract, Ownership, Verification};
        match self {
            Self::Idle => &[Self::Checking, Self::Scouting, Self::WavePending],
            Self::Checking => &[Self::Idle],
            Self::Scouting => &[Self::Reviewed, Self::NotSuitable],
            // Back to scouting, if a person wants another plan.
            Self::Reviewed => &[Self::WavePending, Self::Scouting],
            Self::WavePending => &[Self::WaveExecuting, Self::Blocked(Contract), Self::Blocked(Ownership)],
            // A solo wave has nothing to merge.
            Self::WaveExecuting => &[
                Self::WaveMerging,
                Self::WaveVerified,
                Self::Blocked(AgentFailure),
                Self::Blocked(Contract),
                Self::Blocked(Verification),
            ],
            Self::WaveMerging => &[
                Self::WaveVerified,
                Self::Blocked(AgentFailure),
                Self::Blocked(Contract),
                Self::Blocked(Ownership),
                Self::Blocked(Verification),
            ],
            Self::WaveVerified => &[Self::WavePending, Self::Complete],
            Self::Blocked(Verification) => &[Self::WaveVerified],
            Self::Blocked(AgentFailure) => &[Self::WaveExecuting, Self::WaveMerging],
            Self::Blocked(Contract | Ownership) => &[Self::WavePending],
            Self::Complete | Self::NotSuitable => &[],
        }
    }

    /// Goes on to a state.
    ///
    /// # Errors
    ///
    /// [`UndefinedTransition`]; nothing has changed.
    pub fn go_to(&mut self, to: Self) -> Result<(), UndefinedTransition> {
        let from = *self;
        if !from.next().contains(&to) {
            return Err(UndefinedTransition { from, to });
        }
        *self = to;
        Ok(())
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Idle => "IDLE",
            Self::Checking => "CHECKING",
            Self::Scouting => "SCOUTING",
            Self::Reviewed => "REVIEWED",
            Self::WavePending => "WAVE_PENDING",
            Self::WaveExecuting => "WAVE_EXECUTING",
            Self::WaveMerging => "WAVE_MERGING",
            Self::WaveVerified => "WAVE_VERIFIED",
            Self::Blocked(reason) => return write!(f, "BLOCKED ({reason:?})"),
            Self::Complete => "COMPLETE",
            Self::NotSuitable => "NOT_SUITABLE",
        };
        f.write_str(name)
    }
}
