//! Types agents and adversaries that violate their task: their work is not used.

use crate::agent_script::{AgentScript, Turn};
use crate::stage::{Stage, check};
use crate::watched::Until;
use hybrid::demo::Scenario;
use hybrid::types::{Check, HybridFailure, HybridResult};
use interlocking::prelude::FailureKind;

/// A run in which an agent behaves differently, and the reason for which it ends.
async fn ends(agent: &str, change: impl FnOnce(&mut Turn)) -> (Stage, HybridResult, HybridFailure) {
    ends_on(Stage::quick(AgentScript::of(Scenario::Happy).with(agent, change)).await, agent).await
}

async fn ends_on(stage: Stage, agent: &str) -> (Stage, HybridResult, HybridFailure) {
    if agent != "adversary" {
        stage.agent.hold("adversary", 1, Until::Never);
    }
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    assert_eq!((stage.calls_of("tests").len(), stage.calls_of("impl").len()), (0, 0));
    (stage, result, failure)
}

/// HY-154, HY-158, HY-142: a body in the skeleton is detected and named. The adversary, still at work, is stopped.
#[tokio::test(flavor = "multi_thread")]
async fn an_implemented_body_is_no_skeleton() {
    let body = "let _ = self.capacity;\n        todo!()";
    let (stage, result, failure) = ends("types", |types| types.edit(body, "self.items.len()")).await;
    assert_eq!(failure, HybridFailure::StubNotUndefined { function: "BoundedStack::height".to_owned() });
    assert!(!check(&result, Check::SkeletonIsStubs).0);
    assert_eq!(stage.trace().routes(), ["types → skeleton and adversary", "skeleton → exit"]);
    assert!(stage.trace().was_cancelled("adversary", 1));
    let archived: Vec<String> = stage.archive().into_iter().map(|(_, subject)| subject).collect();
    assert!(archived[0].starts_with("types: ") && archived.len() == 1, "{archived:?}");
}

/// HY-154: if a macro makes the methods, so that bodies cannot be checked, the file is not accepted as a skeleton. The reason
/// names the macro.
#[tokio::test(flavor = "multi_thread")]
async fn a_skeleton_whose_macros_hide_bodies_is_no_skeleton() {
    let hides = |types: &mut Turn| {
        let size = "macro_rules! sized {\n    () => {\n        impl BoundedStack {\n            pub fn size(&self) -> usize {\n                \
                    self.capacity\n            }\n        }\n    };\n}\nsized!();\n";
        types.file().push_str(size);
    };
    let (stage, result, failure) = ends("types", hides).await;
    let HybridFailure::NotVerifiable { refused } = &failure else { panic!("{failure:?}") };
    assert_eq!(refused.iter().map(|one| one.construct.as_str()).collect::<Vec<_>>(), ["sized!"]);
    let (holds, seen) = check(&result, Check::SkeletonIsStubs);
    assert!(!holds && seen.contains("`sized!` is refused: its expansion cannot be inspected"), "{seen}");
    assert_eq!(stage.trace().routes(), ["types → skeleton and adversary", "skeleton → exit"]);
}

/// HY-147: a skeleton that does not build stops the run.
#[tokio::test(flavor = "multi_thread")]
async fn a_skeleton_that_does_not_build_ends_the_run() {
    let script = AgentScript::of(Scenario::Happy).with("types", |types| types.edit("Option<i64>", "Option<Nowhere>"));
    let (stage, result, failure) = ends_on(Stage::new(script).await, "types").await;
    let HybridFailure::SkeletonDoesNotBuild { diagnostics } = failure else { panic!("{failure:?}") };
    assert!(diagnostics.contains("cannot find type `Nowhere`"), "{diagnostics}");
    assert_eq!(check(&result, Check::SkeletonBuilds), (false, "it does not"));
    assert!(stage.trace().was_cancelled("adversary", 1));
}

