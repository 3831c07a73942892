//! Test authors that lie: what they say of their tests is checked in git and by running them.

use crate::lies::{has, told};
use crate::small::{
    Act, AgentScript, Who, append, change_toolchain, check, planned, project, scaffold, scaffolding, sh, shell, spec,
    test_run, write,
};
use crate::test_run::TestRun;
use interlocking::toolchain::{CommandLine, NamedCommand};
use interlocking::workspaces::FilePath;
use serde_json::{Value, json};
use v3::types::outcome::V3Outcome;

async fn tests_are_told(change: impl FnOnce(&mut Value), acts: &[Act]) -> String {
    let mut answer =
        json!({ "TestsReady": { "testsCommit": "$HEAD", "testFiles": ["checks/top.sh"], "pendingCriteria": ["one"] } });
    change(&mut answer["TestsReady"]);
    told(Who::TestAuthor, "test author", &answer, acts).await
}

/// V3-64, V3-66, V3-55, V3-58: one commit, with tests only, for existing criteria.
#[tokio::test]
async fn tests_that_are_not_only_tests() {
    let red = append("checks/top.sh", &check("top"));
    let prompt = tests_are_told(|_| {}, &[red.clone(), append("src/top.txt", "done\n"), Act::Commit]).await;
    has(&prompt, "your commit changes files that are no tests of yours: src/top.txt; change checks/top.sh alone");
    let prompt = tests_are_told(|_| {}, &[red.clone(), Act::Commit, red.clone(), Act::Commit]).await;
    has(&prompt, "you have made 2 commits: make all tests one commit");
    let prompt = tests_are_told(|_| {}, &[red.clone(), Act::Commit, append("notes", "mine")]).await;
    has(&prompt, "these files are changed and not committed: notes; commit or remove them");
    let merges = "git add . && git reset -q --hard $(git commit-tree $(git write-tree) -p HEAD -p HEAD~1 -m work)";
    let prompt = tests_are_told(|_| {}, &[red.clone(), sh(merges)]).await;
    has(&prompt, " is a merge: make commits with one parent each");
    let prompt = tests_are_told(|ready| ready["testFiles"] = json!([]), &[red.clone(), Act::Commit]).await;
    has(&prompt, "`testFiles` names no file: name checks/top.sh");
    let prompt = tests_are_told(|ready| ready["pendingCriteria"] = json!(["two"]), &[red.clone(), Act::Commit]).await;
    has(&prompt, "`pendingCriteria` names the criterion `two`, and there is none");
}

/// V3-64, V3-66: a Rust file has each planned test, under its name.
#[tokio::test]
async fn tests_that_are_not_there() {
    let project = project().await;
    let ready =
        json!({ "TestsReady": { "testsCommit": "$HEAD", "testFiles": ["checks/top.rs"], "pendingCriteria": ["one"] } });
    let acts = [write("checks/top.rs", "#[test]\nfn something_else() {}\n"), Act::Commit];
    let stuck = json!({ "InvalidScaffold": { "missingType": "T", "expectedLocation": "src/top.api" } });
    let asks = json!({ "ClarificationNeeded": {
        "question": "Q?", "ambiguityReference": "R", "specSentence": "Says when it is done." } });
    let script = AgentScript::default()
        .once(Who::Planner, "top", &scaffold("top", &[], &planned(&[])), &scaffolding("top"))
        .once(Who::TestAuthor, "top", &ready, &acts)
        .once(Who::TestAuthor, "top", &stuck, &[])
        .once(Who::Planner, "top", &asks, &[]);
    let test = test_run(&project, &script);
    let mut spec = spec(&[]);
    spec.test_path = FilePath::new("checks/top.rs").unwrap();
    let outcome = test.outcome(spec).await;
    assert!(matches!(outcome, V3Outcome::ClarificationNeeded(_)), "{outcome}");
    has(
        &test.prompts("test author")[1],
        "the planned test `one_holds` is not in checks/top.rs: write it, under that name",
    );
}

/// V3-65: tests that pass on the scaffold.
#[tokio::test]
async fn tests_that_are_green() {
    let prompt = tests_are_told(|_| {}, &[write("checks/top.sh", "true\n"), Act::Commit]).await;
    has(&prompt, "these tests pass before anything is implemented: one_holds; each has to fail on the skeleton");
}

