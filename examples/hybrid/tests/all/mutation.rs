//! Tests that miss bugs: how surviving mutants are found, which of them are tried, and how the run ends.

use crate::agent_script::{AgentScript, Turn};
use crate::stage::{Stage, check};
use crate::watched::Until;
use hybrid::demo::Scenario;
use hybrid::run::{Settings, set_up};
use hybrid::types::{
    Action, Check, CheckReport, HybridFailure, MutationAdversary, MutationAdversaryResult, RefutedSurvivor,
    StrictnessConfig, TestSuiteVerdict,
};
use interlocking::agents::SessionOp;
use interlocking::runtime::journal::{Entry, MemoryJournal, RecordedPayload};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Tests that never check the value that a full stack hands back.
fn weak(turn: &mut Turn) {
    turn.edit("prop_assert_eq!(stack.push(value), Err(Full(value)));", "prop_assert!(stack.push(value).is_err());");
    turn.edit("    assert_eq!(BoundedStack::with_capacity(0).push(1), Err(Full(1)));\n", "");
    turn.edit("    assert_eq!(stack.push(5), Err(Full(5)));\n", "");
    turn.edit("use bounded_stack::{BoundedStack, Full};", "use bounded_stack::BoundedStack;");
    for property in turn.answer["properties"].as_array_mut().unwrap() {
        let covers = property["coversExamples"].as_array_mut().unwrap();
        covers.retain(|example| example["function"] != "BoundedStack::push" || example["index"] == 0);
    }
}

/// A survivor that the adversary reports: a change of `push`.
pub(crate) fn survivor(kind: &str, original: &str, replacement: &str) -> Value {
    json!({"function": "BoundedStack::push", "mutationType": kind, "description": format!("`{original}` becomes `{replacement}`."),
        "whyDangerous": "The caller loses a value.", "missingTest": "Look at what comes back.",
        "suggestedProp": {"name": "prop_refused_value_comes_back", "description": "A refused value comes back.",
            "invariant": "push(v) on a full stack = Err(Full(v))", "type": "Boundary"},
        "edit": {"original": original, "replacement": replacement}})
}

/// The adversary's report.
pub(crate) fn report(tried: u32, survivors: &[Value]) -> Value {
    json!({"mutantsTried": tried, "survivors": survivors, "analysis": "The value that comes back is never looked at."})
}

/// The adversary reports two survivors; one of them does survive, and the other is caught.
fn script(kind: &str) -> AgentScript {
    let lost = survivor(kind, "Err(Full(value))", "Err(Full(0))");
    let caught = survivor("BoundaryMutation", ">= self.capacity", "> self.capacity");
    AgentScript::of(Scenario::Happy)
        .with("tests", weak)
        .with("mutation", |turn| turn.answer = report(9, &[lost, caught]))
}

fn found(result: &hybrid::types::HybridResult) -> &MutationAdversaryResult {
    match &result.mutation_adversary {
        MutationAdversary::Ran(found) => found,
        other => panic!("{other:?}"),
    }
}

