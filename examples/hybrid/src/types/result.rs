//! How a run ends.

use interlocking::agents::Cost;
use interlocking::prelude::Failure;
use serde::{Deserialize, Serialize};

use super::{
    BlindResults, Check, CheckOutcome, CheckReport, CoverageReport, CratePath, FixAgentOutput, FunctionSpec,
    GroundTruth, HeldLattice, LatticeReport, MutationAdversaryResult, PriorTypeFix, SurvivingMutant,
    TrivialTestsFeedback, TypeAdversaryResult, TypeHole, Unchecked, UnderstandingState, WitnessReport, WorkItem,
};
use crate::paths::PathViolation;
use interlocking::rust_source::RefusedConstruct;
use interlocking::toolchain::FailurePattern;
use interlocking::toolchain::Forgery;
use interlocking::worktree::CommitId;

/// The graph's output, on success and on failure (HY-134, CON-81, CON-82).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HybridResult {
    /// Whether the run succeeded, why not, and the nine checks: `success`, `failure` and `lattice` on the wire.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// How many rounds of fixing there were.
    #[serde(alias = "hrAttempts")]
    pub attempts: u8,
    /// The contract; empty if the run ended before there was one.
    #[serde(alias = "hrSpec")]
    pub spec: Vec<FunctionSpec>,
    /// The recomputed coverage of the tests that were verified last; `None` if the run ended before any were.
    #[serde(alias = "hrTestsCoverage")]
    pub tests_coverage: Option<CoverageReport>,
    /// What the fix loop learnt.
    #[serde(alias = "hrUnderstanding")]
    pub understanding: UnderstandingState,
    /// What the type adversary found, the last time it looked.
    #[serde(alias = "hrTypeAdversary")]
    pub type_adversary: Option<TypeAdversaryResult>,
    /// What the mutation adversary found.
    #[serde(alias = "hrMutationAdversary")]
    pub mutation_adversary: MutationAdversary,
    /// The sources of the facts that the checks rest on.
    #[serde(alias = "hrGroundTruth", default)]
    pub ground_truth: GroundTruth,
    /// What was not checked, because the task's files are not read as syntax.
    #[serde(alias = "hrUnchecked", default, skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<Unchecked>,
    /// What is left to do.
    #[serde(alias = "hrWorkItems", default)]
    pub work_items: Vec<WorkItem>,
    /// The merged code, the last repair included; what was landed, if the run succeeded. `None` if the run ended before there was any.
    #[serde(alias = "hrMergeCommit", default)]
    pub merge_commit: Option<CommitId>,
    /// The account of the run.
    #[serde(alias = "hrWitness")]
    pub witness: WitnessReport,
    /// What every agent call of the run cost, failed ones included.
    #[serde(alias = "hrTotalCost")]
    pub total_cost: Cost,
}

/// Whether a run succeeded. There is no success without every blocking check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WireVerdict", into = "WireVerdict")]
pub enum Verdict {
    /// Every blocking check holds, and `main` was advanced.
    Success(HeldLattice),
    /// It did not.
    Failure {
        /// The results of the checks.
        lattice: LatticeReport,
        /// Why.
        failure: Box<HybridFailure>,
    },
}

/// The mutation adversary's part in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MutationAdversary {
    /// It was not run: whether the tests catch mutants was not checked.
    NotRun,
    /// It was run without a usable result: its agent failed, or had not finished by the deadline.
    NoReport {
        /// Why not.
        reason: String,
    },
    /// What it found.
    Ran(MutationAdversaryResult),
}

/// A verdict as it is written.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireVerdict {
    #[serde(alias = "hrSuccess")]
    success: bool,
    #[serde(alias = "hrLattice")]
    lattice: LatticeReport,
    #[serde(alias = "hrFailure")]
    failure: Option<HybridFailure>,
}

/// The error for a verdict that contradicts itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAVerdict {
    /// A success whose checks do not hold.
    #[error("a success in which a check that blocks does not hold")]
    Unmet,
    /// A success with a failure, or neither.
    #[error("`success` and `failure` contradict each other")]
    Contradiction,
}

impl HybridResult {
    /// Whether the run succeeded.
    pub fn succeeded(&self) -> bool {
        matches!(self.verdict, Verdict::Success(_))
    }

    /// Why it did not; `None` exactly if it did.
    pub fn failure(&self) -> Option<&HybridFailure> {
        match &self.verdict {
            Verdict::Success(_) => None,
            Verdict::Failure { failure, .. } => Some(failure),
        }
    }

