//! `main` belongs to the user, and the run moves it only if nothing of the user's is lost.

use crate::agent_script::AgentScript;
use crate::stage::{Stage, check, git};
use hybrid::demo::Scenario;
use hybrid::types::{Check, HybridFailure, MutationAdversary};

/// HY-261, CON-71: a branch that moved during the run stays where it is, whatever the checks said.
#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_moved_is_left_alone() {
    let mut stage = Stage::quick(AgentScript::of(Scenario::Happy)).await;
    let repository = stage.repository();
    stage.agent.when_called("impl", move || {
        std::fs::write(repository.join("NOTES.md"), "The user goes on working.\n").unwrap();
        git(&repository, &["add", "NOTES.md"]);
        let user = ["-c", "user.name=A user", "-c", "user.email=user@interlocking.invalid"];
        git(&repository, &[&user[..], &["commit", "--message", "Notes"]].concat());
    });
    let ended = stage.run().await;
    let now = stage.git(&["rev-parse", "main"]);
    let start = std::mem::replace(&mut stage.base, now);
    assert_eq!(stage.git(&["log", "--format=%s", "main"]), "Notes\nA crate to build on");
    let (result, failure) = stage.assert_not_landed(&ended);
    let moved = HybridFailure::MainMoved { branch: "main".to_owned(), expected: start, found: stage.base.clone() };
    assert_eq!(failure, moved);
    assert!(check(&result, Check::MergedTestsPass).0, "the work itself was fine");
    let kept = stage.archive();
    assert!(
        kept.iter().any(|(name, subject)| name.starts_with("merge-") && subject.starts_with("merge: ")),
        "{kept:?}"
    );
}

/// HY-25: uncommitted changes are not overwritten; the run fails, and names the files that block it.
#[tokio::test(flavor = "multi_thread")]
async fn uncommitted_work_is_left_alone() {
    let stage = Stage::quick(AgentScript::of(Scenario::Happy)).await;
    let file = stage.repository().join("src/lib.rs");
    let (written, text) = (file.clone(), "//! The user goes on working here.\n");
    stage.agent.when_called("impl", move || std::fs::write(written, text).unwrap());
    let ended = stage.run().await;
    let result = ended.result.unwrap();
    let Some(HybridFailure::NodeFailed { failure }) = result.failure() else { panic!("{:?}", result.failure()) };
    assert!(!result.succeeded() && failure.node == "exit" && failure.message.contains("src/lib.rs"), "{failure}");
    // HY-258: so are the findings of the adversary beside the run in the result, and in its account.
    assert!(matches!(result.mutation_adversary, MutationAdversary::Ran(_)), "{:?}", result.mutation_adversary);
    assert!(check(&result, Check::MutantsCaught).0);
    assert!(result.witness.narrative.contains("; mutation_advisory reported"), "{}", result.witness.narrative);
    assert_eq!(std::fs::read_to_string(file).unwrap(), text);
    assert_eq!(stage.git(&["rev-parse", "main"]), stage.base);
    assert_eq!(stage.git(&["status", "--porcelain"]), " M src/lib.rs".trim_end());
}

/// HY-08: code in an agent's text is noted in the account of the run, which goes on: only files are built.
#[tokio::test(flavor = "multi_thread")]
async fn code_among_words_is_a_concern() {
    let code = "It is as follows.\n```rust\nself.items.push(value);\n```";
    let stage =
        Stage::quick(AgentScript::of(Scenario::Happy).with("adversary", |turn| turn.answer["analysis"] = code.into()));
    let stage = stage.await;
    let ended = stage.run().await;
    let result = stage.assert_landed(&ended);
    let said = "`typeAdversary.analysis` has lines of code, where words are to describe";
    assert_eq!(result.witness.concerns, [said]);
}
