//! A run that waits for people while no process executes it.

use crate::case::{Case, Kill};
use interlocking::prelude::Outcome;
use interlocking::runtime::Journal;
use interlocking::runtime::journal::{JournalError, Letter, LetterBody};
use interlocking_crash::gazette::{Part, Question, Verdict};
use interlocking_crash::order::Presence;
use interlocking_crash::people::People;

#[tokio::test]
async fn an_answer_is_taken_up_by_whoever_resumes_the_run_and_only_one_that_is_one() {
    let mut case = Case::new();
    // The process that asked does not live to report that.
    case.process(Kill::At(250), Presence::Away).await;
    assert_eq!(case.kills, 1);
    let waiting = case.process(Kill::Never, Presence::Away).await.unwrap();
    let Outcome::Waiting { questions } = &waiting.outcome else { panic!("{:?}", waiting.outcome) };
    let asked: Vec<_> = questions
        .iter()
        .map(|asked| (asked.by.node.as_str(), serde_json::from_value::<Question>(asked.question.clone()).unwrap().part))
        .collect();
    assert_eq!(asked, [("alarm", Part::Root), ("approve", Part::Asker)]);
    let (run, by) = (&questions[1].run, &questions[1].by);

    // An answer to an unknown question, and an answer of another type: neither is received.
    let answer = |json: &str| {
        let body = LetterBody::Answer { to: by.clone(), answer: json.into() };
        Letter { key: None, body }
    };
    for json in [r#"{"good":"perhaps"}"#, "7", "{"] {
        case.journal().post(run, answer(json)).await.unwrap();
    }
    let still = case.process(Kill::Never, Presence::Away).await.unwrap();
    assert_eq!(still.outcome, waiting.outcome);

    // Twice with one key: the second is refused. Once more without a key: the first counts.
    People::new(case.journal()).answer(run, by, &Verdict { good: true }).await.unwrap();
    let again = case.journal().post(run, Letter { key: Some(format!("answer to {by}")), ..answer("{}") }).await;
    assert!(matches!(again, Err(JournalError::AlreadyPosted { .. })), "{again:?}");
    case.journal().post(run, answer(r#"{"good":false}"#)).await.unwrap();
    case.settle(Presence::Away).await;
}
