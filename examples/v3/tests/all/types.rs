//! Payloads as JSON: field names in camel case, unknown fields refused.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use v3::memory::{ImplMem, TddMem};
use v3::types::implementation::{ImplExit, ImplInput, ImplResult};
use v3::types::lineage::ParentContext;
use v3::types::merge::{MergerExit, MergerInput};
use v3::types::outcome::V3Outcome;
use v3::types::rebase::{Adaptation, RebaserExit, RebaserInput};
use v3::types::scaffold::{Clarification, InitWork, InitWorkPayload, ScaffoldExit, ScaffoldInput};
use v3::types::shared::{
    ChangeEntry, CoverageReport, Critique, InterfaceFile, MergeComplete, MergeEvent, NodeInfo, PlannedTest,
};
use v3::types::spec::{ChildSpec, Constraints, Criterion, Spec, SpecError};
use v3::types::tdd::{
    JudgeInput, ReviewExit, ReviewInput, TddApproval, TddMode, TestsReadyPayload, WriteTestsExit, WriteTestsInput,
};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Asserts that the value survives a round trip, and is refused without a mandatory field or with an unknown
/// one.
#[track_caller]
fn holds<T: Serialize + DeserializeOwned>(text: &Value, optional: &[&str]) {
    let read: T = serde_json::from_value(text.clone()).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_value(&read).unwrap(), *text);
    let Value::Object(fields) = text else { panic!("{text}") };
    for name in fields.keys() {
        let mut without = fields.clone();
        without.remove(name);
        let read = serde_json::from_value::<T>(without.into());
        assert_eq!(read.is_ok(), optional.contains(&name.as_str()), "without {name}: {text}");
    }
    let mut more = fields.clone();
    more.insert("surplus".to_owned(), json!(1));
    assert!(serde_json::from_value::<T>(more.into()).is_err(), "{text}");
}

fn criterion() -> Value {
    json!({ "id": "c", "text": "It holds." })
}

fn spec() -> Value {
    json!({
        "id": "top", "description": "D.", "acceptanceCriteria": [criterion()], "targetPath": "src/a.rs", "testPath": "tests/a.rs",
        "complexityConstraints": { "time": "O(1)", "space": "O(n)" },
    })
}

fn planned() -> Value {
    json!({ "criterionId": "c", "plannedTestName": "t", "approach": "Looks." })
}

fn scaffold() -> Value {
    json!({ "scaffoldCommit": COMMIT, "interfaceFile": "src/a.rs", "contractSuite": "tests/contract.rs", "testPlan": [planned()] })
}

fn change() -> Value {
    json!({ "symbol": "a::b", "changeType": "NewExport", "reason": "R." })
}

fn merge() -> Value {
    json!({ "mergeCommit": COMMIT, "author": "top/a", "impactLevel": "Additive", "changes": [change()] })
}

fn critique() -> Value {
    json!({ "file": "src/a.rs", "line": 3, "issue": "I.", "requiredFix": "F." })
}

fn ready() -> Value {
    json!({ "testsCommit": COMMIT, "testFiles": ["tests/a.rs"], "pendingCriteria": ["c"] })
}

fn result() -> Value {
    json!({ "commitHash": COMMIT, "iterations": 2, "passedTests": ["t"] })
}

fn approval() -> Value {
    json!({ "signOff": "S.", "coverageReport": { "criteriaWithTests": [["c", "t"]], "criteriaMissing": ["d"] } })
}

fn retry() -> Value {
    json!({ "diagnosis": "D.", "strategyFrom": "a", "strategyTo": "b", "failingTests": ["t"] })
}

fn rejected() -> Value {
    json!({ "reason": "ContractViolation", "details": "D.", "failingTests": ["t"] })
}

fn node() -> Value {
    json!({ "nodeId": "top/a", "branch": "r/a/impl" })
}

