//! What the nodes do, in the order of a run.
//!
//! Every handler of an agent's node does five things, in this order: it takes the agent's output, checks it against the disk,
//! adds what the agent cannot know (session, cost, commit), derives the consequences, and routes (HY-167). An agent's word is
//! never taken for a mechanical fact (HY-09).

mod design;
mod gate;
mod blind;
mod red;
mod merge;
mod conflict;
mod validation;
mod mutation;
mod finish;
mod ending;

pub use ending::result_of;
pub(crate) use finish::add_report;

use crate::workbench::Workbench;
use std::sync::Arc;

/// Handler of `types` (HY-38).
pub struct Types(pub Arc<Workbench>);

/// Handler of `skeleton` (HY-39).
pub struct Skeleton(pub Arc<Workbench>);

/// Handler of `adversary` (HY-40).
pub struct TypeAdversary(pub Arc<Workbench>);

/// Handler of `types_fix` (HY-42).
pub struct TypesFix(pub Arc<Workbench>);

/// Handler of `gate` (HY-41, HY-170).
pub struct Gate;

/// Handler of `blind_fork` (HY-43).
pub struct BlindFork;

/// Handler of `tests` (HY-44).
pub struct Tests(pub Arc<Workbench>);

/// Handler of `implementation` (HY-45).
pub struct Implementation(pub Arc<Workbench>);

/// Handler of `blind` (HY-46).
pub struct Blind;

/// Handler of `verify` (HY-47, HY-173).
pub struct Verify(pub Arc<Workbench>);

/// Handler of `tests_reject` (HY-48).
pub struct TestsReject;

/// Handler of `merge` (HY-49).
pub struct Merge(pub Arc<Workbench>);

/// Handler of `conflict` (HY-251).
pub struct Conflict(pub Arc<Workbench>);

/// Handler of `validate` (HY-50).
pub struct Validate(pub Arc<Workbench>);

/// Handler of `fix` (HY-51).
pub struct Fix(pub Arc<Workbench>);

/// Handler of `post_validate` (HY-52).
pub struct PostValidate(pub Arc<Workbench>);

/// Handler of `mutation`.
pub struct Mutation(pub Arc<Workbench>);

/// Handler of `settle` (HY-186).
pub struct Settle;

/// Handler of `mutation_fix` (HY-250).
pub struct MutationFix(pub Arc<Workbench>);

/// Handler of `finish`, and of the graph's exit.
pub struct Completion(pub Arc<Workbench>);

/// Handler of `mutation_advisory` (HY-53).
pub struct MutationAdvisory(pub Arc<Workbench>);

/// Handler of `witness` (HY-54).
pub struct Witness;