    /// The nine checks.
    pub fn lattice(&self) -> &LatticeReport {
        match &self.verdict {
            Verdict::Success(held) => held.report(),
            Verdict::Failure { lattice, .. } => lattice,
        }
    }

    /// Records the result of a check that was made beside the run. A blocking check that does not hold revokes a success.
    pub fn note(&mut self, check: Check, outcome: CheckOutcome) {
        let lattice = self.lattice().with(check, outcome);
        match &mut self.verdict {
            Verdict::Success(_) => self.verdict = Verdict::of(lattice),
            Verdict::Failure { lattice: before, .. } => *before = lattice,
        }
    }

    /// Revokes a success: for example because the verified commit could not be landed.
    pub fn fail(&mut self, failure: HybridFailure) {
        let (lattice, failure) = (self.lattice().clone(), Box::new(failure));
        self.verdict = Verdict::Failure { lattice, failure };
    }
}

impl Verdict {
    /// A success if every blocking check holds; otherwise a failure that names the others.
    pub fn of(lattice: LatticeReport) -> Self {
        match HeldLattice::try_from(lattice) {
            Ok(held) => Self::Success(held),
            Err(lattice) => {
                let failure = Box::new(HybridFailure::ChecksUnmet { unmet: lattice.unmet() });
                Self::Failure { lattice, failure }
            }
        }
    }
}

impl From<Verdict> for WireVerdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Success(held) => Self { success: true, lattice: held.into(), failure: None },
            Verdict::Failure { lattice, failure } => Self { success: false, lattice, failure: Some(*failure) },
        }
    }
}

impl TryFrom<WireVerdict> for Verdict {
    type Error = NotAVerdict;

    fn try_from(wire: WireVerdict) -> Result<Self, NotAVerdict> {
        match (wire.success, wire.failure) {
            (true, None) => HeldLattice::try_from(wire.lattice).map(Self::Success).map_err(|_| NotAVerdict::Unmet),
            (false, Some(failure)) => Ok(Self::Failure { lattice: wire.lattice, failure: Box::new(failure) }),
            _ => Err(NotAVerdict::Contradiction),
        }
    }
}

