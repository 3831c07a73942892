//! The wire form of every type: what is written, what is understood, what is refused.

use expect_test::expect_file;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

/// The canonical form is what comes out again, and the prefixed form of its own fields means the same.
#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(prefix: &str, canonical: Value) {
    let parsed: T = serde_json::from_value(canonical.clone()).expect("the canonical form parses");
    assert_eq!(serde_json::to_value(&parsed).unwrap(), canonical);
    if let (false, Value::Object(fields)) = (prefix.is_empty(), canonical) {
        let prefixed = fields.into_iter().map(|(name, value)| {
            let name = format!("{prefix}{}{}", name[..1].to_ascii_uppercase(), &name[1..]);
            (name, value)
        });
        let understood: T = serde_json::from_value(prefixed.collect()).expect("the prefixed form parses");
        assert_eq!(understood, parsed);
    }
}

fn example() -> Value {
    json!({"description": "d", "input": "i", "expected": "e", "edgeCase": true})
}

fn sketch() -> Value {
    json!({"name": "p", "description": "d", "invariant": "i", "type": {"Other": "distributive"}})
}

fn function() -> Value {
    json!({"name": "push", "signature": "s", "brief": "b", "behavior": "b", "examples": [example()],
        "properties": [sketch()], "priority": 1})
}

fn types_output() -> Value {
    json!({"typeName": "Stack", "typeKind": "struct", "typeDescription": "d", "constructors": ["new"],
        "functions": [function()], "imports": [], "designNotes": "n", "blocker": null})
}

fn hole() -> Value {
    json!({"holeType": "RepresentableInvalid", "description": "d", "invariantBroken": "i", "exploitSketch": "e",
        "severity": "Major", "suggestedFix": "f"})
}

fn fix_applied() -> Value {
    json!({"function": "push", "whatChanged": "w", "whyFailed": "y", "fixType": {"OtherFix": "o"}})
}

fn failure() -> Value {
    json!({"propertyName": "p", "failureType": "Timeout", "counterexample": "c", "expected": "e", "actual": null,
        "message": "m"})
}

fn pattern() -> Value {
    json!({"signature": "s", "affectedFns": ["push"], "category": "UndefinedHit", "occurrences": 2})
}

fn understanding() -> Value {
    json!({"failuresSeen": [pattern()], "fixesApplied": [fix_applied()], "learnings": ["l"], "converging": false})
}

fn survivor() -> Value {
    json!({"function": "push", "mutationType": "OffByOne", "description": "d", "whyDangerous": "w",
        "missingTest": "m", "suggestedProp": sketch()})
}

/// HY-70, HY-71, HY-72, CON-63: the task.
#[test]
fn the_task_has_one_form() {
    let strictness = json!({"mutationBlocking": true, "maxFixAttempts": 3, "requireCoverage": false});
    check::<StrictnessConfig>("sc", strictness.clone());
    check::<StackSpec>(
        "spec",
        json!({"moduleName": "m", "description": "d", "acceptanceCriteria": ["a"],
        "implPath": "src/lib.rs", "testPath": "tests/p.rs", "strictness": strictness}),
    );
}

/// HY-76, HY-77, HY-79: the contract.
#[test]
fn the_contract_has_one_form() {
    check::<ConcreteExample>("ce", example());
    check::<PropertySketch>("ps", sketch());
    check::<FunctionSpec>("fn", function());
}

