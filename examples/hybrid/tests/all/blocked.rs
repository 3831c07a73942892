//! Agents that report that they cannot finish.

use crate::agent_script::AgentScript;
use crate::stage::Stage;
use crate::watched::Until;
use hybrid::demo::Scenario;
use hybrid::types::HybridFailure;

/// HY-98, CON-84: such an agent ends the run with its report as the reason, and none of its work is
/// committed.
async fn blocks(scenario: Scenario, agent: &str, node: &str, beside: Option<&'static str>) {
    let text = "The contract contradicts itself.";
    let script = AgentScript::of(scenario).with(agent, |turn| turn.answer["blocker"] = text.into());
    let stage = Stage::quick(script).await;
    if let Some(beside) = beside {
        stage.agent.hold(beside, 1, Until::Never);
    }
    let ended = stage.run().await;
    let (_, failure) = stage.assert_not_landed(&ended);
    assert_eq!(failure, HybridFailure::AgentBlocked { node: node.to_owned(), text: text.to_owned() });
    assert_eq!(stage.trace().routes().last().unwrap(), &format!("{node} → exit"));
    let trailer = format!("Node: {node}");
    let kept = stage.git(&["for-each-ref", "--format=%(contents)", "refs/interlocking/archive"]);
    assert!(!kept.lines().any(|line| line == trailer), "{kept}");
}

/// HY-98: the types agent.
#[tokio::test(flavor = "multi_thread")]
async fn the_types_agent() {
    blocks(Scenario::Happy, "types", "types", None).await;
}

/// HY-98: the same when the types agent is to close a hole.
#[tokio::test(flavor = "multi_thread")]
async fn the_types_agent_at_a_repair() {
    blocks(Scenario::TypesHole, "types_fix", "types_fix", None).await;
}

/// HY-98, HY-260: the tests agent, while the implementation's never answers.
#[tokio::test(flavor = "multi_thread")]
async fn the_tests_agent() {
    blocks(Scenario::Happy, "tests", "tests", Some("impl")).await;
}

/// HY-98, HY-260: the implementation's agent, while the tests agent never answers.
#[tokio::test(flavor = "multi_thread")]
async fn the_implementation_agent() {
    blocks(Scenario::Happy, "impl", "implementation", Some("tests")).await;
}

/// HY-98: the fix agent.
#[tokio::test(flavor = "multi_thread")]
async fn the_fix_agent() {
    blocks(Scenario::FixRound, "fix", "fix", None).await;
}
