//! Agents that change files of others, or make false claims: nothing of it is committed, and nothing lands.

use crate::agent_script::AgentScript;
use crate::mutation::{report, survivor};
use crate::stage::{Stage, check};
use crate::watched::Until;
use hybrid::demo::Scenario;
use hybrid::paths::{PathViolation, Role, Territory};
use hybrid::types::{Check, HybridFailure};
use interlocking::toolchain::CommandLine;

fn broken(role: Role, path: &str, territory: Territory) -> HybridFailure {
    HybridFailure::BarrierBroken { violations: vec![PathViolation { role, path: path.to_owned(), territory }] }
}

/// Whether a commit of this phase was made, and kept.
fn has_commit(stage: &Stage, phase: &str) -> bool {
    stage.archive().iter().any(|(_, subject)| subject.starts_with(phase))
}

/// HY-259, HY-34: an implementation that comes with tests is refused, with the path. HY-260: the tests agent, which
/// would never answer, is stopped with it.
#[tokio::test(flavor = "multi_thread")]
async fn the_implementation_may_not_touch_the_tests() {
    let stage = Stage::quick(AgentScript::of(Scenario::ImplEditsTests)).await;
    stage.agent.hold("tests", 1, Until::Never);
    let ended = stage.run().await;
    let (_, failure) = stage.assert_not_landed(&ended);
    assert_eq!(failure, broken(Role::Implementation, "tests/properties.rs", Territory::Tests));
    assert!(stage.trace().was_cancelled("tests", 1));
    // HY-167: the files are looked at before anything is committed, and before the handler routes. The same below.
    assert_eq!(stage.trace().routes().last().unwrap(), "implementation → exit");
    assert!(has_commit(&stage, "skeleton:") && !has_commit(&stage, "impl:"), "{:?}", stage.archive());
}

/// HY-02, HY-259, HY-34: tests that bring an implementation on which they pass are refused, committed by their agent
/// or not. HY-260: the other agent is stopped.
#[tokio::test(flavor = "multi_thread")]
async fn the_tests_may_not_touch_the_implementation() {
    let implementation = AgentScript::of(Scenario::Happy).turn("impl").file().clone();
    for is_committed in [true, false] {
        let script = AgentScript::of(Scenario::Happy).with("tests", |tests| {
            tests.write("src/lib.rs", &implementation);
            if is_committed {
                tests.run(&["git", "commit", "--all", "--message", "nothing to see here"]);
            }
        });
        let stage = Stage::quick(script).await;
        stage.agent.hold("impl", 1, Until::Never);
        let ended = stage.run().await;
        let (_, failure) = stage.assert_not_landed(&ended);
        assert_eq!(failure, broken(Role::Tests, "src/lib.rs", Territory::Implementation));
        assert!(stage.trace().was_cancelled("implementation", 1));
        // HY-167
        assert!(!has_commit(&stage, "tests:"), "{:?}", stage.archive());
    }
}

/// HY-191, HY-259: verified tests are fixed. A fix that weakens a test ends the run, even if all tests would pass.
#[tokio::test(flavor = "multi_thread")]
async fn the_fix_may_not_touch_the_tests() {
    let script = AgentScript::of(Scenario::FixRound).with("fix", |fix| {
        fix.write("tests/properties.rs", "#[test]\nfn prop_full_stack_hands_the_value_back() {}\n");
    });
    let stage = Stage::quick(script).await;
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    assert_eq!(failure, broken(Role::Fix, "tests/properties.rs", Territory::Tests));
    assert!(!check(&result, Check::MergedTestsPass).0);
    // HY-167
    assert!(has_commit(&stage, "merge:") && !has_commit(&stage, "fix:"), "{:?}", stage.archive());
    assert!(result.tests_coverage.is_some(), "what was known until then is in the result");
}

/// HY-250, HY-259: strengthening changes the tests, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn strengthening_may_not_touch_the_implementation() {
    let happy = AgentScript::of(Scenario::Happy);
    let implementation = happy.turn("impl").file().clone();
    let mut stronger = happy.turn("tests").asked("# Strengthen the tests");
    stronger.write("src/lib.rs", &implementation);
    let lost = survivor("BoundaryMutation", "Err(Full(value))", "Err(Full(0))");
    let script = happy.with("mutation", |turn| turn.answer = report(9, &[lost])).then(stronger);
    let mut stage = Stage::quick(script).await;
    stage.task.spec.strictness.mutation_blocking = true;
    // A mutant counts only if it is compiled.
    stage.task.toolchain.build_command = CommandLine::new("sh", &["-c", "! grep -q compile_error src/lib.rs"]);
    let ended = stage.run().await;
    let (_, failure) = stage.assert_not_landed(&ended);
    assert_eq!(failure, broken(Role::Tests, "src/lib.rs", Territory::Implementation));
    assert_eq!(stage.trace().routes().last().unwrap(), "mutation_fix → exit");
}

/// HY-150, HY-28, CON-80: the build is run again, before anything is committed. HY-260.
#[tokio::test(flavor = "multi_thread")]
async fn an_implementation_that_does_not_build_is_found_out() {
    let stage = Stage::new(AgentScript::of(Scenario::BuildLie)).await;
    stage.agent.hold("tests", 1, Until::Never);
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::ImplementationDoesNotBuild { diagnostics } = failure else { panic!("{failure:?}") };
    assert!(diagnostics.contains("no method named `size`"), "{diagnostics}");
    let seen = (false, "it does not, whatever its agent says");
    assert_eq!(check(&result, Check::ImplementationBuilds), seen);
    assert!(stage.trace().was_cancelled("tests", 1));
    assert!(!has_commit(&stage, "impl:"), "{:?}", stage.archive());
}
