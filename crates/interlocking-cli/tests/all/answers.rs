//! A person's answer, and its effect.

use crate::support::Program;
use expect_test::expect;
use serde_json::json;

#[tokio::test]
async fn a_run_waits_is_answered_and_finishes() {
    let review = Program::new();
    let waits = review.call(&["run", "--run-id", "r1", "--input", "\"tides\""]).await;
    assert_eq!((waits.exit, waits.stdout.as_str()), (3, ""));
    assert!(waits.stderr.contains("draft           started\n"), "{}", waits.stderr);
    let end = waits.stderr.find("r1 waits").unwrap();
    expect![[r#"
        r1 waits for an answer to 1 question:
          read.1.1 of r1: {"draft":"The tide rises."}
        `review answer r1 JSON --journal PLACE` answers, then `review resume r1 --journal PLACE` takes it up
    "#]]
    .assert_eq(&crate::support::steady(&waits.stderr[end..]));

    let again = review.call(&["resume", "r1", "--quiet"]).await;
    assert_eq!(again.exit, 3, "nobody has answered");
    let answered = review.call(&["answer", "r1", r#"{"approved": true}"#]).await;
    expect![[r#"
        exit 0
        ! answered read.1.1 of r1; `review resume r1 --journal PLACE` takes the run up, if no process is executing it
    "#]]
    .assert_eq(&answered.page());
    let finished = review.call(&["resume", "r1", "--quiet"]).await;
    assert_eq!((finished.exit, finished.stdout.as_str()), (0, "\"The tide rises.\"\n"), "{}", finished.stderr);
    let told = review.call(&["resume", "r1", "--json"]).await.json();
    assert_eq!(
        (&told["outcome"], &told["value"], &told["exit"]),
        (&json!("finished"), &json!("The tide rises."), &json!(0))
    );
    assert_eq!((&told["usage"]["cost"], &told["visits"]["read"]), (&json!(12_500), &json!(1)), "paid once");
}

#[tokio::test]
async fn a_run_that_stays_says_by_which_command_it_is_answered() {
    let review = Program::new();
    let answered = async {
        while review.call(&["answer", "r1", r#"{"approved": true}"#]).await.exit != 0 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let stays = review.call(&["run", "--run-id", "r1", "--input", "\"tides\"", "--stay"]);
    let (ran, ()) = tokio::join!(stays, answered);
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, "\"The tide rises.\"\n"), "{ran:?}");
    let said = crate::support::steady(&ran.stderr);
    assert!(said.contains("waits for a person: `review answer r1 JSON --journal PLACE` answers\n"), "{said}");
}

#[tokio::test]
async fn answers_come_from_files_and_pipes_and_may_send_back() {
    let review = Program::new();
    review.waiting("r1").await;
    let piped = review.call_with(&["answer", "r1", "--json"], r#"{"approved": false, "remark": "shorter"}"#).await;
    assert_eq!(piped.json(), json!({ "run": "r1", "question": "read.1.1", "letter": 1 }));
    assert_eq!(review.call(&["resume", "r1", "--quiet"]).await.exit, 3, "another draft is to be read");
    let file = review.place.path().join("answer.json");
    std::fs::write(&file, r#"{"approved": true}"#).unwrap();
    let named = review.call(&["answer", "r1", "--file", file.to_str().unwrap(), "--question", "read.2"]).await;
    assert_eq!(named.exit, 0, "{named:?}");
    assert_eq!(review.call(&["resume", "r1", "--quiet"]).await.exit, 0);
}

/// A refused answer changes nothing.
#[tokio::test]
async fn answers_that_nobody_can_use_are_refused() {
    let review = Program::new();
    review.waiting("r1").await;
    let mut pages = String::new();
    for words in [
        &["answer", "r1"][..],
        &["answer", "r1", "yes"],
        &["answer", "r1", r#"{"approved": "yes", "really": true}"#],
        &["answer", "r1", "true", "--question", "draft"],
        &["answer", "r1", "true", "--question", "read.x"],
        &["answer", "r2", "true"],
    ] {
        pages += &review.call(words).await.page();
    }
    assert_eq!(review.call(&["answer", "r1", r#"{"approved": true}"#]).await.exit, 0);
    pages += &review.call(&["answer", "r1", r#"{"approved": true}"#]).await.page();
    assert_eq!(review.call(&["resume", "r1", "--quiet"]).await.exit, 0);
    pages += &review.call(&["answer", "r1", r#"{"approved": true}"#]).await.page();
    expect![[r#"
        exit 2
        ! error: no answer was given to read.1.1, which asks {"draft":"The tide rises."}
        ! its answer: {"$schema":"https://json-schema.org/draft/2020-12/schema","additionalProperties":false,"description":"What the person says.","properties":{"approved":{"description":"Whether the text may be published as it is.","type":"boolean"},"remark":{"default":null,"description":"What the writer should know, if not.","type":["string","null"]}},"required":["approved"],"title":"Verdict","type":"object"}
        !   to do: give the answer as JSON, or with --file FILE, or on standard input
        exit 2
        ! error: this is not the JSON that is needed: expected value at line 1 column 1
        !   at: the answer
        !   to do: write JSON: a text is in quotation marks, "yes"
        exit 2
        ! error: the answer to `read.1.1` of run `r1` is not what was asked for:
        !   at the root: Additional properties are not allowed ('really' was unexpected)
        !   at `/approved`: "yes" is not of type "boolean"
        ! its schema: {"$schema":"https://json-schema.org/draft/2020-12/schema","additionalProperties":false,"description":"What the person says.","properties":{"approved":{"description":"Whether the text may be published as it is.","type":"boolean"},"remark":{"default":null,"description":"What the writer should know, if not.","type":["string","null"]}},"required":["approved"],"title":"Verdict","type":"object"}
        exit 2
        ! error: run `r1` has asked nothing at `draft`
        exit 2
        ! error: invalid value 'read.x' for '--question <NODE>': "read.x" names no execution: write NODE, NODE.VISIT or NODE.VISIT.ATTEMPT
        !
        ! For more information, try '--help'.
        exit 2
        ! error: there is no run `r2` in the journal: list the runs there are
        exit 2
        ! error: question `read.1.1` of run `r1` was answered before, and the first answer counts: resume the run
        exit 2
        ! error: question `read.1.1` of run `r1` was answered before, and the first answer counts: resume the run
    "#]].assert_eq(&pages);
}
