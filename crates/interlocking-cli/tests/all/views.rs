//! What the commands show of runs.

use crate::review::Review;
use crate::support::Program;
use expect_test::expect;
use interlocking::runtime::Journal;
use interlocking::runtime::journal::{Entry, Origin};
use serde_json::{Value, json};

held!(Review);

#[tokio::test]
async fn runs_are_listed_and_shown() {
    let review = Program::new();
    review.waiting("r1").await;
    let failed = review.call(&["run", "--run-id", "r2", "--input", "\"storms\"", "--crash", "--quiet"]).await;
    expect![[r#"
        exit 1
        ! r2 failed, $0.0125 in 0.0 s: node `draft` failed: the agent ended without an answer (exit code 1): out of ink
        ! `review resume r2 --retry --journal PLACE` tries again what failed, with the options it had; `review fork r2 --journal PLACE` makes a run that does
    "#]]
    .assert_eq(&failed.page());
    assert_eq!(review.call(&["fork", "r1", "--run-id", "r3"]).await.exit, 0);
    assert_eq!(review.call(&["cancel", "r3"]).await.exit, 0);
    expect![[r#"
        exit 0
        RUN  GRAPH   STATE      RECORDS  STARTED               LAST RECORD
        r1   Review  waiting          4  TIME  TIME
        r2   Review  failed           4  TIME  TIME
        r3   Review  cancelled        5  TIME  TIME  fork of r1 after 4 records
    "#]]
    .assert_eq(&review.call(&["list"]).await.page());
    expect![[r#"
        exit 0
        r1  Review  waiting
          4 records from TIME to TIME
          $0.0125 in 1 call, 0 tokens in, 0 tokens out
        ├ draft.1  done       → read  0.0 s  $0.0125 in 1 call  [2]
        │   session draft-1 of scripted
        └ read.1   waiting
            asks {"draft":"The tide rises."}

        `review answer r1 JSON --journal PLACE` answers.
    "#]]
    .assert_eq(&review.call(&["show", "r1"]).await.page());
    expect![[r#"
        exit 0
        r2  Review  failed
          4 records from TIME to TIME
          $0.0125 in 1 call, 0 tokens in, 0 tokens out
          node `draft` failed: the agent ended without an answer (exit code 1): out of ink
        └ draft.1  failed     $0.0125 in 1 call
            session draft-1 of scripted

        `review resume r2 --retry --journal PLACE` tries again what failed; `review fork r2 --journal PLACE` makes a run that does.
    "#]]
    .assert_eq(&review.call(&["show", "r2"]).await.page());
    let states = |listed: Value| -> Vec<Value> {
        listed.as_array().unwrap().iter().map(|run| json!([run["run"], run["state"], run["records"]])).collect()
    };
    expect![[r#"[["r1","waiting",4],["r2","failed",4],["r3","cancelled",5]]"#]]
        .assert_eq(&json!(states(review.call(&["list", "--json"]).await.json())).to_string());
    assert_eq!(states(review.call(&["list", "--json", "--state", "failed"]).await.json()).len(), 1);

    let mut shown = review.call(&["show", "r1", "--json"]).await.json();
    for time in ["started_at_ms", "updated_at_ms"] {
        assert!(shown[time].take().as_u64().unwrap() > 1_600_000_000_000);
    }
    let draft = &mut shown["executions"][0];
    assert!(draft["took_ms"].take().is_u64());
    draft["sessions"][0]["session"].take();
    expect![[r#"
        {
          "executions": [
            {
              "attempt": 1,
              "node": "draft",
              "record": 2,
              "sessions": [
                {
                  "agent": "scripted",
                  "session": null
                }
              ],
              "state": "done",
              "to": [
                "read"
              ],
              "took_ms": null,
              "usage": {
                "calls": 1,
                "cost": 12500,
                "input_tokens": 0,
                "output_tokens": 0,
                "unpriced_calls": 0
              },
              "visit": 1
            },
            {
              "attempt": 1,
              "node": "read",
              "question": {
                "is_answered": false,
                "is_open": true,
                "question": {
                  "draft": "The tide rises."
                },
                "schema": {
                  "$schema": "https://json-schema.org/draft/2020-12/schema",
                  "additionalProperties": false,
                  "description": "What the person says.",
                  "properties": {
                    "approved": {
                      "description": "Whether the text may be published as it is.",
                      "type": "boolean"
                    },
                    "remark": {
                      "default": null,
                      "description": "What the writer should know, if not.",
                      "type": [
                        "string",
                        "null"
                      ]
                    }
                  },
                  "required": [
                    "approved"
                  ],
                  "title": "Verdict",
                  "type": "object"
                }
              },
              "state": "waiting",
              "to": [],
              "usage": {
                "calls": 0,
                "cost": 0,
                "input_tokens": 0,
                "output_tokens": 0,
                "unpriced_calls": 0
              },
              "visit": 1
            }
          ],
          "graph": "Review",
          "letters": [],
          "records": 4,
          "resumed": 0,
          "retried": 0,
          "run": "r1",
          "started_at_ms": null,
          "state": "waiting",
          "total": {
            "calls": 1,
            "cost": 12500,
            "input_tokens": 0,
            "output_tokens": 0,
            "unpriced_calls": 0
          },
          "updated_at_ms": null,
          "usage": {
            "calls": 1,
            "cost": 12500,
            "input_tokens": 0,
            "output_tokens": 0,
            "unpriced_calls": 0
          }
        }
    "#]]
    .assert_eq(&format!("{shown:#}\n"));
}

/// An agent's text can be a child's key.
#[tokio::test]
async fn a_childs_key_stays_within_its_line() {
    let review = Program::new();
    review.waiting("r1").await;
    let journal = interlocking_sqlite::SqliteJournal::open(review.place.path().join("journal")).unwrap();
    let mut record = journal.load(&"r1".parse().unwrap()).await.unwrap().remove(0);
    record.run = "r1-child".parse().unwrap();
    let Entry::Started { input, origin, .. } = &mut record.entry else { panic!("{record:?}") };
    *input = "\"tides\"".into();
    let key = format!("a\nforged  X{}", "x".repeat(1_000));
    let (parent, node) = ("r1".parse().unwrap(), "draft".to_owned());
    *origin = Some(Origin::Child { parent, node, visit: 1, attempt: 1, key, number: 1 });
    journal.append(record).await.unwrap();
    drop(journal);
    for words in [&["list", "--all"][..], &["show", "r1-child"]] {
        let page = review.call(words).await.page();
        assert!(page.contains("child a of r1 at draft.1"), "{page}");
        assert!(!page.contains("forged") && page.lines().all(|line| line.len() < 300), "{page}");
    }
}

#[tokio::test]
async fn a_run_is_forked_from_any_point() {
    let review = Program::new();
    review.waiting("r1").await;
    assert_eq!(review.call(&["answer", "r1", r#"{"approved": false}"#]).await.exit, 0);
    assert_eq!(review.call(&["resume", "r1", "--quiet"]).await.exit, 3);
    let mut pages = String::new();
    for words in [
        &["fork", "r1"][..],
        &["fork", "r1"],
        &["fork", "r1", "--before", "read", "--run-id", "asked-again", "--json"],
        &["fork", "r1", "--at", "1", "--run-id", "anew"],
        &["fork", "r1", "--at", "99"],
        &["fork", "r1", "--before", "publish"],
        &["fork", "r1", "--before", "read.1.2"],
        &["fork", "r1", "--run-id", "anew"],
        &["fork", "none"],
    ] {
        pages += &review.call(words).await.page();
    }
    expect![[r#"
        exit 0
        r1-fork
        ! r1-fork has the first 10 records of r1; `review resume r1-fork --journal PLACE` goes on from there
        exit 0
        r1-fork-2
        ! r1-fork-2 has the first 10 records of r1; `review resume r1-fork-2 --journal PLACE` goes on from there
        exit 0
        {
          "run": "asked-again",
          "of": "r1",
          "records": 3
        }
        exit 0
        anew
        ! anew has the first 1 record of r1; `review resume anew --journal PLACE` goes on from there
        exit 2
        ! error: run `r1` cannot be forked after 99 records: give 1 to 10
        exit 2
        ! error: run `r1` has no record of visit 1 of node `publish`: look at its history for what it has
        exit 2
        ! error: invalid value 'read.1.2' for '--before <NODE[.VISIT]>': "read.1.2" names a single attempt: write NODE or NODE.VISIT
        !
        ! For more information, try '--help'.
        exit 2
        ! error: there is a run `anew` already: choose another name for the fork
        exit 2
        ! error: there is no run `none` to fork: list the runs there are
    "#]]
    .assert_eq(&pages);

    // The fork has an answer of its own, and the other run goes its own way.
    assert_eq!(review.call(&["resume", "asked-again", "--quiet"]).await.exit, 3);
    assert_eq!(review.call(&["answer", "asked-again", r#"{"approved": true}"#]).await.exit, 0);
    assert_eq!(review.call(&["resume", "asked-again", "--quiet"]).await.exit, 0);
    assert_eq!(review.call(&["show", "r1", "--json"]).await.json()["state"], "waiting");
    let anew = review.call(&["resume", "anew", "--json"]).await.json();
    assert_eq!((&anew["outcome"], &anew["visits"]["draft"]), (&json!("waiting"), &json!(1)));
    let forked = review.call(&["show", "r1-fork", "--json"]).await.json();
    assert_eq!(
        (&forked["state"], &forked["executions"][1]["question"]["answer"]),
        (&json!("waiting"), &json!({"approved": false}))
    );
}

#[tokio::test]
async fn runs_are_cancelled_and_removed() {
    let review = Program::new();
    for run in ["r1", "r2", "r3"] {
        review.waiting(run).await;
    }
    let mut pages = String::new();
    for words in [
        &["cancel", "r1", "--json"][..],
        &["cancel", "r1"],
        &["cancel", "none"],
        &["resume", "r1", "--quiet"],
        &["prune"],
        &["prune", "--keep-last", "0", "--dry-run"],
        &["prune", "--keep-last", "0", "--older-than", "1d"],
        &["prune", "--keep-last", "0"],
        &["prune", "--keep-last", "1", "--unfinished", "--json"],
        &["list", "--json", "--state", "running"],
    ] {
        pages += &review.call(words).await.page();
    }
    expect![[r#"
        exit 0
        {
          "stopped": "cancelled",
          "runs": [
            "r1"
          ]
        }
        exit 0
        ! r1 was cancelled before
        exit 2
        ! error: there is no run `none` in the journal: list the runs there are
        exit 6
        ! r1 was cancelled, $0.0125 in 0.0 s
        exit 2
        ! error: no condition says which runs to remove
        !   to do: give --older-than AGE, --keep-last COUNT, or both: with both, only runs that meet both are removed
        exit 0
        r1
        ! 1 run would be removed
        exit 0
        ! 0 runs removed
        exit 0
        r1
        ! 1 run removed
        exit 0
        {
          "dry_run": false,
          "left": {},
          "runs": [
            "r2"
          ]
        }
        exit 0
        []
    "#]]
    .assert_eq(&pages);
    assert_eq!(review.call(&["list", "--json"]).await.json().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_graph_is_drawn() {
    let review = Program::new();
    let start = |ran: crate::support::Ran| {
        assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
        ran.stdout.lines().take(3).collect::<Vec<_>>().join("\n") + "\n"
    };
    let mut pages = String::new();
    for words in [&["graph"][..], &["graph", "dot"], &["graph", "json"]] {
        pages += &start(review.call(words).await);
    }
    expect![[r#"
        flowchart TD
          run_entry(["entry"])
          n_draft("draft: Topic<br/>LLMNode, visits 3, agent draft")
        digraph "Review" {
          rankdir=TB
          run_entry [label="entry", shape=plaintext]
        {
          "graph": "Review",
          "output": "String",
    "#]]
    .assert_eq(&pages);
    let json = review.call(&["graph", "--json"]).await.json();
    assert_eq!(json, serde_json::to_value(<Review as interlocking::graph::Graph>::net().table()).unwrap());
}
