//! What the nodes do, in the order of a run.
//!
//! Every handler of an agent's node does five things, in this order: it takes the agent's output, holds it against the
//! disk, adds what the agent cannot know (session, cost, commit), derives what follows, and routes (HY-167). An agent's
//! word is never taken for a mechanical fact (HY-09).

mod design;
mod gate;
mod blind;
mod red;
mod merge;
mod validation;
mod ending;

pub use blind::{Blind, BlindFork, Implementation, Tests};
pub use design::{Skeleton, TypeAdversary, Types, TypesFix};
pub use ending::result_of;
pub use gate::Gate;
pub use merge::Merge;
pub use red::{TestsReject, Verify};
pub use validation::{Fix, PostValidate, Validate};
