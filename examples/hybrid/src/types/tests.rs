//! The JSON form of every type: what is written, what is accepted, what is refused.

mod results;
mod states;

use self::results::{lattice, result};
use self::states::{blind_results, gated};

use expect_test::expect_file;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

/// Checks that the canonical form is written unchanged, and that the form with the prefix of HY-70 is read as the same
/// value.
#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(prefix: &str, canonical: Value) {
    let parsed: T = serde_json::from_value(canonical.clone()).expect("the canonical form parses");
    assert_eq!(serde_json::to_value(&parsed).unwrap(), canonical);
    if let Some(prefixed) = prefixed(prefix, canonical) {
        let understood: T = serde_json::from_value(prefixed).expect("the prefixed form parses");
        assert_eq!(understood, parsed);
    }
}

/// The fields of an object with a prefix, if there is one.
fn prefixed(prefix: &str, canonical: Value) -> Option<Value> {
    let (false, Value::Object(fields)) = (prefix.is_empty(), canonical) else { return None };
    let prefixed = fields.into_iter().map(|(name, value)| {
        let name = format!("{prefix}{}{}", name[..1].to_ascii_uppercase(), &name[1..]);
        (name, value)
    });
    Some(prefixed.collect())
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
        "missingTest": "m", "suggestedProp": sketch(), "edit": {"original": "a", "replacement": "b"}})
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

/// HY-70: a contract in the protocol's original names parses, and is written in the canonical form.
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
    // HY-95
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

/// HY-82: a contract that specifies a function twice does not parse, so its agent is asked again: no claim about such a function
/// could be decided.
#[test]
fn a_contract_has_each_function_once() {
    for field in ["functions", "taoFunctions"] {
        let mut output = types_output();
        output.as_object_mut().unwrap().remove("functions");
        output[field] = json!([function(), function()]);
        let error = serde_json::from_value::<TypesAgentOutput>(output).unwrap_err();
        assert_eq!(error.to_string(), "`push` is listed twice; specify each function once");
    }
}

/// Agents' outputs.
#[test]
fn answers_have_one_form() {
    // HY-82, HY-83, HY-86. CON-64: two types share a prefix, and each is read as what it is.
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
    // HY-96, HY-97, HY-251
    check::<SurvivingMutant>("sm", survivor());
    check::<MutationAdversaryOutput>("mut", json!({"mutantsTried": 3, "survivors": [survivor()], "analysis": "a"}));
    check::<ConflictResolveOutput>("", json!({"filesResolved": ["f"], "resolutionNotes": "n", "blocker": null}));
}

/// Findings of the program.
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
    // HY-105
    check::<MutationTemplateCtx>(
        "mtc",
        json!({"implPath": "src/lib.rs", "testPath": "tests/p.rs",
        "functions": [function()], "targets": ["push"], "targetsBy": "the syntax alone"}),
    );
    check::<FixTemplateCtx>(
        "",
        json!({"failures": [failure()], "understanding": understanding(),
        "functions": [function()], "implPath": "src/lib.rs"}),
    );
}

/// HY-190: impossible numbers are refused with an error that explains them, so that the agent can be asked again. So are more
/// survivors than are tried: none of them counts as refuted for want of a trial.
#[test]
fn impossible_numbers_of_mutants_are_refused() {
    let read = |tried: u32, survivors: usize| {
        let survivors = vec![survivor(); survivors];
        let output = json!({"mutantsTried": tried, "survivors": survivors, "analysis": "a"});
        serde_json::from_value::<MutationAdversaryOutput>(output).map_err(|error| error.to_string())
    };
    assert!(read(1, 0).is_ok() && read(1, 1).is_ok() && read(9, 2).is_ok());
    assert!(read(30, MOST_SURVIVORS).is_ok());
    for (tried, survived) in [(0, 0), (0, 1), (1, 2)] {
        let said = read(tried, survived).unwrap_err();
        let expected =
            format!("{survived} of {tried} mutants are said to have survived; count every mutant that was considered");
        assert!(said.starts_with(&expected), "{said}");
    }
    let said = read(30, MOST_SURVIVORS + 1).unwrap_err();
    assert_eq!(said, "21 mutants are said to have survived, and at most 20 are tried; report the most dangerous");
}

/// The schemas for agents.
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
    // HY-97, HY-251
    check::<MutationAdversaryOutput>("mutation_adversary_output");
    check::<ConflictResolveOutput>("conflict_resolve_output");
}

