//! Are the tests good enough, going by the mutants they let live? No run asks this: the graph has no mutation adversary.

use crate::types::{
    HardeningHint, MutationAdversaryOutput, MutationAdversaryResult, MutationFixTarget, SurvivingMutant,
    TestSuiteVerdict,
};

/// The adversary's numbers cannot be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{survived} of {tried} mutants are said to have survived; count every mutant that was considered, at least one"
)]
pub struct ImplausibleCount {
    /// How many mutants were tried.
    pub tried: u32,
    /// How many survived.
    pub survived: usize,
}

/// What the survivors say about the tests: none is robust, more than half is weak, exactly half is not.
pub fn test_suite_verdict(tried: u32, survived: usize) -> Result<TestSuiteVerdict, ImplausibleCount> {
    let implausible = ImplausibleCount { tried, survived };
    let count = u32::try_from(survived).map_err(|_| implausible)?;
    match (tried, count) {
        (0, _) => Err(implausible),
        (tried, survived) if survived > tried => Err(implausible),
        (_, 0) => Ok(TestSuiteVerdict::TestSuiteRobust),
        (tried, survived) if survived > tried - survived => Ok(TestSuiteVerdict::TestSuiteWeak),
        _ => Ok(TestSuiteVerdict::TestSuiteHasGaps),
    }
}

/// The adversary's report with its verdict; the number of survivors is the list's length.
pub fn mutation_adversary_result(output: MutationAdversaryOutput) -> Result<MutationAdversaryResult, ImplausibleCount> {
    let verdict = test_suite_verdict(output.mutants_tried, output.survivors.len())?;
    Ok(MutationAdversaryResult { output, verdict })
}

/// The survivors that fail a run even when survivors are otherwise only reported.
pub fn critical_survivors(survivors: &[SurvivingMutant]) -> Vec<SurvivingMutant> {
    survivors.iter().filter(|survivor| survivor.mutation_type.is_critical()).cloned().collect()
}

/// What to add to the tests because of the survivors.
pub fn mutation_fix_targets(survivors: &[SurvivingMutant]) -> Vec<MutationFixTarget> {
    let target = |survivor: &SurvivingMutant| MutationFixTarget {
        function: survivor.function.clone(),
        property: survivor.suggested_prop.clone(),
        reason: format!("{} {}", survivor.description, survivor.why_dangerous),
    };
    survivors.iter().map(target).collect()
}

impl From<&SurvivingMutant> for HardeningHint {
    fn from(survivor: &SurvivingMutant) -> Self {
        Self {
            context: survivor.description.clone(),
            guidance: survivor.missing_test.clone(),
            source: "mutationAdversary".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{MutationType, PropertySketch, PropertyType};
    use TestSuiteVerdict::{TestSuiteHasGaps, TestSuiteRobust, TestSuiteWeak};

    fn survivor(mutation_type: MutationType) -> SurvivingMutant {
        SurvivingMutant {
            function: "push".to_owned(),
            mutation_type,
            description: "The limit is off.".to_owned(),
            why_dangerous: "It overflows.".to_owned(),
            missing_test: "Push to the limit.".to_owned(),
            suggested_prop: PropertySketch {
                name: "prop_limit".to_owned(),
                description: "d".to_owned(),
                invariant: "i".to_owned(),
                property_type: PropertyType::Boundary,
            },
        }
    }

    /// The boundaries, exactly half included.
    #[test]
    fn more_than_half_is_weak() {
        let cases = [
            (1, 0, TestSuiteRobust),
            (10, 0, TestSuiteRobust),
            (10, 1, TestSuiteHasGaps),
            (10, 5, TestSuiteHasGaps),
            (10, 6, TestSuiteWeak),
            (3, 1, TestSuiteHasGaps),
            (3, 2, TestSuiteWeak),
            (1, 1, TestSuiteWeak),
            (u32::MAX, 0x8000_0000, TestSuiteWeak),
            (u32::MAX, 0x7fff_ffff, TestSuiteHasGaps),
        ];
        for (tried, survived, verdict) in cases {
            assert_eq!(test_suite_verdict(tried, survived), Ok(verdict), "{survived} of {tried}");
        }
    }

    /// Numbers that cannot be are refused, not judged.
    #[test]
    fn impossible_numbers_are_refused() {
        for (tried, survived) in [(0, 0), (0, 1), (1, 2), (4, usize::MAX)] {
            assert_eq!(test_suite_verdict(tried, survived), Err(ImplausibleCount { tried, survived }));
        }
    }

    /// The count is the list's length.
    #[test]
    fn the_verdict_counts_the_list() {
        let survivors = vec![survivor(MutationType::OffByOne), survivor(MutationType::RemovedCheck)];
        let output = MutationAdversaryOutput { mutants_tried: 3, survivors, analysis: "a".to_owned() };
        assert_eq!(mutation_adversary_result(output).unwrap().verdict, TestSuiteWeak);
    }

    /// Critical ones are told apart, and each survivor becomes something to write.
    #[test]
    fn survivors_become_work() {
        let survivors = [survivor(MutationType::OffByOne), survivor(MutationType::ConditionFlip)];
        assert_eq!(critical_survivors(&survivors), survivors[1..]);
        let targets = mutation_fix_targets(&survivors);
        assert_eq!(targets.len(), 2);
        assert_eq!(targets[0].property, survivors[0].suggested_prop);
        assert_eq!(
            (targets[0].function.as_str(), targets[0].reason.as_str()),
            ("push", "The limit is off. It overflows.")
        );
    }
}
