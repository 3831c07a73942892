//! A person who does not answer in time.

use crate::support::{Log, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::human::OpenQuestion;
use interlocking::runtime::journal::fork::{self, ForkPoint};
use interlocking::runtime::journal::{Entry, Letter, LetterBody};
use interlocking::runtime::{Journal, MemoryJournal, Report};
use std::sync::Arc;
use std::time::Duration;

#[derive(Graph)]
#[graph(output = String)]
struct Desk {
    #[node(entry, input = String, question = String, answer = bool, goto(exit), timeout = "60m", timed_out(print))]
    approve: HumanNode<Approve>,
    #[node(input = TimedOut, goto(exit))]
    print: LogicNode<Print>,
}

held!(Desk);

struct Approve;
impl HumanHandler<desk::approve> for Approve {
    async fn ask(&self, draft: &String, _: &mut Cx<'_, desk::approve>) -> Result<String, NodeError> {
        Ok(format!("print {draft}?"))
    }
    async fn answered(&self, draft: String, good: bool, cx: &mut Cx<'_, desk::approve>) -> Route<desk::approve> {
        goto!(cx, desk::exit, format!("{draft}: {good}"))
    }
}
logic!(Print for desk::print, |late: TimedOut, cx| {
    let draft = cx.input_of::<desk::approve>()?;
    goto!(cx, desk::exit, format!("{draft}: nobody answered in {} min", late.limit_ms / 60_000))
});

fn desk(journal: &Arc<MemoryJournal>) -> Run<Desk> {
    timed(Desk { approve: HumanNode(Approve), print: LogicNode(Print) }).with_journal(journal.clone())
}

#[track_caller]
fn asked(report: Report<String>) -> OpenQuestion {
    match report.outcome {
        Outcome::Waiting { questions } => questions[0].clone(),
        other => panic!("{other:?}"),
    }
}

async fn answer(journal: &MemoryJournal, to: &OpenQuestion, json: &str) {
    let body = LetterBody::Answer { to: to.by.clone(), answer: json.into() };
    journal.post(&to.run, Letter { key: None, body }).await.unwrap();
}

const MINUTE: u64 = 60_000;

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_in_time_takes_the_route() {
    let (journal, log) = (Arc::new(MemoryJournal::new()), Log::new());
    let run = desk(&journal).with_wait_for_people().with_events(log.sink());
    let report = run.start("draft".to_owned()).await.unwrap();
    assert_eq!(report.took.as_millis(), 60 * MINUTE);
    assert_eq!(finished(report), "draft: nobody answered in 60 min");
    assert!(log.line("failed approve 1.1").ends_with("took longer than its timeout of 3600s, goes to print"));
}

/// The time also passes while no process executes the run.
#[tokio::test(start_paused = true)]
async fn the_time_that_there_is_to_answer_runs_between_processes() {
    let journal = Arc::new(MemoryJournal::new());
    let question = asked(desk(&journal).start("draft".to_owned()).await.unwrap());
    pass(59 * MINUTE).await;
    assert_eq!(asked(desk(&journal).resume().await.unwrap()), question, "there is a minute left");
    let waiting = desk(&journal).with_wait_for_people().resume();
    let report = tokio::time::timeout(Duration::from_millis(MINUTE + 1), waiting).await.expect("the minute is over");
    assert_eq!(finished(report.unwrap()), "draft: nobody answered in 60 min");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waited_too_long_is_timed_out_when_it_is_resumed() {
    let journal = Arc::new(MemoryJournal::new());
    asked(desk(&journal).start("draft".to_owned()).await.unwrap());
    pass(61 * MINUTE).await;
    let report = desk(&journal).resume().await.unwrap();
    assert_eq!(report.took.as_millis(), 0);
    assert_eq!(finished(report), "draft: nobody answered in 60 min");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_there_when_the_run_is_resumed_counts() {
    let journal = Arc::new(MemoryJournal::new());
    let question = asked(desk(&journal).start("draft".to_owned()).await.unwrap());
    pass(61 * MINUTE).await;
    answer(&journal, &question, "true").await;
    assert_eq!(finished(desk(&journal).resume().await.unwrap()), "draft: true");
}

/// The fork asks a question of its own.
#[tokio::test(start_paused = true)]
async fn a_fork_gives_all_the_time_again() {
    let journal = Arc::new(MemoryJournal::new());
    let question = asked(desk(&journal).start("draft".to_owned()).await.unwrap());
    pass(61 * MINUTE).await;
    let other = "other".parse().unwrap();
    fork::fork(&*journal, &question.run, &ForkPoint::End, &other).await.unwrap();
    asked(desk(&journal).with_id(other).resume().await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn the_record_says_when_a_person_was_asked_whose_time_is_limited() {
    let journal = Arc::new(MemoryJournal::new());
    let question = asked(desk(&journal).start("draft".to_owned()).await.unwrap());
    let records = journal.load(&question.run).await.unwrap();
    let at = |entry: &Entry| if let Entry::Asked { asked_at_ms, .. } = entry { *asked_at_ms } else { None };
    let at = records.iter().find_map(|record| at(&record.entry)).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    assert!(u128::from(at).abs_diff(now) < 1_000_000, "{at} is not about {now}");
}
