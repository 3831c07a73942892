//! Every agent does what it says.

use crate::agent_script::AgentScript;
use crate::stage::{Stage, check, git};
use crate::watched::Until;
use hybrid::commit_message::{CommitMessage, Phase};
use hybrid::demo::Scenario;
use hybrid::types::{
    Action, Check, CoverageReport, GroundTruth, HybridResult, MutationAdversary, TestSuiteVerdict, TypeSystemVerdict,
    UnderstandingState, Verdict, WorkItem,
};
use interlocking::agents::SessionOp;

/// One run, with one order of arrival at both joins: the skeleton before the adversary, the implementation before the tests.
///
/// The blind agents work at the same time: each is held until the other has been called.
#[tokio::test(flavor = "multi_thread")]
async fn the_work_lands_on_main() {
    let stage = Stage::new(AgentScript::of(Scenario::Happy)).await;
    stage.agent.hold("adversary", 1, Until::Finished("skeleton", 1));
    stage.agent.hold("tests", 1, Until::Called("impl", 1));
    stage.agent.hold("impl", 1, Until::Called("tests", 1));
    stage.agent.hold("tests", 1, Until::Finished("implementation", 1));
    let ended = stage.run().await;
    let result = stage.assert_landed(&ended);

    let trace = stage.trace();
    // HY-10: every builder works once. HY-235: in this order, with the concurrency below.
    let routes = [
        // HY-38, HY-39, HY-40
        "types → skeleton and adversary",
        "skeleton → gate.skeleton",
        "adversary → gate.adversary",
        "gate → blind_fork",
        // HY-43, HY-44, HY-45
        "blind_fork → tests and implementation",
        "implementation → blind.implementation",
        "tests → blind.tests",
        "blind → verify",
        // HY-47, HY-49, HY-50
        "verify → merge",
        "merge → validate",
        "validate → post_validate",
        // HY-52, HY-185: and the mutation adversary starts beside it.
        "post_validate → finish",
        "finish → exit",
    ];
    assert_eq!(trace.routes(), routes);
    // HY-14, HY-245, CON-93: the account, which is made of recorded events, says what each node did, in that order.
    let told = result.witness.observations.iter().map(|seen| format!("{} {}", seen.node, seen.progress));
    let mut told: Vec<String> = told.collect();
    assert_eq!(result.witness.narrative, format!("{}. The run succeeded.", told.join("; ")));
    told.retain(|told| told != "mutation_advisory reported");
    assert_eq!(told, routes.map(|route| route.replace("→", "went on to")));
    assert_eq!(result.witness.observations.len(), routes.len() + 1);
    assert!(result.witness.concerns.is_empty() && result.witness.suggestions.is_empty(), "{:?}", result.witness);
    assert!(trace.overlap(("skeleton", 1), ("adversary", 1)));
    // HY-06; HY-01 together with the visibility tests of `isolation.rs`.
    assert!(trace.overlap(("tests", 1), ("implementation", 1)));
    let enabled = [
        ("types", &["skeleton", "adversary"][..]),
        ("adversary", &["gate"]),
        ("gate", &["blind_fork"]),
        ("blind_fork", &["tests", "implementation"]),
        ("tests", &["blind"]),
        ("blind", &["verify"]),
        ("verify", &["merge"]),
        ("merge", &["validate"]),
        ("validate", &["post_validate"]),
        ("post_validate", &["mutation_advisory", "finish"]),
    ];
    for (node, successors) in enabled {
        assert_eq!(trace.started_at_once_after(trace.finish(node, 1)), successors, "after {node}");
    }
    // HY-41, HY-46: joins do not fire early; here the later ones are adversary and tests.
    assert_eq!(trace.started_at_once_after(trace.finish("skeleton", 1)), [""; 0]);
    assert_eq!(trace.started_at_once_after(trace.finish("implementation", 1)), [""; 0]);

    results_are_those_of_the_script(&result);
    every_field_is_the_runs(&stage, &result);
    // HY-165: the adversary is told the data types, and their source.
    let told = &stage.calls_of("adversary")[0].prompt;
    let types = ["As the syntax alone, because ", "pub struct BoundedStack {", "pub struct Full(pub i64);"];
    assert!(types.iter().all(|text| told.contains(text)), "{told}");
    main_holds_the_work(&stage);
    commits_say_who_did_what(&stage);

    // HY-07: the adversary has a fresh session. HY-25: no agent saw `main` move during the run.
    let calls = stage.agent.calls();
    assert!(calls.iter().all(|call| matches!(call.session, SessionOp::StartFresh(_))), "{calls:?}");
    assert!(calls.iter().all(|call| call.main == stage.base));
    // Each agent gets the ground rules, including those beside the run.
    let rules = include_str!("../prompts/ground_rules.md");
    assert!(calls.iter().all(|call| call.system.as_deref() == Some(rules)), "{calls:?}");
    let sessions: std::collections::BTreeSet<_> = calls.iter().filter_map(|call| call.answered_in.clone()).collect();
    assert_eq!(sessions.len(), 5, "five agents, five conversations");
    // HY-12: the adversary's minor finding reaches both builders as a hint.
    let hint = "Treat a stack of capacity zero like every other full stack";
    assert!(
        calls.iter().filter(|call| call.prompt.contains(hint)).map(|call| &*call.role).eq(["tests", "impl"])
            || calls.iter().filter(|call| call.prompt.contains(hint)).map(|call| &*call.role).eq(["impl", "tests"])
    );
}

