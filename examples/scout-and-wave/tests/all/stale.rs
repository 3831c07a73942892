//! A wave that begins again: worktrees that are still valid are reused, and the others are made anew.

use crate::project::Project;
use crate::small::{Turn, is_blocked, passing, plan, project, script, script_telling_later, turn, turns};
use crate::stopped::edit;
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::prelude::*;
use scout_and_wave::document::Impl;
use scout_and_wave::graph::{BlockedQuestion, SawResult};
use scout_and_wave::protocol::state::BlockReason;
use serde_json::{Value, json};

/// A plan in which only agent A has the contract.
fn plan_of_one_contract() -> Value {
    let mut plan = plan();
    plan["contracts"][0]["called_by"] = json!([]);
    plan
}

/// Agent A cannot implement its contract.
fn cannot() -> Turn {
    let mut first = turn("A", "a.txt");
    first.actions.clear();
    (first.report["status"], first.report["files_created"]) = (json!("blocked"), json!([]));
    first.report["interface_deviations"] =
        json!([{ "description": "`greet` needs a name", "downstream_action_required": false, "affects": [] }]);
    first
}

fn is_complete(ended: &Outcome<SawResult>) {
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
}

fn implemented(test: &TestRun<'_>) -> usize {
    test.started().iter().filter(|node| *node == "implement").count()
}

/// The agents' branches with their commits, and their worktrees.
fn of_agents(project: &Project) -> [Vec<String>; 2] {
    let branches = project.git(&[
        "for-each-ref",
        "--format=%(refname) %(objectname)",
        "refs/heads/wave*",
        "refs/interlocking/archive/*/wave*",
    ]);
    let worktrees = project.git(&["worktree", "list"]);
    let worktrees = worktrees.lines().filter(|line| line.contains("[wave1-agent-"));
    [branches.lines().map(str::to_owned).collect(), worktrees.map(str::to_owned).collect()]
}

/// SAW-46: if nothing has changed, the wave keeps its worktrees, branches and commits, and no agent works again.
#[tokio::test]
async fn a_wave_that_begins_again_has_what_it_had() {
    let project = project().await;
    let turns = [cannot(), turn("B", "b.txt"), turn("A", "a.txt")];
    let test = TestRun::new(&project, script(&plan_of_one_contract(), &turns)).with_gate(&passing());
    let blocked = is_blocked(&project, &test).await;
    let before = of_agents(&project);
    assert_eq!(before.each_ref().map(Vec::len), [2, 2], "{before:?}");
    for _ in 0..2 {
        assert!(matches!(test.unblock(json!("revised")).await, Outcome::Waiting { .. }));
        let question = test.question().await;
        assert_eq!((question.reason, question.problems), blocked);
        assert_eq!(of_agents(&project), before);
    }
    assert_eq!((implemented(&test), test.unplayed()), (2, 1));
}

/// SAW-37, SAW-45, SAW-113, CON-100: contracts are revised on the target branch, so every worktree is made anew there. An agent
/// with a changed prompt works again; an agent with the same prompt is not run again: its commits are cherry-picked.
#[tokio::test]
async fn a_revised_contract_has_worktrees_made_anew() {
    let project = project().await;
    // Its second turn matches only the revised section.
    let (turns, again) = ([cannot(), turn("B", "b.txt")], [turn("A", "a.txt")]);
    let script = script_telling_later(&plan_of_one_contract(), &turns, &again, "fn greet(name)");
    let test = TestRun::new(&project, script).with_gate(&passing());
    let (reason, _) = is_blocked(&project, &test).await;
    assert_eq!(reason, BlockReason::Contract);
    let before = project.git(&["rev-parse", "wave1-agent-b"]);
    edit(&project, "fn greet()", "fn greet(name)");
    let revised = project.git(&["rev-parse", "main"]);
    is_complete(&test.unblock(json!("revised")).await);
    assert_eq!((implemented(&test), test.unplayed()), (3, 0), "A twice, B once");
    for (message, subject) in [("Merge wave1-agent-a", "work"), ("Merge wave1-agent-b", "work")] {
        let merge = project.git(&["log", "--format=%H", "--grep", message, "main"]);
        let merged = project.git(&["log", "-1", "--format=%P %s", &format!("{}^2", merge.trim())]);
        assert_eq!(merged, format!("{} {subject}\n", revised.trim()), "{message}: one commit, on what was revised");
    }
    assert!(!project.git(&["rev-list", "main"]).contains(before.trim()));
    let archived = project.git(&["for-each-ref", "--format=%(objectname)", "refs/interlocking/archive"]);
    assert!(archived.contains(before.trim()), "what it was picked from is kept");
    // SAW-71: the document has the commits that are merged.
    let read = Impl::read(DOCUMENT, &project.file("main", DOCUMENT)).unwrap();
    let commit = String::from(read.report(&"B".parse().unwrap()).unwrap().commit.clone());
    assert!(project.git(&["rev-list", "main"]).contains(&commit), "{commit}");
}