/// V3-12…30, V3-28, V3-29, V3-30.
#[test]
fn shared_types_are_field_exact() {
    holds::<Spec>(&spec(), &["complexityConstraints"]); // V3-12
    holds::<Constraints>(&json!({ "time": "O(1)", "space": "O(n)" }), &["time", "space"]); // V3-13
    holds::<Criterion>(&criterion(), &[]); // V3-14
    holds::<PlannedTest>(&planned(), &[]); // V3-15
    holds::<Critique>(&critique(), &[]); // V3-16
    // V3-18
    for name in ["SignatureChange", "NewExport", "RemovedExport", "BehaviorChange"] {
        holds::<ChangeEntry>(&json!({ "symbol": "a::b", "changeType": name, "reason": "R." }), &[]);
    }
    holds::<NodeInfo>(&node(), &[]); // V3-19
    holds::<CoverageReport>(&approval()["coverageReport"], &[]); // V3-20, CON-133
    // V3-21, V3-17
    for level in ["Trivial", "Additive", "Breaking"] {
        let mut merge = merge();
        merge["impactLevel"] = json!(level);
        holds::<MergeComplete>(&merge, &[]);
    }
    holds::<InitWorkPayload>(&scaffold(), &[]); // V3-23
    holds::<TestsReadyPayload>(&ready(), &[]); // V3-24
    holds::<ImplResult>(&result(), &[]); // V3-25
    holds::<TddApproval>(&approval(), &[]); // V3-26
    holds::<Adaptation>(&json!({ "symbol": "s", "change": "c", "reason": "r" }), &[]); // V3-27
    holds::<ParentContext>(&json!({ "interface": "pub fn a();", "assignedCriteria": ["c"] }), &[]); // V3-28, CON-35
    let mut child = spec();
    child.as_object_mut().unwrap().remove("complexityConstraints");
    holds::<ChildSpec>(&child, &[]); // V3-29
    holds::<InterfaceFile>(&json!({ "path": "src/a.rs", "exports": ["a"] }), &[]); // V3-30
    // V3-17, V3-18: closed enumerations.
    for (place, wrong) in [("impactLevel", "Huge"), ("changes", "")] {
        let mut merge = merge();
        merge[place] = if wrong.is_empty() {
            json!([{ "symbol": "s", "changeType": "Other", "reason": "r" }])
        } else {
            json!(wrong)
        };
        assert!(serde_json::from_value::<MergeComplete>(merge).is_err(), "{place}");
    }
}

/// V3-52, V3-70, PRG-21, PRG-22: what nodes remember survives a journal.
#[test]
fn memories_survive_json() {
    fn is_same<T: Serialize + DeserializeOwned>(text: &Value) {
        let read: T = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), *text);
    }
    is_same::<TddMem>(&json!({
        "conversationId": "top tdd", "thread": { "session": "s-1", "place": "tests" }, "coveredCriteria": ["c"], "pendingTests": [planned()],
        "writtenTests": [planned()], "feedback": { "critiques": [critique()], "additionalTests": [planned()] },
    }));
    is_same::<ImplMem>(&json!({
        "conversationId": "top impl", "sessionId": "s-1", "passedTests": ["t"],
        "attemptHistory": [{ "strategy": "a", "outcome": "partial: half of it" }],
    }));
}

/// V3-22: without the commit, and with everything else.
#[test]
fn siblings_are_told_of_a_merge_without_its_commit() {
    let complete: MergeComplete = serde_json::from_value(merge()).unwrap();
    let mut expected = merge();
    expected.as_object_mut().unwrap().remove("mergeCommit");
    assert_eq!(serde_json::to_value(MergeEvent::from(&complete)).unwrap(), expected);
}

/// V3-23: tests and implementation receive the scaffold without the children and their interfaces.
#[test]
fn the_scaffold_is_passed_on_without_the_children() {
    let mut child = spec();
    child.as_object_mut().unwrap().remove("complexityConstraints");
    let mut work = scaffold();
    work["childSpecs"] = json!([child]);
    work["interfaces"] = json!([{ "path": "src/a.rs", "exports": [] }]);
    let work: InitWork = serde_json::from_value(work).unwrap();
    assert_eq!(serde_json::to_value(InitWorkPayload::from(&work)).unwrap(), scaffold());
}

