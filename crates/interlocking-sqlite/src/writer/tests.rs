//! Groups that are rolled back, and notifications of letters.

use super::*;
use crate::prepared::Prepared;
use interlocking_runtime::journal::{Entry, Letter, LetterBody, Record};
use std::path::Path;
use tokio::sync::oneshot;

fn writer(place: &Path) -> Writer {
    let (directory, holder) = Directory::open(place).unwrap();
    let posted = Arc::new(watch::channel(0).0);
    Writer::open(directory, holder, Options::default(), posted, Arc::default()).unwrap()
}

/// Writes a group in one transaction, and returns its answers.
fn serve(writer: &mut Writer, jobs: impl IntoIterator<Item = Job>) -> Vec<Result<(), JournalError>> {
    let (group, answers): (Vec<_>, Vec<_>) = jobs
        .into_iter()
        .map(|job| {
            let (reply, answer) = oneshot::channel();
            (Request { job, reply: Some(reply) }, answer)
        })
        .unzip();
    writer.serve(group);
    answers.into_iter().map(|mut answer| answer.try_recv().unwrap().map(drop)).collect()
}

/// The rollback restores all claims, in the table and in memory. Then each request is done alone.
#[test]
fn a_release_in_a_group_that_is_rolled_back_gives_the_run_back() {
    let place = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (writer(place.path()), writer(place.path()));
    let [given_back, claimed_again, poison] =
        ["given-back", "claimed-again", "poison"].map(|name| name.parse().unwrap());
    let trigger =
        "CREATE TRIGGER refuse BEFORE INSERT ON lease WHEN NEW.run='poison' BEGIN SELECT RAISE(ABORT,''); END";
    one.connection.execute_batch(trigger).unwrap();
    let first = [Job::Claim(RunId::clone(&given_back), 1), Job::Claim(RunId::clone(&claimed_again), 2)];
    assert!(serve(&mut one, first).iter().all(Result::is_ok));

    let group = [
        Job::Release(given_back.clone(), 1),
        Job::Release(claimed_again.clone(), 2),
        Job::Claim(claimed_again.clone(), 3),
        Job::Claim(poison, 4),
    ];
    let answers = serve(&mut one, group);
    assert_eq!(answers.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, true, true, false]);

    let answers = serve(&mut other, [Job::Claim(given_back, 1), Job::Claim(claimed_again.clone(), 2)]);
    assert_eq!(answers[0], Ok(()), "it was given back");
    assert!(matches!(answers[1], Err(JournalError::Held { .. })), "{answers:?}");
    assert_eq!(serve(&mut one, [Job::Release(claimed_again.clone(), 3)]), [Ok(())]);
    assert_eq!(serve(&mut other, [Job::Claim(claimed_again, 3)]), [Ok(())]);
}

/// The watch thread for letters of other processes does not run here, so only the writer can notify.
#[test]
fn who_waits_here_is_told_of_a_letter_as_it_is_posted() {
    let place = tempfile::tempdir().unwrap();
    let mut writer = writer(place.path());
    let run: RunId = "asked".parse().unwrap();
    let table = serde_json::from_str(r#"{"graph":"Draft","output":"u32","nodes":[]}"#).unwrap();
    let entry = Entry::Started { table: Box::new(table), input: "1".into(), origin: None, workspaces: Vec::new() };
    let started = Prepared::of(Record { run: run.clone(), sequence: 0, entry }).unwrap();
    let posted = writer.posted.subscribe();
    assert_eq!(serve(&mut writer, [Job::Append(Box::new(started))]), [Ok(())]);
    assert!(!posted.has_changed().unwrap(), "a record is no letter");
    assert_eq!(serve(&mut writer, [Job::Post(run, Letter { key: None, body: LetterBody::Cancel })]), [Ok(())]);
    assert!(posted.has_changed().unwrap());
}
