//! A person descopes an agent, and the wave goes on without it, also when it begins again.

use crate::project::Project;
use crate::small::{is_blocked, passing, plan, project, script, turn, turns};
use crate::stopped::edit;
use crate::test_run::{DOCUMENT, TestRun};
use crate::unblocked::{is_complete, partial};
use interlocking::prelude::*;
use scout_and_wave::protocol::state::BlockReason;
use serde_json::json;

/// The wave has landed without agent B, and the document says so.
pub(crate) fn is_without_b(project: &Project) {
    let files = project.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert_eq!(files, "README.md\na.txt\ndocs/IMPL-stats.md\nlist.txt\nshared.txt\n");
    assert_eq!(project.file("main", "list.txt"), "one\ntwo\n");
    let text = project.file("main", DOCUMENT);
    assert_eq!(text.matches("### Wave 1 - Descoped\n\n- Agent B: nothing of it is merged\n").count(), 1, "{text}");
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(project.git(&["branch", "--format=%(refname:short)"]), "main\n");
}

/// SAW-43: an agent is descoped, with a report or without, and another one works again. The first does not: the wave goes on
/// without it.
#[tokio::test]
async fn an_agent_stays_descoped_while_another_works_again() {
    let mut incomplete = turn("B", "b.txt");
    incomplete.report["status"] = json!("partial");
    let mut malformed = turn("B", "b.txt");
    malformed.report["verification"] = json!("all is well");
    for second in [incomplete, malformed] {
        let project = project().await;
        let turns = [partial(), second, turn("A", "a.txt"), turn("B", "b.txt")];
        let test = TestRun::new(&project, script(&plan(), &turns)).with_gate(&passing());
        is_blocked(&project, &test).await;
        assert!(matches!(test.unblock(json!({ "descope": { "agents": ["B"] } })).await, Outcome::Waiting { .. }));
        is_complete(&test.unblock(json!({ "rerun": { "agents": ["A"] } })).await);
        assert_eq!(test.unplayed(), 1, "B has not worked again");
        is_without_b(&project);
    }
}

/// SAW-43, SAW-45: the same where the document is revised, and the wave begins again at another commit. If the revised wave has no
/// other agent, none is launched.
#[tokio::test]
async fn an_agent_stays_descoped_when_the_document_is_revised() {
    let project = project().await;
    let incomplete = ["A", "B"].map(|letter| {
        let mut turn = turn(letter, if letter == "A" { "a.txt" } else { "b.txt" });
        turn.report["status"] = json!("partial");
        turn
    });
    let test = TestRun::new(&project, script(&plan(), &incomplete)).with_gate(&passing());
    is_blocked(&project, &test).await;
    assert!(matches!(test.unblock(json!({ "descope": { "agents": ["B"] } })).await, Outcome::Waiting { .. }));
    let of_a = "  - agents:\n      - agent: A\n        changes: []\n        creates: [a.txt]\n        needs: []\n";
    edit(&project, of_a, "  - agents:\n");
    assert!(matches!(test.unblock(json!({ "fixed": { "agents": ["A"] } })).await, Outcome::Waiting { .. }));
    assert_eq!(test.question().await.reason, BlockReason::Contract, "the target has moved");
    assert!(matches!(test.unblock(json!("revised")).await, Outcome::Waiting { .. }));
    let said = "every agent of wave 1 is descoped: give the wave another one, or stop the run";
    assert_eq!(test.question().await.problems, [said]);
    edit(&project, "  - agents:\n", of_a);
    is_complete(&test.unblock(json!("revised")).await);
    assert_eq!(test.started().iter().filter(|node| *node == "implement").count(), 2, "nobody works again");
    is_without_b(&project);
}

/// SAW-43, SAW-45: a person puts right the work of an agent that was descoped before the document was revised. What has changed on
/// the target branch since the agent began is not taken for its work.
#[tokio::test]
async fn a_descoped_agent_is_fixed_after_the_document_is_revised() {
    let project = project().await;
    let [first, second] = turns().map(|mut turn| {
        turn.report["status"] = json!("partial");
        turn
    });
    let test = TestRun::new(&project, script(&plan(), &[first.clone(), second, first])).with_gate(&passing());
    is_blocked(&project, &test).await;
    assert!(matches!(test.unblock(json!({ "descope": { "agents": ["B"] } })).await, Outcome::Waiting { .. }));
    edit(&project, "Write a.txt.", "Write a.txt again.");
    assert!(matches!(test.unblock(json!({ "fixed": { "agents": ["A"] } })).await, Outcome::Waiting { .. }));
    assert!(matches!(test.unblock(json!("revised")).await, Outcome::Waiting { .. }));
    assert_eq!((test.question().await.reason, test.unplayed()), (BlockReason::AgentFailure, 0));
    is_complete(&test.unblock(json!({ "fixed": { "agents": ["A", "B"] } })).await);
    assert_eq!(project.file("main", "list.txt"), "one\ntwo\nthree\n");
    let text = project.file("main", DOCUMENT);
    assert!(text.contains("Write a.txt again.") && !text.contains("Descoped"), "{text}");
}
