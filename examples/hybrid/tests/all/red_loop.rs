//! Tests that are not red on the stubs go back to their agent, within the budget.

use crate::agent_script::AgentScript;
use crate::stage::{Stage, check};
use crate::watched::Call;
use hybrid::commit_message::CommitMessage;
use hybrid::demo::Scenario;
use hybrid::types::{Check, HybridFailure};
use interlocking::agents::SessionOp;

const NAMES: [&str; 7] = [
    "prop_new_stack_is_empty",
    "prop_pop_undoes_push",
    "prop_full_stack_hands_the_value_back",
    "prop_height_never_exceeds_capacity",
    "prop_values_come_out_in_reverse",
    "prop_peek_changes_nothing",
    "prop_examples",
];

/// Compares the second call of the tests agent with the first, and gives both.
///
/// HY-262, CON-74: it finds the skeleton again, and the refused head is kept. HY-254, CON-52: the implementation's agent is
/// not called again. PRG-23: the session is continued. PRG-36: its prompt is the first prompt with the feedback added.
fn second_turn(stage: &Stage, refused_file: &str) -> (Call, Call) {
    let [first, second] = <[Call; 2]>::try_from(stage.calls_of("tests")).unwrap();
    assert_eq!(second.session, SessionOp::ContinueFrom(first.answered_in.clone().unwrap()));
    assert_eq!((&second.files, &second.head), (&first.files, &first.head));
    assert_eq!(second.worktrees, first.worktrees, "nobody merges before the tests are accepted");
    assert_eq!(stage.calls_of("impl").len(), 1);
    assert!(!first.prompt.contains("Your previous tests were refused"));
    assert!(second.prompt.contains("Your previous tests were refused"));
    for line in first.prompt.lines() {
        assert!(second.prompt.contains(line), "{line:?} was said the first time");
    }
    let refused: Vec<_> = stage.archive().into_iter().filter(|(_, subject)| subject.starts_with("tests: ")).collect();
    let [(name, _)] = &refused[..] else { panic!("{refused:?}") };
    assert!(name.starts_with("tests-"));
    let kept = format!("refs/interlocking/archive/r1/{name}");
    assert_eq!(stage.git(&["rev-parse", &format!("{kept}~1")]), first.head);
    assert_eq!(stage.git(&["show", &format!("{kept}:tests/properties.rs")]), refused_file.trim_end());
    (first, second)
}

/// HY-03, HY-149, HY-173: one property of seven passes on the stubs; its agent's claim that all fail is detected as false.
#[tokio::test(flavor = "multi_thread")]
async fn trivial_tests_are_written_again() {
    let script = AgentScript::of(Scenario::TrivialTests);
    let trivial = script.turn("tests").file().clone();
    let stage = Stage::new(script).await;
    let ended = stage.run().await;
    let result = stage.assert_landed(&ended);

    // HY-174, HY-113, HY-114: it is told why, which properties it wrote, and what to do.
    let (_, second) = second_turn(&stage, &trivial);
    let why = "these properties pass although every function is still a stub, so they check nothing: \
               prop_peek_changes_nothing";
    assert!(second.prompt.contains(&format!("Why: {why}\n")), "{}", second.prompt);
    for name in NAMES {
        assert!(second.prompt.contains(&format!("- `{name}`\n")), "{name}");
    }
    assert!(second.prompt.contains("What to do: Call the functions of the contract in every property and compare"));
    // Names may be shared once there are some; code may not (HY-29, HY-11).
    assert!(second.prompt.contains("## What the other side works on\n\n- `BoundedStack::with_capacity`\n"));
    assert!(!second.prompt.contains("self.items"));

    // HY-46, HY-47, HY-48: the join waits only for the new tests.
    let trace = stage.trace();
    let routes = [
        "blind → verify",
        "verify → tests_reject",
        "tests_reject → tests",
        "tests → blind.tests",
        "blind → verify",
        "verify → merge",
    ];
    let from = trace.routes().iter().position(|route| route == "blind → verify").unwrap();
    assert_eq!(trace.routes()[from..from + routes.len()], routes);
    assert_eq!((trace.visits("blind"), trace.visits("implementation")), (2, 1));

    let kept = stage.git(&["for-each-ref", "--format=%(contents)", "refs/interlocking/archive"]);
    let refused: CommitMessage = kept.trim().parse().unwrap();
    assert_eq!(refused.summary().last().unwrap(), "Self-verified: yes; 6 of 7 seen to fail on the stubs");
    let log = stage.git(&["log", "--format=%s", &format!("{}..main", stage.base)]);
    assert_eq!(log.lines().count(), 5, "{log}");
    assert!(check(&result, Check::TestsFailOnSkeleton).0);
}