/// HY-187, CON-68: if survivors do not block, they are reported, and the run lands. HY-152: one mode; the other is below.
#[tokio::test(flavor = "multi_thread")]
async fn survivors_that_do_not_block_are_reported() {
    let mut stage = Stage::new(script("BoundaryMutation")).await;
    stage.task.mechanical_mutants = 4;
    let ended = stage.run().await;
    let result = stage.assert_landed(&ended);
    // HY-167: a survivor is a claim, which is tried before anything follows from it: one of the two survived, and the
    // other was caught.
    let found = found(&result);
    assert_eq!((found.output.survivors.len(), found.survivors.len()), (2, 1));
    let expected = RefutedSurvivor {
        function: "BoundedStack::push".to_owned(),
        description: "`>= self.capacity` becomes `> self.capacity`.".to_owned(),
        reason: found.refuted[0].reason.clone(),
    };
    assert_eq!(found.refuted, [expected]);
    assert!(found.refuted[0].reason.starts_with("caught by `prop_"), "{}", found.refuted[0].reason);
    assert_eq!(found.verdict, TestSuiteVerdict::TestSuiteHasGaps);
    let mechanical = found.mechanical.as_ref().unwrap();
    assert!(mechanical.tried > 0 && mechanical.tried <= 4 && mechanical.caught > 0, "{mechanical:?}");
    let (held, detail) = check(&result, Check::MutantsCaught);
    assert!(!held && detail.starts_with("1 of 9 mutants survive; 1 more were said to, and do not; "), "{detail}");
    // HY-240, HY-244: the suggested property becomes a work item, in the form of a contract.
    let item = result.work_items.iter().find(|item| item.action == Action::AddBoundaryProperty).unwrap();
    assert_eq!(item.suggested_property.as_ref().unwrap().name, "prop_refused_value_comes_back");
    // HY-243: no property asserts two of the examples.
    assert!(result.work_items.iter().any(|item| item.action == Action::ExpandExamples), "{:?}", result.work_items);
    // HY-245: suggestions for a future run.
    let suggestion = "Add the property `prop_refused_value_comes_back` for `BoundedStack::push`: push(v) on a full stack = Err(Full(v))";
    assert!(result.witness.suggestions.iter().any(|it| it == suggestion), "{:?}", result.witness.suggestions);

    // HY-164: the adversary is told which functions there are, and of nothing else. HY-166: the result names the source
    // of that list.
    let call = stage.calls_of("mutation").remove(0);
    let told_by = result.ground_truth.mutation_targets.unwrap();
    let all = ["with_capacity", "push", "pop", "peek", "height"].map(|name| format!("- `BoundedStack::{name}`\n"));
    let listed = format!("The functions of the implementation, by {told_by}:\n\n{}\n## ", all.concat());
    assert!(told_by.starts_with("the syntax alone, because ") && call.prompt.contains(&listed), "{}", call.prompt);
    // It reads the merged code, in a place of its own.
    assert!(call.workspace.ends_with("r1/mutation-review"));
    assert!(
        call.files["src/lib.rs"].contains("Err(Full(value))") && call.files["tests/properties.rs"].contains("is_err()")
    );
}

/// HY-140, HY-187, CON-68: a run with a critical survivor does not succeed, and all findings stay in the result. A property that
/// nobody claims and that is skipped changes nothing of that.
#[tokio::test(flavor = "multi_thread")]
async fn a_critical_survivor_is_no_success() {
    let skipped = "#[test]\n#[ignore = \"slow\"]\nfn prop_slow() {\n    assert!(BoundedStack::with_capacity(9).peek().is_none());\n}\n";
    let script = script("RemovedCheck").with("tests", |turn| turn.file().push_str(skipped));
    let stage = Stage::new(script).await;
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::CriticalMutantSurvived { survivors } = failure else { panic!("{failure:?}") };
    assert_eq!(survivors, found(&result).survivors);
    assert!(check(&result, Check::MergedTestsPass).0 && result.tests_coverage.is_some());
    assert!(stage.archive().iter().any(|(_, subject)| subject.starts_with("merge: ")), "{:?}", stage.archive());
}

