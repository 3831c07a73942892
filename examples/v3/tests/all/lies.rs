//! Agents that lie, for every claim: each is told what is wrong, and no false claim is passed on.

use crate::project::Project;
use crate::small::{
    Act, AgentScript, Who, append, approved, go_tests, merged, planned, project, scaffold, scaffolding, sh, spec,
    test_run, write,
};
use crate::test_run::TestRun;
use interlocking::cli::repository::EmbeddedFile;
use interlocking::workspaces::FilePath;
use serde_json::{Value, json};
use v3::checks::plan::violations;
use v3::types::lineage::Lineage;
use v3::types::outcome::V3Outcome;
use v3::types::shared::ImpactLevel;

const NO_COMMIT: &str = "1111111111111111111111111111111111111111";

/// Plays a lie once, and gives the next prompt of the lying agent. The run ends well all the same.
pub(crate) async fn told(who: Who, title: &str, answer: &Value, acts: &[Act]) -> String {
    told_in(project().await, who, title, answer, acts).await
}

/// The same in this project.
async fn told_in(project: Project, who: Who, title: &str, answer: &Value, acts: &[Act]) -> String {
    let test = test_run(&project, &AgentScript::default().once(who, "top", answer, acts).honest("top", &[]));
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    assert_eq!(project.git(&["show", "main:src/top.txt"]).lines().last(), Some("done"));
    project.is_tidy();
    test.prompts(title).into_iter().nth(1).unwrap_or_else(|| panic!("{title} was believed"))
}

pub(crate) fn has(told: &str, words: &str) {
    assert!(told.contains(words), "{words:?} is not in:\n{told}");
}

async fn scaffold_is_told(change: impl FnOnce(&mut Value), acts: &[Act]) -> String {
    let mut answer = scaffold("top", &[], &planned(&[]));
    change(&mut answer["InitWork"]);
    told(Who::Planner, "planner", &answer, acts).await
}

/// V3-42: the commit must exist, with its files.
#[tokio::test]
async fn a_scaffold_that_is_not_there() {
    let prompt = scaffold_is_told(|work| work["scaffoldCommit"] = json!(NO_COMMIT), &scaffolding("top")).await;
    has(&prompt, "you name the commit 1111111111111111111111111111111111111111, and your branch was at ");
    has(&prompt, "Its commit was taken back.");
    let prompt = scaffold_is_told(|_| {}, &[]).await;
    has(&prompt, "there is no commit of yours: commit what you have done");
    let prompt = scaffold_is_told(|work| work["contractSuite"] = json!("checks/none.sh"), &scaffolding("top")).await;
    has(&prompt, "checks/none.sh is not in your commit: add it");
    let prompt = scaffold_is_told(|work| work["interfaceFile"] = json!("src/none.api"), &scaffolding("top")).await;
    has(&prompt, "src/none.api is not in your commit: add it");
}

/// The contract has a file of its own, which is neither what it checks nor another node's.
#[test]
fn a_contract_in_a_file_of_another_purpose() {
    let path = |path| FilePath::new(path).unwrap();
    let lineage = Lineage {
        interface_files: vec![path("src/above.api")],
        tests_of_others: vec![path("checks/contract_above.sh")],
        ..Lineage::default()
    };
    for (path, whose) in [
        ("src/top.txt", "the file of its implementation"),
        ("src/top.api", "an interface file"),
        ("src/above.api", "an interface file"),
        ("checks/top.sh", "the file of its tests"),
        ("checks/contract_above.sh", "a file of another node's tests"),
    ] {
        let mut work = scaffold("top", &[], &planned(&[]))["InitWork"].take();
        (work["scaffoldCommit"], work["contractSuite"]) = (json!(NO_COMMIT), json!(path));
        let found = violations(&spec(&[]), &lineage, &serde_json::from_value(work).unwrap());
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, [format!("`top` has {path} for its contract, which is {whose}: give it another file")]);
    }
}

/// V3-43: it must build.
#[tokio::test]
async fn a_scaffold_that_does_not_build() {
    let acts = [&[write("broken", "")][..], &scaffolding("top")].concat();
    has(&scaffold_is_told(|_| {}, &acts).await, "it does not build:");
}

/// V3-46: a test for each criterion, and for no other.
#[tokio::test]
async fn a_plan_that_leaves_something_out() {
    let prompt = scaffold_is_told(|work| work["testPlan"][0]["criterionId"] = json!("two"), &scaffolding("top")).await;
    has(&prompt, "the criterion `one` has no test in the plan: plan one");
    has(&prompt, "the planned test `one_holds` names the criterion `two`, and there is none");
}

