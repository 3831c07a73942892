//! The contents of the graph's states.

use super::*;

pub(super) fn blind_results() -> Value {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let coverage = json!({"functionsCovered": [], "functionsUncovered": [], "examplesCovered": 0, "examplesTotal": 1,
        "sketchesCovered": [], "sketchesUncovered": []});
    let tests = json!({"properties": [], "coverage": coverage, "selfVerified": true, "commitMsg": "c", "strategy": "s",
        "blocker": null});
    let implementation = json!({"functions": [], "dataRepr": "d", "designNotes": "n", "buildPassed": true,
        "commitMsg": "c", "blocker": null});
    json!({
        "tests": {"output": tests, "worktree": "/r/tests", "commitHash": commit, "sessionId": "s-1", "cost": 44_000,
            "failureProof": [failure()]},
        "impl": {"output": implementation, "worktree": "/r/impl", "commitHash": commit, "sessionId": "s-2",
            "cost": 38_000},
    })
}

pub(super) fn gated() -> Value {
    let types = json!({"output": types_output(), "sessionId": "s-0", "cost": 31_000});
    let skeleton = json!({"typesResult": types, "implPath": "src/lib.rs", "testPath": "tests/p.rs",
        "projectPath": "/r/skeleton"});
    let adversary = json!({"output": {"holes": [hole()], "analysis": "a", "confident": true},
        "verdict": "TypeSystemHasHoles"});
    json!({"skeleton": skeleton, "typeAdversary": adversary})
}

/// Every state can be stored and read again.
#[test]
fn states_have_one_form() {
    let gated = gated();
    // HY-115, HY-116, HY-117, HY-119
    check::<TypesResult>("tr", gated["skeleton"]["typesResult"].clone());
    check::<SkeletonState>("ss", gated["skeleton"].clone());
    check::<TypeAdversaryResult>("tar", gated["typeAdversary"].clone());
    check::<GatedState>("gs", gated.clone());
    let blind = blind_results();
    // HY-120, HY-121, HY-122
    check::<TestsResult>("tests", blind["tests"].clone());
    check::<ImplResult>("impl", blind["impl"].clone());
    check::<BlindResults>("br", blind.clone());
    let feedback = json!({"whyRejected": "w", "propertiesWrote": ["p"], "suggestion": "s"});
    // HY-113
    check::<TrivialTestsError>(
        "tte",
        json!({"blindResults": blind, "message": "m", "attempt": 1,
        "feedback": feedback}),
    );
    let verified = json!({"blindResults": blind, "externalVerified": true});
    // HY-124, HY-125
    check::<VerifiedResults>("vr", verified.clone());
    let merged = json!({"verifiedResults": verified, "mergeWorktree": "/r/merge", "understanding": understanding()});
    check::<MergedState>("ms", merged.clone());
    // HY-251
    let (since, until) = ("1".repeat(40), "2".repeat(40));
    check::<ConflictState>(
        "",
        json!({"verifiedResults": verified, "mergeWorktree": "/r/merge",
        "conflictedFiles": ["src/lib.rs"], "testsContext": "t", "implContext": "i",
        "remaining": [{"since": since, "until": until}]}),
    );
    // HY-128, HY-129
    check::<ValidationFailure>(
        "vf",
        json!({"mergedState": merged, "failures": [failure()],
        "newPatterns": [pattern()]}),
    );
    let validated = json!({"mergedState": merged, "testsPassed": 7});
    check::<ValidatedState>("vs", validated.clone());
    let (output, mechanical) = (
        json!({"mutantsTried": 9, "survivors": [survivor()], "analysis": "a"}),
        json!({"tried": 2, "caught": 2, "survivors": []}),
    );
    let refuted = json!([{"function": "push", "description": "d", "reason": "r"}]);
    // HY-130
    check::<MutationAdversaryResult>(
        "mar",
        json!({"output": output, "triedAgain": 1, "verdict": "TestSuiteHasGaps", "survivors": [survivor()], "refuted": refuted,
        "mechanical": mechanical}),
    );
    // HY-145
    check::<MutationFixInput>(
        "",
        json!({"validated": validated, "survivors": [survivor()],
        "fixTargets": [{"function": "push", "property": sketch(), "reason": "r"}]}),
    );
    let memory: HybridMemory =
        serde_json::from_value(json!({"functions": [function()], "gated": gated, "typeFixAttempt": 1,
        "priorTypeFixes": [], "trivialTestsAttempt": 2, "trivialFeedback": feedback, "fixAttempt": 3,
        "mutationFixAttempt": 4,
        "lastRound": {"signatures": ["s"], "failures": 4},
        "checks": {"SkeletonBuilds": {"status": "Verified", "detail": "it builds"}}}))
        .unwrap();
    assert_eq!((memory.type_fix_attempt, memory.trivial_tests_attempt, memory.fix_attempt), (1, 2, 3));
    // HY-253
    assert_eq!(memory.mutation_fix_attempt, 4);
    assert!(memory.gated.is_some() && memory.trivial_feedback.is_some() && memory.last_round.is_some());
    let stored = serde_json::to_value(&memory).unwrap();
    assert_eq!(serde_json::from_value::<HybridMemory>(stored).unwrap(), memory);
    assert_eq!(serde_json::from_value::<HybridMemory>(json!({})).unwrap(), HybridMemory::default());
    let unnamed = json!({"output": types_output(), "sessionId": "../s", "cost": 1});
    assert!(serde_json::from_value::<TypesResult>(unnamed).is_err(), "a session id is no path");
}
