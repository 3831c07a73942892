//! The nine checks of a run, each with its result.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::StrictnessConfig;

/// Whether a claim was confirmed (HY-123).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum VerificationStatus {
    /// The program itself has confirmed it.
    Verified,
    /// It was not confirmed: the check failed, or was never reached.
    NotVerified,
}

/// One of the nine checks (HY-146 to HY-154).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Check {
    /// The types have no hole, or only minor ones.
    TypeHoles,
    /// The skeleton builds.
    SkeletonBuilds,
    /// The tests agent saw its tests fail on the skeleton.
    TestsFailForTheirAgent,
    /// The tests fail on the skeleton when the program runs them.
    TestsFailOnSkeleton,
    /// The implementation builds.
    ImplementationBuilds,
    /// The merged tests pass.
    MergedTestsPass,
    /// The tests catch mutants.
    MutantsCaught,
    /// The tests exercise what they claim to.
    CoverageConfirmed,
    /// Every function of the skeleton is a stub.
    SkeletonIsStubs,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    /// The check.
    pub check: Check,
    /// Its result.
    pub status: VerificationStatus,
    /// Whether a run cannot succeed without it.
    pub blocking: bool,
    /// The evidence, or why there is none.
    pub detail: String,
}

/// The outcome of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckOutcome {
    /// Its result.
    pub status: VerificationStatus,
    /// The evidence, or why there is none.
    pub detail: String,
}

/// The results of the nine checks (HY-155), in the order of their numbers: always all nine, with the right ones marked as
/// blocking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<CheckReport>", into = "Vec<CheckReport>")]
pub struct LatticeReport(Vec<CheckReport>);

/// Nine checks in which every blocking check holds. A success can only be made from this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldLattice(LatticeReport);

/// The error for a list of checks that is not complete and consistent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the nine checks in their order, with all blocking but the mutants'")]
pub struct NotALattice;

impl Check {
    /// Every check, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::TypeHoles,
        Self::SkeletonBuilds,
        Self::TestsFailForTheirAgent,
        Self::TestsFailOnSkeleton,
        Self::ImplementationBuilds,
        Self::MergedTestsPass,
        Self::MutantsCaught,
        Self::CoverageConfirmed,
        Self::SkeletonIsStubs,
    ];

    /// Whether a run cannot succeed without it: the mutants block if the task says so, all others always.
    pub fn blocks(self, strictness: StrictnessConfig) -> bool {
        self != Self::MutantsCaught || strictness.mutation_blocking
    }
}

impl CheckOutcome {
    /// An outcome with its evidence.
    pub fn new(holds: bool, detail: impl Into<String>) -> Self {
        let status = if holds { VerificationStatus::Verified } else { VerificationStatus::NotVerified };
        Self { status, detail: detail.into() }
    }

    fn not_reached() -> Self {
        Self::new(false, "not reached")
    }
}

impl LatticeReport {
    /// The nine checks of a task; those without an outcome were not reached.
    pub fn new(strictness: StrictnessConfig, outcomes: &BTreeMap<Check, CheckOutcome>) -> Self {
        let report = |check: Check| {
            let CheckOutcome { status, detail } =
                outcomes.get(&check).cloned().unwrap_or_else(CheckOutcome::not_reached);
            CheckReport { check, status, blocking: check.blocks(strictness), detail }
        };
        Self(Check::ALL.map(report).into())
    }

    /// A copy with the result of one check.
    #[must_use]
    pub fn with(&self, check: Check, CheckOutcome { status, detail }: CheckOutcome) -> Self {
        let mut reports = self.clone();
        if let Some(report) = reports.0.iter_mut().find(|report| report.check == check) {
            (report.status, report.detail) = (status, detail);
        }
        reports
    }

    /// The nine reports.
    pub fn checks(&self) -> &[CheckReport] {
        &self.0
    }

    /// The blocking checks that do not hold, because they failed or were not reached.
    pub fn unmet(&self) -> Vec<CheckReport> {
        let is_unmet = |report: &&CheckReport| report.blocking && report.status != VerificationStatus::Verified;
        self.0.iter().filter(is_unmet).cloned().collect()
    }
}

