//! A node that tries again: the runtime decides how often, and the diagnosis of the last attempt is kept.

use crate::support::{Recording, finished};
use crate::tdd::{APPROVED, End, PASSED, READY, Stuck, prompts, run, scaffold, turn};
use serde_json::Value;

/// A request for another attempt, after attempt `number`.
fn retry(number: u32) -> String {
    let output = format!(
        r#"{{"RequestRetry":{{"diagnosis":"reason {number}","strategy_from":"way {number}","strategy_to":"way {}","failing_tests":["one","two"]}}}}"#,
        number + 1
    );
    turn(&format!("attempt {number} of 5."), 0, &output)
}

/// V3-130: five attempts, counted by the runtime and shown to the node from 1. V3-133: each later attempt gets the
/// previous one's request to change the strategy. V3-134: the fifth attempt, and no other, is announced as the final
/// one. V3-132, CON-13: a request for a sixth becomes `Stuck`, with its diagnosis and with 5 attempts.
#[tokio::test(start_paused = true)]
async fn a_fifth_request_to_retry_is_stuck_with_its_diagnosis() {
    let script = turn("Test cart", 0, READY) + &(1..=5).map(retry).collect::<String>();
    let agent = Recording::new(&script);
    let report = run(&agent).start(scaffold("cart", &[])).await.unwrap();
    assert_eq!(
        prompts(&agent, "Implement"),
        [
            "Implement cart, attempt 1 of 5.\nPass one.",
            "Implement cart, attempt 2 of 5.\nPass one.\n\
             Last time: reason 1. Not way 1 but way 2. Failing: one, two.",
            "Implement cart, attempt 3 of 5.\nPass one.\n\
             Last time: reason 2. Not way 2 but way 3. Failing: one, two.",
            "Implement cart, attempt 4 of 5.\nPass one.\n\
             Last time: reason 3. Not way 3 but way 4. Failing: one, two.",
            "Implement cart, attempt 5 of 5.\nPass one.\n\
             Last time: reason 4. Not way 4 but way 5. Failing: one, two.\n\
             This is the final attempt: succeed or emit Stuck.",
        ]
    );
    assert_eq!(report.visits_of("implement"), 1, "an attempt is no visit");
    assert_eq!(finished(report), End::Stuck(Stuck { diagnosis: "reason 5".to_owned(), attempts: 5 }));
}

/// V3-134: the final attempt may succeed, or report itself that it is stuck.
#[tokio::test(start_paused = true)]
async fn the_fifth_attempt_may_succeed_or_be_stuck() {
    let four = turn("Test cart", 0, READY) + &(1..=4).map(retry).collect::<String>();
    let succeeds = four.clone() + &turn("attempt 5 of 5.", 0, PASSED) + &turn("Review", 0, APPROVED);
    let report = run(&Recording::new(&succeeds)).start(scaffold("cart", &[])).await.unwrap();
    assert!(matches!(finished(report), End::Merged(_)));

    let stuck = four + &turn("succeed or emit Stuck", 0, r#"{"Stuck":{"diagnosis":"no wheels"}}"#);
    let report = run(&Recording::new(&stuck)).start(scaffold("cart", &[])).await.unwrap();
    assert_eq!(finished(report), End::Stuck(Stuck { diagnosis: "no wheels".to_owned(), attempts: 5 }));
}

/// V3-130, CON-14: the limit applies to one entry. A new round of review begins again at 1, and its prompts have nothing of
/// what an earlier round tried.
#[tokio::test(start_paused = true)]
async fn a_new_round_begins_again_at_its_first_attempt() {
    let tries = |number: u32| turn(&format!("attempt {number} of 5."), 0, PASSED);
    let script = turn("Test cart", 0, READY).repeat(2)
        + &(1..=4).map(retry).collect::<String>()
        + &tries(5)
        + &turn("Review", 0, r#"{"MoreTests":{"additional":["more"]}}"#)
        + &(1..=4).map(retry).collect::<String>()
        + &tries(5)
        + &turn("Review", 0, APPROVED);
    let agent = Recording::new(&script);
    let report = run(&agent).start(scaffold("cart", &[])).await.unwrap();
    let prompts = prompts(&agent, "Implement");
    let attempts: Vec<_> = prompts.iter().filter_map(|prompt| prompt.split([' ', ',']).nth(4)).collect();
    assert_eq!(attempts, ["1", "2", "3", "4", "5", "1", "2", "3", "4", "5"]);
    assert_eq!(prompts[5], "Implement cart, attempt 1 of 5.\nPass one.");
    assert_eq!(report.visits_of("implement"), 2);
    assert!(matches!(finished(report), End::Merged(_)));
}

/// CON-12: an agent's claims about the count change nothing, and no schema that it gets has a field for the count.
#[tokio::test(start_paused = true)]
async fn an_agent_cannot_alter_the_count() {
    let lie = r#"{"RequestRetry":{"diagnosis":"bad luck","strategy_from":"it","strategy_to":"it","failing_tests":[],"attempts":1,"attemptCount":0,"attempt_count":0}}"#;
    let script = turn("Test cart", 0, READY) + &turn("Implement cart", 0, lie).repeat(9);
    let agent = Recording::new(&script);
    let report = run(&agent).start(scaffold("cart", &[])).await.unwrap();
    assert_eq!(agent.turns().len(), 1 + 5, "none was corrected: what it says besides is ignored");
    let prompts = prompts(&agent, "Implement");
    let shown: Vec<_> = prompts.iter().filter_map(|prompt| prompt.split_once('.')).map(|(first, _)| first).collect();
    let expected = [1, 2, 3, 4, 5].map(|number| format!("Implement cart, attempt {number} of 5"));
    assert_eq!(shown, expected);
    assert_eq!(finished(report), End::Stuck(Stuck { diagnosis: "bad luck".to_owned(), attempts: 5 }));

    for turn in agent.turns() {
        let schema = turn.schema.expect("every turn has an output");
        let mut names = Vec::new();
        properties(schema.as_value(), &mut names);
        assert!(!names.is_empty(), "{:#}", schema.as_value());
        assert!(!names.iter().any(|name| name.to_lowercase().contains("attempt")), "{names:?}");
    }
}

/// The names of all properties in a schema.
fn properties(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(named)) = fields.get("properties") {
                names.extend(named.keys().cloned());
            }
            fields.values().for_each(|value| properties(value, names));
        }
        Value::Array(elements) => elements.iter().for_each(|value| properties(value, names)),
        _ => {}
    }
}
