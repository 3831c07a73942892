//! Failing merged tests are fixed as long as the fixes make progress.

use crate::agent_script::{AgentScript, Turn};
use crate::mutation::{report, survivor};
use crate::stage::{BUG, Stage, check};
use hybrid::commit_message::{CommitMessage, Phase};
use hybrid::demo::Scenario;
use hybrid::types::{Check, FailureType, HybridFailure};
use interlocking::agents::SessionOp;
use interlocking::toolchain::{CommandLine, Harness};
use serde_json::json;

/// The scenario with a bug, and these fixes for it.
fn script(fixes: impl IntoIterator<Item = Turn>) -> AgentScript {
    fixes.into_iter().fold(AgentScript::of(Scenario::FixRound).without("fix"), AgentScript::then)
}

/// A fix that replaces this passage in the code, and its report.
fn fix(find: &str, with: &str, says: &str) -> Turn {
    let mut turn = AgentScript::of(Scenario::FixRound).turn("fix");
    turn.contains.clear();
    turn.edit(find, with);
    turn.answer["changes"][0]["whatChanged"] = says.into();
    turn
}

/// The bug of the scenario.
fn off_by_one(says: &str) -> Turn {
    fix("self.items.len() >= self.capacity", "self.items.len() > self.capacity", says)
}

fn build_breaker() -> Turn {
    fix("self.items.len()\n", "self.items.size()\n", "It now asks for the size.")
}

fn mender() -> Turn {
    fix("", "", "It now refuses at the capacity.")
}

/// HY-151: failing merged tests block until they are fixed.
#[tokio::test(flavor = "multi_thread")]
async fn one_round_mends_it() {
    let stage = Stage::new(AgentScript::of(Scenario::FixRound)).await;
    let ended = stage.run().await;
    let result = stage.assert_landed(&ended);
    // HY-134, HY-182: attempts are fix rounds, and the tests that passed in the end are counted.
    assert_eq!(result.attempts, 1);
    assert_eq!(check(&result, Check::MergedTestsPass), (true, "7 tests pass"));

    // HY-160: the claims were verified again after the fix.
    assert_eq!(check(&result, Check::CoverageConfirmed), (true, "every claim holds of the merged code"));

    // HY-27, HY-50, HY-51, HY-184: after the fix they are run again.
    let routes = stage.trace().routes();
    let end = [
        "merge → validate",
        "validate → fix",
        "fix → validate",
        "validate → post_validate",
        "post_validate → finish",
        "finish → exit",
    ];
    assert_eq!(routes[routes.len() - end.len()..], end);
    let call = stage.calls_of("fix").remove(0);
    assert!(matches!(call.session, SessionOp::StartFresh(_)));
    assert!(call.workspace.ends_with("r1/merge"));
    for name in ["prop_examples", "prop_full_stack_hands_the_value_back", "prop_height_never_exceeds_capacity"] {
        assert!(call.prompt.contains(&format!("- `{name}` (PropertyFailed): ")), "{}", call.prompt);
    }
    assert!(!call.prompt.contains("## Fixes so far"));

    // HY-23: the fix is a commit of its own.
    assert_eq!(stage.git(&["show", "--format=", "--name-only", "main"]), "src/lib.rs");
    let message: CommitMessage = stage.git(&["log", "-1", "--format=%B", "main"]).parse().unwrap();
    assert_eq!((message.phase(), message.brief()), (Phase::Fix, "refuse values at the capacity, not one above it"));
    assert_eq!((message.node().to_string(), message.cost().to_string()), ("fix".to_owned(), "$0.017".to_owned()));
    let phases = stage.git(&["log", "--format=%s", &format!("{}..main", stage.base)]);
    let phases: Vec<&str> = phases.lines().filter_map(|subject| Some(subject.split_once(':')?.0)).collect();
    assert_eq!(phases, ["fix", "merge", "impl", "tests", "skeleton", "types"]);

    // HY-176, HY-177: the failures and the fixes are in the result.
    let understanding = &result.understanding;
    assert_eq!((understanding.failures_seen.len(), understanding.fixes_applied.len()), (3, 1));
    assert!(understanding.failures_seen.iter().all(|pattern| pattern.occurrences == 1));
    assert!(understanding.failures_seen.iter().all(|pattern| pattern.category == FailureType::PropertyFailed));
    assert_eq!(understanding.learnings.len(), 1);
    // HY-245
    assert_eq!(result.witness.concerns, ["rounds of fixing that the implementation needed: 1"]);
}

