//! No field of an agent's answer is dropped: each has someone who uses it (V3-158).

use schemars::schema_for;
use serde_json::Value;
use std::collections::BTreeSet;
use v3::types::implementation::ImplExit;
use v3::types::merge::MergerExit;
use v3::types::rebase::RebaserExit;
use v3::types::scaffold::ScaffoldExit;
use v3::types::tdd::{ReviewExit, WriteTestsExit};

/// Each field of each exit, and who uses it.
const CONSUMERS: [(&str, &str); 49] = [
    ("ScaffoldExit.InitWork.scaffoldCommit", "ForkInput, and the workspace `skeleton`"),
    (
        "ScaffoldExit.InitWork.interfaceFile",
        "WriteTestsInput.scaffold, ImplInput.scaffold, the children's ParentContext",
    ),
    ("ScaffoldExit.InitWork.contractSuite", "MergerInput, and `integrate`"),
    ("ScaffoldExit.InitWork.testPlan", "WriteTestsInput.scaffold"),
    ("ScaffoldExit.InitWork.childSpecs", "ChildrenInput.fork: the children's ScaffoldInput"),
    ("ScaffoldExit.InitWork.interfaces", "the children's Lineage.interfaceFiles"),
    ("ScaffoldExit.ClarificationNeeded.question", "V3Outcome; the parent's Clarification"),
    ("ScaffoldExit.ClarificationNeeded.ambiguityReference", "V3Outcome; the parent's Clarification"),
    ("ScaffoldExit.ClarificationNeeded.specSentence", "V3Outcome; the parent's Clarification"),
    ("WriteTestsExit.TestsReady.testsCommit", "held against the branch; ImplInput.testsReady"),
    ("WriteTestsExit.TestsReady.testFiles", "ImplInput.testsReady"),
    ("WriteTestsExit.TestsReady.pendingCriteria", "ImplInput.testsReady"),
    ("WriteTestsExit.InvalidScaffold.missingType", "ScaffoldInput.clarification"),
    ("WriteTestsExit.InvalidScaffold.expectedLocation", "ScaffoldInput.clarification"),
    ("ReviewExit.Approved.signOff", "MergerInput.tddApproval; of a judge ReviewInput.judgement"),
    ("ReviewExit.Approved.coverageReport", "MergerInput.tddApproval, TddMem.coveredCriteria"),
    ("ReviewExit.MoreTests.critiques", "WriteTestsInput.feedback, ImplInput.critiqueList"),
    ("ReviewExit.MoreTests.additionalTests", "WriteTestsInput.feedback"),
    ("ReviewExit.Reject.reason", "V3Outcome; of a judge ReviewInput.judgement"),
    ("ReviewExit.Reject.missingCriteria", "V3Outcome; of a judge ReviewInput.judgement"),
    ("ImplExit.TestsPassed.commitHash", "held against the branch; ReviewInput.implResult"),
    ("ImplExit.TestsPassed.iterations", "ReviewInput.implResult"),
    ("ImplExit.TestsPassed.passedTests", "ReviewInput.implResult"),
    ("ImplExit.RequestRetry.diagnosis", "ImplInput.retryFeedback, ImplMem.attemptHistory, V3Outcome"),
    ("ImplExit.RequestRetry.strategyFrom", "ImplInput.retryFeedback, ImplMem.attemptHistory"),
    ("ImplExit.RequestRetry.strategyTo", "ImplInput.retryFeedback, V3Outcome"),
    ("ImplExit.RequestRetry.failingTests", "ImplInput.retryFeedback"),
    ("ImplExit.BlockedDependency.missingSymbol", "ScaffoldInput.clarification"),
    ("ImplExit.BlockedDependency.expectedImportPath", "ScaffoldInput.clarification"),
    ("ImplExit.SpecAmbiguity.specSentence", "ScaffoldInput.clarification"),
    ("ImplExit.SpecAmbiguity.contradictionTrace", "ScaffoldInput.clarification"),
    ("ImplExit.SpecAmbiguity.question", "ScaffoldInput.clarification"),
    ("ImplExit.Stuck.diagnosis", "V3Outcome"),
    ("ImplExit.Stuck.recommendation", "V3Outcome"),
    ("ImplExit.Stuck.attempts", "dropped: the runtime counts (CON-12)"),
    ("MergerExit.MergeComplete.mergeCommit", "dropped: it is the runtime's own commit"),
    ("MergerExit.MergeComplete.author", "dropped: it is the node's id (V3-94)"),
    ("MergerExit.MergeComplete.impactLevel", "JudgeInput.merge, V3Outcome, MergeEvent"),
    ("MergerExit.MergeComplete.changes", "JudgeInput.merge, V3Outcome, MergeEvent"),
    ("MergerExit.MergeRejected.reason", "ImplInput.mergeRejection"),
    ("MergerExit.MergeRejected.details", "ImplInput.mergeRejection"),
    ("MergerExit.MergeRejected.failingTests", "ImplInput.mergeRejection"),
    ("RebaserExit.RebaseClean.newBase", "held against the branch"),
    ("RebaserExit.RebaseAdapted.newBase", "held against the branch"),
    ("RebaserExit.RebaseAdapted.adaptations", "the journal: what was adapted is on the branch"),
    ("RebaserExit.RebaseConflict.conflictFile", "ScaffoldInput.clarification"),
    ("RebaserExit.RebaseConflict.ourChange", "ScaffoldInput.clarification"),
    ("RebaserExit.RebaseConflict.theirChange", "ScaffoldInput.clarification"),
    ("RebaserExit.RebaseConflict.whyUnresolvable", "ScaffoldInput.clarification"),
];

/// The fields of an exit, by its schema: one object a variant, with one field of its name (V3-150).
fn fields_of(name: &str, schema: &Value) -> Vec<String> {
    let follow = |value: &Value| match value["$ref"].as_str() {
        Some(reference) => schema["$defs"][reference.rsplit('/').next().unwrap()].clone(),
        None => value.clone(),
    };
    let variants = schema["oneOf"].as_array().unwrap();
    let fields = variants.iter().flat_map(|variant| {
        let (variant, holds) = variant["properties"].as_object().unwrap().iter().next().unwrap();
        let properties = follow(holds)["properties"].as_object().unwrap().clone();
        properties.into_iter().map(move |(field, _)| format!("{name}.{variant}.{field}"))
    });
    fields.collect()
}

/// V3-158, V3-32, V3-53, V3-72, V3-86, V3-96, V3-131: the table has each field that the types have, and no other; no agent is asked for a count.
#[test]
fn each_field_of_each_exit_has_a_consumer() {
    let exits = [
        ("ScaffoldExit", schema_for!(ScaffoldExit)),
        ("WriteTestsExit", schema_for!(WriteTestsExit)),
        ("ReviewExit", schema_for!(ReviewExit)),
        ("ImplExit", schema_for!(ImplExit)),
        ("MergerExit", schema_for!(MergerExit)),
        ("RebaserExit", schema_for!(RebaserExit)),
    ];
    let fields: BTreeSet<String> = exits.iter().flat_map(|(name, schema)| fields_of(name, schema.as_value())).collect();
    let table: BTreeSet<String> = CONSUMERS.iter().map(|(field, _)| (*field).to_owned()).collect();
    assert_eq!(fields, table);
    assert!(!fields.iter().any(|field| field.contains("attemptCount")));
}
