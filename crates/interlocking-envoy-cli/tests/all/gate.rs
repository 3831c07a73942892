//! `envoy plan block-prompt-variants-gate`.

use crate::support::Project;
use expect_test::expect;
use serde_json::json;

/// Worktrees of prompt 3 of `tides`, a commit in each.
fn project(variants: &[&str]) -> Project {
    let project = Project::repository();
    project.git(&["branch", "tides"]);
    for variant in variants {
        let branch = format!("tides-prompts/implementation-3-{variant}");
        project.git(&["worktree", "add", "--quiet", "-b", &branch, &format!("trees/{variant}"), "main"]);
    }
    project
}

const GATE: [&str; 4] = ["plan", "block-prompt-variants-gate", "--feature-branch", "tides"];

fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    GATE.iter().chain(more).copied().collect()
}

/// A decision is about a variant, so its letter is not forgotten.
#[test]
fn a_decision_without_a_letter_is_refused() {
    let project = project(&["A"]);
    for option in [["--decision", "discard"], ["--reason", "slow"], ["--thoughts", "none"]] {
        let called = project.call(&words(&[&["3"][..], &option].concat()));
        assert_eq!((called.exit, called.stdout.as_str()), (2, ""), "{called:?}");
        assert!(called.stderr.contains("<VARIANT>"), "{called:?}");
    }
}

/// ENV-74, ENV-75, ENV-98: the three decisions, and no second main.
#[test]
fn a_variant_is_settled() {
    let project = project(&["A", "B", "C"]);
    let mut pages = project.call(&words(&["3", "A", "--decision", "alternative", "--reason", "slower"])).page();
    pages += &project.call(&words(&["3", "B", "--decision", "discard"])).page();
    pages += &project.call(&words(&["3", "C", "--decision", "main", "--thoughts", "fine"])).page();
    pages += &project.call(&words(&["3", "A", "--decision", "main"])).page();
    pages += &project.call(&words(&["3", "D", "--decision", "main"])).page();
    expect![[r#"
        exit 0
        variant_solution: alternative
        reason: slower
        unmerged alternative: tides-prompts/implementation-3-A
        return { success: true, merged: false, reason: "alternative" }
        exit 0
        variant_solution: discard
        unmerged alternative: tides-prompts/implementation-3-A
        return { success: true, merged: false, reason: "discard" }
        exit 0
        variant_solution: main
        thoughts: fine
        unmerged alternative: tides-prompts/implementation-3-A
        go on and merge
        exit 2
        ! error: prompt 3_A of tides cannot be main, because variant C already is: decide `alternative` or `discard`; or revert what was merged of C, and remove C from .git/interlocking/envoy-variants.json
        exit 2
        ! error: prompt 3_D of tides has no branch: neither tides/implementation-3-D nor tides-prompts/implementation-3-D is there; start the prompt first
    "#]].assert_eq(&pages);
    let branches = project.git(&["branch", "--format=%(refname:short)"]);
    assert_eq!(
        branches,
        "archive/tides-prompts/implementation-3-B\nmain\ntides\ntides-prompts/implementation-3-A\ntides-prompts/implementation-3-C"
    );
    assert!(project.path("trees/A").exists() && !project.path("trees/B").exists());
}

/// ENV-77: at once, in any directory, whatever the other arguments.
#[test]
fn a_prompt_without_variants_is_settled_at_once() {
    let called = Project::new().call(&["plan", "block-prompt-variants-gate", "3", "--json"]);
    assert_eq!(called.exit, 0);
    assert_eq!(called.json(), json!({"thoughts": "", "variant_solution": null, "reason": "", "result": null}));
}

/// ENV-76, ENV-78, ENV-79: as JSON; an alternative of a debug prompt is a discard.
#[test]
fn the_result_as_json() {
    let project = project(&["A", "B"]);
    let called = project.call(&words(&["3", "A", "--decision", "accepted", "--debug", "--json"]));
    let result = json!({"success": true, "merged": false, "reason": "discard"});
    assert_eq!(called.json(), json!({"thoughts": "", "variant_solution": "discard", "reason": "", "result": result}));
    assert!(!project.path("trees/A").exists());
    let called = project.call(&words(&["3", "B", "--decision", "main", "--json"]));
    assert_eq!(called.json()["result"], json!(null));
}

/// Without a decision the command asks a person, and asks again if the answer is invalid.
#[test]
fn a_person_is_waited_for() {
    let project = project(&["A"]);
    let called = project.call_in("", "perhaps\nalternative  it is slower \nmain\n", &words(&["3", "A"]));
    expect![[r#"
        exit 0
        variant_solution: alternative
        reason: it is slower
        unmerged alternative: tides-prompts/implementation-3-A
        return { success: true, merged: false, reason: "alternative" }
        ! What becomes of prompt 3_A of tides? main, alternative or discard, and why:
        ! "perhaps" is no decision: write `main`, `alternative` or `discard`
    "#]]
    .assert_eq(&called.page());
    let called = project.call_in("", "", &words(&["3", "A"]));
    expect![[r#"
        exit 2
        ! What becomes of prompt 3_A of tides? main, alternative or discard, and why:
        ! error: no decision was made: standard input ended
        !   to do: give --decision main, alternative or discard
    "#]]
    .assert_eq(&called.page());
    let called = project.call_in("", b"discard \xff\n", &words(&["3", "A"]));
    expect![[r#"
        exit 2
        ! What becomes of prompt 3_A of tides? main, alternative or discard, and why:
        ! error: standard input cannot be read: stream did not contain valid UTF-8
        !   to do: give --decision main, alternative or discard
    "#]]
    .assert_eq(&called.page());
}

/// A reason that the person adds replaces the given one.
#[test]
fn a_reason_that_was_given_stays_where_the_person_names_none() {
    for (typed, reason) in [("alternative\n", "slow"), ("alternative it is slower\n", "it is slower")] {
        let project = project(&["A"]);
        let called = project.call_in("", typed, &words(&["3", "A", "--reason", "slow"]));
        assert!(called.page().contains(&format!("\nreason: {reason}\n")), "{}", called.page());
    }
}

/// The feature is derived from the worktree in which the command runs.
#[test]
fn the_feature_is_told_from_the_worktree() {
    let project = project(&["A"]);
    let gate = ["plan", "block-prompt-variants-gate", "3", "A", "--decision", "main"];
    let called = project.call(&gate);
    expect![[r#"
        exit 2
        ! error: it cannot be told which feature the variant belongs to
        !   to do: run it in the variant's worktree, or give --feature-branch BRANCH
    "#]]
    .assert_eq(&called.page());
    project.write("trees/A/src/x.rs", "");
    assert_eq!(project.call_in("trees/A/src", "", &gate).exit, 0);
}

/// A worktree with changes stays, and the decision stays open.
#[test]
fn changes_are_not_discarded() {
    let project = project(&["A"]);
    project.write("trees/A/new.rs", "x");
    let called = project.call(&words(&["3", "A", "--decision", "discard"]));
    assert_eq!(called.exit, 1);
    assert!(called.stderr.contains("has changes that are not committed"), "{}", called.stderr);
    assert!(project.path("trees/A/new.rs").exists());
}
