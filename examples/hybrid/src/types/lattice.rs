//! The nine checks of a run, each with what came of it.

use serde::{Deserialize, Serialize};

use super::StrictnessConfig;

/// Whether a claim was borne out (HY-123).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum VerificationStatus {
    /// The program itself saw it.
    Verified,
    /// It was not seen: the check failed, or was never reached.
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

/// What came of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    /// The check.
    pub check: Check,
    /// What came of it.
    pub status: VerificationStatus,
    /// Whether the run had to stop without it.
    pub blocking: bool,
    /// What was seen, or why not.
    pub detail: String,
}

/// What came of the nine checks (HY-155), in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LatticeReport(Vec<CheckReport>);

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

    /// Whether the run has to stop without it: all but the mutants always, those when the task says so.
    pub fn blocks(self, strictness: StrictnessConfig) -> bool {
        self != Self::MutantsCaught || strictness.mutation_blocking
    }
}

impl LatticeReport {
    /// The nine checks, none of them reached yet.
    pub fn new(strictness: StrictnessConfig) -> Self {
        let not_reached = |check: Check| CheckReport {
            check,
            status: VerificationStatus::NotVerified,
            blocking: check.blocks(strictness),
            detail: "not reached".to_owned(),
        };
        Self(Check::ALL.map(not_reached).into())
    }

    /// Notes what came of a check; what was noted before is replaced, since checks are repeated in loops.
    pub fn record(&mut self, check: Check, status: VerificationStatus, detail: impl Into<String>) {
        if let Some(report) = self.0.iter_mut().find(|report| report.check == check) {
            report.status = status;
            report.detail = detail.into();
        }
    }

    /// The nine reports.
    pub fn checks(&self) -> &[CheckReport] {
        &self.0
    }

    /// Whether every check that blocks was borne out.
    pub fn holds(&self) -> bool {
        self.0.iter().all(|report| !report.blocking || report.status == VerificationStatus::Verified)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HY-155, HY-123, CON-89: nine checks, each with its outcome and whether it blocks.
    #[test]
    fn nine_checks_are_reported() {
        let mut report = LatticeReport::new(StrictnessConfig::default());
        assert_eq!(report.checks().len(), 9);
        assert!(!report.holds());
        for check in Check::ALL.into_iter().filter(|check| *check != Check::MutantsCaught) {
            report.record(check, VerificationStatus::Verified, "seen");
        }
        assert!(report.holds(), "mutants do not block by default");
        report.record(Check::CoverageConfirmed, VerificationStatus::NotVerified, "prop_x calls nothing");
        assert!(!report.holds());
        let entry = &serde_json::to_value(&report).unwrap()[7];
        let expected = serde_json::json!({"check": "CoverageConfirmed", "status": "NotVerified", "blocking": true,
            "detail": "prop_x calls nothing"});
        assert_eq!(entry, &expected);
    }

    /// HY-152: the mutants block only when the task says so.
    #[test]
    fn mutants_block_in_strict_mode_only() {
        assert!(!Check::MutantsCaught.blocks(StrictnessConfig::default()));
        assert!(Check::MutantsCaught.blocks(StrictnessConfig::strict()));
        assert!(Check::ALL[..6].iter().all(|check| check.blocks(StrictnessConfig::default())));
    }
}
