//! Decides whether another round of fixing makes sense.

use crate::types::{FailedRound, FailurePattern, FixAgentOutput, UnderstandingState};
use interlocking::toolchain::{is_converging, merge_patterns, stuck_patterns};

/// In how many runs a pattern may be seen before the loop counts as stuck.
const STUCK_AFTER: u32 = 3;

/// Why there is no further round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixStop {
    /// The same patterns came back too often (HY-137).
    StuckOnPattern(Vec<FailurePattern>),
    /// The last fix changed nothing, or two rounds in a row failed alike (HY-138).
    NotConverging,
    /// The rounds are used up (CON-57).
    BudgetExhausted,
}

/// Records a failed validation and decides whether the fix agent is called (HY-176, HY-184), in this order: merge the patterns,
/// stop if stuck, stop if not converging, stop at the cap.
///
/// The rounds make progress (HY-183, CON-59) if the last fix changed something, and this round is not like the one before it with as
/// many failures or more. Before the first fix they do.
///
/// The understanding is returned in either case, with the new patterns merged exactly once (CON-60). `previous` is the failed
/// validation directly before this one, `rounds` the number of fixes so far, `most` the task's cap.
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
        converging: is_converging(previous, current, understanding.converging),
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

/// Records what the fix agent did (HY-177): its fixes and one line about what was learnt. `has_changed` is whether any file differs
/// from before; fixes that changed none are not recorded as applied.
pub fn after_fix(understanding: &UnderstandingState, output: &FixAgentOutput, has_changed: bool) -> UnderstandingState {
    let mut next = UnderstandingState { converging: has_changed, ..understanding.clone() };
    if !has_changed {
        next.learnings.push("nothing was changed".to_owned());
        return next;
    }
    let lessons: Vec<String> = output
        .changes
        .iter()
        .map(|change| format!("{}: {} ({})", change.function, change.why_failed, change.what_changed))
        .collect();
    next.learnings.push(match lessons.is_empty() {
        true => "something was changed, but not described".to_owned(),
        false => lessons.join("; "),
    });
    next.fixes_applied.extend(output.changes.iter().cloned());
    next
}

/// Records that all tests passed. Later failures are those of stronger tests, and are not compared with rounds before this
/// (CON-59). The patterns stay, and go on to be counted: a failure that comes back for the third time is one on which repairs are
/// stuck, whether or not they held in between (HY-176, HY-179).
pub fn after_pass(understanding: &UnderstandingState) -> UnderstandingState {
    UnderstandingState { converging: true, ..understanding.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{FailureType, FixApplied, FixType};

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
        let (start, before) = (UnderstandingState::default(), round(&["a", "b"], 4));
        let output = FixAgentOutput { changes: vec![], build_passed: true, commit_msg: "c".to_owned(), blocker: None };
        let (changed, idle) = (after_fix(&start, &output, true), after_fix(&start, &output, false));
        let cases = [
            ("the first failure", &start, None, round(&["a"], 1), true),
            ("fewer failures", &changed, Some(&before), round(&["a", "b"], 3), true),
            ("other patterns", &changed, Some(&before), round(&["a", "c"], 4), true),
            ("a subset", &changed, Some(&before), round(&["a"], 9), true),
            ("the same again", &changed, Some(&before), round(&["a", "b"], 4), false),
            ("the same and more", &changed, Some(&before), round(&["a", "b"], 5), false),
            ("nothing changed", &idle, Some(&before), round(&["a"], 1), false),
        ];
        for (what, known, previous, current, expected) in cases {
            let (understanding, stop) = before_fix(known, &[], previous, &current, 1, 5);
            assert_eq!((understanding.converging, stop.is_none()), (expected, expected), "{what}");
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

    /// HY-183: a fix that changes nothing ends the loop, whatever its agent says, also after others that changed something.
    #[test]
    fn a_fix_without_a_change_does_not_converge() {
        let idle =
            FixAgentOutput { changes: vec![fix()], build_passed: true, commit_msg: "c".to_owned(), blocker: None };
        let understanding = after_fix(&understanding(&[], &[fix()]), &idle, false);
        assert_eq!(understanding.fixes_applied, [fix()], "those before");
        let (before, now) = (round(&["a"], 2), round(&["b"], 1));
        let (_, stop) = before_fix(&understanding, &[pattern("b", 1)], Some(&before), &now, 2, 5);
        assert_eq!(stop, Some(FixStop::NotConverging));
    }

    /// HY-183, CON-59: tests that pass although the fix changed nothing begin a new series of rounds. HY-176, HY-179: no row ends the
    /// count of a pattern, only CON-59 speaks of rounds in a row.
    #[test]
    fn a_pass_begins_anew_but_patterns_are_still_counted() {
        let idle = FixAgentOutput { changes: vec![], build_passed: true, commit_msg: "c".to_owned(), blocker: None };
        let passed = after_pass(&after_fix(&understanding(&[pattern("a", 1)], &[fix()]), &idle, false));
        let (again, stop) = before_fix(&passed, &[pattern("a", 1)], None, &round(&["a"], 1), 1, 5);
        assert_eq!((stop, again.converging), (None, true));
        let passed = after_pass(&after_fix(&again, &idle, true));
        let (_, stop) = before_fix(&passed, &[pattern("a", 1)], None, &round(&["a"], 1), 2, 5);
        assert_eq!(stop, Some(FixStop::StuckOnPattern(vec![pattern("a", 3)])));
    }

    /// HY-177, HY-13: fixes and lessons accumulate.
    #[test]
    fn every_round_teaches_a_line() {
        let output =
            |changes| FixAgentOutput { changes, build_passed: true, commit_msg: "c".to_owned(), blocker: None };
        let first = after_fix(&understanding(&[pattern("a", 1)], &[]), &output(vec![fix(), fix()]), true);
        let second = after_fix(&first, &output(vec![]), true);
        let third = after_fix(&second, &output(vec![fix()]), false);
        assert_eq!(third.fixes_applied, [fix(), fix()]);
        assert!(first.converging && second.converging && !third.converging);
        let line = "push: one too many (compare with >=)";
        let said = format!("{line}; {line}");
        assert_eq!(third.learnings, [said.as_str(), "something was changed, but not described", "nothing was changed"]);
        assert_eq!(third.failures_seen, [pattern("a", 1)]);
    }
}
