//! Each field of an agent's answer is handed on by its node, or the table says why not (V3-158). Whether it is still heard if a
//! branch is adapted meanwhile is shown in `heard.rs`.

use crate::rebases::{clash, later};
use crate::small::{Act, AgentScript, Who, planned, project, scaffold, scaffolding, spec, test_run};
use crate::test_run::TestRun;
use schemars::schema_for;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use v3::types::implementation::ImplExit;
use v3::types::merge::MergerExit;
use v3::types::outcome::V3Outcome;
use v3::types::rebase::RebaserExit;
use v3::types::scaffold::ScaffoldExit;
use v3::types::tdd::{ReviewExit, WriteTestsExit};

/// Each field of each exit of each node, and its consumer, or why it has none.
const CONSUMERS: [(&str, &str); 55] = [
    ("scaffold.InitWork.scaffoldCommit", "ForkInput, and the workspace `skeleton`"),
    ("scaffold.InitWork.interfaceFile", "WriteTestsInput.scaffold, ImplInput.scaffold, the children's ParentContext"),
    ("scaffold.InitWork.contractSuite", "MergerInput, `integrate`, the children's Lineage.testsOfOthers"),
    ("scaffold.InitWork.testPlan", "WriteTestsInput.scaffold"),
    ("scaffold.InitWork.childSpecs", "ChildrenInput.fork: the children's ScaffoldInput, with Lineage.testsOfOthers"),
    ("scaffold.InitWork.interfaces", "the children's Lineage.interfaceFiles"),
    ("scaffold.ClarificationNeeded.question", "V3Outcome; the parent's Clarification"),
    ("scaffold.ClarificationNeeded.ambiguityReference", "V3Outcome; the parent's Clarification"),
    ("scaffold.ClarificationNeeded.specSentence", "V3Outcome; the parent's Clarification"),
    ("write_tests.TestsReady.testsCommit", "held against the branch; ImplInput.testsReady"),
    ("write_tests.TestsReady.testFiles", "ImplInput.testsReady"),
    ("write_tests.TestsReady.pendingCriteria", "ImplInput.testsReady"),
    ("write_tests.InvalidScaffold.missingType", "ScaffoldInput.clarification"),
    ("write_tests.InvalidScaffold.expectedLocation", "ScaffoldInput.clarification"),
    ("review.Approved.signOff", "MergerInput.tddApproval"),
    ("review.Approved.coverageReport", "MergerInput.tddApproval, TddMem.coveredCriteria"),
    ("review.MoreTests.critiques", "WriteTestsInput.feedback, ImplInput.critiqueList"),
    ("review.MoreTests.additionalTests", "WriteTestsInput.feedback"),
    ("review.Reject.reason", "V3Outcome"),
    ("review.Reject.missingCriteria", "V3Outcome"),
    (
        "judge.Approved.signOff",
        "of one that leaves out a criterion ReviewInput.judgement; dropped where the commit lands",
    ),
    ("judge.Approved.coverageReport", "ReviewInput.judgement, of what it leaves out; dropped where the commit lands"),
    ("judge.MoreTests.critiques", "ReviewInput.judgement"),
    ("judge.MoreTests.additionalTests", "ReviewInput.judgement"),
    ("judge.Reject.reason", "ReviewInput.judgement"),
    ("judge.Reject.missingCriteria", "ReviewInput.judgement"),
    ("implement.TestsPassed.commitHash", "held against the branch; ReviewInput.implResult"),
    ("implement.TestsPassed.iterations", "ReviewInput.implResult"),
    ("implement.TestsPassed.passedTests", "ReviewInput.implResult"),
    ("implement.RequestRetry.diagnosis", "ImplInput.retryFeedback, ImplMem.attemptHistory, V3Outcome"),
    ("implement.RequestRetry.strategyFrom", "ImplInput.retryFeedback, ImplMem.attemptHistory"),
    ("implement.RequestRetry.strategyTo", "ImplInput.retryFeedback, V3Outcome"),
    ("implement.RequestRetry.failingTests", "ImplInput.retryFeedback"),
    ("implement.BlockedDependency.missingSymbol", "ScaffoldInput.clarification"),
    ("implement.BlockedDependency.expectedImportPath", "ScaffoldInput.clarification"),
    ("implement.SpecAmbiguity.specSentence", "ScaffoldInput.clarification"),
    ("implement.SpecAmbiguity.contradictionTrace", "ScaffoldInput.clarification"),
    ("implement.SpecAmbiguity.question", "ScaffoldInput.clarification"),
    ("implement.Stuck.diagnosis", "V3Outcome"),
    ("implement.Stuck.recommendation", "V3Outcome"),
    ("implement.Stuck.attempts", "dropped: the runtime counts (CON-12)"),
    ("merger.MergeComplete.mergeCommit", "dropped: it is the runtime's own commit"),
    ("merger.MergeComplete.author", "dropped: it is the node's id (V3-94)"),
    ("merger.MergeComplete.impactLevel", "JudgeInput.merge, V3Outcome, MergeEvent"),
    ("merger.MergeComplete.changes", "JudgeInput.merge, V3Outcome, MergeEvent"),
    ("merger.MergeRejected.reason", "ImplInput.mergeRejection"),
    ("merger.MergeRejected.details", "ImplInput.mergeRejection"),
    ("merger.MergeRejected.failingTests", "ImplInput.mergeRejection"),
    ("rebaser.RebaseClean.newBase", "held against the branch"),
    ("rebaser.RebaseAdapted.newBase", "held against the branch"),
    ("rebaser.RebaseAdapted.adaptations", "WriteTestsInput.adaptations"),
    ("rebaser.RebaseConflict.conflictFile", "ScaffoldInput.clarification"),
    ("rebaser.RebaseConflict.ourChange", "ScaffoldInput.clarification"),
    ("rebaser.RebaseConflict.theirChange", "ScaffoldInput.clarification"),
    ("rebaser.RebaseConflict.whyUnresolvable", "ScaffoldInput.clarification"),
];

