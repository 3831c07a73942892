//! The protocol's vocabulary.
//!
//! In reading order: the task ([`StackSpec`]), the contract ([`FunctionSpec`]), what each agent reports ([`TypesAgentOutput`],
//! [`TypeAdversaryOutput`], [`TestsAgentOutput`], [`ImplAgentOutput`], [`FixAgentOutput`], [`MutationAdversaryOutput`]), what the
//! program derives ([`StructuredFailure`], [`UnderstandingState`], the verdicts), and the contexts of prompts.
//!
//! # On the wire
//!
//! One form is written: the Rust field's name in camelCase, without any prefix (`edge_case` is `edgeCase`); an enum's variant as
//! it is spelt in Rust (`"Inverse"`, `{"Other": "distributive"}`). On input the protocol's original names, which carry a prefix
//! per type (`fnName`, `ceEdgeCase`), are accepted as well (HY-70). Only agents' outputs have a JSON schema.

mod blocker;
mod contexts;
mod contract;
mod crate_path;
mod design;
mod fixes;
mod ground_truth;
mod holes;
mod identifier;
mod implementation;
mod labels;
mod lattice;
mod mutation;
mod non_empty;
mod properties;
mod result;
mod states;
mod task;
mod unchecked;
mod understanding;
mod witness;
mod work_items;

pub use blocker::MayBeBlocked;
pub use contexts::{
    EchoChannel, FixTemplateCtx, HardeningHint, ImplTemplateCtx, MutationFixTemplateCtx, MutationTemplateCtx,
    TestsTemplateCtx, TrivialTestsFeedback,
};
pub use contract::{ConcreteExample, FunctionSpec, PropertySketch, PropertyType};
pub use crate_path::{CratePath, NotInsideTheCrate};
pub use design::TypesAgentOutput;
pub use fixes::{FixAgentOutput, FixApplied, FixType};
pub use ground_truth::GroundTruth;
pub use holes::{
    HoleType, PriorTypeFix, Severity, TypeAdversaryOutput, TypeAdversaryResult, TypeHole, TypeHolesFound,
    TypeSystemVerdict,
};
pub(crate) use identifier::is_identifier;
pub use identifier::{Identifier, NotAnIdentifier};
pub use implementation::{ConflictResolveOutput, FunctionImplemented, ImplAgentOutput};
pub use interlocking::toolchain::{FailedRound, FailurePattern, FailureType, StructuredFailure};
pub use lattice::{Check, CheckOutcome, CheckReport, HeldLattice, LatticeReport, NotALattice, VerificationStatus};
pub use mutation::{
    MOST_SURVIVORS, MechanicalMutants, MutantEdit, MutationAdversaryOutput, MutationAdversaryResult, MutationType,
    RefusedCount, RefutedSurvivor, SurvivingMutant, TestSuiteVerdict,
};
pub use non_empty::{EmptyList, NonEmpty};
pub use properties::{CoverageReport, ExampleRef, PropertyWritten, TestsAgentOutput};
pub(crate) use result::called;
pub use result::{HybridFailure, HybridResult, MutationAdversary, NotAVerdict, Verdict};
pub use states::{
    BlindResults, Commits, ConflictState, Conversation, GatedState, HybridMemory, ImplResult, MergedState,
    MutationFixInput, MutationFixTarget, SkeletonState, TestsResult, TrivialTestsError, TypesResult, ValidatedState,
    ValidationFailure, VerifiedResults,
};
pub use task::{StackSpec, StrictnessConfig};
pub use unchecked::Unchecked;
pub use understanding::UnderstandingState;
pub use witness::{NodeObservation, WitnessReport};
pub use work_items::{Action, WorkItem};

#[cfg(test)]
mod tests;