/// HY-184, HY-138, HY-183: after a fix without any progress there is no further round.
#[tokio::test(flavor = "multi_thread")]
async fn fixes_that_lead_nowhere_end_the_run() {
    let mut idle = off_by_one("It now compares more carefully.");
    idle.file().push_str("\n// Looked at again.\n");
    idle.any_times = true;
    let stage = Stage::new(script([idle])).await;
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::NotConverging { understanding } = failure else { panic!("{failure:?}") };
    assert!(!understanding.converging);
    let seen: Vec<u32> = understanding.failures_seen.iter().map(|pattern| pattern.occurrences).collect();
    assert!(
        !seen.is_empty() && seen.iter().all(|occurrences| *occurrences == 2),
        "merged once a run (CON-60): {seen:?}"
    );
    assert_eq!((stage.calls_of("fix").len(), result.attempts), (1, 1));
    assert!(!check(&result, Check::MergedTestsPass).0);
}

/// HY-183: a change does not count that is only reported.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_only_reported_does_not_count() {
    let mut idle = mender();
    idle.actions.clear();
    let stage = Stage::quick(script([idle])).await;
    let ended = stage.run().await;
    let (_, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::NotConverging { understanding } = failure else { panic!("{failure:?}") };
    assert_eq!(understanding.learnings, ["nothing was changed"]);
    assert_eq!(understanding.fixes_applied.len(), 0);
}

/// HY-183, CON-59: rounds in a row are compared. Between these two all tests have passed, and were strengthened. HY-176, HY-179: the
/// patterns of both are counted together.
#[tokio::test(flavor = "multi_thread")]
async fn stronger_tests_may_fail_as_those_before_did() {
    let lost = survivor("BoundaryMutation", "Err(Full(value))", "Err(Full(0))");
    let mut stronger = AgentScript::of(Scenario::FixRound).turn("tests").asked("# Strengthen the tests");
    stronger.file().push_str("\n// Stronger.\n");
    let mut again = mender();
    again.file().push_str("\n// Mended.\n");
    let none = AgentScript::of(Scenario::FixRound).turn("mutation");
    let script = script([mender(), again]).with("mutation", |turn| turn.answer = report(9, &[lost]));
    let mut stage = Stage::quick(script.then(stronger).then(none)).await;
    stage.task.spec.strictness.mutation_blocking = true;
    // With the stronger tests the code has to be mended, and the survivor is caught.
    let holds = format!(
        "! grep -qE 'todo!|{BUG}' src/lib.rs && {{ ! grep -q Stronger tests/properties.rs || \
         {{ grep -q Mended src/lib.rs && ! grep -qF 'Full(0)' src/lib.rs; }}; }}"
    );
    stage.task.toolchain.test_command = CommandLine::new("sh", &["-c", &holds]);
    stage.task.toolchain.build_command = CommandLine::new("sh", &["-c", "! grep -q compile_error src/lib.rs"]);
    let ended = stage.run().await;
    let result = stage.assert_landed(&ended);
    assert_eq!((result.attempts, stage.trace().visits("mutation_fix")), (2, 1));
    let seen: Vec<u32> = result.understanding.failures_seen.iter().map(|pattern| pattern.occurrences).collect();
    assert!(!seen.is_empty() && seen.iter().all(|occurrences| *occurrences == 2), "they fail alike: {seen:?}");
    assert!(result.understanding.converging);
}

/// HY-180: a verified test that skips itself on the merged code has failed, and the fix agent is told so.
#[tokio::test(flavor = "multi_thread")]
async fn a_test_that_is_not_run_is_a_failure() {
    let mut stage = Stage::quick(script([mender()])).await;
    let report = format!(
        "if grep -q 'todo!' src/lib.rs; then verdict='<failure message=\"not yet implemented\"/>'
         elif grep -qE '{BUG}' src/lib.rs; then skipped='<skipped/>'; fi
         exec > \"$1\"; echo '<testsuite>'
         for name in $(sed -n 's/.*fn \\(prop_[a-z_]*\\).*/\\1/p' tests/properties.rs); do
           if test $name != prop_examples; then own=; else own=$skipped; fi
           echo \"<testcase name='$name'>$verdict$own</testcase>\"
         done
         echo '</testsuite>'"
    );
    stage.task.toolchain.harness = Harness::Junit { report: "report.xml".into() };
    stage.task.toolchain.test_command = CommandLine::new("sh", &["-c", &report, "sh", "{target}/report.xml"]);
    let ended = stage.run().await;
    let result = stage.assert_landed(&ended);
    let prompt = stage.calls_of("fix").remove(0).prompt;
    let told = "## Failures\n\n- `prop_examples` (ParseError): it was not run: it is left out, or it skips itself\n";
    assert!(prompt.contains(told), "{prompt}");
    let [pattern] = &result.understanding.failures_seen[..] else { panic!("{:?}", result.understanding) };
    assert!(pattern.affected_fns.contains(&"BoundedStack::push".to_owned()), "{pattern:?}");
}

