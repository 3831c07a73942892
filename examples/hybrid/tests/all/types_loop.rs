//! Types with holes go back, within the budget.

use crate::agent_script::AgentScript;
use crate::stage::{Stage, check};
use crate::watched::Until;
use hybrid::demo::Scenario;
use hybrid::types::{Check, HybridFailure, TypeSystemVerdict};
use interlocking::agents::SessionOp;

/// HY-04, HY-146: a major hole blocks, until it is closed.
#[tokio::test(flavor = "multi_thread")]
async fn a_major_hole_is_closed_before_anything_is_built_on_it() {
    let stage = Stage::quick(AgentScript::of(Scenario::TypesHole)).await;
    stage.agent.hold("adversary", 1, Until::Finished("skeleton", 1));
    stage.agent.hold("adversary", 2, Until::Finished("skeleton", 2));
    let ended = stage.run().await;
    let result = stage.assert_landed(&ended);

    // HY-42, HY-172, CON-42: after the repair skeleton and adversary both check again, and only then the gate opens.
    let trace = stage.trace();
    let routes = [
        "types → skeleton and adversary",
        "skeleton → gate.skeleton",
        "adversary → gate.adversary",
        "gate → types_fix",
        "types_fix → skeleton and adversary",
        "skeleton → gate.skeleton",
        "adversary → gate.adversary",
        "gate → blind_fork",
        "blind_fork → tests and implementation",
    ];
    assert_eq!(trace.routes()[..routes.len()], routes);
    assert!(trace.overlap(("skeleton", 2), ("adversary", 2)));
    // HY-63, HY-256: it opens once for each round. The first round's adversary does not count in the second, although the second
    // round's skeleton is done long before its adversary.
    assert!(trace.start("gate", 2) > trace.finish("adversary", 2));
    assert_eq!(trace.visits("gate"), 2);

    // HY-115, HY-168: the repair continues the session that wrote the types.
    let (types, fix) = (stage.calls_of("types").remove(0), stage.calls_of("types_fix").remove(0));
    assert_eq!(fix.session, SessionOp::ContinueFrom(types.answered_in.unwrap()));
    assert!(fix.prompt.contains("This is repair 1 of at most 5."));
    assert!(fix.prompt.contains("Make the fields private, so that `push` is the only way in."));
    assert!(!fix.prompt.contains("Earlier repairs"));

    // HY-07: the adversary has a fresh session each time.
    let adversaries = stage.calls_of("adversary");
    assert_eq!(adversaries.len(), 2);
    assert!(adversaries.iter().all(|call| matches!(call.session, SessionOp::StartFresh(_))));
    assert_ne!(adversaries[0].answered_in, adversaries[1].answered_in);
    // The second one is shown the repaired types.
    assert!(adversaries[0].files["src/lib.rs"].contains("pub items: Vec<i64>"));
    assert!(adversaries[1].files["src/lib.rs"].contains("    items: Vec<i64>"));
    assert_eq!(adversaries[1].head, stage.git(&["rev-parse", "main~3"]));

    // HY-12, CON-47: both sides build on the repaired types, and are told of the hole.
    for role in ["tests", "impl"] {
        let call = stage.calls_of(role).remove(0);
        assert_eq!(call.head, adversaries[1].head);
        assert!(call.prompt.contains("Major, closed: The fields are public"), "{role}");
    }
    let subjects = stage.git(&["log", "--reverse", "--format=%s", &format!("{}..main", stage.base)]);
    let phases: Vec<&str> = subjects.lines().filter_map(|subject| Some(subject.split_once(':')?.0)).collect();
    assert_eq!(phases, ["types", "skeleton", "types", "tests", "impl", "merge"]);
    assert_ne!(result.type_adversary.as_ref().unwrap().verdict, TypeSystemVerdict::TypeSystemHasHoles);
    assert!(check(&result, Check::TypeHoles).0);
}

/// Observations of an earlier skeleton are not reported for the next one: here the repair has a body, and is not even built.
#[tokio::test(flavor = "multi_thread")]
async fn a_repair_is_looked_at_anew() {
    let body = "let _ = self.capacity;\n        todo!()";
    let script = AgentScript::of(Scenario::TypesHole).with("types_fix", |turn| turn.edit(body, "self.items.len()"));
    let stage = Stage::quick(script).await;
    stage.agent.hold("adversary", 2, Until::Never);
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    assert_eq!(failure, HybridFailure::StubNotUndefined { function: "BoundedStack::height".to_owned() });
    assert!(!check(&result, Check::SkeletonIsStubs).0);
    assert_eq!(check(&result, Check::SkeletonBuilds), (false, "not reached"));
}

/// HY-171, HY-112, HY-135, CON-44, CON-45: if holes remain, the run ends after as many repairs as the task allows, before another
/// one is paid for.
#[tokio::test(flavor = "multi_thread")]
async fn holes_for_ever_need_a_person() {
    let scenario = AgentScript::of(Scenario::TypesHole);
    let (mut hole, mut repair) = (scenario.turn("adversary"), scenario.turn("types_fix"));
    (hole.any_times, repair.any_times) = (true, true);
    let stage =
        Stage::quick(scenario.without("adversary").without("types_fix").then(hole).then(repair)).await.at_most(2);
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);

    let HybridFailure::TypeFixBudgetExhausted { attempts, last_holes, prior_fixes } = failure else {
        panic!("{failure:?}")
    };
    assert_eq!((attempts, last_holes.len()), (2, 1));
    assert_eq!(prior_fixes.iter().map(|fix| fix.attempt).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(result.type_adversary.as_ref().unwrap().output.holes, last_holes);
    assert_eq!(result.spec.len(), 5, "what was gathered is kept");
    assert_eq!(check(&result, Check::TypeHoles), (false, "TypeSystemHasHoles"));
    assert!(check(&result, Check::SkeletonBuilds).0);
    assert!(serde_json::to_value(&result).unwrap()["failure"]["TypeFixBudgetExhausted"].is_object());

    let repairs = stage.calls_of("types_fix");
    assert_eq!((repairs.len(), stage.calls_of("adversary").len()), (2, 3));
    assert_eq!((stage.calls_of("tests").len(), stage.calls_of("impl").len()), (0, 0));
    // HY-111, HY-170: each repair is told its number, and the subjects of earlier ones.
    assert!(repairs[0].prompt.contains("This is repair 1 of at most 2."));
    assert!(repairs[1].prompt.contains("This is repair 2 of at most 2."));
    assert!(repairs[1].prompt.contains("- Repair 1: Private fields keep the height within the capacity"));
    // types, two repairs, three attacks
    assert_eq!(result.total_cost.to_string(), "$0.113");
}