/// SAW-113, CON-100: an agent whose commits do not apply to the target branch works again.
#[tokio::test]
async fn work_that_does_not_fit_is_done_again() {
    let project = project().await;
    let turns = [cannot(), turn("B", "b.txt"), turn("A", "a.txt"), turn("B", "b.txt")];
    let test = TestRun::new(&project, script(&plan_of_one_contract(), &turns)).with_gate(&passing());
    is_blocked(&project, &test).await;
    std::fs::write(project.root().join("b.txt"), "somebody else's\n").unwrap();
    project.git(&["add", "b.txt"]);
    edit(&project, "fn greet()", "fn greet(name)");
    is_complete(&test.unblock(json!("revised")).await);
    assert_eq!((implemented(&test), test.unplayed()), (4, 0));
    assert_eq!(project.file("main", "b.txt"), "by agent B of wave 1\n");
}

/// SAW-113: the target branch moves while agents work. Nothing is merged onto an outdated base: the worktrees are made anew with
/// the agents' commits, and at the end the target has both.
#[tokio::test]
async fn a_target_that_moves_under_way_has_worktrees_made_anew() {
    let project = project().await;
    let commit = format!(
        "cd '{}' && echo theirs > theirs.txt && git add . && git -c user.name=A -c user.email=a@example.org commit -qm Theirs",
        project.root().display()
    );
    let commit: &'static str = Box::leak(commit.into_boxed_str());
    let [mut first, second] = turns();
    first.actions.insert(0, vec!["sh", "-c", commit]);
    let test = TestRun::new(&project, script(&plan(), &[first, second])).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    assert!(matches!(test.approve().await, Outcome::Waiting { .. }));
    let question = test.question().await;
    assert_eq!(question.reason, BlockReason::Contract);
    assert!(question.problems[0].ends_with("its worktrees have to be made anew"), "{:?}", question.problems);
    assert_eq!(project.git(&["log", "-1", "--format=%s", "main"]), "Theirs\n");
    is_complete(&test.unblock(json!("revised")).await);
    assert_eq!(implemented(&test), 2, "nobody works again");
    assert_eq!(project.file("main", "theirs.txt"), "theirs\n");
    assert_eq!(project.file("main", "a.txt"), "by agent A of wave 1\n");
}

/// SAW-36: contracts that are changed while agents work by them.
#[tokio::test]
async fn a_contract_that_changes_under_way_blocks_the_wave() {
    let project = project().await;
    let root = project.root();
    let change = format!(
        "cd '{}' && sed -i 's/fn greet()/fn greet(name)/' {} && git -c user.name=A -c user.email=a@example.org commit -qam Change",
        root.display(),
        DOCUMENT
    );
    let change: &'static str = Box::leak(change.into_boxed_str());
    let [mut first, second] = turns();
    first.actions.insert(0, vec!["sh", "-c", change]);
    let test = TestRun::new(&project, script(&plan(), &[first, second])).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Waiting { .. }), "{ended:?}");
    let question = test.question().await;
    let said = "the contracts on `main` are not those that wave 1 was launched with";
    assert_eq!((question.reason, &question.problems[..]), (BlockReason::Contract, &[said.to_owned()][..]));
    assert_eq!(project.git(&["log", "--all", "--merges", "--format=%s"]), "");
}

/// SAW-45, SAW-66: the revised document has another wave for agent A, so that agent B is alone. It keeps its work, or
/// works again in a worktree of its own, as its unchanged section says. Agent A does not begin before its section names
/// its new place.
#[tokio::test]
async fn an_agent_that_is_left_alone_keeps_its_work() {
    let of_a = "      - agent: A\n        changes: []\n        creates: [a.txt]\n        needs: []\n";
    for is_done in [true, false] {
        let project = project().await;
        let mut second = turn("B", "b.txt");
        second.report["status"] = json!(if is_done { "complete" } else { "partial" });
        let mut later = Turn { post: "agent A of wave 2", ..turn("A", "a.txt") };
        later.report["worktree"] = json!("main");
        let again = if is_done { vec![] } else { vec![turn("B", "b.txt")] };
        let turns: Vec<_> = [cannot(), second].into_iter().chain(again).chain([later]).collect();
        let test = TestRun::new(&project, script(&plan_of_one_contract(), &turns)).with_gate(&passing());
        assert_eq!(is_blocked(&project, &test).await.0, BlockReason::Contract);
        let text = project.file("main", DOCUMENT);
        let (_, waves) = text.split_once("waves:\n").unwrap();
        let (waves, _) = waves.split_once("```").unwrap();
        edit(&project, waves, &format!("{}  - agents:\n{of_a}", waves.replace(of_a, "")));
        let ended = test.unblock(json!("revised")).await;
        assert!(matches!(ended, Outcome::Waiting { .. }), "{ended:?}");
        let BlockedQuestion { wave, reason, problems, .. } = test.question().await;
        let said = "the section of agent A does not name the worktree that it has in wave 2: write `main` into its field 8, \
                    and into its field 0 the directory and the branch where it works";
        assert_eq!((wave, reason, &problems[..]), (2, BlockReason::Contract, &[said.to_owned()][..]));
        assert_eq!(project.git(&["log", "--merges", "--format=%s", "main"]), "Merge wave1-agent-b\n");
        edit(&project, ".claude/worktrees/wave1-agent-a", "main");
        let ended = test.unblock(json!("revised")).await;
        assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 2, .. })), "{ended:?}");
        assert_eq!((implemented(&test), test.unplayed()), (if is_done { 2 } else { 3 }, 0));
    }
}