/// HY-08: every text of an agent is a name, a word of a list, a path, or prose; only a mutant's change is code. A new field has
/// to be added here.
#[test]
fn no_text_of_an_agent_is_meant_to_be_code_but_a_mutants_change() {
    fn texts(schema: &Value, at: &str, found: &mut std::collections::BTreeSet<String>) {
        let is_text = |of: &Value| {
            of["type"] == "string" || of["type"].as_array().is_some_and(|types| types.contains(&json!("string")))
        };
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            if is_text(field) || is_text(&field["items"]) {
                found.insert(format!("{at}.{name}"));
            }
        }
        for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
            texts(definition, name, found);
        }
    }
    let mut found = std::collections::BTreeSet::new();
    for schema in [
        serde_json::to_value(schemars::schema_for!(TypesAgentOutput)),
        serde_json::to_value(schemars::schema_for!(TypeAdversaryOutput)),
        serde_json::to_value(schemars::schema_for!(TestsAgentOutput)),
        serde_json::to_value(schemars::schema_for!(ImplAgentOutput)),
        serde_json::to_value(schemars::schema_for!(FixAgentOutput)),
        serde_json::to_value(schemars::schema_for!(MutationAdversaryOutput)),
        serde_json::to_value(schemars::schema_for!(ConflictResolveOutput)),
    ] {
        let schema = schema.unwrap();
        let title = schema["title"].as_str().unwrap().to_owned();
        texts(&schema, &title, &mut found);
    }
    let (code, words): (Vec<_>, Vec<_>) = found.into_iter().partition(|field| field.starts_with("MutantEdit."));
    assert_eq!(code, ["MutantEdit.original", "MutantEdit.replacement"]);
    let expected = expect_test::expect![[r#"
        ConcreteExample.description
        ConcreteExample.expected
        ConcreteExample.input
        ConflictResolveOutput.blocker
        ConflictResolveOutput.filesResolved
        ConflictResolveOutput.resolutionNotes
        CoverageReport.functionsCovered
        CoverageReport.functionsUncovered
        CoverageReport.sketchesCovered
        CoverageReport.sketchesUncovered
        ExampleRef.function
        FixAgentOutput.blocker
        FixAgentOutput.commitMsg
        FixApplied.function
        FixApplied.whatChanged
        FixApplied.whyFailed
        FunctionImplemented.approach
        FunctionImplemented.complexity
        FunctionImplemented.handlesEdges
        FunctionImplemented.name
        FunctionSpec.behavior
        FunctionSpec.brief
        FunctionSpec.name
        FunctionSpec.signature
        ImplAgentOutput.blocker
        ImplAgentOutput.commitMsg
        ImplAgentOutput.dataRepr
        ImplAgentOutput.designNotes
        MutationAdversaryOutput.analysis
        PropertySketch.description
        PropertySketch.invariant
        PropertySketch.name
        PropertyWritten.coversSketch
        PropertyWritten.description
        PropertyWritten.name
        PropertyWritten.targetFunctions
        SurvivingMutant.description
        SurvivingMutant.function
        SurvivingMutant.missingTest
        SurvivingMutant.whyDangerous
        TestsAgentOutput.blocker
        TestsAgentOutput.commitMsg
        TestsAgentOutput.strategy
        TypeAdversaryOutput.analysis
        TypeHole.description
        TypeHole.exploitSketch
        TypeHole.invariantBroken
        TypeHole.suggestedFix
        TypesAgentOutput.blocker
        TypesAgentOutput.constructors
        TypesAgentOutput.designNotes
        TypesAgentOutput.imports
        TypesAgentOutput.typeDescription
        TypesAgentOutput.typeKind
        TypesAgentOutput.typeName"#]];
    expected.assert_eq(&words.join("\n"));
}

/// TC-14: the kind of a type is free text, in the words of any language.
#[test]
fn the_kind_of_a_type_is_free_text() {
    for kind in ["struct, generic over `T: Ord`", "a newtype of two things", "class with __slots__", "Type -> Type"] {
        let mut output = types_output();
        output["typeKind"] = kind.into();
        let read: TypesAgentOutput = serde_json::from_value(output).unwrap();
        assert_eq!(read.type_kind, kind);
    }
}

/// HY-80, HY-86: the schema demands examples and properties, and demands no verdict.
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

/// HY-265, CON-58: no field of prompts, payloads, memory or results ranks how far an agent is trusted; only the type adversary
/// says, for information, whether it is confident.
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
        serde_json::to_value(schemars::schema_for!(MutationAdversaryOutput)),
        serde_json::to_value(schemars::schema_for!(ConflictResolveOutput)),
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
