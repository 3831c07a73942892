//! The result, and its parts.

use super::*;

pub(super) fn result(success: bool, lattice: &LatticeReport, failure: &Value) -> Value {
    json!({"success": success, "attempts": 1, "spec": [function()],
        "testsCoverage": null, "understanding": understanding(), "typeAdversary": gated()["typeAdversary"],
        "mutationAdversary": "NotRun", "groundTruth": {"typeConstraints": null, "implementation": "the syntax alone",
        "calls": null, "mutationTargets": null}, "workItems": [{"action": "RedesignType", "about": "a", "detail": "d",
        "suggestedProperty": sketch()}], "mergeCommit": "1".repeat(40), "witness": {"observations": [], "narrative": "n", "concerns": [],
        "suggestions": []}, "totalCost": 125_000, "lattice": lattice, "failure": failure})
}

/// The nine checks, all of which hold except `lacking`.
pub(super) fn lattice(lacking: &[Check]) -> LatticeReport {
    let outcome = |check: &Check| (*check, CheckOutcome::new(!lacking.contains(check), "seen"));
    LatticeReport::new(StrictnessConfig::default(), &Check::ALL.iter().map(outcome).collect())
}

/// A result with success in which a blocking check does not hold cannot be read, nor a result with both or neither of success and
/// failure.
#[test]
fn a_success_is_one_whose_checks_hold() {
    let failure = json!({"StubNotUndefined": {"function": "f"}});
    let read = |success, lacking: &[Check], failure: &Value| {
        let value = result(success, &lattice(lacking), failure);
        serde_json::from_value::<HybridResult>(value).map_err(|error| error.to_string())
    };
    assert!(read(true, &[], &json!(null)).unwrap().succeeded());
    assert!(read(true, &[Check::MutantsCaught], &json!(null)).unwrap().succeeded(), "it does not block here");
    let unmet = read(true, &[Check::CoverageConfirmed], &json!(null)).unwrap_err();
    assert!(unmet.contains("a check that blocks does not hold"), "{unmet}");
    assert!(read(true, &[], &failure).is_err() && read(false, &[], &json!(null)).is_err());
    let mut landed = read(true, &[], &json!(null)).unwrap();
    landed.fail(HybridFailure::StubNotUndefined { function: "f".to_owned() });
    assert_eq!(landed, read(false, &[], &failure).unwrap());
}

/// HY-134, HY-238, CON-82, CON-88: the result is data, with the typed reason of a failure.
#[test]
fn the_result_is_data() {
    let failures = [
        json!(null),
        json!({"TypeFixBudgetExhausted": {"attempts": 5, "lastHoles": [hole()], "priorFixes": []}}),
        json!({"CoverageEnforcementFailed": {"uncoveredSketches": ["p"], "blindResults": blind_results()}}),
        json!({"StuckOnPattern": {"patterns": [pattern()], "understanding": understanding()}}),
        json!({"NotConverging": {"understanding": understanding()}}),
        json!({"BuildFailedAfterFix": {"output": {"changes": [], "buildPassed": true, "commitMsg": "c",
            "blocker": null}, "diagnostics": "d"}}),
        json!({"FixBudgetExhausted": {"attempts": 5, "understanding": understanding()}}),
        json!({"ChecksUnmet": {"unmet": [{"check": "MutantsCaught", "status": "NotVerified", "blocking": true,
            "detail": "not reached"}]}}),
        json!({"CriticalMutantSurvived": {"survivors": [survivor()]}}),
        json!({"CoverageNotVerified": {"property": "p", "claims": ["c"]}}),
        json!({"CoverageClaimMismatch": {"property": "p", "actualTargets": ["f"]}}),
        json!({"StubNotUndefined": {"function": "f"}}),
        json!({"ClaimedFunctionNotOnDisk": {"name": "f"}}),
        json!({"UndeclaredFunctionOnDisk": {"name": "f"}}),
        json!({"BarrierBroken": {"violations": [{"role": "Fix", "path": "tests/p.rs", "territory": "Tests"}]}}),
        json!({"MergeConflict": {"files": ["src/lib.rs"], "reason": "r"}}),
        json!({"ConflictMarkers": {"files": ["src/lib.rs"]}}),
        json!({"FunctionsNotImplemented": {"functions": ["push"]}}),
    ];
    for failure in failures {
        check::<HybridResult>("hr", result(failure.is_null(), &lattice(&[]), &failure));
    }
}

/// HY-11, HY-101: an echo is a name; prose and code are refused.
#[test]
fn echoes_are_names_only() {
    for good in ["push", "BoundedStack::push", "prop_push_pop", "r#type"] {
        assert!(Identifier::new(good).is_ok(), "{good}");
    }
    check::<EchoChannel>("ec", json!({"fromImpl": ["push"], "fromTests": ["prop_push_pop"]}));
    let long = "a".repeat(129);
    for bad in ["", "a b", "push()", "::push", "push::", "fn", "1st", "a-b", "a\nb", "a:b", long.as_str()] {
        assert!(Identifier::new(bad).is_err(), "{bad:?}");
        assert!(serde_json::from_value::<EchoChannel>(json!({"fromImpl": [bad], "fromTests": []})).is_err());
    }
}

/// HY-98, CON-84: a blocker counts only if its text is not blank.
#[test]
fn a_blank_blocker_blocks_nothing() {
    let output = |blocker: Value| -> FixAgentOutput {
        let output = json!({"changes": [], "buildPassed": true, "commitMsg": "c", "blocker": blocker});
        serde_json::from_value(output).unwrap()
    };
    assert_eq!(output(json!(null)).blocked_by(), None);
    assert_eq!(output(json!(" \n")).blocked_by(), None);
    assert_eq!(output(json!(" no disk ")).blocked_by(), Some("no disk"));
    let missing: FixAgentOutput =
        serde_json::from_value(json!({"changes": [], "buildPassed": true, "commitMsg": "c"})).unwrap();
    assert_eq!(missing.blocked_by(), None);
}

/// HY-73, HY-74, HY-126: starting values.
#[test]
fn starting_values() {
    let default = StrictnessConfig { mutation_blocking: false, max_fix_attempts: 5, require_coverage: true };
    assert_eq!(StrictnessConfig::default(), default);
    assert_eq!(StrictnessConfig::strict(), StrictnessConfig { mutation_blocking: true, ..default });
    let start = UnderstandingState::default();
    assert!(start.failures_seen.is_empty() && start.fixes_applied.is_empty() && start.learnings.is_empty());
    assert!(start.converging);
}

/// HY-188: which survivors are critical, for every kind.
#[test]
fn critical_kinds_of_mutants() {
    use MutationType::*;
    let kinds = [
        BoundaryMutation,
        ConditionFlip,
        OffByOne,
        SwappedArgs,
        RemovedCheck,
        ChangedOperator,
        ReturnedWrongBranch,
        OtherMutation("x".to_owned()),
    ];
    let critical: Vec<_> = kinds.into_iter().filter(MutationType::is_critical).collect();
    assert_eq!(critical, [ConditionFlip, RemovedCheck]);
}
