//! What an operator does with a journal and without the graph: list trees, answer, fork, and end runs.

#![expect(clippy::unwrap_used, reason = "a test: what is wrong shall end it")]

#[macro_use]
#[path = "../../../interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;

use interlocking::prelude::*;
use interlocking::runtime::clock::TokioClock;
use interlocking::runtime::journal::account::{ExecutionState, RunState, account, family};
use interlocking::runtime::journal::answer::{AnswerError, answer, open_questions};
use interlocking::runtime::journal::fork::{ForkError, ForkPoint, fork};
use interlocking::runtime::journal::stop::{Stop, stop};
use interlocking::runtime::journal::{By, Entry, JournalError, Letter, LetterBody, Origin, Record};
use interlocking::runtime::{CancelToken, Journal, MemoryJournal};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// A number is raised, approved by one person or doubted by another, and raised again.
#[derive(Graph)]
#[graph(output = u32)]
struct Raise {
    #[node(entry, input = u32, fork(approve, doubt), visits = 3)]
    raise: ForkNode<Up>,
    #[node(input = u32, question = String, answer = bool, goto(both), visits = 3)]
    approve: HumanNode<Asked>,
    #[node(input = u32, question = String, answer = bool, goto(both), goto(exit, cancels(*)), visits = 3)]
    doubt: HumanNode<Asked>,
    #[node(join(approve: bool, doubt: u32), goto(raise, exit))]
    both: JoinNode<Both>,
}
held!(Raise);

struct Up;
impl ForkHandler<raise::raise> for Up {
    async fn fork(&self, number: u32, cx: &mut Cx<'_, raise::raise>) -> Route<raise::raise> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        fork!(cx, (number + 1, number + 1))
    }
}

struct Both;
impl JoinHandler<raise::both> for Both {
    async fn join(&self, (approved, number): (bool, u32), cx: &mut Cx<'_, raise::both>) -> Route<raise::both> {
        if approved { goto!(cx, raise::exit, number) } else { goto!(cx, raise::raise, number) }
    }
}

struct Asked;
impl HumanHandler<raise::approve> for Asked {
    async fn ask(&self, number: &u32, _: &mut Cx<'_, raise::approve>) -> Result<String, NodeError> {
        Ok(format!("is {number} enough?"))
    }
    async fn answered(&self, _: u32, enough: bool, cx: &mut Cx<'_, raise::approve>) -> Route<raise::approve> {
        goto!(cx, raise::both, enough)
    }
}
impl HumanHandler<raise::doubt> for Asked {
    async fn ask(&self, number: &u32, _: &mut Cx<'_, raise::doubt>) -> Result<String, NodeError> {
        Ok(format!("is {number} too much?"))
    }
    async fn answered(&self, number: u32, much: bool, cx: &mut Cx<'_, raise::doubt>) -> Route<raise::doubt> {
        if much { goto!(cx, raise::exit, 0) } else { goto!(cx, raise::both, number) }
    }
}

fn run(name: &str, journal: &Arc<MemoryJournal>) -> Run<Raise> {
    let graph = Raise { raise: ForkNode(Up), approve: HumanNode(Asked), doubt: HumanNode(Asked), both: JoinNode(Both) };
    Run::new(graph).with_clock(Arc::new(TokioClock::start())).with_id(id(name)).with_journal(journal.clone())
}

/// The output of a run that finished.
#[track_caller]
fn finished(report: Report<u32>) -> u32 {
    match report.outcome {
        Outcome::Finished(output) => output,
        other => panic!("not finished: {other:?}"),
    }
}

fn id(name: &str) -> RunId {
    name.parse().unwrap()
}

fn by(node: &str, visit: u32) -> By {
    By { node: node.to_owned(), visit, attempt: 1 }
}