/// The fields of an exit, by its schema: one object for each variant, with one field of its name (V3-150).
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

/// V3-158, V3-32, V3-53, V3-72, V3-86, V3-96, V3-131, PRG-28, EVO-03, EVO-09: the table has exactly the fields of the types; no
/// agent is asked for a count, or for a verdict that can be looked up.
#[test]
fn each_field_of_each_exit_has_a_consumer() {
    let exits = [
        ("scaffold", schema_for!(ScaffoldExit)),
        ("write_tests", schema_for!(WriteTestsExit)),
        ("review", schema_for!(ReviewExit)),
        ("judge", schema_for!(ReviewExit)),
        ("implement", schema_for!(ImplExit)),
        ("merger", schema_for!(MergerExit)),
        ("rebaser", schema_for!(RebaserExit)),
    ];
    let fields: BTreeSet<String> = exits.iter().flat_map(|(name, schema)| fields_of(name, schema.as_value())).collect();
    let table: BTreeSet<String> = CONSUMERS.iter().map(|(field, _)| (*field).to_owned()).collect();
    assert_eq!(fields, table);
    for claim in ["attemptCount", "onfidence", "everity", "uildPassed"] {
        assert!(!fields.iter().any(|field| field.contains(claim)), "{claim}");
    }
}

/// EVO-03, EVO-09: each prompt asks for each field of its answers, and not for an agent's confidence or for a severity.
#[test]
fn each_prompt_asks_for_what_its_answers_have() {
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    for (field, _) in CONSUMERS {
        let [node, variant, name] = field.split('.').collect::<Vec<_>>()[..] else { panic!("{field}") };
        let prompt = std::fs::read_to_string(templates.join(format!("{node}.md"))).unwrap();
        let (_, returns) = prompt.split_once("## What to return").unwrap();
        let asks =
            |line: &&str| line.starts_with(&format!("- `{variant}`, with ")) && line.contains(&format!("`{name}`"));
        assert!(returns.lines().any(|line| asks(&line)), "{field}: {returns}");
        assert!(!prompt.contains("onfiden") && !prompt.contains("everity"), "{prompt}");
    }
}