/// HY-70: a contract in the protocol's original names parses, and comes out in the canonical form.
#[test]
fn a_contract_in_original_names_parses() {
    let seed = r#"{
  "fnName": "push", "fnSignature": "pub fn push(&mut self, value: i64)", "fnBrief": "Puts a value on top.",
  "fnBehavior": "The value becomes the top.",
  "fnExamples": [{"ceDescription": "d", "ceInput": "push 1", "ceExpected": "top is 1", "ceEdgeCase": false}],
  "fnProperties": [{"psName": "p", "psDescription": "d", "psInvariant": "i", "psType": "Inverse"}],
  "fnPriority": 2
}"#;
    let function: FunctionSpec = serde_json::from_str(seed).unwrap();
    assert_eq!(function.examples[0].expected, "top is 1");
    let written = serde_json::to_string(&function).unwrap();
    assert!(written.contains(r#""edgeCase":false"#) && !written.contains("fnName"), "{written}");
}

/// Every variant of every enum.
#[test]
fn every_variant_keeps_its_name() {
    fn names<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(names: &[&str], open: Option<&str>) {
        for name in names {
            check::<T>("", json!(name));
        }
        if let Some(open) = open {
            check::<T>("", json!({open: "something else"}));
        }
        assert!(serde_json::from_value::<T>(json!("Nothing")).is_err());
    }
    // HY-78
    names::<PropertyType>(
        &["Inverse", "Idempotent", "Commutative", "Associative", "Identity", "Preservation", "Boundary", "Monotonic"],
        Some("Other"),
    );
    // HY-84, HY-85
    names::<HoleType>(&["RepresentableInvalid", "LeakyAbstraction", "PartialFunction", "TypeConfusion"], None);
    names::<Severity>(&["Critical", "Major", "Minor", "Informational"], None);
    // HY-93
    names::<FixType>(&["EdgeCaseFix", "LogicFix", "TypeFix", "BoundaryFix", "InitializationFix"], Some("OtherFix"));
    names::<MutationType>(
        &[
            "BoundaryMutation",
            "ConditionFlip",
            "OffByOne",
            "SwappedArgs",
            "RemovedCheck",
            "ChangedOperator",
            "ReturnedWrongBranch",
        ],
        Some("OtherMutation"),
    );
    // HY-100
    names::<FailureType>(&["PropertyFailed", "ExceptionThrown", "Timeout", "UndefinedHit", "ParseError"], None);
    // HY-118
    names::<TypeSystemVerdict>(&["TypeSystemSound", "TypeSystemMinorHoles", "TypeSystemHasHoles"], None);
    names::<TestSuiteVerdict>(&["TestSuiteRobust", "TestSuiteHasGaps", "TestSuiteWeak"], None);
}

/// HY-80: without an example or a property a function does not parse.
#[test]
fn a_function_needs_an_example_and_a_property() {
    for list in ["examples", "properties"] {
        let mut without = function();
        without[list] = json!([]);
        let error = serde_json::from_value::<FunctionSpec>(without).unwrap_err();
        assert!(error.to_string().contains("the list is empty"), "{error}");
    }
}

/// What agents answer.
#[test]
fn answers_have_one_form() {
    // HY-82, HY-83, HY-86
    check::<TypesAgentOutput>("tao", types_output());
    check::<TypeHole>("th", hole());
    check::<TypeAdversaryOutput>("tao", json!({"holes": [hole()], "analysis": "a", "confident": true}));
    let written = json!({"name": "p", "targetFunctions": ["push"], "propertyType": "Inverse", "description": "d",
        "coversExamples": [{"function": "push", "index": 0}], "coversSketch": "p"});
    let coverage = json!({"functionsCovered": ["push"], "functionsUncovered": [], "examplesCovered": 1,
        "examplesTotal": 2, "sketchesCovered": [], "sketchesUncovered": ["p"]});
    // HY-87, HY-88, HY-89
    check::<PropertyWritten>("pw", written.clone());
    check::<CoverageReport>("cr", coverage.clone());
    check::<TestsAgentOutput>(
        "tests",
        json!({"properties": [written], "coverage": coverage, "selfVerified": true,
        "commitMsg": "c", "strategy": "s", "blocker": "b"}),
    );
    let implemented = json!({"name": "push", "approach": "a", "complexity": null, "handlesEdges": ["e"]});
    // HY-90, HY-91
    check::<FunctionImplemented>("fi", implemented.clone());
    check::<ImplAgentOutput>(
        "impl",
        json!({"functions": [implemented], "dataRepr": "d", "designNotes": "n",
        "buildPassed": true, "commitMsg": "c", "blocker": null}),
    );
    // HY-92, HY-94
    check::<FixApplied>("fa", fix_applied());
    check::<FixAgentOutput>(
        "fix",
        json!({"changes": [fix_applied()], "buildPassed": false, "commitMsg": "c",
        "blocker": null}),
    );
    // No run has these.
    check::<SurvivingMutant>("sm", survivor());
    check::<MutationAdversaryOutput>("mut", json!({"mutantsTried": 3, "survivors": [survivor()], "analysis": "a"}));
    check::<ConflictResolveOutput>("", json!({"filesResolved": ["f"], "resolutionNotes": "n", "blocker": null}));
}

/// What the program works out.
#[test]
fn findings_have_one_form() {
    // HY-99, HY-127
    check::<StructuredFailure>("sf", failure());
    check::<FailurePattern>("fp", pattern());
    check::<UnderstandingState>("us", understanding());
    // HY-102, HY-114
    check::<HardeningHint>("hh", json!({"context": "c", "guidance": "g", "source": "typeAdversary"}));
    check::<TrivialTestsFeedback>("ttf", json!({"whyRejected": "w", "propertiesWrote": ["p"], "suggestion": "s"}));
    let observation = json!({"node": "tests", "phase": "blind", "progress": "wrote 3", "concerns": []});
    // HY-132, HY-133
    check::<NodeObservation>("no", observation.clone());
    check::<WitnessReport>(
        "wr",
        json!({"observations": [observation], "narrative": "n", "concerns": [],
        "suggestions": []}),
    );
    check::<TypeHolesFound>(
        "thf",
        json!({"originalTypes": types_output(), "holes": [hole()], "attempt": 1,
        "maxAttempts": 5, "priorFixes": [{"attempt": 1, "holes": [hole()], "designNotes": "n"}]}),
    );
}

/// HY-103, HY-104, HY-106: contexts, field by field: no worktree path, no session, no cost.
#[test]
fn contexts_hold_only_what_prompts_need() {
    let echoes = json!({"fromImpl": ["Stack::push"], "fromTests": ["prop_push"]});
    let hint = json!({"context": "c", "guidance": "g", "source": "typeAdversary"});
    let feedback = json!({"whyRejected": "w", "propertiesWrote": ["p"], "suggestion": "s"});
    check::<TestsTemplateCtx>(
        "ttc",
        json!({"typeName": "Stack", "constructors": ["new"], "functions": [function()],
        "testPath": "tests/p.rs", "priorFeedback": feedback, "echoes": echoes, "hardeningHints": [hint]}),
    );
    check::<ImplTemplateCtx>(
        "itc",
        json!({"typeName": "Stack", "constructors": ["new"], "functions": [function()],
        "implPath": "src/lib.rs", "echoes": null, "hardeningHints": []}),
    );
    // No run has this one.
    check::<MutationTemplateCtx>(
        "mtc",
        json!({"implPath": "src/lib.rs", "testPath": "tests/p.rs",
        "functions": [function()]}),
    );
    check::<FixTemplateCtx>(
        "",
        json!({"failures": [failure()], "understanding": understanding(),
        "functions": [function()], "implPath": "src/lib.rs"}),
    );
}

fn blind_results() -> Value {
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

fn gated() -> Value {
    let types = json!({"output": types_output(), "sessionId": "s-0", "cost": 31_000});
    let skeleton = json!({"typesResult": types, "implPath": "src/lib.rs", "testPath": "tests/p.rs",
        "projectPath": "/r/skeleton"});
    let adversary = json!({"output": {"holes": [hole()], "analysis": "a", "confident": true},
        "verdict": "TypeSystemHasHoles"});
    json!({"skeleton": skeleton, "typeAdversary": adversary})
}

/// Every state survives being stored.
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
    // No run has this one.
    check::<ConflictState>(
        "",
        json!({"verifiedResults": verified, "mergeWorktree": "/r/merge",
        "conflictedFiles": ["src/lib.rs"], "testsContext": "t", "implContext": "i"}),
    );
    // HY-128, HY-129
    check::<ValidationFailure>(
        "vf",
        json!({"mergedState": merged, "failures": [failure()],
        "newPatterns": [pattern()]}),
    );
    let validated = json!({"mergedState": merged, "testsPassed": 7});
    check::<ValidatedState>("vs", validated.clone());
    // No run has this one.
    check::<MutationFixInput>(
        "",
        json!({"validated": validated, "survivors": [survivor()],
        "fixTargets": [{"function": "push", "property": sketch(), "reason": "r"}]}),
    );
    let memory: HybridMemory =
        serde_json::from_value(json!({"functions": [function()], "gated": gated, "typeFixAttempt": 1,
        "priorTypeFixes": [], "trivialTestsAttempt": 2, "trivialFeedback": feedback, "fixAttempt": 3,
        "lastRound": {"signatures": ["s"], "failures": 4},
        "checks": {"SkeletonBuilds": {"status": "Verified", "detail": "it builds"}}}))
        .unwrap();
    assert_eq!((memory.type_fix_attempt, memory.trivial_tests_attempt, memory.fix_attempt), (1, 2, 3));
    assert!(memory.gated.is_some() && memory.trivial_feedback.is_some() && memory.last_round.is_some());
    let stored = serde_json::to_value(&memory).unwrap();
    assert_eq!(serde_json::from_value::<HybridMemory>(stored).unwrap(), memory);
    assert_eq!(serde_json::from_value::<HybridMemory>(json!({})).unwrap(), HybridMemory::default());
    let unnamed = json!({"output": types_output(), "sessionId": "../s", "cost": 1});
    assert!(serde_json::from_value::<TypesResult>(unnamed).is_err(), "a session id is no path");
}

fn result(success: bool, lattice: &LatticeReport, failure: &Value) -> Value {
    json!({"success": success, "attempts": 1, "spec": [function()],
        "testsCoverage": null, "understanding": understanding(), "typeAdversary": gated()["typeAdversary"],
        "mutationAdversary": "NotRun", "witness": {"observations": [], "narrative": "n", "concerns": [],
        "suggestions": []}, "totalCost": 125_000, "lattice": lattice, "failure": failure})
}

/// The nine checks, of which those hold that do not lack.
fn lattice(lacking: &[Check]) -> LatticeReport {
    let outcome = |check: &Check| (*check, CheckOutcome::new(!lacking.contains(check), "seen"));
    LatticeReport::new(StrictnessConfig::default(), &Check::ALL.iter().map(outcome).collect())
}

/// A result that says success of a run in which a check that blocks does not hold cannot be read, nor one that says both or
/// neither of success and failure.
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
        json!({"MergeConflict": {"files": ["src/lib.rs"]}}),
    ];
    for failure in failures {
        check::<HybridResult>("", result(failure.is_null(), &lattice(&[]), &failure));
    }
}