/// V3-47, V3-12, CON-146: children divide the criteria, and have ids of their own.
#[tokio::test]
async fn children_that_do_not_divide_the_work() {
    let split = |change: fn(&mut Value)| {
        let mut answer = scaffold("top", &["one", "other"], &planned(&[]));
        change(&mut answer["InitWork"]);
        answer
    };
    for (change, words) in [
        (
            (|work| work["childSpecs"][1]["acceptanceCriteria"][0]["id"] = json!("one")) as fn(&mut Value),
            "the criterion `one` is given to `top/one` and to `top/other`: give it to one of them",
        ),
        (|_| {}, "the child `top/other` names the criterion `other`, and there is none"),
        (
            |work| work["childSpecs"][0]["acceptanceCriteria"][0]["text"] = json!("Anything."),
            "the child `top/one` has another text for the criterion `one`: give it the one of the specification, word for word",
        ),
        // V3-12: each child has an id of its own.
        (|work| work["childSpecs"][1]["id"] = json!("top/one"), "the child `top/one` has no id of its own below `top`"),
        (|work| work["interfaces"] = json!([]), "there are children, and no `interfaces`"),
        (
            |work| work["childSpecs"][0]["testPath"] = json!("src/one.txt"),
            "`top/one` has its tests in the file of its implementation, src/one.txt: give them a file of their own",
        ),
        (
            |work| work["childSpecs"][0]["testPath"] = json!("src/one.sh"),
            "`top/one` has the file of its implementation, src/one.txt, in the directory of its tests, src/one.sh: give the tests",
        ),
        (
            |work| work["childSpecs"][0]["id"] = json!("elsewhere/one"),
            "the child `elsewhere/one` has no id of its own below `top`",
        ),
        (
            |work| work["childSpecs"][0]["targetPath"] = json!("src/top.api"),
            "`top/one` has src/top.api for its target, which is an interface file, and read-only for it",
        ),
        // V3-44: the contract of its parent, and the tests of others, are not its own.
        (
            |work| work["childSpecs"][0]["testPath"] = json!("checks/contract_top.sh"),
            "`top/one` has checks/contract_top.sh for its tests, which is a file of another node's tests: give it another file",
        ),
        (
            |work| work["childSpecs"][0]["testPath"] = json!("checks/top.sh"),
            "`top/one` has checks/top.sh for its tests, which is a file of another node's tests",
        ),
        (
            |work| work["childSpecs"][0]["targetPath"] = json!("checks/other.sh"),
            "`top/one` has checks/other.sh for its target, which is a file of another node's tests",
        ),
        (
            |work| work["childSpecs"][0]["testPath"] = json!("src/other.txt"),
            "`top/one` has src/other.txt for its tests, which is the file of another node's implementation",
        ),
    ] {
        has(&told(Who::Planner, "planner", &split(change), &scaffolding("top")).await, words);
    }
}

/// V3-47: blanks around a criterion's text, which no prompt shows, do not make it another one.
#[test]
fn blanks_around_a_criterion() {
    let mut work = scaffold("top", &["one"], &planned(&[]))["InitWork"].take();
    work["scaffoldCommit"] = json!(NO_COMMIT);
    let mut spec = spec(&[]);
    spec.acceptance_criteria[0].text.insert(0, '\n');
    spec.acceptance_criteria[0].text.push('\n');
    assert_eq!(violations(&spec, &Lineage::default(), &serde_json::from_value(work).unwrap()), []);
}

/// V3-35: the confusing sentence must be in the specification.
#[tokio::test]
async fn a_question_about_nothing() {
    let asked = json!({ "ClarificationNeeded": { "question": "Why?", "ambiguityReference": "all", "specSentence": "It flies." } });
    has(
        &told(Who::Planner, "planner", &asked, &[]).await,
        "`specSentence` is not in the specification, word for word: \"It flies.\"",
    );
}

/// A path that leads out of the repository is corrected before it is used.
#[tokio::test]
async fn a_path_out_of_the_repository() {
    let project = project().await;
    let mut answer = scaffold("top", &[], &planned(&[]));
    answer["InitWork"]["contractSuite"] = json!("../secret.sh");
    let good = scaffold("top", &[], &planned(&[]));
    let script =
        AgentScript::default().once(Who::Planner, "top", &answer, &scaffolding("top")).correcting("scaffold", &good);
    let test = test_run(&project, &script.honest("top", &[]));
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    assert!(test.agent.calls()[1].prompt.contains("../secret.sh"), "{}", test.agent.calls()[1].prompt);
}

async fn impl_is_told(change: impl FnOnce(&mut Value), acts: &[Act]) -> String {
    let mut answer = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": ["one_holds"] } });
    change(&mut answer["TestsPassed"]);
    told(Who::Implementer, "implementer", &answer, acts).await
}