/// Each answer's envelope: its type, its severity, and the route hint.
const ENVELOPES: [(&str, &str, &str, Option<&str>); 17] = [
    ("InitWork", "INIT_WORK", "INFO", Some("fork")),
    ("ClarificationNeeded", "CLARIFICATION_NEEDED", "BLOCKER", Some("exit")),
    ("TestsReady", "TESTS_READY", "INFO", Some("barrier.tests")),
    ("InvalidScaffold", "INVALID_SCAFFOLD", "BLOCKER", Some("scaffold")),
    ("Approved", "APPROVED", "INFO", None),
    ("MoreTests", "MORE_TESTS", "WARN", None),
    ("Reject", "REJECT", "BLOCKER", None),
    ("TestsPassed", "TESTS_PASSED", "INFO", Some("review")),
    ("RequestRetry", "REQUEST_RETRY", "WARN", Some("implement")),
    ("BlockedDependency", "BLOCKED_DEPENDENCY", "BLOCKER", Some("scaffold")),
    ("SpecAmbiguity", "SPEC_AMBIGUITY", "BLOCKER", Some("scaffold")),
    ("Stuck", "STUCK", "BLOCKER", Some("exit")),
    ("MergeComplete", "MERGE_COMPLETE", "INFO", Some("judge")),
    ("MergeRejected", "MERGE_REJECTED", "WARN", Some("implement")),
    ("RebaseClean", "REBASE_CLEAN", "INFO", None),
    ("RebaseAdapted", "REBASE_ADAPTED", "INFO", Some("write_tests")),
    ("RebaseConflict", "REBASE_CONFLICT", "BLOCKER", Some("scaffold")),
];

/// Where each answer of each node leads, if the run allows it.
const WAYS: [(&str, &str, &str); 19] = [
    ("scaffold", "InitWork", "fork"),
    ("scaffold", "ClarificationNeeded", "exit"),
    ("write_tests", "TestsReady", "barrier.tests"),
    ("write_tests", "InvalidScaffold", "scaffold"),
    ("implement", "TestsPassed", "review"),
    ("implement", "RequestRetry", "implement"),
    ("implement", "BlockedDependency", "scaffold"),
    ("implement", "SpecAmbiguity", "scaffold"),
    ("implement", "Stuck", "exit"),
    ("review", "Approved", "merge_queue"),
    ("review", "MoreTests", "write_tests"),
    ("review", "Reject", "exit"),
    ("merger", "MergeComplete", "judge"),
    ("merger", "MergeRejected", "implement"),
    ("judge", "MoreTests", "review"),
    ("judge", "Reject", "review"),
    // An approval that leaves out a criterion; a complete approval lands, and passes nothing on.
    ("judge", "Approved", "review"),
    ("rebaser", "RebaseAdapted", "write_tests"),
    ("rebaser", "RebaseConflict", "scaffold"),
];

/// A unique text for a field.
fn mark(field: &str) -> String {
    format!("mark of {field}")
}

/// An agent's answer, and the part of it that must be passed on.
#[derive(Clone)]
struct Said {
    node: &'static str,
    who: Who,
    id: &'static str,
    answer: Value,
}

fn said(node: &'static str, who: Who, id: &'static str, answer: Value) -> Said {
    Said { node, who, id, answer }
}

/// The texts and numbers in a field, except the commit that the agent has just made.
fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        Value::Object(fields) => fields.values().flat_map(leaves).collect(),
        Value::String(text) if text == "$HEAD" => Vec::new(),
        Value::String(text) => vec![text.clone()],
        other => vec![other.to_string()],
    }
}

/// Makes agents give these answers, one after the other, and looks for each of their fields in what their nodes have passed on.
async fn pass_on(test: &TestRun<'_>, all: &[Said]) {
    let mut records: BTreeMap<String, String> = BTreeMap::new();
    let (mut labels, mut ways) = (BTreeSet::new(), BTreeSet::new());
    for run in test.journal.runs().await.unwrap() {
        for mut outcome in test.outcomes(&run.run).await {
            outcome.calls.clear();
            labels.extend(outcome.label.iter().map(|label| {
                let severity = format!("{:?}", label.severity).to_uppercase();
                (outcome.node.clone(), label.ty.clone(), severity, label.route_hint.clone())
            }));
            let place = outcome.tokens.first().map(|token| token.place.clone());
            ways.extend(outcome.label.iter().map(|label| (outcome.node.clone(), label.ty.clone(), place.clone())));
            let passed = records.entry(outcome.node.clone()).or_default();
            *passed += &serde_json::to_string(&outcome).unwrap();
        }
    }
    for Said { node, answer, .. } in all {
        let (variant, fields) = answer.as_object().unwrap().iter().next().unwrap();
        // V3-143, CON-39: it has an envelope.
        let (_, ty, severity, hint) =
            ENVELOPES.iter().find(|(of, ..)| *of == variant).unwrap_or_else(|| panic!("{variant} has no envelope"));
        // Reviews and judgements share one answer type, and lead to different nodes.
        let hint = hint.filter(|_| !["review", "judge"].contains(node)).map(str::to_owned);
        let envelope = ((*node).to_owned(), (*ty).to_owned(), (*severity).to_owned(), hint);
        assert!(labels.contains(&envelope), "{envelope:?} is not in {labels:?}");
        let to = WAYS.iter().find(|(from, said, _)| from == node && said == variant).map(|(.., to)| (*to).to_owned());
        let way = ((*node).to_owned(), (*ty).to_owned(), to);
        assert!(ways.contains(&way), "{way:?} is not in {ways:?}");
        for (field, value) in fields.as_object().unwrap() {
            let name = format!("{node}.{variant}.{field}");
            let consumer = CONSUMERS.iter().find(|(field, _)| *field == name).unwrap().1;
            if consumer.starts_with("dropped") {
                continue;
            }
            for leaf in leaves(value) {
                assert!(records[*node].contains(&leaf), "{name} is not passed on to {consumer}: {leaf}");
            }
        }
    }
}

