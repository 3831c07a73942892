//! Agents that report that they could not finish.

use super::{ConflictResolveOutput, FixAgentOutput, ImplAgentOutput, TestsAgentOutput, TypesAgentOutput};

/// An agent's output that may say what kept the agent from finishing (HY-98).
pub trait MayBeBlocked {
    /// The reported obstacle; blank text counts as none.
    fn blocked_by(&self) -> Option<&str>;
}

macro_rules! may_be_blocked {
    ($($output:ty),+ $(,)?) => {$(
        impl MayBeBlocked for $output {
            fn blocked_by(&self) -> Option<&str> {
                self.blocker.as_deref().map(str::trim).filter(|text| !text.is_empty())
            }
        }
    )+};
}

may_be_blocked!(TypesAgentOutput, TestsAgentOutput, ImplAgentOutput, FixAgentOutput, ConflictResolveOutput,);