/// HY-266, CON-66: every field of the result belongs to this run. A new field does not compile until it is checked here.
fn every_field_is_the_runs(stage: &Stage, result: &HybridResult) {
    let HybridResult {
        verdict,
        attempts,
        spec,
        tests_coverage,
        understanding,
        type_adversary,
        mutation_adversary,
        ground_truth,
        unchecked,
        work_items,
        merge_commit,
        witness,
        total_cost,
    } = result;
    let answer = |agent: &str| AgentScript::of(Scenario::Happy).turn(agent).answer;
    assert!(matches!(verdict, Verdict::Success(_)));
    assert_eq!((*attempts, understanding), (0, &UnderstandingState::default()));
    assert_eq!(serde_json::to_value(spec).unwrap(), answer("types")["functions"]);
    assert_eq!(serde_json::to_value(&type_adversary.as_ref().unwrap().output).unwrap(), answer("adversary"));
    let MutationAdversary::Ran(found) = mutation_adversary else { panic!("{mutation_adversary:?}") };
    assert_eq!(serde_json::to_value(&found.output).unwrap(), answer("mutation"));
    // The tests agent's coverage claims are right, and were computed again.
    let CoverageReport { functions_covered, sketches_covered, not_verified, told_by, .. } =
        tests_coverage.as_ref().unwrap();
    let claimed = answer("tests")["coverage"].clone();
    assert_eq!(serde_json::to_value(functions_covered).unwrap(), claimed["functionsCovered"]);
    assert_eq!(serde_json::to_value(sketches_covered).unwrap(), claimed["sketchesCovered"]);
    assert_eq!((not_verified.len(), told_by), (0, &None));
    // HY-166: the source of the facts, and why it was not the server.
    let GroundTruth { type_constraints, implementation, calls, mutation_targets } = ground_truth;
    let absent = "the syntax alone, because rust-analyzer is not installed, or no-such-server does not run: run \
        `rustup component add rust-analyzer`";
    assert_eq!((type_constraints.as_deref(), mutation_targets.as_deref()), (Some(absent), Some(absent)));
    // HY-159: the same for which functions are implemented.
    assert_eq!((implementation.as_deref(), calls), (Some(absent), &None));
    // The adversary's one hole is left as a work item.
    let [WorkItem { action, detail, .. }] = &work_items[..] else { panic!("{work_items:?}") };
    let hole = &answer("adversary")["holes"][0];
    assert_ne!(*action, Action::RedesignType);
    assert!(detail.contains(hole["suggestedFix"].as_str().unwrap()), "{detail}");
    assert_eq!(merge_commit.unwrap().to_string(), stage.git(&["rev-parse", "main"]));
    assert!(witness.narrative.ends_with("The run succeeded.") && unchecked.is_empty());
    assert_eq!(total_cost.to_string(), "$0.145");
}

/// HY-155: the nine checks are reported with the result, with what each has seen. HY-182: how many tests passed.
fn results_are_those_of_the_script(result: &HybridResult) {
    let verdict = result.type_adversary.as_ref().unwrap().verdict;
    assert_eq!(verdict, TypeSystemVerdict::TypeSystemMinorHoles);
    let seen = [
        // HY-146: minor holes pass.
        (Check::TypeHoles, "TypeSystemMinorHoles"),
        (Check::SkeletonBuilds, "it builds"),
        (Check::TestsFailForTheirAgent, "the agent says so, and so it is"),
        (Check::TestsFailOnSkeleton, "every property fails"),
        (Check::ImplementationBuilds, "it builds"),
        (Check::MergedTestsPass, "7 tests pass"),
        // HY-160, CON-91: the claims are verified again on the merged code, with all its repairs, where each property has run
        // and passed.
        (Check::CoverageConfirmed, "every claim holds of the merged code"),
        (Check::SkeletonIsStubs, "every public body is a stub"),
    ];
    // HY-05, HY-53, HY-237: the findings of the adversary beside the run are in the result, although the exit was reached before.
    let MutationAdversary::Ran(found) = &result.mutation_adversary else { panic!("{:?}", result.mutation_adversary) };
    assert_eq!((found.verdict, found.output.mutants_tried), (TestSuiteVerdict::TestSuiteRobust, 9));
    assert_eq!(check(result, Check::MutantsCaught), (true, "0 of 9 mutants survive"));
    for (which, detail) in seen {
        assert_eq!(check(result, which), (true, detail), "{which:?}");
    }

    assert_eq!(result.attempts, 0);
    assert_eq!(result.spec.len(), 5);
    assert_eq!(result.understanding, UnderstandingState::default());
    let coverage = result.tests_coverage.as_ref().unwrap();
    assert_eq!((coverage.functions_covered.len(), coverage.examples_covered, coverage.examples_total), (5, 10, 10));
    assert_eq!((coverage.sketches_covered.len(), coverage.sketches_uncovered.len()), (6, 0));
    // CON-83: types, adversary, tests, impl, mutation: the costs of adversaries count, too.
    assert_eq!(result.total_cost.to_string(), "$0.145");
}

