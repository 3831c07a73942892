//! Which agent continues which session: later agents know what was said before (V3-10, CON-19, CON-33, CON-141).

use crate::small::{AgentScript, Who, project, spec, test_run};
use crate::tree::family;
use crate::watched::Call;
use interlocking::prelude::*;
use serde_json::json;
use v3::types::outcome::V3Outcome;

fn answered(call: &Call) -> &SessionId {
    call.answered_in.as_ref().unwrap()
}

#[tokio::test]
async fn history_is_shared() {
    let project = project().await;
    let retry =
        json!({ "RequestRetry": { "diagnosis": "D.", "strategyFrom": "a", "strategyTo": "b", "failingTests": [] } });
    let more = json!({ "MoreTests": { "critiques": [], "additionalTests": [
        { "criterionId": "one", "plannedTestName": "one_holds", "approach": "Again." },
    ] } });
    let blocked = json!({ "BlockedDependency": { "missingSymbol": "s", "expectedImportPath": "p" } });
    let script = AgentScript::default()
        .once(Who::Implementer, "top", &retry, &[])
        .once(Who::Implementer, "top", &blocked, &[])
        .once(Who::Reviewer, "top", &more, &[]);
    let test = test_run(&project, &AgentScript::with(script, family()));
    let outcome = test.outcome(spec(&["a", "b"])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let calls = |title: &str| test.agent.calls_to(title);

    let planner = calls("planner of `top`");
    assert!(matches!(planner[0].session, SessionOp::StartFresh(_)), "{:?}", planner[0].session);
    // In the same place it continues the session.
    assert_eq!(planner[1].session, SessionOp::ContinueFrom(answered(&planner[0]).clone()));
    let root = answered(&planner[0]);

    // V3-10, EVO-03: the sessions of tests and implementation begin as forks of it, and so do those of the children's planners.
    let (tests, implementer) = (calls("test author of `top`"), calls("implementer of `top`"));
    for call in [&tests[0], &implementer[0], &calls("planner of `top/a`")[0], &calls("planner of `top/b`")[0]] {
        assert_eq!(call.forked_from(), Some(root), "{}", call.title());
    }
    // PRG-10, PRG-23, PRG-26: an attempt continues the session of the attempt before; so does a call after a way back.
    for pair in implementer.windows(2) {
        assert_eq!(pair[1].session, SessionOp::ContinueFrom(answered(&pair[0]).clone()));
    }
    assert!(implementer.len() >= 4);
    // EVO-06: each call gets the session to fork, without looking it up in shared state: concurrent forks of one session have
    // sessions of their own.
    let planners = ["a", "b"].map(|child| calls(&format!("planner of `top/{child}`")).remove(0));
    let forks = [&tests[0], &implementer[0], &planners[0], &planners[1]].map(answered);
    assert_eq!(forks.iter().collect::<std::collections::BTreeSet<_>>().len(), 4, "{forks:?}");

    // TDD is one role with one conversation: in the same place it continues the session, in the other place it forks it (V3-49,
    // V3-52, PRG-13, PRG-15).
    let tdd: Vec<Call> = test
        .agent
        .calls()
        .into_iter()
        .filter(|call| call.title().ends_with("of `top`") && call.role == "tdd")
        .collect();
    let places: Vec<&str> = tdd.iter().map(|call| call.place.as_str()).collect();
    assert_eq!(places, ["tests", "tests", "impl", "tests", "impl"]);
    for pair in tdd.windows(2) {
        let last = answered(&pair[0]);
        match pair[0].place == pair[1].place {
            true => assert_eq!(pair[1].session, SessionOp::ContinueFrom(last.clone())),
            false => assert_eq!(pair[1].forked_from(), Some(last)),
        }
    }
    // V3-142, V3-163, CON-139: the judge forks the parent's session, and works in the child's place.
    let judges: Vec<Call> = test.agent.calls_to("You judge what");
    assert!(judges.len() >= 2);
    for judge in &judges {
        assert!(judge.place == "candidate" && judge.forked_from() == Some(root), "{judge:?}");
    }
}
