//! The commands that a run executes, and their order: a recorder answers instead of programs, and notes each command.

use crate::small::{AgentScript, change_toolchain, project, shell, spec};
use crate::test_run::TestRun;
use crate::tree::family;
use interlocking::prelude::Outcome;
use interlocking::toolchain::{CommandLine, Recorder};
use std::sync::Arc;
use v3::types::outcome::V3Outcome;
use v3::workbench::Workbench;

/// The first run of each of these suites fails; everything else passes.
fn red(suites: &[&str]) -> Arc<Recorder> {
    let red = |recorder: Recorder, suite: &&str| {
        recorder.answer(CommandLine::new("sh", &[*suite]), Recorder::exit(1, "it is red"))
    };
    Arc::new(suites.iter().fold(Recorder::new(), red).with_default_answer(Recorder::exit(0, "")))
}

fn recording(recorder: &Arc<Recorder>) -> impl FnOnce(&mut Workbench) + use<> {
    let recorder = recorder.clone();
    move |workbench| {
        shell(workbench);
        change_toolchain(workbench, |toolchain| {
            toolchain.build_command = CommandLine::new("make", &["all"]);
            toolchain.test_command = CommandLine::new("make", &["check"]);
        });
        workbench.runner = workbench.runner.clone().with_recorder(recorder);
    }
}

fn commands(recorder: &Recorder) -> Vec<String> {
    recorder.calls().iter().map(|call| call.command.to_string()).collect()
}

/// V3-90, V3-44, V3-81, V3-61, TC-01, TC-02, TC-03, TC-25: a scaffold is built; its tests are run where they must fail, and where
/// they must pass; the reviewed commit is built and tested; and the candidate is built, tested with the contract that the
/// scaffold names, and then with every test.
#[tokio::test]
async fn a_leaf_runs_these_commands() {
    let (project, recorder) = (project().await, red(&["checks/top.sh"]));
    let test = TestRun::new(&project, AgentScript::default().honest("top", &[]).script(), recording(&recorder));
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let (build, tests, contract, all) = ("make all", "sh checks/top.sh", "sh checks/contract_top.sh", "make check");
    assert_eq!(commands(&recorder), [build, tests, tests, build, tests, build, contract, all]);
    // The three commands of the candidate run in one directory.
    let places: Vec<_> = recorder.calls()[5..].iter().map(|call| call.directory.clone()).collect();
    assert!(places[0] == places[1] && places[1] == places[2], "{places:?}");
}

/// An agent that is not confined can write above the checkouts. What decides there how everything is built was noted when the run
/// began.
#[tokio::test]
async fn what_decides_how_everything_is_built_may_not_change_during_a_run() {
    let (project, recorder) = (project().await, red(&["checks/top.sh"]));
    let test = TestRun::new(&project, AgentScript::default().honest("top", &[]).script(), recording(&recorder));
    let implementer = test.agent.hold("implementer of `top`");
    let planted = project.place().join("Cargo.toml");
    let write = async {
        implementer.reached().await;
        std::fs::write(&planted, "[workspace]\n").unwrap();
        implementer.release();
    };
    let (outcome, ()) = tokio::join!(test.start(spec(&[])), write);
    let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
    let said = format!("{} has changed since this run began", planted.display());
    assert!(failure.message.contains(&said), "{}", failure.message);
    assert_eq!(commands(&recorder), ["make all", "sh checks/top.sh"], "only before the change");
}