/// V3-81: tests that do not pass.
#[tokio::test]
async fn an_implementation_that_does_nothing() {
    let prompt = impl_is_told(|_| {}, &[append("src/top.txt", "almost\n"), Act::Commit]).await;
    has(&prompt, "these tests fail: (whole suite)");
    has(&prompt, "This is attempt 2 of 5.");
}

/// V3-82: a commit that is not the branch's.
#[tokio::test]
async fn an_implementation_that_is_elsewhere() {
    let prompt =
        impl_is_told(|passed| passed["commitHash"] = json!(NO_COMMIT), &[append("src/top.txt", "done\n"), Act::Commit])
            .await;
    has(&prompt, "you name the commit 1111111111111111111111111111111111111111, and your branch was at ");
}

/// V3-80: the implementer may not change tests; it is told to put changed files back.
#[tokio::test]
async fn an_implementation_that_changes_tests() {
    let prompt = impl_is_told(|_| {}, &[write("checks/top.sh", "true\n"), Act::Commit]).await;
    has(&prompt, "your commits change tests: checks/top.sh; put them back");
}

/// V3-80: not even in an attempt that asks for another one, as the next attempt would find the tests changed.
#[tokio::test]
async fn an_unfinished_implementation_that_changes_tests() {
    let retry =
        json!({ "RequestRetry": { "diagnosis": "D.", "strategyFrom": "a", "strategyTo": "b", "failingTests": [] } });
    for path in ["checks/top.sh", "checks/contract_top.sh"] {
        let acts = [write(path, "true\n"), append("src/top.txt", "half\n")];
        for acts in [&acts[..], &[&acts[..], &[Act::Commit]].concat()] {
            let prompt = told(Who::Implementer, "implementer", &retry, acts).await;
            has(&prompt, &format!("your commits change tests: {path}; put them back"));
            has(&prompt, "- a: failed: ");
        }
    }
}

/// V3-80: no agent commits a file whose path cannot be used.
#[tokio::test]
async fn a_file_with_an_unusable_name() {
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let retry =
        json!({ "RequestRetry": { "diagnosis": "D.", "strategyFrom": "a", "strategyTo": "b", "failingTests": [] } });
    for (who, title, answer) in [
        (Who::Implementer, "implementer", passed),
        (Who::Implementer, "implementer", retry),
        (Who::Planner, "planner", scaffold("top", &[], &planned(&[]))),
    ] {
        let acts =
            [&[append("src/top.txt", "done\n"), write("-notes.md", "Mine.\n")][..], &scaffolding("top")].concat();
        let acts = if title == "planner" { acts } else { [&acts[..2], &[Act::Commit]].concat() };
        let prompt = told(who, title, &answer, &acts).await;
        has(&prompt, "\"-notes.md\" is not a path inside the repository: it begins with a dash");
        has(&prompt, "give the file another name");
    }
}

/// V3-101: no agent commits a merge, as the branch could not be rebased.
#[tokio::test]
async fn a_commit_of_a_merge() {
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let merges = "git checkout -qb x && git commit -qm x --allow-empty && git checkout -q - \
                  && git merge -q --no-ff x && git branch -qD x";
    for (who, title, answer, acts) in [
        (Who::Implementer, "implementer", passed, vec![append("src/top.txt", "done\n"), Act::Commit]),
        (Who::Planner, "planner", scaffold("top", &[], &planned(&[])), scaffolding("top")),
    ] {
        let prompt = told(who, title, &answer, &[&acts[..], &[sh(merges)]].concat()).await;
        has(&prompt, " is a merge: make commits with one parent each");
    }
}

/// Two packages: one whose build script has an unusual name, and one of procedural macros.
async fn packages() -> Project {
    let file = |path, contents| EmbeddedFile { path, contents };
    Project::of(&[
        file("Cargo.toml", "[package]\nname = \"top\"\nbuild = \"./src/./generate.rs\"\n"),
        file("src/generate.rs", "fn main() {}\n"),
        file("macros/Cargo.toml", "[package]\nname = \"macros\"\n\n[lib]\nproc-macro = true\n"),
        file("macros/src/lib.rs", ""),
    ])
    .await
}