fn script(all: &[Said]) -> AgentScript {
    let each = |script: AgentScript, said: &Said| {
        let acts = if said.node == "scaffold" { scaffolding(said.id) } else { Vec::new() };
        script.once(said.who, said.id, &said.answer, &acts)
    };
    all.iter().fold(AgentScript::default(), each)
}

/// The answers on the ways back of a run without children.
fn ways_back() -> Vec<Said> {
    let critique = json!({ "file": "src/top.txt", "line": 4713, "issue": mark("issue"), "requiredFix": mark("fix") });
    let test = json!({ "criterionId": "one", "plannedTestName": "one_is_marked", "approach": mark("approach") });
    let covered = json!({ "criteriaWithTests": [["one", mark("test")]], "criteriaMissing": [] });
    let invalid = json!({ "missingType": mark("type"), "expectedLocation": mark("location") });
    let retry = json!({ "diagnosis": mark("diagnosis"), "strategyFrom": mark("from"), "strategyTo": mark("to"),
        "failingTests": [mark("failing")] });
    let blocked = json!({ "missingSymbol": mark("symbol"), "expectedImportPath": mark("path") });
    let ambiguous =
        json!({ "specSentence": mark("sentence"), "contradictionTrace": mark("trace"), "question": mark("question") });
    let more = json!({ "critiques": [critique], "additionalTests": [test] });
    let approved = json!({ "signOff": mark("sign-off"), "coverageReport": covered });
    let rejected = json!({ "reason": "BuildFailure", "details": mark("details"), "failingTests": [mark("rejecting")] });
    vec![
        said("write_tests", Who::TestAuthor, "top", json!({ "InvalidScaffold": invalid })),
        said("implement", Who::Implementer, "top", json!({ "RequestRetry": retry })),
        said("implement", Who::Implementer, "top", json!({ "BlockedDependency": blocked })),
        said("implement", Who::Implementer, "top", json!({ "SpecAmbiguity": ambiguous })),
        said("review", Who::Reviewer, "top", json!({ "MoreTests": more })),
        said("review", Who::Reviewer, "top", json!({ "Approved": approved })),
        said("merger", Who::Merger, "top", json!({ "MergeRejected": rejected })),
    ]
}

/// The answers on the way to a merge of a run without children.
fn way_on() -> Vec<Said> {
    let ready =
        json!({ "TestsReady": { "testsCommit": "$HEAD", "testFiles": ["checks/top.sh"], "pendingCriteria": ["one"] } });
    let passed = json!({ "commitHash": "$HEAD", "iterations": 4711, "passedTests": [mark("passed")] });
    vec![
        said("write_tests", Who::TestAuthor, "top", ready),
        said("implement", Who::Implementer, "top", json!({ "TestsPassed": passed })),
    ]
}

/// The answers that end a run.
fn endings() -> Vec<Said> {
    let needed = json!({ "question": mark("question"), "ambiguityReference": mark("reference"), "specSentence": "Says when it is done." });
    let reject = json!({ "reason": mark("reason"), "missingCriteria": [mark("missing")] });
    let stuck = json!({ "diagnosis": mark("diagnosis"), "recommendation": mark("recommendation"), "attempts": 99 });
    vec![
        said("scaffold", Who::Planner, "top", json!({ "ClarificationNeeded": needed })),
        said("review", Who::Reviewer, "top", json!({ "Reject": reject })),
        said("implement", Who::Implementer, "top", json!({ "Stuck": stuck })),
    ]
}