/// HY-186, HY-250, CON-69: if survivors block, the tests are strengthened, verified, merged and run again, and attacked again.
/// HY-75, HY-152: two specifications, two behaviours.
#[tokio::test(flavor = "multi_thread")]
async fn tests_are_strengthened_until_nothing_survives() {
    let mut stronger = AgentScript::of(Scenario::Happy).turn("tests").asked("# Strengthen the tests");
    stronger.answer["commitMsg"] = json!("look at what comes back");
    let none = AgentScript::of(Scenario::Happy).turn("mutation");
    let mut stage = Stage::new(script("BoundaryMutation").then(stronger).then(none)).await;
    stage.task.spec.strictness = StrictnessConfig::strict();
    let ended = stage.run().await;
    let result = stage.assert_landed(&ended);
    let routes = stage.trace().routes();
    let after_merge = routes.iter().position(|route| route == "validate → post_validate").unwrap();
    let expected = [
        "validate → post_validate",
        "post_validate → mutation",
        "mutation → settle",
        "settle → mutation_fix",
        "mutation_fix → verify",
        "verify → merge",
        "merge → validate",
        "validate → post_validate",
        "post_validate → mutation",
        "mutation → settle",
        "settle → finish",
        "finish → exit",
    ];
    assert_eq!(routes[after_merge..], expected);
    assert_eq!(check(&result, Check::MutantsCaught), (true, "0 of 10 mutants survive"));

    // The tests agent continues its session, in its own place, and is told what to add, but not the mutation itself.
    let [first, second] = &stage.calls_of("tests")[..] else { panic!("{:?}", stage.calls_of("tests")) };
    assert_eq!(second.session, SessionOp::ContinueFrom(first.answered_in.clone().unwrap()));
    assert!(second.workspace.ends_with("r1/tests") && second.files["src/lib.rs"].contains("todo!()"));
    // HY-253: the number of the round. HY-145: of the two reported survivors, the real one is to be tested.
    assert!(second.prompt.contains("This is round 1 of at most 5."), "{}", second.prompt);
    assert_eq!(
        second.prompt.matches("- `prop_refused_value_comes_back` (Boundary), for `BoundedStack::push`").count(),
        1
    );
    // HY-07: the adversary has a fresh session each time, and reads the current code.
    let [before, after] = &stage.calls_of("mutation")[..] else { panic!("{:?}", stage.calls_of("mutation")) };
    assert!(matches!((&before.session, &after.session), (SessionOp::StartFresh(_), SessionOp::StartFresh(_))));
    assert_ne!(before.answered_in, after.answered_in);
    assert!(!before.files["tests/properties.rs"].contains("Err(Full(value))"));
    assert!(after.files["tests/properties.rs"].contains("Err(Full(value))"));
    let log = stage.git(&["log", "-2", "--format=%s", "main"]);
    assert_eq!(log, "merge: stronger tests and implementation together\ntests: look at what comes back");
    // HY-254: the implementation is not written again.
    assert_eq!(stage.calls_of("impl").len(), 1);
}

/// HY-74, HY-186: a mutant that has survived is tried again in each later round, even if the adversary of that round does not
/// report it. HY-186, HY-250, CON-69: the rounds have a budget; the remaining survivors are the reason for the end.
#[tokio::test(flavor = "multi_thread")]
async fn a_survivor_that_nobody_reports_again_is_tried_again() {
    let script = script("BoundaryMutation");
    let silent =
        AgentScript::of(Scenario::Happy).with("mutation", |turn| turn.answer = report(3, &[])).turn("mutation");
    let mut idle = script.turn("tests").asked("# Strengthen the tests");
    idle.file().push_str("\n// Looked at again.\n");
    let mut stage = Stage::new(script.then(idle).then(silent)).await.at_most(1);
    stage.task.spec.strictness.mutation_blocking = true;
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::ChecksUnmet { unmet } = failure else { panic!("{failure:?}") };
    let [CheckReport { check: Check::MutantsCaught, blocking: true, detail, .. }] = &unmet[..] else {
        panic!("{unmet:?}")
    };
    assert_eq!(detail, "1 of 4 mutants survive");
    assert_eq!(stage.trace().visits("mutation_fix"), 1);
    let found = found(&result);
    assert_eq!((found.output.survivors.len(), found.tried_again, found.survivors.len()), (0, 1, 1));
}

