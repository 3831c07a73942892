//! A tree of a parent and two children, with its prompts.

use crate::small::{AgentScript, plan, project, spec, test_run};
use crate::test_run::TestRun;
use interlocking::prelude::*;
use interlocking::runtime::journal::{Origin, RunSummary};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use v3::types::outcome::V3Outcome;

pub(crate) fn family() -> AgentScript {
    AgentScript::default().honest("top", &["a", "b"]).honest("top/a", &[]).honest("top/b", &[])
}

fn runs(test: &TestRun<'_>) -> BTreeSet<RunId> {
    test.ended().into_iter().map(|(run, _)| run).collect()
}

#[tokio::test]
async fn two_children_and_their_parent() {
    let project = project().await;
    let test = test_run(&project, &family());
    let outcome = test.outcome(spec(&["a", "b"])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    assert_eq!(runs(&test).len(), 3);
    // V3-02, V3-38: the root has no parent; a child gets its parent's interface, which is read-only.
    assert!(!test.prompts("planner of `top`")[0].contains("your parent"));
    let child = &test.prompts("planner of `top/a`")[0];
    let given = "## What your parent has defined\n\n```\n// src/top.api\nsays done\n```\n\nOf your parent's criteria you have to satisfy: a.\n\n\
                 The parent's interface files are read-only: `src/top.api`. \
                 So are tests of other nodes: `checks/contract_top.sh`, `checks/b.sh`.";
    assert!(child.contains(given), "{child}");
    // V3-06, V3-69, V3-75, V3-125: the parent's implementer has the tests, and an entry for each child.
    let implementer = &test.prompts("implementer of `top`")[0];
    for line in ["- top/a: `a`", "- top/b: `b`", "Use these, do not reimplement them."] {
        assert!(implementer.contains(line), "{implementer}");
    }
    assert!(!test.prompts("implementer of `top/a`")[0].contains("## What the children have merged"));
    // V3-138, V3-139: each child is judged by the criteria that it was given, and against what others have merged before it.
    let judged = |child: &str| test.prompts(&format!("judge what `top/{child}`"));
    let (a, b) = (judged("a"), judged("b"));
    assert_eq!((a.len(), b.len()), (1, 1));
    let (a, b) = (&a[0], &b[0]);
    for (prompt, own, other) in [(a, "a", "b"), (b, "b", "a")] {
        let diff = prompt.split("```diff\n").nth(1).unwrap().split("```").next().unwrap();
        assert!(diff.contains(&format!("+++ b/src/{own}.txt")) && diff.contains("\n+done\n"), "{diff}");
        assert!(!diff.contains(&format!("src/{other}.txt")), "{diff}");
    }
    assert!(a.contains("\n- a: The criterion a holds.\n") && b.contains("\n- b: The criterion b holds.\n"), "{a}");
    let fits = [a.contains("- top/b: `b` (It is done.)"), b.contains("- top/a: `a` (It is done.)")];
    assert_eq!(fits.iter().filter(|fits| **fits).count(), 1, "{a}\n{b}");
    // V3-93, V3-97, V3-128: one of the two siblings is told of the other; no node is told of itself, or after its end.
    let rebased: Vec<_> = test.ended().into_iter().filter(|(_, node)| node == "rebaser").collect();
    assert!(rebased.len() == 1 && rebased[0].0 != RunId::DEFAULT, "{rebased:?}");
    // PRG-26: what a child remembers is its own.
    for child in ["a", "b"] {
        let remembered = test.memories(&test.run_of(&format!("top/{child}")).await, "tdd").await;
        let (written, conversation) = (json!([plan(child)]), format!("top/{child} tdd"));
        let is_its_own = |memory: &Value| memory["writtenTests"] == written && memory["conversationId"] == conversation;
        assert!(!remembered.is_empty() && remembered.iter().all(is_its_own), "{remembered:?}");
    }
    // V3-100, V3-89: a linear history, with one commit for each child.
    let subjects = project.subjects("main");
    assert_eq!((subjects.len(), project.git(&["rev-list", "--merges", "main"]).as_str()), (5, ""));
    project.is_tidy();
}

/// EVO-13: a child's workspace contains no link, neither into its parent's workspace nor elsewhere; and it does not have the
/// parent's uncommitted files.
#[tokio::test]
async fn a_childs_workspace_is_its_own() {
    let project = project().await;
    let test = test_run(&project, &family());
    let (author, planner) = (test.agent.hold("test author of `top`"), test.agent.hold("planner of `top/a`"));
    let watch = async {
        author.reached().await;
        planner.reached().await;
        let workspace = |title: &str| test.agent.calls_to(title)[0].workspace.clone();
        let (parents, childs) = (workspace("test author of `top`"), workspace("planner of `top/a`"));
        std::fs::write(parents.join("context.md"), "The parent's own.").unwrap();
        let (mut waiting, mut files) = (vec![childs.clone()], BTreeSet::new());
        while let Some(directory) = waiting.pop() {
            for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
                let (kind, path) = (entry.file_type().unwrap(), entry.path());
                assert!(!kind.is_symlink(), "{}", path.display());
                match kind.is_dir() {
                    true => waiting.push(path),
                    false => _ = files.insert(path.strip_prefix(&childs).unwrap().to_string_lossy().into_owned()),
                }
            }
        }
        // With the files of its parent's scaffold.
        let expected = [".git", "README.md", "checks/contract_top.sh", "src/top.api", "src/top.txt"];
        assert_eq!(files, expected.map(str::to_owned).into());
        std::fs::remove_file(parents.join("context.md")).unwrap();
        author.release();
        planner.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&["a", "b"])), watch);
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
}