/// The answers of a child's judge.
fn judges() -> Vec<Said> {
    let critique = json!({ "file": "src/a.txt", "line": 4713, "issue": mark("issue"), "requiredFix": mark("fix") });
    let test = json!({ "criterionId": "a", "plannedTestName": "a_is_marked", "approach": mark("approach") });
    let more = json!({ "critiques": [critique], "additionalTests": [test] });
    let reject = json!({ "reason": mark("reason"), "missingCriteria": [mark("missing")] });
    let left_out = json!({ "criteriaWithTests": [], "criteriaMissing": [mark("left out")] });
    let approved = json!({ "signOff": mark("sign-off"), "coverageReport": left_out });
    let answers = [json!({ "MoreTests": more }), json!({ "Reject": reject }), json!({ "Approved": approved })];
    answers.into_iter().map(|answer| said("judge", Who::Judge, "top/a", answer)).collect()
}

/// The answers of a child's rebaser, each in a run of its own.
fn rebasers() -> Vec<Said> {
    let adaptation = json!({ "symbol": mark("symbol"), "change": mark("change"), "reason": mark("why") });
    let adapted = json!({ "newBase": "$HEAD", "adaptations": [adaptation] });
    let conflict = json!({ "conflictFile": "mark/file", "ourChange": mark("ours"), "theirChange": mark("theirs"),
        "whyUnresolvable": mark("conflict") });
    let clean = json!({ "newBase": "$HEAD" });
    let answers =
        [json!({ "RebaseAdapted": adapted }), json!({ "RebaseConflict": conflict }), json!({ "RebaseClean": clean })];
    answers.into_iter().map(|answer| said("rebaser", Who::Rebaser, "top/a", answer)).collect()
}

/// The answers in those runs of agents that behave correctly.
fn of_a_family() -> Vec<Said> {
    vec![
        said("scaffold", Who::Planner, "top", scaffold("top", &["a", "b"], &planned(&["a", "b"]))),
        said("merger", Who::Merger, "top/a", crate::small::merged("top/a")),
    ]
}

/// V3-158: each field's text is looked for in the tests below.
#[test]
fn each_field_of_each_exit_is_said_by_somebody() {
    let all = [ways_back(), way_on(), endings(), judges(), rebasers(), of_a_family()].concat();
    let fields = all.iter().flat_map(|Said { node, answer, .. }| {
        let (variant, fields) = answer.as_object().unwrap().iter().next().unwrap();
        let fields: Vec<&String> = fields.as_object().unwrap().keys().collect();
        fields.into_iter().map(move |field| format!("{node}.{variant}.{field}"))
    });
    let table: BTreeSet<String> = CONSUMERS.iter().map(|(field, _)| (*field).to_owned()).collect();
    assert_eq!(fields.collect::<BTreeSet<_>>(), table);
}

/// V3-158, V3-143, V3-109…119, PRG-11, PRG-12, PRG-14, PRG-16, PRG-18, EVO-03: each way back leads to the right node, and its
/// texts are in that node's input.
#[tokio::test]
async fn what_is_said_on_the_ways_back_is_passed_on() {
    let done = [crate::small::append("src/top.txt", "done\n"), Act::Commit];
    let project = project().await;
    let passed = way_on().pop().unwrap();
    let script = script(&ways_back()).once(passed.who, passed.id, &passed.answer, &done).honest("top", &[]);
    let test = test_run(&project, &script);
    let outcome = test.outcome(spec(&[])).await;
    let V3Outcome::Merged(merge) = outcome else { panic!("{outcome}") };
    assert_eq!(merge.changes.len(), 1);
    pass_on(&test, &ways_back()).await;
    pass_on(&test, &way_on()).await;
}

/// V3-158, V3-107, V3-112, V3-117, PRG-17: the texts that end a run are passed on.
#[tokio::test]
async fn what_is_said_at_the_end_is_passed_on() {
    for last in endings() {
        let all = [last];
        let project = project().await;
        let test = test_run(&project, &script(&all).honest("top", &[]));
        let outcome = test.outcome(spec(&[])).await;
        assert!(!matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
        pass_on(&test, &all).await;
    }
}

/// V3-158, V3-106, V3-118, V3-120…122, PRG-19: the texts of a judge and of a rebaser are passed on.
#[tokio::test]
async fn what_a_judge_and_a_rebaser_say_is_passed_on() {
    for rebaser in rebasers() {
        let project = project().await;
        let clash = clash("shared.txt", |child| format!("by {child}\n"), &rebaser.answer, &[]);
        let test = test_run(&project, &AgentScript::with(script(&judges()), clash));
        let outcome = later(&test, async {}).await;
        assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
        pass_on(&test, &[judges(), vec![rebaser], of_a_family()].concat()).await;
    }
}
