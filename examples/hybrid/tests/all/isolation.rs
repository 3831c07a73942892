//! What each agent can see, and where its work happens.

use crate::agent_script::AgentScript;
use crate::stage::{Stage, git};
use crate::watched::{Call, Until, worktrees_of};
use hybrid::demo::Scenario;
use std::collections::{BTreeMap, BTreeSet};

/// One run in the other arrival order at both joins: the adversary before the skeleton, the tests before the
/// implementation. Its worktrees are kept. The implementation's agent makes commits of its own.
///
/// HY-41, HY-46: a join fires once both sides are there, here the later ones being skeleton and implementation.
#[tokio::test(flavor = "multi_thread")]
async fn each_side_sees_the_skeleton_and_not_the_other() {
    let script = AgentScript::of(Scenario::Happy).with("impl", |turn| {
        turn.run(&["git", "add", "--all"]);
        turn.run(&["git", "commit", "--message", "half of it"]);
        turn.write("src/notes.rs", "// The other half.\n");
        turn.run(&["git", "add", "--all"]);
        turn.run(&["git", "commit", "--message", "the other half"]);
    });
    let stage = Stage::quick(script).await.building_after("adversary");
    stage.agent.hold("tests", 1, Until::Called("impl", 1));
    stage.agent.hold("impl", 1, Until::Finished("tests", 1));
    let ended = stage.run_and_keep().await;
    let result = ended.result.clone().unwrap();
    assert!(result.succeeded(), "{:#?}", result.failure());

    let trace = stage.trace();
    assert!(trace.finish("adversary", 1) < trace.finish("skeleton", 1));
    assert_eq!(trace.started_at_once_after(trace.finish("adversary", 1)), [""; 0]);
    assert_eq!(trace.started_at_once_after(trace.finish("skeleton", 1)), ["gate"]);
    assert!(trace.finish("tests", 1) < trace.finish("implementation", 1));
    assert_eq!(trace.started_at_once_after(trace.finish("tests", 1)), [""; 0]);
    assert_eq!(trace.started_at_once_after(trace.finish("implementation", 1)), ["blind"]);

    let call = |role: &str| stage.calls_of(role).remove(0);
    let (types, adversary, tests, implementation) = (call("types"), call("adversary"), call("tests"), call("impl"));
    the_sides_are_blind(&tests, &implementation);
    git_shows_neither_side_the_other(&stage);
    worktrees_come_when_they_are_needed(&stage, [&types, &adversary, &tests, &implementation]);
    branches_begin_where_they_should(&stage, &types, &adversary, &tests, &implementation);
}

/// HY-02, HY-29, HY-30: neither blind side has the other's code in its place or in its prompt. HY-31: both have the skeleton.
fn the_sides_are_blind(tests: &Call, implementation: &Call) {
    let mut written = (AgentScript::of(Scenario::Happy).turn("tests"), AgentScript::of(Scenario::Happy).turn("impl"));
    let skeleton = AgentScript::of(Scenario::Happy).turn("types").file().clone();
    // At each call the files were those of the skeleton, the same for both.
    assert_eq!(tests.files, implementation.files);
    let names: Vec<&str> = tests.files.keys().map(String::as_str).collect();
    let seed = [".gitignore", "Cargo.lock", "Cargo.toml", "README.md", "src/lib.rs", "tests/properties.rs"];
    assert_eq!(names, seed);
    assert_eq!(tests.files["src/lib.rs"], skeleton);
    assert_eq!(tests.files["tests/properties.rs"], "//! Properties of `bounded_stack`.\n");
    // No line of code, and no sentence of the report, that only the other side has written.
    let foreign = |own: &str, other: &str| -> Vec<String> {
        let lines = other.lines().map(str::trim).filter(|line| line.len() > 12 && !own.contains(line));
        lines.map(str::to_owned).collect()
    };
    let of_tests = foreign(&skeleton, written.0.file());
    let of_implementation = foreign(&skeleton, written.1.file());
    assert!(of_tests.len() > 30 && of_implementation.len() > 5, "{of_implementation:?}");
    for line in of_implementation.iter().map(String::as_str).chain(["A vector with the top at its end"]) {
        assert!(!tests.prompt.contains(line), "{line:?}");
        assert!(tests.files.values().all(|text| !text.contains(line)), "{line:?}");
    }
    for line in of_tests.iter().map(String::as_str).chain(["Capacities from zero up and short random vectors"]) {
        assert!(!implementation.prompt.contains(line), "{line:?}");
        assert!(implementation.files.values().all(|text| !text.contains(line)), "{line:?}");
    }
    // HY-56, CON-94: each works in its own place, which the run has made.
    assert!(tests.workspace.ends_with("r1/tests") && implementation.workspace.ends_with("r1/impl"));
}