/// V3-140, V3-44, V3-104: the parent's contract is run once all children have merged, before its implementer is asked; after a
/// rebase every test is run again.
#[tokio::test]
async fn a_parent_runs_its_contract_on_all_children() {
    let (project, recorder) = (project().await, red(&["checks/top.sh", "checks/a.sh", "checks/b.sh"]));
    let test = TestRun::new(&project, family().script(), recording(&recorder));
    let (author, judge) = (test.agent.hold("test author of `top/a`"), test.agent.hold("judge what `top/a`"));
    let implementer = test.agent.hold("implementer of `top`");
    let count = |of: &str| commands(&recorder).into_iter().filter(|command| command == of).count();
    let watch = async {
        author.reached().await;
        test.until("b has merged", |test| test.ended().iter().any(|(_, node)| node == "judge")).await;
        // For the candidate of `b`.
        assert_eq!(count("make check"), 1);
        author.release();
        judge.reached().await;
        // For the rebase of `a`, and for its candidate.
        assert_eq!(count("make check"), 3);
        assert_eq!(count("sh checks/contract_top.sh"), 0);
        judge.release();
        implementer.reached().await;
        assert_eq!(count("sh checks/contract_top.sh"), 1);
        implementer.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&["a", "b"])), watch);
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    assert_eq!(count("sh checks/contract_top.sh"), 2, "and of its own candidate");
}

/// V3-91, V3-92, V3-119, CON-31: a candidate that does not build is rejected as a build failure; the parent's branch stays where
/// it is, and the implementer is told.
#[tokio::test]
async fn a_candidate_that_does_not_build_is_rejected() {
    let project = project().await;
    let build = |code, said| (CommandLine::new("make", &["all"]), Recorder::exit(code, said));
    let mut recorder =
        Recorder::new().answer(CommandLine::new("sh", &["checks/top.sh"]), Recorder::exit(1, "it is red"));
    // The scaffold's, the review's, and the candidate's.
    for (command, answer) in [build(0, ""), build(0, ""), build(1, "it does not fit")] {
        recorder = recorder.answer(command, answer);
    }
    let recorder = Arc::new(recorder.with_default_answer(Recorder::exit(0, "")));
    let test = TestRun::new(&project, AgentScript::default().honest("top", &[]).script(), recording(&recorder));
    let implementer = test.agent.hold("implementer of `top`");
    let watch = async {
        implementer.reached().await;
        let again = test.agent.hold("implementer of `top`");
        implementer.release();
        again.reached().await;
        assert_eq!(project.subjects("main"), ["Begin"]);
        again.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&[])), watch);
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let told = &test.prompts("implementer of `top`")[1];
    assert!(told.contains("## Why it could not be merged\n\nBuildFailure:\n\n```\nit does not fit"), "{told}");
}

/// V3-61: an approval does not count if the reviewed commit does not build or a test fails on it.
#[tokio::test]
async fn what_is_reviewed_is_built_and_tested() {
    let tests = || CommandLine::new("sh", &["checks/top.sh"]);
    let build = || CommandLine::new("make", &["all"]);
    let answered = |recorder: Recorder, code, what| recorder.answer(what, Recorder::exit(code, "it is red"));
    let red = || answered(Recorder::new(), 1, tests());
    // The scaffold's build comes before the review's; the runs of the test author and of the implementer come before the review's
    // tests. After the review, the test author's next commit is red on the scaffold.
    let builds_not = answered(answered(red(), 0, build()), 1, build());
    let builds_not = answered(answered(builds_not, 0, tests()), 1, tests());
    let fails = answered(answered(red(), 0, tests()), 1, tests());
    let fails = answered(fails, 1, tests());
    for (recorder, why) in [(builds_not, "it does not build:\nit is red"), (fails, "these tests fail: (whole suite)")] {
        let (project, recorder) = (project().await, Arc::new(recorder.with_default_answer(Recorder::exit(0, ""))));
        let test = TestRun::new(&project, AgentScript::default().honest("top", &[]).script(), recording(&recorder));
        let outcome = test.outcome(spec(&[])).await;
        assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
        let way = ["review", "write_tests", "barrier", "implement", "review", "merge_queue", "merger"];
        assert_eq!(test.path()[5..], way);
        for title in ["test author", "implementer"] {
            let told = &test.prompts(title)[1];
            assert!(told.contains(why), "{title}: {told}");
        }
    }
}