impl HeldLattice {
    /// The nine checks.
    pub fn report(&self) -> &LatticeReport {
        &self.0
    }
}

impl TryFrom<LatticeReport> for HeldLattice {
    type Error = LatticeReport;

    fn try_from(lattice: LatticeReport) -> Result<Self, LatticeReport> {
        if lattice.unmet().is_empty() { Ok(Self(lattice)) } else { Err(lattice) }
    }
}

impl From<HeldLattice> for LatticeReport {
    fn from(held: HeldLattice) -> Self {
        held.0
    }
}

impl TryFrom<Vec<CheckReport>> for LatticeReport {
    type Error = NotALattice;

    fn try_from(reports: Vec<CheckReport>) -> Result<Self, NotALattice> {
        let is_as_it_must_be = |report: &CheckReport| report.blocking || report.check == Check::MutantsCaught;
        let are_all = reports.iter().map(|report| report.check).eq(Check::ALL);
        if are_all && reports.iter().all(is_as_it_must_be) { Ok(Self(reports)) } else { Err(NotALattice) }
    }
}

impl From<LatticeReport> for Vec<CheckReport> {
    fn from(lattice: LatticeReport) -> Self {
        lattice.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(checks: impl IntoIterator<Item = Check>) -> BTreeMap<Check, CheckOutcome> {
        checks.into_iter().map(|check| (check, CheckOutcome::new(true, "seen"))).collect()
    }

    /// HY-155: nine checks, each with its outcome and whether it blocks. HY-123, CON-89: what was not reached is not verified.
    #[test]
    fn nine_checks_are_reported() {
        let report = LatticeReport::new(StrictnessConfig::default(), &seen([Check::SkeletonBuilds]));
        let reports = serde_json::to_value(&report).unwrap();
        assert_eq!(reports.as_array().unwrap().len(), 9);
        let expected = |check: &str, status: &str, blocking: bool, detail: &str| serde_json::json!({"check": check, "status": status, "blocking": blocking, "detail": detail});
        assert_eq!(reports[1], expected("SkeletonBuilds", "Verified", true, "seen"));
        assert_eq!(reports[6], expected("MutantsCaught", "NotVerified", false, "not reached"));
        assert_eq!(reports[7], expected("CoverageConfirmed", "NotVerified", true, "not reached"));
    }

    /// A success takes every check that blocks; which those are, the task says in the one case of the mutants.
    #[test]
    fn a_blocking_check_that_was_not_reached_is_unmet() {
        let (lenient, strict) = (StrictnessConfig::default(), StrictnessConfig::strict());
        for check in Check::ALL {
            let without = seen(Check::ALL.into_iter().filter(|other| *other != check));
            let unmet = |strictness| -> Vec<Check> {
                LatticeReport::new(strictness, &without).unmet().iter().map(|report| report.check).collect()
            };
            assert_eq!(unmet(strict), [check]);
            let expected: &[Check] = if check == Check::MutantsCaught { &[] } else { &[check] };
            assert_eq!(unmet(lenient), expected);
            assert!(HeldLattice::try_from(LatticeReport::new(strict, &without)).is_err(), "{check:?}");
        }
        assert!(HeldLattice::try_from(LatticeReport::new(strict, &seen(Check::ALL))).is_ok());
    }

    /// What is read back is the nine checks too: a list that lacks one, or says of one that it does not block, is none.
    #[test]
    fn a_list_that_lacks_a_check_is_no_lattice() {
        let whole = LatticeReport::new(StrictnessConfig::default(), &seen(Check::ALL));
        let reports: Vec<CheckReport> = whole.clone().into();
        let read =
            |reports: &[CheckReport]| serde_json::from_value::<LatticeReport>(serde_json::to_value(reports).unwrap());
        assert_eq!(read(&reports).unwrap(), whole);
        assert!(read(&[]).is_err());
        assert!(read(&reports[..8]).is_err());
        let mut softened = reports.clone();
        softened[7].blocking = false;
        assert!(read(&softened).is_err());
        let mut twice = reports;
        twice[1] = twice[0].clone();
        assert!(read(&twice).is_err());
    }
}