/// The places of the results of a node's first execution.
async fn makes(test: &TestRun<'_>, run: &RunId, node: &str) -> Vec<String> {
    let outcome = test.outcomes(run).await.into_iter().find(|outcome| outcome.node == node).unwrap();
    outcome.tokens.into_iter().map(|token| token.place).collect()
}

/// CON-03, EVO-05: the planner leads only to the fork, which starts the tests and the children in one step; a node without
/// children waits for none. The parent of each run is recorded.
#[tokio::test]
async fn children_are_begun_by_the_fork_with_the_tests() {
    let project = project().await;
    let test = test_run(&project, &family());
    let outcome = test.outcome(spec(&["a", "b"])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let root = RunId::DEFAULT;
    assert_eq!(makes(&test, &root, "scaffold").await, ["fork"]);
    assert_eq!(makes(&test, &root, "fork").await, ["write_tests", "children"]);
    let begun_by = |summary: RunSummary| match summary.origin {
        Some(Origin::Child { parent, node, visit, .. }) => Some((parent, node, visit)),
        _ => None,
    };
    let begun: Vec<_> = test.journal.runs().await.unwrap().into_iter().filter_map(begun_by).collect();
    assert_eq!(begun, [(); 2].map(|()| (root.clone(), "children".to_owned(), 1)));
    let leaf = test.run_of("top/a").await;
    assert_eq!(makes(&test, &leaf, "scaffold").await, ["fork"]);
    assert_eq!(makes(&test, &leaf, "fork").await, ["write_tests", "barrier.merges"]);
}

/// Asserts that an agent that changes the interface of `top` is told so, and that the interface lands unchanged.
async fn is_told_to_put_it_back(agent: &str, script: AgentScript) {
    let project = project().await;
    let test = test_run(&project, &script.honest("top", &["a"]).honest("top/a", &[]));
    let outcome = test.outcome(spec(&["a"])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let told = &test.prompts(agent)[1];
    assert!(
        told.contains("your commits change interface files of the nodes above: src/top.api; put them back"),
        "{told}"
    );
    assert_eq!(project.git(&["show", "main:src/top.api"]), "says done\n");
}

/// V3-48: a child's planner that changes an interface file of its parent is told so, too.
#[tokio::test]
async fn a_scaffold_leaves_the_parents_interface_alone() {
    use crate::small::{Who, append, plan, scaffold, scaffolding};
    let acts = [&[append("src/top.api", "and more\n")][..], &scaffolding("top/a")].concat();
    let script = AgentScript::default().once(Who::Planner, "top/a", &scaffold("top/a", &[], &[plan("a")]), &acts);
    is_told_to_put_it_back("planner of `top/a`", script).await;
}

/// V3-44, V3-140: a child's planner can change neither its parent's contract nor the tests of a sibling.
#[tokio::test]
async fn a_scaffold_leaves_the_tests_of_others_alone() {
    use crate::small::{Who, plan, scaffold, scaffolding, write};
    for path in ["checks/contract_top.sh", "checks/b.sh"] {
        let project = project().await;
        let acts = [&[write(path, "true\n")][..], &scaffolding("top/a")].concat();
        let script = AgentScript::default().once(Who::Planner, "top/a", &scaffold("top/a", &[], &[plan("a")]), &acts);
        let test = test_run(&project, &AgentScript::with(script, family()));
        let outcome = test.outcome(spec(&["a", "b"])).await;
        assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
        let told = &test.prompts("planner of `top/a`")[1];
        assert!(told.contains(&format!("your commits change tests: {path}; put them back")), "{told}");
        assert!(project.git(&["show", &format!("main:{path}")]).contains("while read"), "{path}");
    }
}

/// V3-48: a child that changes an interface file of its parent is told so by the first check.
#[tokio::test]
async fn a_child_leaves_its_parents_interface_alone() {
    use crate::small::{Act, Who, append};
    let passed = serde_json::json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let acts = [append("src/a.txt", "done\n"), append("src/top.api", "and more\n"), Act::Commit];
    let script = AgentScript::default().once(Who::Implementer, "top/a", &passed, &acts);
    is_told_to_put_it_back("implementer of `top/a`", script).await;
}
