//! Large payloads in parts.

use crate::records::{id, outcome, started, texts};
use interlocking_runtime::journal::{Entry, Journal, RecordedPayload};
use interlocking_sqlite::{Holds, SqliteJournal};

fn report(round: u32) -> String {
    let sections: Vec<_> = (0..20)
        .map(|section| {
            let words =
                (0..14_000).map(|word| format!("{}", word * (section + 7) % 9973)).collect::<Vec<_>>().join(" ");
            let round = if section == 3 { round } else { 0 };
            format!("\"section-{section}\": {{\"round\":{round},\"words\":\"{words}\"}}")
        })
        .collect();
    format!("{{ \"round\": {round}, {} }}", sections.join(",\n  "))
}

/// V3-147, V3-148, CON-39: a part is one object, and a part that has not changed is not written again.
#[tokio::test]
async fn a_section_is_read_without_the_others() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    let run = id("large");
    journal.append(started(&run, "{}")).await.unwrap();
    assert_eq!(journal.stats().objects, 2);
    let first = report(1);
    assert!(first.len() > 1 << 20, "{}", first.len());
    journal.append(outcome(&run, 1, &first[..])).await.unwrap();
    let written = journal.stats().objects;

    let Entry::Outcome(stored) = &journal.load(&run).await.unwrap()[1].entry else { panic!() };
    let RecordedPayload::Stored(digest) = stored.tokens[0].payload else { panic!() };
    let parts = journal.parts(&run, digest).await.unwrap();
    assert!(parts.len() >= 10, "{parts:?}");
    assert_eq!(written, 2 + parts.len() as u64 + 1, "each part and the manifest");
    let holds_it = |holds: &Holds| match holds {
        Holds::Field(name) => name == "section-3",
        Holds::Fields(names) => names.iter().any(|name| name == "section-3"),
        _ => false,
    };
    let part = parts.iter().find(|part| holds_it(&part.holds)).unwrap();
    let before = journal.stats().reads;
    let text = journal.fetch(&run, &[part.sha256]).await.unwrap().remove(0);
    assert_eq!(journal.stats().reads - before, 1);
    assert_eq!(text.len() as u64, part.bytes);
    assert!(text.contains("\"round\":1"));
    serde_json::from_str::<serde_json::Value>(&text).unwrap();

    let second = report(2);
    journal.append(outcome(&run, 2, &second[..])).await.unwrap();
    assert_eq!(journal.stats().objects - written, 3, "the first fields, the section, the manifest");
    let texts = texts(&journal, &run).await;
    assert!(*texts[0] == first && *texts[1] == second);
    assert_eq!(journal.check().await.unwrap(), [""; 0]);

    journal.remove(&run).await.unwrap();
    assert!(journal.fetch(&run, &[part.sha256]).await.is_err(), "the parts went with it");
}
