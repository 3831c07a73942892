//! Decides whether another round of fixing makes sense.

use crate::types::{FailedRound, FailurePattern, FixAgentOutput, FixApplied, UnderstandingState};
use interlocking::toolchain::{merge_patterns, stuck_patterns};

/// In how many runs a pattern may be seen before the loop counts as stuck.
const STUCK_AFTER: u32 = 3;

/// Why there is no further round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixStop {
    /// The same patterns came back too often (HY-137).
    StuckOnPattern(Vec<FailurePattern>),
    /// Two rounds in a row failed alike (HY-138).
    NotConverging,
    /// The rounds are used up (CON-57).
    BudgetExhausted,
}

/// Records a failed validation and decides whether the fix agent is called (HY-176, HY-184), in this order: merge the patterns,
/// stop if stuck, stop if not converging, stop at the cap.
///
/// The understanding is returned in either case, with the new patterns merged exactly once (CON-60). `previous` is the failed
/// validation before this one, `rounds` the number of fixes so far, `most` the task's cap.
pub fn before_fix(
    understanding: &UnderstandingState,
    new_patterns: &[FailurePattern],
    previous: Option<&FailedRound>,
    current: &FailedRound,
    rounds: u8,
    most: u8,
) -> (UnderstandingState, Option<FixStop>) {
    let failures_seen = merge_patterns(&understanding.failures_seen, new_patterns);
    let stuck = stuck_patterns(&failures_seen, STUCK_AFTER);
    let understanding = UnderstandingState {
        failures_seen,
        // The result of `after_fix` counts too: a fix that changed nothing makes no progress.
        converging: understanding.converging && is_converging(previous, current, &understanding.fixes_applied, rounds),
        ..understanding.clone()
    };
    let stop = if !stuck.is_empty() {
        Some(FixStop::StuckOnPattern(stuck))
    } else if !understanding.converging {
        Some(FixStop::NotConverging)
    } else if rounds >= most {
        Some(FixStop::BudgetExhausted)
    } else {
        None
    };
    (understanding, stop)
}

/// Records what the fix agent did (HY-177): its fixes and one line about what was learnt.
pub fn after_fix(understanding: &UnderstandingState, output: &FixAgentOutput) -> UnderstandingState {
    let mut next = understanding.clone();
    let lessons: Vec<String> = output
        .changes
        .iter()
        .map(|change| format!("{}: {} ({})", change.function, change.why_failed, change.what_changed))
        .collect();
    next.learnings.push(if lessons.is_empty() { "nothing was changed".to_owned() } else { lessons.join("; ") });
    next.fixes_applied.extend(output.changes.iter().cloned());
    next.converging = !output.changes.is_empty();
    next
}