/// A journal with a run that waits for two people.
async fn waiting() -> Arc<MemoryJournal> {
    let journal = Arc::new(MemoryJournal::new());
    let report = run("r1", &journal).start(1).await.unwrap();
    assert!(matches!(&report.outcome, Outcome::Waiting { questions } if questions.len() == 2), "{report:?}");
    journal
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_checked_and_counts_once() {
    let journal = waiting().await;
    let open = open_questions(&*journal, &id("r1")).await.unwrap();
    assert_eq!(open.iter().map(|question| question.by.to_string()).collect::<Vec<_>>(), ["approve.1.1", "doubt.1.1"]);
    assert_eq!((&open[0].question, &open[0].schema["type"]), (&json!("is 2 enough?"), &json!("boolean")));

    let give = async |node: &str, visit, value| answer(&*journal, &id("r1"), &by(node, visit), &value).await;
    let unfit = give("approve", 1, json!("yes")).await.unwrap_err();
    assert!(matches!(&unfit, AnswerError::Unfit { violations, .. } if violations.len() == 1), "{unfit}");
    let none = give("approve", 2, json!(true)).await.unwrap_err();
    assert_eq!(none.to_string(), "run `r1` asks nothing at `approve.2.1`; open are `approve.1.1`, `doubt.1.1`");
    let nobody = answer(&*journal, &id("r2"), &by("approve", 1), &json!(true)).await.unwrap_err();
    assert_eq!(nobody, AnswerError::NoRun { run: id("r2") });
    assert_eq!(journal.letters(&id("r1"), 0).await.unwrap(), []);

    assert_eq!(give("approve", 1, json!(false)).await.unwrap(), 1);
    let twice = AnswerError::Answered { run: id("r1"), by: by("approve", 1) };
    assert_eq!(give("approve", 1, json!(true)).await.unwrap_err(), twice);
    // The other question is still open, so the run waits again; the answered question stays answered.
    assert_eq!(open_questions(&*journal, &id("r1")).await.unwrap().len(), 1);
    let report = run("r1", &journal).resume().await.unwrap();
    assert!(matches!(&report.outcome, Outcome::Waiting { questions } if questions.len() == 1), "{report:?}");
    assert_eq!(give("approve", 1, json!(true)).await.unwrap_err(), twice);
    give("doubt", 1, json!(false)).await.unwrap();
    assert!(matches!(run("r1", &journal).resume().await.unwrap().outcome, Outcome::Waiting { .. }));
    // In the second round, the answer to one question cancels the other.
    give("doubt", 2, json!(true)).await.unwrap();
    assert_eq!(finished(run("r1", &journal).resume().await.unwrap()), 0);
    let closed = give("approve", 2, json!(true)).await.unwrap_err();
    assert_eq!(
        closed.to_string(),
        "question `approve.2.1` of run `r1` takes no answer any more: the run is finished; no question is open"
    );
    let told = account(&*journal, &id("r1")).await.unwrap();
    let states: Vec<_> = told.executions.iter().map(|known| (known.by.to_string(), known.state)).collect();
    let state = |name: &str| states.iter().find(|(known, _)| known == name).map(|(_, state)| *state);
    assert_eq!(state("approve.2.1"), Some(ExecutionState::Discarded), "{states:?}");
    assert_eq!(state("doubt.2.1"), Some(ExecutionState::Done));
    assert_eq!((told.state, told.resumed), (RunState::Finished, 3));
}

/// An answer that the run will drop does not count: the question stays open.
#[tokio::test(start_paused = true)]
async fn what_fits_no_question_answers_none() {
    let journal = waiting().await;
    let body = LetterBody::Answer { to: by("doubt", 1), answer: "\"perhaps\"".into() };
    journal.post(&id("r1"), Letter { key: None, body }).await.unwrap();
    assert_eq!(open_questions(&*journal, &id("r1")).await.unwrap().len(), 2);
    assert_eq!(account(&*journal, &id("r1")).await.unwrap().state, RunState::Waiting);
    answer(&*journal, &id("r1"), &by("doubt", 1), &json!(true)).await.unwrap();
    assert_eq!(finished(run("r1", &journal).resume().await.unwrap()), 0);
}

/// Two executors of one process answer at the same time: the second is refused.
#[tokio::test(start_paused = true)]
async fn of_two_answers_at_once_one_is_refused() {
    let journal = waiting().await;
    let (run, to) = (id("r1"), by("doubt", 1));
    let (yes, no) = (json!(true), json!(false));
    let (one, other) = tokio::join!(answer(&*journal, &run, &to, &yes), answer(&*journal, &run, &to, &no));
    assert_eq!(usize::from(one.is_ok()) + usize::from(other.is_ok()), 1, "{one:?} {other:?}");
}

#[tokio::test(start_paused = true)]
async fn a_fork_has_the_history_and_goes_its_own_way() {
    let journal = waiting().await;
    answer(&*journal, &id("r1"), &by("approve", 1), &json!(false)).await.unwrap();
    answer(&*journal, &id("r1"), &by("doubt", 1), &json!(false)).await.unwrap();
    assert!(matches!(run("r1", &journal).resume().await.unwrap().outcome, Outcome::Waiting { .. }));
    let before = journal.records(&id("r1"));

    // A fork of the end of the run: it keeps the answers that the run has received, but not the run's
    // letters.
    let forked = fork(&*journal, &id("r1"), &ForkPoint::End, &id("f1")).await.unwrap();
    assert_eq!(forked.records, before.len() as u64);
    let records = journal.records(&id("f1"));
    let origin = Origin::Fork { of: id("r1"), records: forked.records };
    assert!(matches!(&records[0].entry, Entry::Started { origin: Some(known), .. } if *known == origin));
    assert!(records.iter().zip(0..).all(|(record, sequence)| record.sequence == sequence && record.run == id("f1")));
    for node in ["approve", "doubt"] {
        answer(&*journal, &id("f1"), &by(node, 2), &json!(node == "approve")).await.unwrap();
    }
    assert_eq!(finished(run("f1", &journal).resume().await.unwrap()), 3);

    // Before a question was asked: the fork asks it again.
    let point = ForkPoint::Before { node: "approve".to_owned(), visit: 1 };
    fork(&*journal, &id("r1"), &point, &id("f2")).await.unwrap();
    let report = run("f2", &journal).resume().await.unwrap();
    assert!(matches!(&report.outcome, Outcome::Waiting { questions } if questions.len() == 2), "{report:?}");
    answer(&*journal, &id("f2"), &by("doubt", 1), &json!(true)).await.unwrap();
    assert_eq!(finished(run("f2", &journal).resume().await.unwrap()), 0);

    // A run that ended can be forked at each of its records except the end.
    let ended = journal.records(&id("f2")).len() as u64;
    for records in 1..ended {
        let name = id(&format!("g{records}"));
        let forked = fork(&*journal, &id("f2"), &ForkPoint::Records(records), &name).await.unwrap();
        assert_eq!(forked.records, records);
        let report = run(name.as_str(), &journal).resume().await.unwrap();
        assert!(matches!(report.outcome, Outcome::Waiting { .. } | Outcome::Finished(0)), "{records}: {report:?}");
    }
    let beyond = fork(&*journal, &id("f2"), &ForkPoint::Records(ended), &id("h")).await.unwrap_err();
    assert_eq!(beyond, ForkError::NoRecord { run: id("f2"), asked: ended, most: ended - 1 });
    let taken = fork(&*journal, &id("r1"), &ForkPoint::End, &id("f1")).await.unwrap_err();
    assert_eq!(taken, ForkError::Taken { run: id("f1") });
    assert_eq!(journal.records(&id("r1")), before, "the run that was forked is as it was");
    assert_eq!(account(&*journal, &id("r1")).await.unwrap().state, RunState::Waiting);
}

/// An interrupted agent's session remains with the original run.
#[tokio::test]
async fn a_fork_takes_over_no_session_that_goes_on() {
    let journal = waiting().await;
    let session =
        |by: By| Entry::Session { by, conversation: 1, agent: "a".to_owned(), session: "s1".parse().unwrap() };
    for entry in [session(by("raise", 1)), session(by("approve", 1))] {
        let sequence = journal.records(&id("r1")).len() as u64;
        let record = interlocking::runtime::journal::Record { run: id("r1"), sequence, entry };
        journal.append(record).await.unwrap();
    }
    fork(&*journal, &id("r1"), &ForkPoint::End, &id("f1")).await.unwrap();
    let sessions = journal.records(&id("f1")).into_iter().filter_map(|record| match record.entry {
        Entry::Session { by, .. } => Some(by.to_string()),
        _ => None,
    });
    assert_eq!(sessions.collect::<Vec<_>>(), ["raise.1.1"]);
}

#[tokio::test(start_paused = true)]
async fn a_run_is_ended_whether_or_not_somebody_executes_it() {
    let journal = waiting().await;
    let claim = journal.claim(&id("r1")).await.unwrap();
    for _ in 0..2 {
        let asked = stop(&*journal, &id("r1")).await.unwrap();
        assert_eq!(asked, Stop::Asked { holder: "this process".to_owned() }, "however often");
    }
    let wish = journal.letters(&id("r1"), 0).await.unwrap();
    assert!(matches!(&wish[..], [posted] if posted.letter.body == LetterBody::Cancel), "{wish:?}");
    assert_eq!(account(&*journal, &id("r1")).await.unwrap().letters.len(), 1);
    drop(claim);
    assert_eq!(stop(&*journal, &id("r1")).await.unwrap(), Stop::Cancelled { runs: vec![id("r1")] });
    assert!(matches!(run("r1", &journal).resume().await.unwrap().outcome, Outcome::Cancelled));
    assert_eq!(stop(&*journal, &id("r1")).await.unwrap(), Stop::HadEnded { ended: "cancelled".to_owned() });
    assert!(matches!(stop(&*journal, &id("none")).await, Err(JournalError::NoRun { .. })));
    assert_eq!(account(&*journal, &id("r1")).await.unwrap().state, RunState::Cancelled);
}

/// A journal edited by hand may say that two runs are each other's children.
#[tokio::test]
async fn no_run_is_met_twice_in_a_family() {
    let journal = waiting().await;
    for (name, parent) in [("a", "b"), ("b", "a")] {
        let mut entry = journal.records(&id("r1"))[0].entry.clone();
        if let Entry::Started { origin, .. } = &mut entry {
            let (parent, node, key) = (id(parent), "raise".to_owned(), String::new());
            *origin = Some(Origin::Child { parent, node, visit: 1, attempt: 1, key, number: 1 });
        }
        journal.append(Record { run: id(name), sequence: 0, entry }).await.unwrap();
    }
    let runs = journal.runs().await.unwrap();
    let met: Vec<_> = family(&runs, &id("a")).into_iter().map(|run| run.run.as_str()).collect();
    assert_eq!(met, ["a", "b"]);
}

/// The tree shows which executions were interrupted when a run stopped, and what the run waits for.
#[tokio::test(start_paused = true)]
async fn a_tree_tells_where_a_run_stands() {
    let journal = Arc::new(MemoryJournal::new());
    let cancel = CancelToken::new();
    cancel.suspend();
    assert!(matches!(run("r1", &journal).with_cancel(cancel).start(1).await.unwrap().outcome, Outcome::Suspended));
    let told = account(&*journal, &id("r1")).await.unwrap();
    assert_eq!((told.state, &told.executions[0].by), (RunState::Stopped, &by("raise", 1)));
    assert_eq!(told.executions[0].state, ExecutionState::Interrupted);

    assert!(matches!(run("r1", &journal).resume().await.unwrap().outcome, Outcome::Waiting { .. }));
    let told = account(&*journal, &id("r1")).await.unwrap();
    assert_eq!((told.state, told.open_questions().len()), (RunState::Waiting, 2));
    assert_eq!(
        (&told.executions[0].to[..], told.executions[0].record.is_some()),
        (&["approve".to_owned(), "doubt".to_owned()][..], true)
    );
    answer(&*journal, &id("r1"), &by("doubt", 1), &json!(true)).await.unwrap();
    let told = account(&*journal, &id("r1")).await.unwrap();
    assert_eq!((told.state, told.open_questions().len()), (RunState::Stopped, 1), "it can go on");
    let letter = Letter { key: None, body: LetterBody::Message { node: "none".to_owned(), message: "1".into() } };
    journal.post(&id("r1"), letter).await.unwrap();
    assert_eq!(account(&*journal, &id("r1")).await.unwrap().letters.len(), 2);
    let claim = journal.claim(&id("r1")).await.unwrap();
    assert_eq!(account(&*journal, &id("r1")).await.unwrap().state, RunState::Running);
    drop(claim);
}