/// V3-31, V3-51, V3-68, V3-85, V3-95, V3-155, V3-156, V3-157, V3-163, CON-138.
#[test]
fn inputs_survive_json() {
    let lineage = json!({
        "parent": node(), "session": "s-1", "interfaceFiles": ["src/a.rs"], "testsOfOthers": ["tests/b.rs"], "sentBack": null,
    });
    let context = json!({ "interface": "i", "assignedCriteria": ["c"] });
    let clarifications = [
        json!({ "InvalidScaffold": { "missingType": "T", "expectedLocation": "l" } }),
        json!({ "BlockedDependency": { "missingSymbol": "s", "expectedImportPath": "p" } }),
        json!({ "SpecAmbiguity": { "specSentence": "s", "contradictionTrace": "t", "question": "q" } }),
        json!({ "RebaseConflict": { "conflictFile": "f", "ourChange": "o", "theirChange": "t", "whyUnresolvable": "w" } }),
    ];
    for clarification in clarifications {
        holds::<Clarification>(&clarification, &[]);
        let input = json!({
            "spec": spec(), "parentContext": context, "clarification": clarification, "violations": ["v"], "lineage": lineage,
        });
        holds::<ScaffoldInput>(&input, &["parentContext", "clarification", "violations", "lineage"]);
    }
    let feedback = json!({ "critiques": [critique()], "additionalTests": [planned()] });
    let adaptations = json!([{ "symbol": "s", "change": "c", "reason": "r" }]);
    let tests = json!({
        "spec": spec(), "scaffold": scaffold(), "feedback": feedback, "adaptations": adaptations, "violations": [],
    });
    holds::<WriteTestsInput>(&tests, &["feedback", "adaptations", "violations"]);
    let input = json!({
        "spec": spec(), "scaffold": scaffold(), "testsReady": ready(), "childMerges": [merge()], "attemptCount": 2,
        "critiqueList": [critique()], "violations": ["v"], "retryFeedback": retry(), "mergeRejection": rejected(),
        "childFailures": [{ "nodeId": "top/a", "why": "W." }],
    });
    let optional = ["childMerges", "critiqueList", "violations", "retryFeedback", "mergeRejection", "childFailures"];
    holds::<ImplInput>(&input, &optional);
    let judgement =
        json!({ "reason": "r", "critiques": [critique()], "additionalTests": [planned()], "missingCriteria": ["c"] });
    let review =
        json!({ "spec": spec(), "scaffold": scaffold(), "implResult": result(), "diff": "d", "judgement": judgement });
    holds::<ReviewInput>(&review, &["judgement"]);
    // V3-51: the mode follows from the node.
    let review: ReviewInput = serde_json::from_value(review).unwrap();
    let mode = serde_json::to_value(review.mode()).unwrap();
    assert_eq!(mode, json!({ "ReviewImpl": { "implResult": result(), "diff": "d" } }));
    let tests: WriteTestsInput = serde_json::from_value(tests).unwrap();
    assert_eq!(serde_json::to_value(tests.mode()).unwrap(), json!("WriteTests"));
    assert_eq!(serde_json::from_value::<TddMode>(mode).unwrap(), review.mode());
    let merger =
        json!({ "parentNode": node(), "childNode": node(), "tddApproval": approval(), "contractSuite": "tests/c.rs" });
    holds::<MergerInput>(&merger, &[]);
    let mut event = merge();
    event.as_object_mut().unwrap().remove("mergeCommit");
    let judge = json!({
        "childSpec": spec(), "assignedCriteria": ["c"], "diff": "d", "siblingChanges": [event], "merge": merge(),
    });
    holds::<JudgeInput>(&judge, &[]);
    let rebaser = json!({ "node": node(), "parentBranch": "main", "newParentHead": COMMIT, "mergeEvent": event });
    holds::<RebaserInput>(&rebaser, &[]);
}

