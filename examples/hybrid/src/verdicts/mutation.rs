//! Decides whether the tests are good enough, by the mutants that survive them.

use crate::types::{
    HardeningHint, MechanicalMutants, MutationAdversaryOutput, MutationAdversaryResult, MutationFixTarget,
    RefutedSurvivor, SurvivingMutant, TestSuiteVerdict,
};

/// The verdict on the tests (HY-189): without survivors they are robust, with more than half surviving weak; exactly half is not
/// weak.
pub fn test_suite_verdict(tried: u32, survived: usize) -> TestSuiteVerdict {
    match u32::try_from(survived).unwrap_or(u32::MAX) {
        0 => TestSuiteVerdict::TestSuiteRobust,
        survived if survived > tried.saturating_sub(survived) => TestSuiteVerdict::TestSuiteWeak,
        _ => TestSuiteVerdict::TestSuiteHasGaps,
    }
}

/// The adversary's report with its verdict, which counts the confirmed survivors, including those of earlier rounds.
pub fn mutation_adversary_result(
    output: MutationAdversaryOutput,
    survivors: Vec<SurvivingMutant>,
    refuted: Vec<RefutedSurvivor>,
    mechanical: Option<MechanicalMutants>,
    tried_again: u32,
) -> MutationAdversaryResult {
    let verdict = test_suite_verdict(output.mutants_tried.saturating_add(tried_again), survivors.len());
    MutationAdversaryResult { output, tried_again, verdict, survivors, refuted, mechanical }
}

/// The adversary's report if it can no longer be tried: the verdict follows its words, and each survivor carries the reason.
pub fn untried_mutants(output: MutationAdversaryOutput, reason: &str) -> MutationAdversaryResult {
    let refuted = output.survivors.iter().map(|survivor| RefutedSurvivor {
        function: survivor.function.clone(),
        description: survivor.description.clone(),
        reason: reason.to_owned(),
    });
    MutationAdversaryResult {
        tried_again: 0,
        verdict: test_suite_verdict(output.mutants_tried, output.survivors.len()),
        survivors: Vec::new(),
        refuted: refuted.collect(),
        mechanical: None,
        output,
    }
}

/// The detail of the check that the tests catch mutants.
pub fn mutation_detail(found: &MutationAdversaryResult) -> String {
    let MutationAdversaryResult { output, tried_again, survivors, refuted, mechanical, .. } = found;
    let tried = output.mutants_tried.saturating_add(*tried_again);
    let mut text = format!("{} of {tried} mutants survive", survivors.len());
    if !refuted.is_empty() {
        text.push_str(&format!("; {} more were said to, and do not", refuted.len()));
    }
    if let Some(MechanicalMutants { tried, caught, .. }) = mechanical {
        text.push_str(&format!("; {caught} of {tried} made by us are caught"));
    }
    text
}

/// The survivors that fail a run even when survivors are otherwise only reported.
pub fn critical_survivors(survivors: &[SurvivingMutant]) -> Vec<SurvivingMutant> {
    survivors.iter().filter(|survivor| survivor.mutation_type.is_critical()).cloned().collect()
}

/// Adds the survivors of a round to those of earlier rounds. Each change is there once, as a critical one if it was ever said to be.
pub fn remember_survivors(all: &mut Vec<SurvivingMutant>, found: &[SurvivingMutant]) {
    for survivor in found {
        match all.iter_mut().find(|known| known.is_same_change(survivor)) {
            None => all.push(survivor.clone()),
            Some(known) if survivor.mutation_type.is_critical() => *known = survivor.clone(),
            Some(_) => {}
        }
    }
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
    use crate::types::{MutantEdit, MutationType, PropertySketch, PropertyType};
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
            edit: None,
        }
    }

    /// HY-189: the boundaries, exactly half included.
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
            assert_eq!(test_suite_verdict(tried, survived), verdict, "{survived} of {tried}");
        }
    }

    /// A change that survives is tried again in later rounds: once, however often and in whatever words it was reported.
    #[test]
    fn a_change_is_remembered_once() {
        let changed = |replacement: &str, description: &str, mutation_type| SurvivingMutant {
            edit: Some(MutantEdit { original: ">=".to_owned(), replacement: replacement.to_owned() }),
            description: description.to_owned(),
            ..survivor(mutation_type)
        };
        let (less, more) =
            (changed(">", "One less.", MutationType::OffByOne), changed("<", "More.", MutationType::OffByOne));
        let mut all = vec![less.clone()];
        remember_survivors(
            &mut all,
            &[changed(">", "In other words.", MutationType::OffByOne), more.clone(), more.clone()],
        );
        assert_eq!(all, [less, more.clone()]);
        let critical = changed(">", "It is worse.", MutationType::ConditionFlip);
        remember_survivors(&mut all, &[critical.clone(), changed(">", "Not so bad.", MutationType::OffByOne)]);
        assert_eq!(all, [critical, more]);
    }

    /// HY-130, HY-131: the verdict follows what was confirmed, not what was claimed.
    #[test]
    fn the_verdict_counts_what_was_seen_to_survive() {
        let claimed = vec![survivor(MutationType::OffByOne), survivor(MutationType::RemovedCheck)];
        let output = MutationAdversaryOutput { mutants_tried: 3, survivors: claimed.clone(), analysis: "a".to_owned() };
        let refuted = RefutedSurvivor {
            function: "push".to_owned(),
            description: "The limit is off.".to_owned(),
            reason: "caught by `prop_limit`".to_owned(),
        };
        let found = mutation_adversary_result(output.clone(), claimed[..1].to_vec(), vec![refuted], None, 0);
        assert_eq!((found.verdict, &found.output), (TestSuiteHasGaps, &output));
        assert_eq!(mutation_detail(&found), "1 of 3 mutants survive; 1 more were said to, and do not");
        assert_eq!(mutation_adversary_result(output.clone(), claimed, vec![], None, 0).verdict, TestSuiteWeak);
        let mechanical = MechanicalMutants { tried: 4, caught: 3, survivors: vec!["src/lib.rs:1:1".to_owned()] };
        let none = mutation_adversary_result(output, vec![], vec![], Some(mechanical), 0);
        let said = "0 of 3 mutants survive; 3 of 4 made by us are caught";
        assert_eq!((none.verdict, mutation_detail(&none)), (TestSuiteRobust, said.to_owned()));
    }

    /// HY-188: critical survivors are found. HY-145: each survivor becomes something to write.
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