/// HY-11, HY-101: an echo is a name; prose and code are refused.
#[test]
fn echoes_are_names_only() {
    for good in ["push", "BoundedStack::push", "prop_push_pop", "r#type"] {
        assert!(Identifier::new(good).is_ok(), "{good}");
    }
    let long = "a".repeat(129);
    for bad in ["", "a b", "push()", "::push", "push::", "fn", "1st", "a-b", "a\nb", "a:b", long.as_str()] {
        assert!(Identifier::new(bad).is_err(), "{bad:?}");
        assert!(serde_json::from_value::<EchoChannel>(json!({"fromImpl": [bad], "fromTests": []})).is_err());
    }
}

/// HY-98, CON-84: a blocker counts when it says something.
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

/// Which survivors are critical, for every kind.
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

/// The schemas that agents are given.
#[test]
fn schemas_stay_as_they_are() {
    fn check<T: JsonSchema>(name: &str) {
        let schema = serde_json::to_string_pretty(&schemars::schema_for!(T)).unwrap();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemas/");
        expect_file![format!("{path}{name}.json")].assert_eq(&format!("{schema}\n"));
    }
    // HY-82, HY-86
    check::<TypesAgentOutput>("types_agent_output");
    check::<TypeAdversaryOutput>("type_adversary_output");
    // HY-89, HY-91, HY-94
    check::<TestsAgentOutput>("tests_agent_output");
    check::<ImplAgentOutput>("impl_agent_output");
    check::<FixAgentOutput>("fix_agent_output");
    // No agent is given these.
    check::<MutationAdversaryOutput>("mutation_adversary_output");
    check::<ConflictResolveOutput>("conflict_resolve_output");
}

