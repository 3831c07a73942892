//! What is left of both sides after an agent has adapted a branch.

use crate::project::Project;
use crate::rebases::{asked_after, by, clash, later};
use crate::small::{Act, AgentScript, Who, append, plan, scaffold, scaffolding, test_run, write};
use crate::tree::family;
use interlocking::cli::repository::EmbeddedFile;
use serde_json::json;
use v3::types::outcome::V3Outcome;

/// V3-101, V3-103: a function that the rebase has put together from both sides, without a conflict, was not written by the agent.
#[tokio::test]
async fn a_function_that_both_have_changed_is_no_conflict() {
    let router = |first: &str, last: &str| {
        format!("fn router() {{\n    {first}\n    b();\n    c();\n    d();\n    {last}\n}}\n")
    };
    let contents: &'static str = router("a();", "e();").leak();
    let project = Project::of(&[EmbeddedFile { path: "src/router.rs", contents }]).await;
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let mut script = AgentScript::default().always(
        Who::Rebaser,
        "top/a",
        &adapted,
        &[append("shared.txt", "and by a\n"), write("Cargo.lock", "of both\n"), Act::Commit],
    );
    for (child, changed) in [("a", router("a1();", "e();")), ("b", router("a();", "e1();"))] {
        let id = format!("top/{child}");
        let [shared, lock] = ["shared.txt", "Cargo.lock"].map(|path| write(path, &by(child)));
        let own = [shared, lock, write("src/router.rs", &changed)];
        let scaffolded = [&own[..], &scaffolding(&id)].concat();
        script = script.once(Who::Planner, &id, &scaffold(&id, &[], &[plan(child)]), &scaffolded);
    }
    let test = test_run(&project, &AgentScript::with(script, family()));
    let outcome = later(&test, async {}).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    assert_eq!((test.prompts("rebaser of `top/a`").len(), test.prompts("planner of `top/a`").len()), (1, 1));
    assert_eq!(project.git(&["show", "main:src/router.rs"]), router("a1();", "e1();"));
    assert_eq!(project.git(&["show", "main:shared.txt", "main:Cargo.lock"]), "by b\nand by a\nof both\n");
}

/// V3-101: an adaptation that takes the sibling's lines away is a conflict, in a file that is not Rust, also if no line of it gave
/// way, and in a function.
#[tokio::test]
async fn an_adaptation_that_takes_the_siblings_lines_away_is_a_conflict() {
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let function = |child: &str| format!("pub fn who() -> char {{\n    '{child}'\n}}\n");
    for (file, text, rewritten, told) in [
        ("shared.txt", by as fn(&str) -> String, "shared.txt", "shared.txt does not have what was merged: by b\n"),
        ("shared.txt", by, "src/b.txt", "src/b.txt does not have what was merged: stub\n"),
        ("shared.rs", function, "shared.rs", "shared.rs:1:5: `who` has another body\n"),
    ] {
        let asked = asked_after(clash(file, text, &adapted, &[write(rewritten, &text("a")), Act::Commit])).await;
        assert!(asked.contains(&format!("Both cannot be: {told}")), "{asked}");
    }
}