/// HY-173, CON-53: tests that cannot be built are not red.
#[tokio::test(flavor = "multi_thread")]
async fn tests_that_do_not_compile_are_written_again() {
    let script = AgentScript::of(Scenario::TestsDoNotCompile);
    let broken = script.turn("tests").file().clone();
    let stage = Stage::new(script).await;
    let ended = stage.run().await;
    stage.assert_landed(&ended);
    let (_, second) = second_turn(&stage, &broken);
    assert!(second.prompt.contains("Why: the tests do not compile:"), "{}", second.prompt);
    assert!(second.prompt.contains("no method named `heigth`"));
    assert!(second.prompt.contains("Build the tests against the stubs before you hand them in."));
    let kept = stage.git(&["for-each-ref", "--format=%(contents)", "refs/interlocking/archive"]);
    let refused: CommitMessage = kept.trim().parse().unwrap();
    assert_eq!(refused.summary().last().unwrap(), "Self-verified: yes; 0 of 7 seen to fail on the stubs");
}

/// HY-255, HY-258: the loop ends with its budget, here of one: first tests that do not compile, then (HY-173) tests that
/// all pass.
#[tokio::test(flavor = "multi_thread")]
async fn tests_are_refused_only_so_often() {
    let scenario = AgentScript::of(Scenario::TestsDoNotCompile);
    let broken = scenario.turn("tests");
    let mut green = broken.clone().asked("the tests do not compile");
    *green.file() = NAMES.map(|name| format!("#[test]\nfn {name}() {{}}\n\n")).concat();
    let stage = Stage::new(scenario.without("tests").then(broken).then(green)).await.at_most(1);
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::TestsRejected { attempts, last_feedback } = failure else { panic!("{failure:?}") };
    assert_eq!((attempts, &last_feedback.properties_wrote[..]), (2, &NAMES.map(str::to_owned)[..]));
    assert!(last_feedback.why_rejected.ends_with(&NAMES.join(", ")), "{}", last_feedback.why_rejected);
    assert_eq!((stage.calls_of("tests").len(), stage.calls_of("impl").len()), (2, 1));
    assert!(!check(&result, Check::TestsFailOnSkeleton).0);
    // The agent's claim contradicts the observation.
    let seen = (false, "the agent says so, but not every one fails");
    assert_eq!(check(&result, Check::TestsFailForTheirAgent), seen);
    assert!(check(&result, Check::ImplementationBuilds).0);
    // Everything that was written is kept: the skeleton, both tries, the implementation.
    let mut subjects: Vec<String> = stage.archive().into_iter().map(|(_, subject)| subject).collect();
    subjects.sort();
    let phases: Vec<&str> = subjects.iter().filter_map(|subject| Some(subject.split_once(':')?.0)).collect();
    assert_eq!(phases, ["impl", "skeleton", "tests", "tests"]);
}

/// HY-173: tests that cannot be read are not red, and go back to their agent: a file that is not UTF-8, in either language, and one
/// that is longer than what is read.
#[tokio::test(flavor = "multi_thread")]
async fn tests_that_cannot_be_read_are_written_again() {
    let scenario = AgentScript::of(Scenario::Happy);
    let honest = scenario.turn("tests");
    let and_runs = |command: &str| {
        let mut turn = honest.clone();
        turn.run(&["sh", "-c", command]);
        turn
    };
    let script = scenario
        .without("tests")
        .then(and_runs("printf '\\377' >> tests/properties.rs"))
        .then(and_runs("printf '\\377' > tests/more.py").asked("tests/properties.rs is not UTF-8"))
        .then(and_runs("head -c 2097153 /dev/zero | tr '\\0' '#' > tests/long.py").asked("tests/more.py is not UTF-8"))
        .then(honest.clone().asked("tests/long.py:1:1: too long: it has 2097153 bytes"));
    let stage = Stage::quick(script).await;
    let ended = stage.run().await;
    stage.assert_landed(&ended);
    let kept = stage.git(&["for-each-ref", "--format=%(contents)", "refs/interlocking/archive"]);
    assert_eq!(kept.matches("Self-verified: yes; 0 of 7 seen to fail on the stubs").count(), 3, "{kept}");
}