/// HY-250: an agent that removes a verified test while strengthening is told which, and asked again. The test goes on to be checked,
/// though the agent leaves it off the list, or says less of it than was verified.
#[tokio::test(flavor = "multi_thread")]
async fn strengthening_leaves_every_verified_test_whole() {
    let mut fewer = AgentScript::of(Scenario::Happy).turn("tests").asked("# Strengthen the tests");
    fewer.edit("fn prop_examples()", "fn prop_cases()");
    fewer.answer = serde_json::from_str(&fewer.answer.to_string().replace("prop_examples", "prop_cases")).unwrap();
    let with_examples = |body: &str, asked: &str| {
        let mut turn = AgentScript::of(Scenario::Happy).turn("tests").asked(asked);
        let file = turn.file();
        file.truncate(file.find("fn prop_examples()").unwrap());
        file.push_str(&format!("fn prop_examples() {{ {body} }}\n"));
        turn
    };
    let told = "these tests were verified before, and are not run any more: prop_examples";
    let mut empty = with_examples("", told);
    empty.answer["properties"].as_array_mut().unwrap().retain(|property| property["name"] != "prop_examples");
    let told = "they check nothing: prop_examples";
    let mut hollow = with_examples("let _ = BoundedStack::with_capacity(3).height();", told);
    let listed = hollow.answer["properties"].as_array_mut().unwrap();
    let examples = listed.iter_mut().find(|property| property["name"] == "prop_examples").unwrap();
    examples["targetFunctions"] = json!(["BoundedStack::with_capacity", "BoundedStack::height"]);
    examples["coversExamples"] = json!([]);
    let told = "`prop_examples` is said to exercise BoundedStack::push, BoundedStack::pop, BoundedStack::peek, but it does not";
    let all = AgentScript::of(Scenario::Happy).turn("tests").asked(told).asked("let it check that as before");
    let none = AgentScript::of(Scenario::Happy).turn("mutation");
    let script = script("BoundaryMutation").then(fewer).then(empty).then(hollow).then(all).then(none);
    let mut stage = Stage::new(script).await;
    stage.task.spec.strictness.mutation_blocking = true;
    let ended = stage.run().await;
    stage.assert_landed(&ended);
    assert_eq!(stage.trace().visits("tests_reject"), 3);
    let landed = stage.git(&["show", "main:tests/properties.rs"]);
    assert!(
        landed.contains("fn prop_examples()") && landed.contains("assert_eq!(stack.push(5), Err(Full(5)));"),
        "{landed}"
    );
}

/// HY-24, HY-33, HY-67: an adversary that writes is detected. Its report does not count, and if it does not block, the run lands.
/// HY-190: a report with impossible numbers is invalid; its agent is asked again.
#[tokio::test(flavor = "multi_thread")]
async fn an_adversary_beside_the_run_cannot_fail_it() {
    let writes =
        AgentScript::of(Scenario::Happy).with("mutation", |turn| turn.write("src/lib.rs", "// Broken on purpose.\n"));
    let impossible = AgentScript::of(Scenario::Happy).with("mutation", |turn| {
        turn.answer = report(0, &[survivor("RemovedCheck", "Err(Full(value))", "Err(Full(0))")]);
        turn.any_times = true;
    });
    let (writes, impossible) = (Stage::quick(writes).await, Stage::quick(impossible).await);
    let (written, counted) = tokio::join!(writes.run(), impossible.run());
    for (stage, ended, says) in [(&writes, &written, "src/lib.rs"), (&impossible, &counted, "1 of 0 mutants")] {
        let result = stage.assert_landed(ended);
        let MutationAdversary::NoReport { reason } = &result.mutation_adversary else { panic!("{result:#?}") };
        assert!(reason.contains(says), "{reason}");
        assert!(!check(&result, Check::MutantsCaught).0);
        assert!(!stage.repository().join("src/lib.rs").metadata().unwrap().permissions().readonly());
    }
    assert_eq!(impossible.calls_of("mutation").len(), 3, "it is told what is wrong with its answer");
}

