//! A failed run is resumed at the failure: `resume --retry`.

use crate::support::Program;
use expect_test::expect;

#[tokio::test]
async fn a_run_that_has_failed_is_retried() {
    let review = Program::new();
    let failed = review.call(&["run", "--run-id", "r1", "--input", "\"storms\"", "--crash", "--quiet"]).await;
    assert_eq!(failed.exit, 1);
    // A plain resume reports how the run ended, and does nothing.
    assert_eq!(review.call(&["resume", "r1", "--quiet"]).await.page(), failed.page());
    assert_eq!(review.call(&["resume", "r1", "--retry", "--crash", "--quiet"]).await.exit, 1);
    expect![[r#"
        exit 3
        ! r1 waits for an answer to 1 question:
        !   read.1.1 of r1: {"draft":"The tide rises."}
        ! `review answer r1 JSON --journal PLACE` answers, then `review resume r1 --journal PLACE` takes it up
    "#]]
    .assert_eq(&review.call(&["resume", "r1", "--retry", "--quiet"]).await.page());
    expect![[r#"
        exit 0
        r1  Review  waiting
          14 records from TIME to TIME, resumed 2 times, retried 2 times
          $0.0375 in 3 calls, 0 tokens in, 0 tokens out
        ├ draft.1  done       → read  0.0 s  $0.0375 in 3 calls  [12]
        │   session draft-1 of scripted
        └ read.1   waiting
            asks {"draft":"The tide rises."}

        `review answer r1 JSON --journal PLACE` answers.
    "#]]
    .assert_eq(&review.call(&["show", "r1"]).await.page());
    // The run waits for a person.
    expect![[r#"
        exit 2
        ! error: run `r1` has not failed, so there is nothing to retry: it has not ended, resume it
    "#]]
    .assert_eq(&review.call(&["resume", "r1", "--retry"]).await.page());
    assert_eq!(review.call(&["answer", "r1", "{\"approved\": true}"]).await.exit, 0);
    assert_eq!(review.call(&["resume", "r1", "--quiet"]).await.stdout, "\"The tide rises.\"\n");
    let refused = review.call(&["resume", "r1", "--retry", "--json"]).await;
    assert_eq!(refused.exit, 2);
    assert!(refused.stderr.contains("so there is nothing to retry: it is finished"), "{}", refused.stderr);
}
