//! A child that is sent back because the parent's contract fails on its merged work.

use crate::project::Project;
use crate::small::{Act, AgentScript, Who, append, plan, planned, project, scaffold, scaffolding, shell, spec, write};
use crate::test_run::TestRun;
use crate::tree::family;
use interlocking::toolchain::{CommandLine, NamedCommand};
use serde_json::json;
use std::collections::BTreeSet;
use v3::types::outcome::V3Outcome;

/// A parent whose contract requires that its child `loud` is loud, once it exists. In each of its runs, this child tests for the
/// next of these words, and writes it.
fn play_of<'p>(project: &'p Project, children: &[&str], loud: &str, words: &[String]) -> TestRun<'p> {
    play_after(AgentScript::default(), project, children, loud, words)
}

/// The same after the turns of another script.
fn play_after<'p>(
    first: AgentScript,
    project: &'p Project,
    children: &[&str],
    loud: &str,
    words: &[String],
) -> TestRun<'p> {
    let mut answer = scaffold("top", children, &planned(children));
    answer["InitWork"]["contractSuite"] = json!("contract.rs");
    let scaffolded = [
        append("src/top.txt", "stub\n"),
        write("src/top.api", "says done\n"),
        write("contract.rs", &format!("#[test]\nfn contract_{}_is_loud() {{}}\n", loud.replace('-', "_"))),
        Act::Commit,
    ];
    let (target, tests, id) = (format!("src/{loud}.txt"), format!("checks/{loud}.sh"), format!("top/{loud}"));
    let ready = json!({ "TestsReady": { "testsCommit": "$HEAD", "testFiles": [tests], "pendingCriteria": [loud] } });
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let mut script = first.always(Who::Planner, "top", &answer, &scaffolded);
    for word in words {
        let acts = [append(&tests, &format!("grep -q {word} {target} || exit 1\n")), Act::Commit];
        let says = [append(&target, &format!("{word}\n")), Act::Commit];
        script = script.once(Who::TestAuthor, &id, &ready, &acts).once(Who::Implementer, &id, &passed, &says);
    }
    let script = script.honest("top", children);
    let script = children.iter().fold(script, |script, child| script.honest(&format!("top/{child}"), &[]));
    TestRun::new(project, script.script(), |workbench| {
        shell(workbench);
        let holds = format!("! test -e {target} || grep -q loud {target}");
        let line = format!("case {{path}} in contract.rs) {holds};; *) sh {{path}};; esac");
        workbench.suite = NamedCommand::new(CommandLine::new("sh", &["-c", &line]));
    })
}

/// V3-140, V3-141, CON-34, CON-144: the contract is run on the merged work of all children before the parent's implementation
/// begins. The child that a failing test names runs again, is told why, and builds on what it had merged; the other is not run
/// again.
#[tokio::test]
async fn the_child_that_breaks_the_contract_is_sent_back() {
    let project = project().await;
    let test = play_of(&project, &["a", "b"], "a", &["done", "loud"].map(str::to_owned));
    let outcome = test.outcome(spec(&["a", "b"])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");

    let planners = test.prompts("planner of `top/a`");
    assert_eq!((planners.len(), test.prompts("planner of `top/b`").len()), (2, 1));
    assert!(!planners[0].contains("sent you back"), "{}", planners[0]);
    let told = "These tests of the parent's contract fail with it: contract_a_is_loud.";
    assert!(planners[1].contains("## Your parent has sent you back") && planners[1].contains(told), "{}", planners[1]);
    let runs: BTreeSet<_> = test.ended().into_iter().map(|(run, _)| run).collect();
    assert_eq!(runs.len(), 4, "the parent, two children, and one of them again");
    let path = test.path();
    let way = ["children", "integrate", "children", "integrate", "barrier", "implement"];
    assert!(path.windows(6).any(|part| part == way), "{path:?}");
    assert_eq!(test.prompts("implementer of `top`").len(), 1);
    assert_eq!(project.git(&["show", "main:src/a.txt"]), "stub\ndone\nstub\nloud\n");
    project.is_tidy();
}

/// CON-11, CON-144, V3-45: a child that was sent back, and is not merged on the next scaffolds, is told so on each of them: what it
/// had merged is still there.
#[tokio::test]
async fn a_child_that_was_sent_back_is_told_so_on_every_scaffold() {
    let project = project().await;
    let needed = json!({ "ClarificationNeeded": {
        "question": "How loud?", "ambiguityReference": "holds", "specSentence": "The criterion a holds.",
    } });
    let first = AgentScript::default()
        .once(Who::Planner, "top/a", &scaffold("top/a", &[], &[plan("a")]), &scaffolding("top/a"))
        .once(Who::Planner, "top/a", &needed, &[])
        .once(Who::Planner, "top/a", &needed, &[]);
    let test = play_after(first, &project, &["a", "b"], "a", &["done", "loud"].map(str::to_owned));
    let outcome = test.outcome(spec(&["a", "b"])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let told: Vec<bool> =
        test.prompts("planner of `top/a`").iter().map(|told| told.contains("Your parent has sent you back")).collect();
    assert_eq!((told, test.prompts("planner of `top/b`").len()), (vec![false, true, true, true], 1));
    project.is_tidy();
}

/// V3-141: a child whose name is part of another's is not sent back for that one.
#[tokio::test]
async fn a_child_with_part_of_the_name_stays_as_it_is() {
    let project = project().await;
    let children = ["store", "url-store"];
    let test = play_of(&project, &children, "url-store", &["done", "loud"].map(str::to_owned));
    let outcome = test.outcome(spec(&children)).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let planned = |child: &str| test.prompts(&format!("planner of `top/{child}`")).len();
    assert_eq!((planned("store"), planned("url-store")), (1, 2));
}

/// A contract that fails without naming a child fails the run, with that reason.
#[tokio::test]
async fn a_contract_that_names_no_child_ends_the_run() {
    let project = project().await;
    let mut answer = scaffold("top", &["a", "b"], &planned(&["a", "b"]));
    answer["InitWork"]["contractSuite"] = json!("contract.sh");
    let scaffolded = [
        append("src/top.txt", "stub\n"),
        write("src/top.api", "says\n"),
        write("contract.sh", "exit 1\n"),
        Act::Commit,
    ];
    let script = AgentScript::default().always(Who::Planner, "top", &answer, &scaffolded);
    let test = TestRun::new(&project, AgentScript::with(script, family()).script(), shell);
    let outcome = test.outcome(spec(&["a", "b"])).await;
    let V3Outcome::Failed(failed) = outcome else { panic!("{outcome}") };
    let said = "the contract contract.sh fails on what the children have merged, and no test that fails names a child:";
    assert!(failed.node == "integrate" && failed.reason.starts_with(said), "{failed:?}");
    project.is_tidy();
    assert_eq!(project.subjects("main"), ["Begin"]);
}

/// V3-159: a child that breaks the contract every time is sent back five times.
#[tokio::test]
async fn a_child_is_not_sent_back_for_ever() {
    let project = project().await;
    let test = play_of(&project, &["a", "b"], "a", &[1, 2, 3, 4, 5, 6].map(|time| format!("word{time}")));
    let outcome = test.outcome(spec(&["a", "b"])).await;
    let V3Outcome::Stuck(stuck) = outcome else { panic!("{outcome}") };
    assert_eq!((stuck.spent_loop.as_deref(), stuck.attempts), (Some("integrate → children"), 5), "{stuck:?}");
    assert_eq!(test.prompts("planner of `top/a`").len(), 6);
    project.is_tidy();
}