/// HY-80, HY-86: the schema demands examples and properties, and asks nobody for a verdict.
#[test]
fn schemas_demand_and_leave_out_what_they_should() {
    let types = serde_json::to_value(schemars::schema_for!(TypesAgentOutput)).unwrap();
    for list in ["examples", "properties"] {
        assert_eq!(types["$defs"]["FunctionSpec"]["properties"][list]["minItems"], 1);
    }
    let adversary = serde_json::to_value(schemars::schema_for!(TypeAdversaryOutput)).unwrap();
    let fields: Vec<_> = adversary["properties"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["analysis", "confident", "holes"]);
}

/// HY-265: of all that agents are asked for, that nodes hand on, that a run remembers and that comes of it, nothing ranks how far
/// anybody is trusted; only the type adversary says, for information, whether it is confident.
#[test]
fn nothing_ranks_trust() {
    fn keys(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                found.push(name.to_lowercase());
                keys(value, found);
            }),
            Value::Array(elements) => elements.iter().for_each(|value| keys(value, found)),
            _ => {}
        }
    }
    let memory = HybridMemory { gated: Some(serde_json::from_value(gated()).unwrap()), ..HybridMemory::default() };
    let verified = json!({"blindResults": blind_results(), "externalVerified": true});
    let merged = json!({"verifiedResults": verified, "mergeWorktree": "/r/merge", "understanding": understanding()});
    let state: ValidatedState = serde_json::from_value(json!({"mergedState": merged, "testsPassed": 7})).unwrap();
    let told: TestsTemplateCtx = serde_json::from_value(json!({"typeName": "Stack", "constructors": ["new"],
        "functions": [function()], "testPath": "tests/p.rs", "hardeningHints": []}))
    .unwrap();
    let output: HybridResult = serde_json::from_value(result(true, &lattice(&[]), &json!(null))).unwrap();
    let all = [
        serde_json::to_value(schemars::schema_for!(TypesAgentOutput)),
        serde_json::to_value(schemars::schema_for!(TypeAdversaryOutput)),
        serde_json::to_value(schemars::schema_for!(TestsAgentOutput)),
        serde_json::to_value(schemars::schema_for!(ImplAgentOutput)),
        serde_json::to_value(schemars::schema_for!(FixAgentOutput)),
        serde_json::to_value(memory),
        serde_json::to_value(state),
        serde_json::to_value(told),
        serde_json::to_value(output),
    ];
    let mut names = Vec::new();
    all.into_iter().for_each(|value| keys(&value.unwrap(), &mut names));
    assert!(names.contains(&"externalverified".to_owned()) && names.contains(&"lattice".to_owned()), "it looks inside");
    names.retain(|name| ["trust", "confid", "rank", "weight"].iter().any(|word| name.contains(word)));
    names.sort();
    names.dedup();
    assert_eq!(names, ["confident"]);
}