/// HY-09: the landed files are the files that were written to the disk.
fn main_holds_the_work(stage: &Stage) {
    let repository = stage.repository();
    let written = |agent: &str| AgentScript::of(Scenario::Happy).turn(agent).file().clone();
    assert_eq!(std::fs::read_to_string(repository.join("src/lib.rs")).unwrap(), written("impl"));
    assert_eq!(std::fs::read_to_string(repository.join("tests/properties.rs")).unwrap(), written("tests"));

    let range = format!("{}..main", stage.base);
    let log = stage.git(&["log", "--reverse", "--format=%s", &range]);
    let subjects: Vec<&str> = log.lines().collect();
    // HY-19, HY-21, HY-22, HY-23: in this order, each by its own phase.
    let expected = [
        "types: BoundedStack: A last-in, first-out stack of i64 with a capacity fixed when it is made.",
        "skeleton: BoundedStack checked: stubs that build",
        "tests: properties of the bounded stack",
        "impl: implement the bounded stack",
        "merge: tests and implementation together",
    ];
    assert_eq!(subjects, expected);
    assert_eq!(stage.git(&["rev-list", "--merges", "main"]), "", "picked, not merged");
    // HY-34: tests and implementation are commits of their own files only. CON-51: types and skeleton are a commit each. CON-50:
    // the types agent has written the stubs, and the skeleton adds the test file.
    let files = |back: u32| stage.git(&["show", "--format=", "--name-only", &format!("main~{back}")]);
    assert_eq!(files(4), "src/lib.rs");
    assert_eq!(files(3), "tests/properties.rs");
    assert_eq!(files(2), "tests/properties.rs");
    assert_eq!(files(1), "src/lib.rs");
    assert_eq!(files(0), "");
    // HY-16: it starts at `main`. HY-25, CON-70: `main` is moved forward once, and not before the exit.
    assert_eq!(stage.git(&["rev-parse", "main~5"]), stage.base);
    let moves = stage.git(&["reflog", "show", "--format=%H", "main"]);
    assert_eq!(moves.lines().filter(|head| **head != stage.base).count(), 1, "{moves}");
}

/// HY-35: every commit of the run is read back with its trailers. HY-36: the content of the tests commit's message. HY-168: the
/// types commit has its agent's cost.
fn commits_say_who_did_what(stage: &Stage) {
    let message = |back: u32| stage.git(&["log", "-1", "--format=%B", &format!("main~{back}")]);
    let read = |back: u32| message(back).parse::<CommitMessage>().unwrap();
    let of_each = [
        (4, Phase::Types, "types", "$0.031"),
        (3, Phase::Skeleton, "skeleton", "$0.00"),
        (2, Phase::Tests, "tests", "$0.044"),
        (1, Phase::Impl, "implementation", "$0.038"),
        (0, Phase::Merge, "merge", "$0.00"),
    ];
    for (back, phase, node, cost) in of_each {
        let message = read(back);
        assert_eq!((message.phase(), message.node().to_string()), (phase, node.to_owned()));
        assert_eq!((message.session().to_string(), message.cost().to_string()), ("r1".to_owned(), cost.to_owned()));
        // Git itself finds the trailers.
        let trailers = git(&stage.repository(), &["log", "-1", "--format=%(trailers)", &format!("main~{back}")]);
        assert_eq!(trailers, format!("Session: r1\nNode: {node}\nCost: {cost}"));
    }
    let expected = "tests: properties of the bounded stack\n\nProperties: prop_new_stack_is_empty, \
        prop_pop_undoes_push, prop_full_stack_hands_the_value_back, prop_height_never_exceeds_capacity, \
        prop_values_come_out_in_reverse, prop_peek_changes_nothing, prop_examples\nFunctions: 5/5\nExamples: 10/10\n\
        Sketches: 6/6\nSelf-verified: yes; 7 of 7 seen to fail on the stubs\n\n\
        Session: r1\nNode: tests\nCost: $0.044";
    assert_eq!(message(2), expected);
}