/// HY-184, HY-137, HY-176: each round fails differently, but one failure comes back a third time. HY-13,
/// PRG-23: the second round continues the session, and is told what the first one did and taught.
#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_keeps_coming_back_ends_the_run() {
    let wrong_value = fix("Err(Full(value))", "Err(Full(0))", "It now hands something back.");
    let no_peek = fix("self.items.last().copied()", "None", "It now looks away.");
    let stage = Stage::new(script([wrong_value, no_peek])).await;
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::StuckOnPattern { patterns, understanding } = failure else { panic!("{failure:?}") };
    assert!(patterns.iter().all(|pattern| pattern.occurrences == 3));
    let signatures: Vec<&str> = patterns.iter().map(|pattern| pattern.signature.as_str()).collect();
    assert!(signatures.len() == 1 && signatures[0].starts_with("prop_examples/PropertyFailed/"), "{signatures:?}");
    assert!(understanding.converging, "no two rounds were alike");

    let calls = stage.calls_of("fix");
    assert_eq!((calls.len(), result.attempts), (2, 2), "nobody is asked a third time");
    assert_eq!(calls[1].session, SessionOp::ContinueFrom(calls[0].answered_in.clone().unwrap()));
    assert!(calls[1].prompt.contains("## Fixes so far\n\n- `BoundedStack::push`: It now hands something back."));
    assert!(calls[1].prompt.contains("## What they taught"));
    assert!(calls[1].prompt.contains("- PropertyFailed, seen 2 times, in "), "{}", calls[1].prompt);
    assert!(calls[1].files["src/lib.rs"].contains("Err(Full(0))"), "it goes on where the first one stopped");
}

/// HY-184, HY-27, CON-57: rounds that alternate between failures end with the task's limit.
#[tokio::test(flavor = "multi_thread")]
async fn the_cap_ends_what_goes_back_and_forth() {
    let stage = Stage::new(script([build_breaker(), off_by_one("It is as it was.")])).await.at_most(2);
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::FixBudgetExhausted { attempts, understanding } = failure else { panic!("{failure:?}") };
    assert_eq!((attempts, result.attempts, understanding.fixes_applied.len()), (2, 2, 2));
    assert_eq!((stage.calls_of("fix").len(), stage.trace().visits("validate")), (2, 3));
}

/// HY-178, CON-61: a fix that breaks the build is a failed round, which the next one can repair. HY-183: whether a fix has changed
/// something is seen in the files, though its agent reports no change.
#[tokio::test(flavor = "multi_thread")]
async fn a_broken_build_is_mended() {
    let mut silent = build_breaker();
    silent.answer["changes"] = json!([]);
    let stage = Stage::new(script([silent, mender().asked("the code does not build:")])).await;
    let ended = stage.run().await;
    let result = stage.assert_landed(&ended);
    assert_eq!((result.attempts, result.understanding.fixes_applied.len()), (2, 1));
    assert_eq!(result.understanding.learnings[0], "something was changed, but not described");
    let build = result.understanding.failures_seen.iter().find(|pattern| pattern.signature == "(build)").unwrap();
    assert_eq!(build.occurrences, 1);
    assert!(stage.calls_of("fix")[1].prompt.contains("no method named `size`"));
    let subjects = stage.git(&["log", "-2", "--format=%s", "main"]);
    assert!(subjects.lines().all(|subject| subject.starts_with("fix: ")), "{subjects}");
}

/// HY-178, HY-139: once the rounds are used up, a build that a fix has broken is the reason.
#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_stays_broken_is_the_reason() {
    let stage = Stage::new(script([build_breaker()])).await.at_most(1);
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    assert_eq!(check(&result, Check::MergedTestsPass), (false, "it does not build"));
    let HybridFailure::BuildFailedAfterFix { output, diagnostics } = failure else { panic!("{failure:?}") };
    assert_eq!(output.changes[0].what_changed, "It now asks for the size.");
    assert!(diagnostics.contains("no method named `size`"), "{diagnostics}");
}