/// CON-78: git does not show the other side's commits either. The places are as the agents left them, and everything is
/// committed.
fn git_shows_neither_side_the_other(stage: &Stage) {
    let skeleton = stage.git(&["rev-parse", "r1/skeleton"]);
    for (own, other) in [("tests", "impl"), ("impl", "tests")] {
        let place = stage.worktree(own);
        let (theirs, file) = (stage.git(&["rev-parse", &format!("r1/{other}")]), "src/lib.rs");
        let file = if other == "tests" { "tests/properties.rs" } else { file };
        let blob = stage.git(&["rev-parse", &format!("r1/{other}:{file}")]);
        for hidden in [theirs.as_str(), blob.as_str(), &stage.base, "main", &format!("r1/{other}")] {
            for attempt in [["show", hidden], ["log", hidden], ["cat-file", "-t"]] {
                let mut git = std::process::Command::new("git");
                git.args(attempt).current_dir(&place);
                if attempt[0] == "cat-file" {
                    git.arg(hidden);
                }
                let output = git.output().unwrap();
                assert!(!output.status.success(), "{own}: git {attempt:?} {hidden}");
            }
        }
        let commits = git(&place, &["log", "--all", "--reflog", "--format=%H"]);
        let commits: BTreeSet<&str> = commits.lines().collect();
        assert!(commits.contains(skeleton.as_str()) && !commits.contains(theirs.as_str()), "{commits:?}");
        assert_eq!(git(&place, &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
        assert_eq!(git(&place, &["remote"]), "");
        assert_eq!(git(&place, &["for-each-ref", "--format=%(refname)"]), format!("refs/heads/r1/{own}"));
        git(&place, &["fsck", "--strict"]);
    }
}

/// HY-15: worktrees and branches of a run have the same names: the run, then the place.
fn worktrees_come_when_they_are_needed(stage: &Stage, [types, adversary, tests, implementation]: [&Call; 4]) {
    let expected = |places: &[&str]| -> BTreeMap<String, Option<String>> {
        let named = places.iter().map(|place| {
            let name = format!("r1/{place}");
            (name.clone(), (!place.ends_with("-review")).then_some(name))
        });
        named.collect()
    };
    assert_eq!(types.worktrees, expected(&["skeleton"]));
    assert_eq!(adversary.worktrees, expected(&["skeleton", "types-review"]));
    // The two sides are no worktrees of the user's repository, and no branches in it before their work is fetched.
    let blind = expected(&["skeleton", "types-review"]);
    assert_eq!(tests.worktrees, blind);
    assert_eq!(implementation.worktrees, blind);
    let all = expected(&["skeleton", "types-review", "merge", "mutation-review"]);
    assert_eq!(worktrees_of(&stage.repository()), all, "they were to be kept");
}

fn branches_begin_where_they_should(
    stage: &Stage,
    types: &Call,
    adversary: &Call,
    tests: &Call,
    implementation: &Call,
) {
    let commit = |revision: &str| stage.git(&["rev-parse", revision]);
    // HY-16
    assert_eq!(types.head, stage.base);
    // The adversary sees the types commit, on which the skeleton is based (CON-49).
    assert_eq!(adversary.head, commit("r1/skeleton~1"));
    assert_eq!(commit("r1/skeleton~2"), stage.base);
    assert_eq!(git(&adversary.workspace, &["rev-parse", "HEAD"]), adversary.head);
    // HY-17: both sides begin at the skeleton. HY-18, HY-32, CON-72: so does the merge, in a worktree of its own.
    let skeleton = commit("r1/skeleton");
    assert_eq!((&tests.head, &implementation.head), (&skeleton, &skeleton));
    assert_eq!(stage.git(&["merge-base", "r1/tests", "r1/impl"]), skeleton);
    assert_eq!(stage.git(&["merge-base", "r1/merge", "r1/skeleton"]), skeleton);
    // One commit for each side, made by the runtime; the agent's own commits are squashed into it (CON-76).
    assert_eq!(commit("r1/tests~1"), skeleton);
    assert_eq!(commit("r1/impl~1"), skeleton);
    assert_eq!(
        stage.git(&["show", "--format=%s|%an", "--name-only", "r1/impl"]),
        "impl: implement the bounded stack|Interlocking\n\nsrc/lib.rs\nsrc/notes.rs"
    );
    assert!(!stage.git(&["log", "--format=%s", "main"]).contains("half"));
    // HY-20: cherry-picked, so both branches are as their nodes left them, and clean.
    assert_eq!(commit("r1/merge"), commit("main"));
    let range = format!("{skeleton}..main");
    assert_eq!(stage.git(&["rev-list", "--count", &range]), "3");
    assert_eq!(commit("r1/tests^{tree}"), commit("main~2^{tree}"), "the tests come first");
    for place in ["skeleton", "types-review", "tests", "impl", "merge", "mutation-review"] {
        assert_eq!(git(&stage.worktree(place), &["status", "--porcelain"]), "", "{place}");
    }
    assert!(!stage.worktree("tests").join("src/notes.rs").exists());
    let scaffold = std::fs::read_to_string(stage.worktree("impl").join("tests/properties.rs")).unwrap();
    assert_eq!(scaffold, tests.files["tests/properties.rs"]);
    assert!(stage.archive().is_empty());
}