/// V3-33, V3-34, V3-53, V3-72, V3-86, V3-96, V3-154, CON-05: each variant of each exit.
#[test]
fn exits_survive_json() {
    let mut work = scaffold();
    holds::<InitWork>(&work, &[]);
    work["childSpecs"] = json!([]);
    work["interfaces"] = json!([{ "path": "src/a.rs", "exports": [] }]);
    holds::<InitWork>(&work, &["childSpecs", "interfaces"]);
    assert!(serde_json::from_value::<InitWork>(work.clone()).unwrap().children().is_empty(), "V3-34");
    let needed = json!({ "question": "q", "ambiguityReference": "a", "specSentence": "s" });
    for exit in [json!({ "InitWork": work }), json!({ "ClarificationNeeded": needed })] {
        holds::<ScaffoldExit>(&exit, &[]);
    }
    for exit in [
        json!({ "TestsReady": ready() }),
        json!({ "InvalidScaffold": { "missingType": "T", "expectedLocation": "l" } }),
    ] {
        holds::<WriteTestsExit>(&exit, &[]);
    }
    let more = json!({ "critiques": [critique()], "additionalTests": [planned()] });
    let reject = json!({ "reason": "r", "missingCriteria": ["c"] });
    for exit in [json!({ "Approved": approval() }), json!({ "MoreTests": more }), json!({ "Reject": reject })] {
        holds::<ReviewExit>(&exit, &[]);
        // V3-54: an exit of one mode is refused by the other.
        assert!(serde_json::from_value::<WriteTestsExit>(exit).is_err());
    }
    for exit in [
        json!({ "TestsPassed": result() }),
        json!({ "RequestRetry": retry() }),
        json!({ "BlockedDependency": { "missingSymbol": "s", "expectedImportPath": "p" } }),
        json!({ "SpecAmbiguity": { "specSentence": "s", "contradictionTrace": "t", "question": "q" } }),
        json!({ "Stuck": { "diagnosis": "d", "recommendation": "r", "attempts": 5 } }),
    ] {
        holds::<ImplExit>(&exit, &[]);
    }
    // CON-06
    for exit in [json!({ "MergeComplete": merge() }), json!({ "MergeRejected": rejected() })] {
        holds::<MergerExit>(&exit, &[]);
    }
    for exit in [
        json!({ "RebaseClean": { "newBase": COMMIT } }),
        json!({ "RebaseAdapted": { "newBase": COMMIT, "adaptations": [] } }),
        json!({ "RebaseConflict": { "conflictFile": "f", "ourChange": "o", "theirChange": "t", "whyUnresolvable": "w" } }),
    ] {
        holds::<RebaserExit>(&exit, &[]);
    }
    for outcome in [
        json!({ "Merged": merge() }),
        json!({ "ClarificationNeeded": needed }),
        json!({ "Rejected": reject }),
        json!({ "Stuck": { "diagnosis": "d", "recommendation": "r", "attempts": 5, "spentLoop": "a → b" } }),
        json!({ "Failed": { "node": "n", "reason": "r" } }),
    ] {
        holds::<V3Outcome>(&outcome, &[]);
    }
}

/// V3-29, CON-36: a child inherits its parent's constraints.
#[test]
fn a_child_has_its_parents_constraints() {
    let parent: Spec = serde_json::from_value(spec()).unwrap();
    let mut child = spec();
    child.as_object_mut().unwrap().remove("complexityConstraints");
    let child: ChildSpec = serde_json::from_value(child).unwrap();
    assert_eq!(child.to_spec(&parent).complexity_constraints, parent.complexity_constraints);
    assert!(parent.complexity_constraints.is_some());
}

/// A wrong specification is refused with a reason.
#[test]
fn a_specification_is_checked() {
    let text = "id = \"top\"\ndescription = \"D.\"\ntargetPath = \"a\"\ntestPath = \"b\"\n[[acceptanceCriteria]]\nid = \"c\"\ntext = \"T.\"\n";
    assert_eq!(Spec::parse(text).unwrap().criteria().len(), 1);
    let refused = |find: &str, with: &str| Spec::parse(&text.replace(find, with)).unwrap_err();
    assert!(matches!(refused("\"b\"", "\"a\""), SpecError::OneFile { .. }));
    // The directory of the tests contains tests only, so nothing could be implemented there.
    let among =
        Spec::parse(&text.replace("\"a\"", "\"src/a/mod.rs\"").replace("\"b\"", "\"src/a/tests.rs\"")).unwrap_err();
    assert!(matches!(among, SpecError::AmongTests { .. }));
    assert!(Spec::parse(&text.replace("\"a\"", "\"src/a.rs\"").replace("\"b\"", "\"src/a/tests.rs\"")).is_ok());
    assert!(matches!(refused("\"a\"", "\"../a\""), SpecError::Unreadable { .. }));
    assert!(matches!(refused("\"top\"", "\"Top Node\""), SpecError::Unreadable { .. }));
    let again = format!("{text}[[acceptanceCriteria]]\nid = \"c\"\ntext = \"U.\"\n");
    assert!(matches!(Spec::parse(&again).unwrap_err(), SpecError::SameCriterion { .. }));
    let (none, _) = text.split_once("[[").unwrap();
    let none = format!("{none}acceptanceCriteria = []\n");
    assert!(matches!(Spec::parse(&none).unwrap_err(), SpecError::NoCriteria { .. }));
}
