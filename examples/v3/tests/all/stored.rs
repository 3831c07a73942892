//! Payloads between nodes, as a journal stores them: each content once, read by the node that takes it.

use crate::killed::{Cut, start_until};
use crate::project::Project;
use crate::small::{Act, AgentScript, Who, project, spec, test_run, write};
use crate::test_run::TestRun;
use crate::tree::family;
use interlocking::prelude::*;
use interlocking::runtime::Journal;
use interlocking::runtime::journal::{Digest, Entry, RecordedPayload};
use interlocking::sqlite::{Holds, SqliteJournal};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::sync::Arc;
use v3::types::outcome::V3Outcome;

/// A test whose journal is a database of the project.
fn stored<'p>(project: &'p Project, script: &AgentScript) -> (TestRun<'p>, Arc<SqliteJournal>) {
    let mut test = test_run(project, script);
    let journal = Arc::new(SqliteJournal::open(project.place().join("journal")).unwrap());
    test.journal = journal.clone();
    (test, journal)
}

/// The payloads of all runs of a tree, with the nodes that sent them.
async fn travelled(journal: &dyn Journal) -> Vec<(RunId, String, Digest)> {
    let mut found = Vec::new();
    for summary in journal.runs().await.unwrap() {
        for record in journal.load(&summary.run).await.unwrap() {
            let Entry::Outcome(outcome) = record.entry else { continue };
            for token in outcome.tokens {
                if let RecordedPayload::Stored(digest) = token.payload {
                    found.push((summary.run.clone(), outcome.node.clone(), digest));
                }
            }
        }
    }
    found
}

/// V3-144, V3-145, V3-147, V3-149: the store has the nodes' payloads under the digest of their content, equal content once;
/// routing reads none of them.
#[tokio::test]
async fn what_nodes_hand_on_is_stored_by_its_content() {
    let project = project().await;
    let (test, journal) = stored(&project, &family());
    let watched = Cut::never(journal.clone());
    let started = test.run().with_journal(watched.clone()).start(spec(&["a", "b"]).into()).await.unwrap();
    assert!(matches!(started.outcome, Outcome::Finished(V3Outcome::Merged(_))), "{:?}", started.outcome);
    // V3-145
    assert_eq!(*watched.fetched.lock().unwrap(), []);

    let travelled = travelled(&*journal).await;
    let nodes: BTreeSet<&str> = travelled.iter().map(|(_, node, _)| node.as_str()).collect();
    for node in ["scaffold", "fork", "children", "integrate", "write_tests", "barrier", "implement", "review", "merger"]
    {
        assert!(nodes.contains(node), "{node}: {nodes:?}");
    }
    for (run, node, digest) in &travelled {
        let text = journal.fetch(run, &[*digest]).await.unwrap().remove(0);
        // V3-144
        let hex: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest.to_string(), format!("sha256:{hex}"), "{node}");
        // V3-149: it is what was written, byte for byte.
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(value.is_object(), "{node}: {text}");
    }
    // V3-147: the queue passes its input on, so that is twice in transit, and once in the store.
    let stored: BTreeSet<Digest> = travelled.iter().map(|(.., digest)| *digest).collect();
    assert!(stored.len() < travelled.len(), "{} of {}", stored.len(), travelled.len());
    assert_eq!(journal.check().await.unwrap(), [""; 0]);
}

/// V3-145, V3-146: a resumed run reads the payloads that its nodes still have to take, and no earlier ones; if a payload is
/// missing, the error names the payload and the run.
#[tokio::test]
async fn a_run_that_is_taken_up_reads_what_it_needs() {
    let project = project().await;
    let (test, journal) = stored(&project, &family());
    assert!(start_until(&test, 40).is_none());
    let all: BTreeSet<Digest> = travelled(&*journal).await.into_iter().map(|(.., digest)| digest).collect();
    let watched = Cut::never(journal.clone());
    // V3-146
    let lost = Cut::without_payloads(journal.clone());
    let refused = test.run().with_journal(lost).resume().await.unwrap_err().to_string();
    assert!(refused.contains("sha256:") && refused.contains("run `run`"), "{refused}");

    let ended = test.run().with_journal(watched.clone()).resume().await.unwrap().outcome;
    assert!(matches!(ended, Outcome::Finished(V3Outcome::Merged(_))), "{ended:?}");
    let fetched: BTreeSet<Digest> = watched.fetched.lock().unwrap().iter().copied().collect();
    assert!(!fetched.is_empty() && all.difference(&fetched).count() > 0, "{} of {}", fetched.len(), all.len());
}

/// V3-148: a section of a large payload, such as the diff for a review, is an object of its own, and can be read alone.
#[tokio::test]
async fn a_section_of_a_large_payload_is_read_alone() {
    let project = project().await;
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let long: String = (0..60_000).map(|line| format!("line {line} of a file\n")).collect();
    let acts = [write("src/top.txt", &format!("done\n{long}")), Act::Commit];
    let script = AgentScript::default().once(Who::Implementer, "top", &passed, &acts).honest("top", &[]);
    let (test, journal) = stored(&project, &script);
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let travelled = travelled(&*journal).await;
    let (run, _, digest) = travelled.iter().find(|(_, node, _)| node == "implement").unwrap();
    let parts = journal.parts(run, *digest).await.unwrap();
    let has = |holds: &Holds, field: &str| match holds {
        Holds::Field(name) => name == field,
        Holds::Fields(names) => names.iter().any(|name| name == field),
        _ => false,
    };
    let [diff, spec] = ["diff", "spec"].map(|field| parts.iter().find(|part| has(&part.holds, field)).unwrap());
    assert!(diff.bytes > 1 << 20 && spec.bytes < 1 << 12, "{parts:?}");
    let before = journal.stats().reads;
    let text = journal.fetch(run, &[spec.sha256]).await.unwrap().remove(0);
    assert_eq!(journal.stats().reads - before, 1, "one object");
    let section: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(section["spec"]["id"].as_str().or(section["id"].as_str()), Some("top"), "{section}");
}