/// V3-65: a file of tests that is a link, or no text, is not run.
#[tokio::test]
async fn tests_that_are_no_text() {
    let prompt =
        tests_are_told(|_| {}, &[sh("mkdir -p checks && ln -s ../src/top.txt checks/top.sh"), Act::Commit]).await;
    has(&prompt, "the tests cannot be run:\nchecks/top.sh is a symbolic link, not a file: delete it");
    let long = "mkdir -p checks && head -c 16777217 /dev/zero | tr '\\0' '#' > checks/top.sh";
    let prompt = tests_are_told(|_| {}, &[sh(long), Act::Commit]).await;
    has(&prompt, "the tests cannot be run:\nchecks/top.sh has more than 16777216 bytes");
    // A language other than Rust may have another encoding.
    let latin = "mkdir -p checks && printf '# \\377\\n' > checks/top.sh";
    let prompt = tests_are_told(|_| {}, &[sh(latin), Act::Commit]).await;
    has(&prompt, "these tests pass before anything is implemented");
}

fn more_tests(additional: &[&str]) -> Value {
    let critique = json!({ "file": "src/top.txt", "line": 1, "issue": "Dull.", "requiredFix": "Shine." });
    let test = |name: &&str| json!({ "criterionId": "one", "plannedTestName": name, "approach": "Looks." });
    let additional: Vec<Value> = additional.iter().map(test).collect();
    json!({ "MoreTests": { "critiques": [critique], "additionalTests": additional } })
}

/// V3-65: tests that a review has approved of stay red on the scaffold, even if it asks for no further test.
#[tokio::test]
async fn tests_that_are_made_green_later() {
    let project = project().await;
    let ready =
        json!({ "TestsReady": { "testsCommit": "$HEAD", "testFiles": ["checks/top.sh"], "pendingCriteria": ["one"] } });
    let script = AgentScript::default()
        .once(Who::TestAuthor, "top", &ready, &[write("checks/top.sh", &check("top")), Act::Commit])
        .once(Who::TestAuthor, "top", &ready, &[write("checks/top.sh", "true\n"), Act::Commit])
        .once(Who::Reviewer, "top", &more_tests(&[]), &[]);
    let test = test_run(&project, &script.honest("top", &[]));
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    has(&test.prompts("test author")[2], "these tests pass before anything is implemented: one_holds");
    assert_eq!(project.git(&["show", "main:checks/top.sh"]).matches("exit 1").count(), 2);
}

/// V3-65, V3-66: a test that was asked for once is there whenever the tests are committed.
#[tokio::test]
async fn tests_that_are_removed_later() {
    let project = project().await;
    let ready =
        json!({ "TestsReady": { "testsCommit": "$HEAD", "testFiles": ["checks/top.rs"], "pendingCriteria": ["one"] } });
    let tests = |names: &[&str]| {
        let tests: String = names.iter().map(|name| format!("#[test]\nfn {name}() {{}}\n")).collect();
        [write("checks/top.rs", &tests), Act::Commit]
    };
    let script = AgentScript::default()
        .once(Who::TestAuthor, "top", &ready, &tests(&["one_holds"]))
        .once(Who::TestAuthor, "top", &ready, &tests(&["one_is_loud"]))
        .once(Who::TestAuthor, "top", &ready, &tests(&["one_holds", "one_is_loud"]))
        .once(Who::TestAuthor, "top", &ready, &tests(&["one_holds"]))
        .once(Who::TestAuthor, "top", &ready, &tests(&["one_is_loud", "one_holds"]))
        .once(Who::Reviewer, "top", &more_tests(&["one_is_loud"]), &[])
        .once(Who::Reviewer, "top", &more_tests(&[]), &[]);
    let test = TestRun::new(&project, script.honest("top", &[]).script(), |workbench| {
        shell(workbench);
        change_toolchain(workbench, |toolchain| toolchain.test_command = CommandLine::new("true", &[]));
        workbench.suite = NamedCommand::new(CommandLine::new("grep", &["-q", "done", "src/top.txt"]));
    });
    let mut spec = spec(&[]);
    spec.test_path = FilePath::new("checks/top.rs").unwrap();
    let outcome = test.outcome(spec).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let told = test.prompts("test author");
    has(&told[2], "the planned test `one_holds` is not in checks/top.rs: write it, under that name");
    has(&told[4], "the planned test `one_is_loud` is not in checks/top.rs: write it, under that name");
    assert_eq!(told.len(), 5);
}