/// V3-80: an agent may not change code that runs while tests are built, or the build configuration: such code could decide the
/// tests' results, or rewrite the tests before they are compiled. This is checked before anything is built.
#[tokio::test]
async fn whoever_changes_how_it_is_built() {
    let acts = [
        ("build.rs", ""),
        (".cargo/config.toml", ""),
        ("rust-toolchain.toml", ""),
        ("Cargo.toml", "[package]\nname = \"top\"\n\n[dependencies]\nitoa = \"1\"\nown = { path = \"own\" }\n"),
        ("own/Cargo.toml", "[package]\nname = \"own\"\n"),
        ("src/generate.rs", "fn main() { std::fs::write(\"checks/top.sh\", \"true\").unwrap(); }\n"),
        ("macros/src/lib.rs", "// Changed.\n"),
        ("broken", ""),
    ];
    let acts: Vec<Act> = acts.map(|(path, text)| write(path, text)).into_iter().chain([Act::Commit]).collect();
    let refused = [
        "build.rs:1:1: `build.rs` is refused",
        ".cargo/config.toml:1:1: `.cargo/config.toml` is refused",
        "rust-toolchain.toml:1:1: `rust-toolchain.toml` is refused",
        "Cargo.toml:6:1: `dependencies.own` is refused",
        "Cargo.toml:1:1: `package.build` is refused",
        "own/Cargo.toml:2:1: `package.name` is refused",
        "src/generate.rs:1:1: `build script` is refused",
        "macros/src/lib.rs:1:1: `build script` is refused",
    ];
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let retry =
        json!({ "RequestRetry": { "diagnosis": "D.", "strategyFrom": "a", "strategyTo": "b", "failingTests": [] } });
    let ready =
        json!({ "TestsReady": { "testsCommit": "$HEAD", "testFiles": ["checks/top.sh"], "pendingCriteria": [] } });
    for (who, title, answer) in [
        (Who::Implementer, "implementer", passed),
        (Who::Implementer, "implementer", retry),
        (Who::Planner, "planner", scaffold("top", &[], &planned(&[]))),
        (Who::TestAuthor, "test author", ready),
    ] {
        let acts = if title == "planner" { [&scaffolding("top")[..], &acts].concat() } else { acts.clone() };
        let prompt = told_in(packages().await, who, title, &answer, &acts).await;
        for words in refused {
            has(&prompt, words);
        }
        assert!(!prompt.contains("itoa") && !prompt.contains("it does not build"), "{prompt}");
    }
}

/// V3-110, CON-24: an approval that leaves a criterion out does not count; its planned tests are asked for.
#[tokio::test]
async fn an_approval_that_leaves_something_out() {
    let prompt = told(Who::Reviewer, "test author", &approved(&[]), &[]).await;
    has(&prompt, "## What the review asks for\n\n- one: `one_holds`: Looks.");
    has(&prompt, "The criterion `one` has no test that covers it.");
}

/// V3-110, CON-24: nor does one that names a test for a criterion which is not there, or does not pass.
#[tokio::test]
async fn an_approval_that_names_no_test_that_passes() {
    let project = project().await;
    let approved = json!({ "Approved": { "signOff": "It holds.", "coverageReport": {
        "criteriaWithTests": [["one", "no_such_test"]], "criteriaMissing": [] } } });
    let script = AgentScript::default().once(Who::Reviewer, "top", &approved, &[]).honest("top", &[]);
    let test = TestRun::new(&project, script.script(), go_tests);
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    assert_eq!((test.prompts("reviewer").len(), test.prompts("test author").len()), (2, 2));
    let told = "the approval names the test `no_such_test` for the criterion `one`, and no test of that name passes in checks/top.sh";
    has(&test.prompts("test author")[1], told);
}

/// V3-94: node and commit of a merge are known, so other claims are rejected.
#[tokio::test]
async fn a_merge_of_somebody_else() {
    let project = project().await;
    let mut lie = merged("somebody");
    lie["MergeComplete"]["mergeCommit"] = json!(NO_COMMIT);
    let test = test_run(&project, &AgentScript::default().once(Who::Merger, "top", &lie, &[]).honest("top", &[]));
    let outcome = test.outcome(spec(&[])).await;
    let V3Outcome::Merged(merge) = outcome else { panic!("{outcome}") };
    assert_eq!(merge.author.as_str(), "top");
    assert_eq!(merge.merge_commit.to_string(), project.git(&["rev-parse", "main"]).trim());
}

/// V3-17, V3-21: the impact of a merge is at least what its changes show, whatever the merger says.
#[tokio::test]
async fn a_merge_that_means_more_than_is_said() {
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    for (text, level) in [
        ("pub fn more() {}\n", ImpactLevel::Trivial),
        ("pub fn more() {}\npub fn most() {}\n", ImpactLevel::Additive),
        ("pub fn more() -> u8 {\n    1\n}\n", ImpactLevel::Breaking),
        ("", ImpactLevel::Breaking),
    ] {
        let project = Project::of(&[EmbeddedFile { path: "src/more.rs", contents: "pub fn more() {}\n" }]).await;
        let acts = [append("src/top.txt", "done\n"), write("src/more.rs", text), Act::Commit];
        let script = AgentScript::default().once(Who::Implementer, "top", &passed, &acts).honest("top", &[]);
        let outcome = test_run(&project, &script).outcome(spec(&[])).await;
        let V3Outcome::Merged(merge) = outcome else { panic!("{outcome}") };
        assert_eq!(merge.impact_level, level, "{text}");
    }
}