/// HY-257, CON-67: the exit waits for the adversary until a deadline, and not for ever. Its later findings are tested below.
#[tokio::test(flavor = "multi_thread")]
async fn the_run_does_not_wait_for_ever() {
    let mut stage = Stage::quick(script("RemovedCheck")).await;
    stage.task.mutation_deadline = Duration::ZERO;
    stage.agent.hold("mutation", 1, Until::Never);
    let ended = stage.run().await;
    let result = ended.result.clone().unwrap();
    assert!(result.succeeded(), "{:?}", result.failure());
    let MutationAdversary::NoReport { reason } = &result.mutation_adversary else { panic!("{result:#?}") };
    assert!(reason.contains("after the run came to its exit"), "{reason}");
    let detail = format!("nothing was reported: {reason}");
    assert_eq!(check(&result, Check::MutantsCaught), (false, detail.as_str()));
}

/// A run that has ended while its adversary works; the journal, and the flag that lets the adversary answer.
async fn ended_before_its_adversary(keep: bool) -> (Stage, Arc<MemoryJournal>, &'static AtomicBool) {
    // The adversary has to be at work when the run ends, for which a slow machine needs longer.
    for seconds in [1, 4, 16, 64] {
        let (mut stage, journal) = (Stage::quick(script("RemovedCheck")).await, Arc::new(MemoryJournal::new()));
        let may_answer: &'static AtomicBool = Box::leak(Box::default());
        stage.task.mutation_deadline = Duration::from_secs(seconds);
        stage.agent.hold("mutation", 1, Until::Told(may_answer));
        let (run, under_way) = set_up(Settings { keep, ..stage.settings() }).unwrap();
        let report = run.with_journal(journal.clone()).start(stage.task.spec.clone()).await.unwrap();
        let ended = under_way.conclude(report, &*journal).await.unwrap();
        let result = ended.result.unwrap();
        assert!(result.succeeded(), "{:?}", result.failure());
        let MutationAdversary::NoReport { reason } = &result.mutation_adversary else { panic!("{result:#?}") };
        assert!(reason.contains("after the run came to its exit"), "{reason}");
        if !stage.calls_of("mutation").is_empty() {
            return (stage, journal, may_answer);
        }
    }
    panic!("the adversary is not asked within a minute");
}

/// HY-257, CON-67: if the run's places are kept, findings after the deadline are an addendum to the run in its journal; they are
/// not tried, and the result is unchanged. If the places are gone, it cannot be checked what the adversary has read, and whether
/// it has written: its findings do not count, and the addendum says so.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_found_late_is_an_addendum() {
    let both = tokio::join!(ended_before_its_adversary(true), ended_before_its_adversary(false));
    for (keep, (stage, journal, may_answer)) in [(true, both.0), (false, both.1)] {
        let addendum = || {
            let records = journal.records(&stage.settings().run);
            records.into_iter().find_map(|record| match record.entry {
                Entry::Report { by, report, failure, .. } => Some((by.node.to_string(), report, failure)),
                _ => None,
            })
        };
        assert_eq!(addendum(), None);
        may_answer.store(true, Ordering::SeqCst);
        for _ in 0..3_000 {
            if addendum().is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let (node, report, failure) = addendum().expect("the adversary comes to an end");
        assert_eq!(node, "mutation_advisory");
        if keep {
            let Some(RecordedPayload::Json(report)) = report else { panic!("{report:?}, {failure:?}") };
            let found: MutationAdversaryResult = serde_json::from_str(&report).unwrap();
            assert_eq!((found.verdict, found.output.survivors.len()), (TestSuiteVerdict::TestSuiteHasGaps, 2));
            assert!(found.survivors.is_empty() && found.refuted.len() == 2);
            assert!(found.refuted.iter().all(|one| one.reason == "not tried: the run is over"), "{:?}", found.refuted);
        } else {
            assert_eq!(report, None);
            let failure = failure.unwrap();
            assert!(failure.message.contains("mutation-review"), "{failure}");
        }
    }
}
