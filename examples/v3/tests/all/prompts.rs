//! The prompts of agents, given the inputs.

use askama::Template;
use interlocking::workspaces::FilePath;
use serde_json::{Value, json};
use v3::memory::{ImplMem, TddMem};
use v3::prompts::{ImplPrompt, MergerPrompt, RebaserPrompt, ReviewPrompt, ScaffoldPrompt, WriteTestsPrompt};
use v3::types::rebase::RebaserInput;
use v3::types::scaffold::ScaffoldInput;
use v3::types::shared::MergeEvent;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

fn spec(constraints: &Value) -> Value {
    let mut spec = json!({
        "id": "top/a", "description": "Counts.",
        "acceptanceCriteria": [{ "id": "c1", "text": "It counts." }, { "id": "c2", "text": "It stops." }],
        "targetPath": "src/a.rs", "testPath": "tests/a.rs",
    });
    if !constraints.is_null() {
        spec["complexityConstraints"] = constraints.clone();
    }
    spec
}

fn scaffold() -> Value {
    let planned = json!({ "criterionId": "c1", "plannedTestName": "it_counts", "approach": "Count to three." });
    json!({ "scaffoldCommit": COMMIT, "interfaceFile": "src/a.rs", "contractSuite": "tests/contract.rs", "testPlan": [planned] })
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

#[track_caller]
fn has(prompt: &str, all: &[&str]) {
    for words in all {
        assert!(prompt.contains(words), "{words:?} is not in:\n{prompt}");
    }
}

fn planner(constraints: &Value) -> String {
    let input: ScaffoldInput = read(json!({ "spec": spec(constraints) }));
    ScaffoldPrompt { input: &input, clarifications: Vec::new(), may_split: true }.render().unwrap()
}

/// V3-36, V3-39, V3-40, V3-41.
#[test]
fn the_planner_is_asked_for_a_scaffold() {
    let prompt = planner(&Value::Null);
    has(&prompt, &["# You are the planner of `top/a`", "Counts.", "- c1: It counts.\n- c2: It stops."]);
    has(&prompt, &["a single responsibility, takes under 500 LOC, and all criteria are tightly coupled"]);
    has(&prompt, &["several subsystems, with clear interface boundaries, and they are independently testable"]);
    has(&prompt, &["TDD and Impl spawn in parallel with the children either way."]);
    let steps = [
        "1. Create the interface file",
        "2. Create the contract suite",
        "3. Plan the tests",
        "4. If you split it",
        "5. Commit the scaffold",
    ];
    let places: Vec<_> = steps.iter().map(|step| prompt.find(step).unwrap()).collect();
    assert!(places.is_sorted());
    has(&prompt, &["Each file in the directory of a child's `testPath` is one of its tests"]);
    has(
        &prompt,
        &[
            "`scaffoldCommit`",
            "`interfaceFile`",
            "`contractSuite`",
            "`testPlan`",
            "`question`",
            "`ambiguityReference`",
            "`specSentence`",
        ],
    );
}

/// Who commits is told to stay on the branch, and to leave its commits as they are.
#[test]
fn who_commits_is_told_to_stay_on_the_branch() {
    for template in ["scaffold", "write_tests", "implement", "rebaser"] {
        let path = format!("{}/templates/{template}.md", env!("CARGO_MANIFEST_DIR"));
        let template = std::fs::read_to_string(&path).unwrap();
        let told =
            "Stay on the branch that is checked out, and only add commits to it: no amending, rebasing or resetting.";
        assert!(template.contains(told), "{path}");
    }
}

/// V3-37: time and space, each alone, both, neither.
#[test]
fn constraints_are_shown_where_there_are_any() {
    for (constraints, time, space) in [
        (Value::Null, false, false),
        (json!({ "time": "O(1)" }), true, false),
        (json!({ "space": "O(n)" }), false, true),
        (json!({ "time": "O(1)", "space": "O(n)" }), true, true),
    ] {
        let prompt = planner(&constraints);
        let shown =
            (prompt.contains("## Complexity"), prompt.contains("- Time: O(1)"), prompt.contains("- Space: O(n)"));
        assert_eq!(shown, (time || space, time, space), "{constraints}");
    }
}

/// V3-57, V3-58, V3-59: covered criteria have a tick.
#[test]
fn the_test_author_is_asked_for_tests() {
    let input = read(json!({ "spec": spec(&Value::Null), "scaffold": scaffold() }));
    let memory: TddMem =
        read(json!({ "conversationId": null, "thread": null, "coveredCriteria": ["c2"], "pendingTests": [] }));
    let prompt = WriteTestsPrompt { input: &input, memory }.render().unwrap();
    has(
        &prompt,
        &[
            "# You are the test author",
            "- c1: It counts.\n- c2: It stops. ✓ covered",
            "- c1: `it_counts`: Count to three.",
        ],
    );
    has(&prompt, &["failing tests for ALL criteria that are not covered, in one batch", "there is no ping-pong"]);
    has(
        &prompt,
        &[
            "Use the public API only.",
            "One criterion per test.",
            "must fail on the skeleton",
            "Commit all tests together",
        ],
    );
    has(
        &prompt,
        &["`TestsReady`, with", "`InvalidScaffold`, with `missingType` and `expectedLocation`: routes to Scaffold."],
    );
}

/// V3-74, V3-77, V3-78, V3-79.
#[test]
fn the_implementer_is_asked_to_make_tests_pass() {
    let ready = json!({ "testsCommit": COMMIT, "testFiles": ["tests/a.rs"], "pendingCriteria": ["c1", "c2"] });
    let input =
        read(json!({ "spec": spec(&Value::Null), "scaffold": scaffold(), "testsReady": ready, "attemptCount": 4 }));
    let prompt = |attempt, is_final| {
        ImplPrompt { input: &input, memory: ImplMem::default(), attempt, is_final }.render().unwrap()
    };
    let asked = prompt(2, false);
    has(
        &asked,
        &["# You are the implementer", "`tests/a.rs`", "Pending criteria: c1, c2.", "This is attempt 2 of 5.\n"],
    );
    let steps = [
        "1. Run the tests: they are red.",
        "2. Write the minimal code for ALL tests.",
        "3. Run the tests: they are green.",
        "4. Commit.",
    ];
    assert!(steps.map(|step| asked.find(step).unwrap()).is_sorted());
    has(
        &asked,
        &[
            "Do not touch test files. Do not change interface signatures. Use the children's subsystems. Do not change how",
        ],
    );
    for exit in ["TestsPassed", "RequestRetry", "BlockedDependency", "SpecAmbiguity", "Stuck"] {
        has(&asked, &[&format!("- `{exit}`, with")]);
    }
    has(&asked, &["at most 5 attempts in all", "goes to Scaffold", "goes to the review"]);
    // Sections appear only if they have content.
    for heading in [
        "## What the children",
        "## The children that",
        "## What the review",
        "## What was wrong",
        "## Why it could",
        "## Your last attempt",
    ] {
        assert!(!asked.contains(heading), "{heading}");
    }
    has(&prompt(5, true), &["This is attempt 5 of 5. It is the final one: succeed, or emit `Stuck`."]);
}

/// V3-60, V3-61, V3-62, V3-63.
#[test]
fn the_reviewer_is_asked_what_cannot_be_looked_up() {
    let result = json!({ "commitHash": COMMIT, "iterations": 3, "passedTests": ["it_counts", "it_stops"] });
    let input = read(
        json!({ "spec": spec(&Value::Null), "scaffold": scaffold(), "implResult": result, "diff": "+fn count()" }),
    );
    let (commit, diff) = (COMMIT.parse().unwrap(), "+fn count()".to_owned());
    let prompt = ReviewPrompt { input: &input, commit, diff, judgement: None }.render().unwrap();
    let commit = format!("Commit {COMMIT}, after 3 iterations. Passed: it_counts, it_stops.");
    has(&prompt, &["# You are the reviewer", &commit, "```diff\n+fn count()\n```"]);
    has(
        &prompt,
        &[
            "The build passes.",
            "The tests pass.",
            "No stub markers are left",
            "The interface is unchanged since the scaffold.",
        ],
    );
    has(&prompt, &["really satisfied", "readable in 60 seconds", "no unsafe imports"]);
    has(&prompt, &["`Approved`, with", "goes to Merger", "`MoreTests`, with", "`Reject`, with"]);
}

/// V3-88.
#[test]
fn the_merger_is_told_whose_work_it_is() {
    let node = |id: &str| json!({ "nodeId": id, "branch": format!("r/{id}/impl") });
    let approval = json!({ "signOff": "All is well.", "coverageReport": { "criteriaWithTests": [["c1", "it_counts"]], "criteriaMissing": [] } });
    let input = read(
        json!({ "parentNode": node("top"), "childNode": node("top/a"), "tddApproval": approval, "contractSuite": "tests/c.rs" }),
    );
    let prompt = MergerPrompt { input: &input, conflict: None }.render().unwrap();
    has(
        &prompt,
        &[
            "# You are the merger of `top/a`",
            "from `r/top/a/impl` into `r/top/impl` of `top`",
            "Sign-off: All is well.",
            "- c1: `it_counts`",
        ],
    );
}

/// V3-98, V3-102, V3-103, V3-104: three impacts, three texts.
#[test]
fn the_rebaser_is_told_what_it_may_do() {
    for (impact, words) in [
        ("Trivial", "nothing may change its meaning"),
        ("Additive", "The new exports may be used."),
        ("Breaking", "Import updates, symbol renames and signature adjustments are allowed."),
    ] {
        let change = json!({ "symbol": "b::count", "changeType": "SignatureChange", "reason": "It counts further." });
        let event = json!({ "author": "top/b", "impactLevel": impact, "changes": [change] });
        let node = json!({ "nodeId": "top/a", "branch": "r/a/impl" });
        let input: RebaserInput =
            read(json!({ "node": node, "parentBranch": "r/impl", "newParentHead": COMMIT, "mergeEvent": event }));
        let before: MergeEvent = read(json!({ "author": "top/c", "impactLevel": "Trivial", "changes": [
            { "symbol": "c::sum", "changeType": "NewExport", "reason": "It sums." },
        ] }));
        let prompt = RebaserPrompt {
            input: &input,
            before: &[before],
            impact: input.merge_event.impact_level,
            gave_way: vec![],
            failing_tests: vec!["it_stops".to_owned()],
            interface_file: &FilePath::new("src/a.rs").unwrap(),
        };
        let prompt = prompt.render().unwrap();
        has(
            &prompt,
            &["rebaser of `top/a`", "`r/a/impl`", COMMIT, "`top/b` was merged", &format!("Impact: {impact}."), words],
        );
        has(
            &prompt,
            &[
                "\n\n- `b::count`: SignatureChange: It counts further.\n\nBefore it, `top/c` was merged:\n\n- `c::sum`: NewExport: It sums.\n",
                "These tests fail now: it_stops.",
                "4. Run the tests, and commit.",
            ],
        );
        has(
            &prompt,
            &[
                "Function bodies, control flow and logic rewrites are forbidden. If logic must change, return `RebaseConflict` instead.",
                "Do the same if a test must change, or a signature in the interface, `src/a.rs`: the planner makes these.",
            ],
        );
    }
}
