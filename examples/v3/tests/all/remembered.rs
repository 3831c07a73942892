//! The memories of nodes, and the contents of their workspaces.

use crate::small::{AgentScript, Who, check, project, spec, test_run};
use crate::tree::family;
use interlocking::prelude::*;
use interlocking::runtime::journal::NodeOutcome;
use serde_json::{Value, json};
use v3::types::outcome::V3Outcome;

/// A retry, and a review that wants another test.
fn twice() -> AgentScript {
    let retry =
        json!({ "RequestRetry": { "diagnosis": "D.", "strategyFrom": "a", "strategyTo": "b", "failingTests": [] } });
    let more = json!({ "MoreTests": { "critiques": [], "additionalTests": [
        { "criterionId": "one", "plannedTestName": "one_is_loud", "approach": "Listens." },
    ] } });
    AgentScript::default().once(Who::Implementer, "top", &retry, &[]).once(Who::Reviewer, "top", &more, &[])
}

fn names(tests: &Value) -> Vec<&str> {
    tests.as_array().unwrap().iter().map(|test| test["plannedTestName"].as_str().unwrap()).collect()
}

/// V3-08, V3-67, V3-52, PRG-22, PRG-26, CON-20: TDD's memory after each of its turns, on the route that the protocol describes.
#[tokio::test]
async fn tdd_remembers_tests_until_they_are_covered() {
    let project = project().await;
    let test = test_run(&project, &twice().honest("top", &[]));
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let once = ["write_tests", "barrier", "implement", "review"];
    let way = [&["scaffold", "fork"][..], &once[..3], &once[2..], &once, &["merge_queue", "merger"]].concat();
    assert_eq!(test.path(), way, "V3-08");

    let remembered = test.memories(&RunId::DEFAULT, "tdd").await;
    let pending: Vec<_> = remembered.iter().map(|memory| names(&memory["pendingTests"])).collect();
    let both = vec!["one_holds", "one_is_loud"];
    assert_eq!(pending, [vec!["one_holds"], vec!["one_holds"], both, Vec::new()]);
    let covered: Vec<_> = remembered.iter().map(|memory| memory["coveredCriteria"].clone()).collect();
    assert_eq!(covered, [json!([]), json!([]), json!([]), json!(["one"])]);
    // One conversation, whichever session it is in: the last one.
    assert!(remembered.iter().all(|memory| memory["conversationId"] == "top tdd"), "{remembered:?}");
    let sessions = test.agent.calls().into_iter().filter(|call| call.role == "tdd");
    let sessions: Vec<_> = sessions.map(|call| json!(call.answered_in.unwrap().as_str())).collect();
    let last: Vec<_> = remembered.iter().map(|memory| memory["thread"]["session"].clone()).collect();
    assert_eq!(last, sessions);
}

/// V3-70, V3-71, PRG-21, PRG-25, CON-20, CON-21, CON-22: Impl's memory has its session, each unsuccessful attempt, and the passed
/// tests; the barrier shares this memory, and does not change it.
#[tokio::test]
async fn impl_remembers_its_attempts() {
    let project = project().await;
    let test = test_run(&project, &twice().honest("top", &[]));
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let remembered = test.memories(&RunId::DEFAULT, "impl_mem").await;
    assert_eq!(remembered.len(), 3, "after each of its turns");
    let attempt = json!([{ "strategy": "a", "outcome": "failed: D." }]);
    let sessions = test.agent.calls_to("implementer of `top`");
    for (memory, call) in remembered.iter().zip(&sessions) {
        assert_eq!((&memory["conversationId"], &memory["attemptHistory"]), (&json!("top impl"), &attempt));
        assert_eq!(memory["sessionId"], call.answered_in.as_ref().unwrap().as_str());
    }
    let passed: Vec<_> = remembered.iter().map(|memory| memory["passedTests"].as_array().unwrap().len()).collect();
    assert_eq!(passed, [0, 1, 1]);
    let of_barrier = |outcome: &NodeOutcome| outcome.node == "barrier" && outcome.memory.is_some();
    assert!(!test.outcomes(&RunId::DEFAULT).await.iter().any(of_barrier));
}

/// V3-06, V3-83, V3-127, CON-09, CON-134, CON-136, CON-148, PRG-34, PRG-35, EVO-13: the implementer finds the tests on its
/// branch, in a linear history, and the reviewer is shown git's output; in a second round the children's merged work is still
/// there.
#[tokio::test]
async fn the_implementer_finds_the_tests() {
    let project = project().await;
    let test = test_run(&project, &AgentScript::with(twice(), family()));
    let implementer = test.agent.hold("implementer of `top`");
    let reviewer = test.agent.hold("reviewer of `top`");
    let watch = async {
        implementer.reached().await;
        let place = test.agent.calls_to("implementer of `top`")[0].workspace.clone();
        let tests = std::fs::read_to_string(place.join("checks/top.sh")).unwrap();
        assert_eq!(tests, check("top"));
        let branches = project.git(&["branch", "--format=%(refname:short)"]);
        for branch in ["run/impl", "run/tests"] {
            assert!(branches.lines().any(|line| line == branch), "{branches}");
        }
        // A child's branch name contains its place in the tree.
        assert!(branches.lines().any(|line| line.starts_with("run/a-")), "{branches}");
        assert_eq!(project.git(&["rev-list", "--merges", "run/impl"]), "");
        implementer.release();
        reviewer.reached().await;
        let shown = test.prompts("reviewer of `top`").remove(0);
        let shown = shown.split("```diff\n").nth(1).unwrap().split("```").next().unwrap().to_owned();
        let stands = ["skeleton", "impl"].map(|place| project.git(&["rev-parse", &format!("run/{place}")]));
        let diff = project.git(&["diff", stands[0].trim(), stands[1].trim()]);
        let changes = |text: &str| -> Vec<String> {
            text.lines().filter(|line| line.starts_with(['+', '-'])).map(str::to_owned).collect()
        };
        assert_eq!(changes(&shown), changes(&diff));
        assert!(changes(&diff).contains(&"+done".to_owned()), "{diff}");
        reviewer.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&["a", "b"])), watch);
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let asked = test.prompts("implementer of `top`");
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|prompt| prompt.contains("- top/a: `a`")), "V3-127");
    let merger = &test.prompts("merger of `top/a`")[0];
    let own = merger.split('`').find(|part| part.starts_with("run/a-"));
    assert!(own.is_some() && merger.contains("into `run/impl` of `top`"), "{merger}");
    assert!(merger.contains("the contract in\n`checks/contract_a.sh`"), "{merger}");
}