/// Whether the rounds seem to make progress (HY-183, CON-59): something was changed, and this round is not like the one before it
/// with as many failures or more. Lenient: before the first fix it is true.
pub fn is_converging(
    previous: Option<&FailedRound>,
    current: &FailedRound,
    fixes_applied: &[FixApplied],
    rounds: u8,
) -> bool {
    let something_changed = rounds == 0 || !fixes_applied.is_empty();
    interlocking::toolchain::is_converging(previous, current, something_changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{FailureType, FixType};

    fn pattern(signature: &str, occurrences: u32) -> FailurePattern {
        FailurePattern {
            signature: signature.to_owned(),
            affected_fns: vec![],
            category: FailureType::PropertyFailed,
            occurrences,
        }
    }

    fn round(signatures: &[&str], failures: u32) -> FailedRound {
        FailedRound { signatures: signatures.iter().map(|one| (*one).to_owned()).collect(), failures }
    }

    fn fix() -> FixApplied {
        FixApplied {
            function: "push".to_owned(),
            what_changed: "compare with >=".to_owned(),
            why_failed: "one too many".to_owned(),
            fix_type: FixType::BoundaryFix,
        }
    }

    fn understanding(seen: &[FailurePattern], fixes: &[FixApplied]) -> UnderstandingState {
        UnderstandingState {
            failures_seen: seen.to_vec(),
            fixes_applied: fixes.to_vec(),
            ..UnderstandingState::default()
        }
    }

    /// HY-183, CON-59.
    #[test]
    fn rounds_that_fail_alike_do_not_converge() {
        let fixes = [fix()];
        let before = round(&["a", "b"], 4);
        let cases = [
            ("the first failure", None, round(&["a"], 1), &fixes[..0], 0, true),
            ("fewer failures", Some(&before), round(&["a", "b"], 3), &fixes[..], 1, true),
            ("other patterns", Some(&before), round(&["a", "c"], 4), &fixes[..], 1, true),
            ("a subset", Some(&before), round(&["a"], 9), &fixes[..], 1, true),
            ("the same again", Some(&before), round(&["a", "b"], 4), &fixes[..], 1, false),
            ("the same and more", Some(&before), round(&["a", "b"], 5), &fixes[..], 1, false),
            ("nothing changed", Some(&before), round(&["a"], 1), &fixes[..0], 1, false),
        ];
        for (what, previous, current, fixes, rounds, expected) in cases {
            assert_eq!(is_converging(previous, &current, fixes, rounds), expected, "{what}");
        }
    }

    /// HY-176, HY-184, CON-57, CON-60: patterns are merged once, and the reasons to stop are looked at in order.
    #[test]
    fn reasons_to_stop_have_an_order() {
        let (seen, fixes) = ([pattern("a", 1)], [fix()]);
        let known = understanding(&seen, &fixes);
        let (again, other) = (round(&["a"], 1), round(&["b"], 1));

        let (merged, stop) = before_fix(&known, &[pattern("a", 1)], None, &again, 1, 5);
        assert_eq!((merged.failures_seen.as_slice(), stop), ([pattern("a", 2)].as_slice(), None));

        // Stuck before everything else, also when neither converging nor in budget.
        let (merged, stop) = before_fix(&merged, &[pattern("a", 1), pattern("b", 1)], Some(&again), &again, 5, 5);
        assert_eq!(stop, Some(FixStop::StuckOnPattern(vec![pattern("a", 3)])));
        assert_eq!(merged.failures_seen, [pattern("a", 3), pattern("b", 1)]);

        let (merged, stop) = before_fix(&known, &[pattern("a", 1)], Some(&again), &again, 5, 5);
        assert_eq!(stop, Some(FixStop::NotConverging));
        assert!(!merged.converging);

        let (_, stop) = before_fix(&known, &[pattern("b", 1)], Some(&again), &other, 5, 5);
        assert_eq!(stop, Some(FixStop::BudgetExhausted));
        let (_, stop) = before_fix(&known, &[pattern("b", 1)], Some(&again), &other, 4, 5);
        assert_eq!(stop, None);
    }

    /// HY-183: a fix that changes nothing ends the loop, also after others that changed something.
    #[test]
    fn a_fix_without_a_change_does_not_converge() {
        let idle = FixAgentOutput { changes: vec![], build_passed: true, commit_msg: "c".to_owned(), blocker: None };
        let understanding = after_fix(&understanding(&[], &[fix()]), &idle);
        let (before, now) = (round(&["a"], 2), round(&["b"], 1));
        let (_, stop) = before_fix(&understanding, &[pattern("b", 1)], Some(&before), &now, 2, 5);
        assert_eq!(stop, Some(FixStop::NotConverging));
    }

    /// HY-177, HY-13: fixes and lessons accumulate.
    #[test]
    fn every_round_teaches_a_line() {
        let output =
            |changes| FixAgentOutput { changes, build_passed: true, commit_msg: "c".to_owned(), blocker: None };
        let first = after_fix(&understanding(&[pattern("a", 1)], &[]), &output(vec![fix(), fix()]));
        let second = after_fix(&first, &output(vec![]));
        assert_eq!(first.fixes_applied, [fix(), fix()]);
        assert!(first.converging && !second.converging);
        let line = "push: one too many (compare with >=)";
        assert_eq!(second.learnings, [format!("{line}; {line}"), "nothing was changed".to_owned()]);
        assert_eq!(second.failures_seen, [pattern("a", 1)]);
    }
}