/// Why a run did not succeed. Each variant holds what the next attempt, human or not, has to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all_fields = "camelCase")]
pub enum HybridFailure {
    /// The types still had holes when the repairs were used up (HY-135); a person has to look.
    #[error("the types still have holes after {attempts} repairs; a person has to redesign them")]
    TypeFixBudgetExhausted {
        /// How many repairs there were.
        attempts: u8,
        /// The holes that are left.
        last_holes: Vec<TypeHole>,
        /// What the repairs were about.
        prior_fixes: Vec<PriorTypeFix>,
    },
    /// Sketched properties were not written, and the task requires them (HY-136).
    #[error("the tests lack required properties: {}", uncovered_sketches.join(", "))]
    CoverageEnforcementFailed {
        /// Their names.
        uncovered_sketches: Vec<String>,
        /// What both sides made.
        blind_results: Box<BlindResults>,
    },
    /// The same failures came back too often (HY-137).
    #[error("{} kinds of failure keep coming back; the fixes do not reach their cause", patterns.len())]
    StuckOnPattern {
        /// Those kinds.
        patterns: Vec<FailurePattern>,
        /// What was learnt on the way.
        understanding: UnderstandingState,
    },
    /// The last fix changed nothing, or two rounds in a row failed alike (HY-138).
    #[error("the fixes lead nowhere: the last one changed nothing, or two rounds in a row failed alike")]
    NotConverging {
        /// What was learnt on the way.
        understanding: UnderstandingState,
    },
    /// The code no longer built after a fix (HY-139), when the rounds were used up.
    #[error("the code does not build after the last fix")]
    BuildFailedAfterFix {
        /// What the fix agent reported.
        output: FixAgentOutput,
        /// What the build printed.
        diagnostics: String,
    },
    /// The rounds of fixing were used up (CON-57).
    #[error("tests still fail after {attempts} rounds of fixing")]
    FixBudgetExhausted {
        /// How many rounds there were.
        attempts: u8,
        /// What was learnt on the way.
        understanding: UnderstandingState,
    },
    /// The run reached its end, but blocking checks do not hold: they failed, or were not reached.
    #[error("checks that block do not hold: {}", named(unmet))]
    ChecksUnmet {
        /// Those checks.
        unmet: Vec<CheckReport>,
    },
    /// A mutant survived of a kind that must not (HY-140).
    #[error("{} critical mutants survive the tests", survivors.len())]
    CriticalMutantSurvived {
        /// Those mutants.
        survivors: Vec<SurvivingMutant>,
    },
    /// A property does not exercise what its agent claims (HY-141).
    #[error("`{property}` does not exercise what is claimed; it calls {}", called(actual_targets))]
    CoverageClaimMismatch {
        /// The property.
        property: String,
        /// What it really calls.
        actual_targets: Vec<String>,
    },
    /// The test file does not show whether a property does what its agent claims.
    #[error("the test file does not show whether `{property}` does what is claimed of it: {}", claims.join("; "))]
    CoverageNotVerified {
        /// The property.
        property: String,
        /// The claims, each with the reason.
        claims: Vec<String>,
    },
    /// A function of the skeleton has a body (HY-142).
    #[error("`{function}` is implemented in the skeleton")]
    StubNotUndefined {
        /// The function.
        function: String,
    },
    /// A function of the contract is not on disk (HY-143).
    #[error("`{name}` is in the contract, but not in the file")]
    ClaimedFunctionNotOnDisk {
        /// The function.
        name: String,
    },
    /// A public function is not in the contract (HY-144).
    #[error("`{name}` is public, but not in the contract")]
    UndeclaredFunctionOnDisk {
        /// The function.
        name: String,
    },
    /// The tests were refused until the attempts were used up (HY-255).
    #[error("the tests were refused {attempts} times: {}", last_feedback.why_rejected)]
    TestsRejected {
        /// How often.
        attempts: u8,
        /// What was wrong the last time.
        last_feedback: TrivialTestsFeedback,
    },
    /// An agent says it cannot finish (HY-98).
    #[error("`{node}` is blocked: {text}")]
    AgentBlocked {
        /// The node.
        node: String,
        /// The agent's words.
        text: String,
    },
    /// The skeleton does not build (HY-147).
    #[error("the skeleton does not build")]
    SkeletonDoesNotBuild {
        /// What the build printed.
        diagnostics: String,
    },
    /// The implementation does not build, whatever its agent says (HY-150).
    #[error("the implementation does not build")]
    ImplementationDoesNotBuild {
        /// What the build printed.
        diagnostics: String,
    },
    /// Functions of the contract are not implemented, though every test passes (HY-159).
    #[error("not implemented: {}", functions.join(", "))]
    FunctionsNotImplemented {
        /// Those functions.
        functions: Vec<String>,
    },
    /// A role changed files that it may not change (HY-24, HY-191, HY-259).
    #[error("{} files were changed without permission: {}", violations.len(), violations.first().map_or_else(String::new, ToString::to_string))]
    BarrierBroken {
        /// Each of those changes.
        violations: Vec<PathViolation>,
    },
    /// The code contains constructs that could fake the tests' results.
    #[error("{} constructs could falsify the results of the tests: {}", refused.len(), refused.first().map_or_else(String::new, ToString::to_string))]
    NotVerifiable {
        /// Each of them, with its place and how it could be used.
        refused: Vec<RefusedConstruct>,
    },
    /// The code under test fakes results of its tests.
    #[error("{} tests were answered for: {}", tests.len(), tests.first().map_or_else(String::new, ToString::to_string))]
    VerdictForged {
        /// Those tests.
        tests: Vec<Forgery>,
    },
    /// Tests and implementation cannot be merged: both changed the same lines, and no agent was to resolve that, or none could.
    #[error("the merge has conflicts in {} files: {reason}", files.len())]
    MergeConflict {
        /// The files.
        files: Vec<CratePath>,
        /// Why they were not resolved.
        reason: String,
    },
    /// Files of the merged code have conflict markers (HY-252).
    #[error("conflict markers in {}", files.join(", "))]
    ConflictMarkers {
        /// The files.
        files: Vec<String>,
    },
    /// `main` has moved since the run started (HY-261).
    #[error("`{branch}` moved from {expected} to {found} during the run; run again on top of it")]
    MainMoved {
        /// The branch.
        branch: String,
        /// Where it was at the start.
        expected: String,
        /// Where it is.
        found: String,
    },
    /// A node failed in a way that is not part of the protocol: an agent's provider, git, the disk.
    #[error("{failure}")]
    NodeFailed {
        /// Where, what, and the chain of causes.
        failure: Failure,
    },
}

/// The functions of the contract that a property calls, in words.
pub(crate) fn called(functions: &[String]) -> String {
    if functions.is_empty() { "none of the contract's functions".to_owned() } else { functions.join(", ") }
}

fn named(unmet: &[CheckReport]) -> String {
    let each = unmet.iter().map(|report| format!("{:?} ({})", report.check, report.detail));
    each.collect::<Vec<_>>().join(", ")
}

impl From<Failure> for HybridFailure {
    fn from(failure: Failure) -> Self {
        Self::NodeFailed { failure }
    }
}