/// HY-147: an implementation file that an agent has left unreadable is a skeleton that does not build.
#[tokio::test(flavor = "multi_thread")]
async fn a_skeleton_that_cannot_be_read_does_not_build() {
    let not_text = ends("types", |types| types.run(&["sh", "-c", "printf '\\377' >> src/lib.rs"]));
    let mut python = Stage::quick(AgentScript::of(Scenario::Happy).with("types", |types| {
        types.actions.clear();
        types.run(&["sh", "-c", "head -c 2097153 /dev/zero | tr '\\0' '#' > src/stack.py"]);
    }))
    .await;
    python.task.spec.impl_path = "src/stack.py".to_owned().try_into().unwrap();
    python.task.spec.test_path = "tests/properties.py".to_owned().try_into().unwrap();
    for ((stage, _, failure), why) in [
        (not_text.await, "src/lib.rs:1:1: src/lib.rs is not UTF-8: "),
        (
            ends_on(python, "types").await,
            "src/stack.py:1:1: too long: it has 2097153 bytes, and at most 2097152 are read",
        ),
    ] {
        let HybridFailure::SkeletonDoesNotBuild { diagnostics } = failure else { panic!("{failure:?}") };
        assert!(diagnostics.starts_with(why), "{diagnostics}");
        assert_eq!(stage.trace().routes(), ["types → exit"]);
    }
}

/// HY-161, HY-167: the contract and the file name the same functions. The report is compared with the file before anything else:
/// nothing is committed, and the run goes directly to its end.
#[tokio::test(flavor = "multi_thread")]
async fn the_contract_is_what_is_on_disk() {
    let more = "    /// Takes everything away.\n    pub fn clear(&mut self) {\n        todo!()\n    }\n}\n";
    let undeclared = |types: &mut Turn| {
        let file = types.file();
        file.truncate(file.trim_end().len() - 1);
        file.push_str(more);
    };
    let (stage, result, failure) = ends("types", undeclared).await;
    // HY-144, HY-09: the file decides, whatever the report says.
    assert_eq!(failure, HybridFailure::UndeclaredFunctionOnDisk { name: "BoundedStack::clear".to_owned() });
    // HY-162
    assert_eq!(stage.trace().routes(), ["types → exit"]);
    assert!(stage.archive().is_empty(), "nothing was committed");
    assert!(result.spec.is_empty());
    assert_eq!(result.total_cost.to_string(), "$0.031", "it was paid for all the same");

    let (stage, _, failure) = ends("types", |types| types.edit("pub fn height", "fn height")).await;
    // HY-143
    assert_eq!(failure, HybridFailure::ClaimedFunctionNotOnDisk { name: "BoundedStack::height".to_owned() });
    assert_eq!(stage.trace().routes(), ["types → exit"]);
    assert!(stage.archive().is_empty());
}

/// An adversary that writes is detected, and its changes are removed. An adversary that also commits leaves a clean worktree, and
/// is detected too.
#[tokio::test(flavor = "multi_thread")]
async fn an_adversary_only_reads() {
    let writes = |adversary: &mut Turn| adversary.write("src/lib.rs", "// Broken on purpose.\n");
    let commits = |adversary: &mut Turn| {
        writes(adversary);
        adversary.run(&["git", "commit", "--all", "--message", "broken on purpose"]);
    };
    let (one, other) = tokio::join!(ends("adversary", writes), ends("adversary", commits));
    for ((stage, _, failure), trace_of_it) in [(one, "src/lib.rs"), (other, "HEAD is at")] {
        let HybridFailure::NodeFailed { failure } = failure else { panic!("{failure:?}") };
        assert_eq!((failure.node.as_str(), failure.kind), ("adversary", FailureKind::Workspace));
        assert!(failure.message.contains("may only read this place"), "{}", failure.message);
        assert!(failure.message.contains(trace_of_it), "{}", failure.message);
        for (name, _) in stage.archive() {
            let kept = stage.git(&["show", &format!("refs/interlocking/archive/r1/{name}:src/lib.rs")]);
            assert!(!kept.contains("Broken on purpose"), "{name}");
        }
    }
}
