//! Human nodes: a question suspends the run, and the process may end.

use crate::support::{Log, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::human::OpenQuestion;
use interlocking::runtime::journal::{By, Entry, JournalError, Letter, LetterBody};
use interlocking::runtime::{Journal, MemoryJournal, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Question {
    text: String,
    round: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Answer {
    good: bool,
}

/// A draft that a person approves while another node works.
#[derive(Graph)]
#[graph(output = String)]
struct Desk {
    #[node(entry, input = String, fork(approve, index))]
    split: ForkNode<Split>,
    #[node(input = String, question = Question, answer = Answer, goto(approve, print), visits = 3)]
    approve: HumanNode<Approve>,
    #[node(input = String, goto(print))]
    index: LogicNode<Index>,
    #[node(join(approve: String, index: u32), goto(exit))]
    print: JoinNode<Print>,
}
forks!(Split for desk::split, |text: String, cx| fork!(cx, (text.clone(), text)));
#[derive(Clone, Default)]
struct Approve(Arc<AtomicU32>);
impl HumanHandler<desk::approve> for Approve {
    async fn ask(&self, text: &String, cx: &mut Cx<'_, desk::approve>) -> Result<Question, NodeError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Question { text: text.clone(), round: cx.visit() })
    }
    async fn answered(&self, text: String, answer: Answer, cx: &mut Cx<'_, desk::approve>) -> Route<desk::approve> {
        match answer.good {
            true => goto!(cx, desk::print, text),
            false => goto!(cx, self, format!("{text}, again")),
        }
    }
}
logic!(Index for desk::index, |text: String, cx| {
    pass(50).await;
    goto!(cx, desk::print, text.len() as u32)
});
joins!(Print for desk::print, |(text, length): (String, u32), cx| goto!(cx, desk::exit, format!("{text}: {length}")));

fn desk(asked: &Approve, journal: &Arc<MemoryJournal>) -> Run<Desk> {
    let graph = Desk {
        split: ForkNode(Split),
        approve: HumanNode(asked.clone()),
        index: LogicNode(Index),
        print: JoinNode(Print),
    };
    timed(graph).with_journal(journal.clone())
}

#[track_caller]
fn waiting<O: std::fmt::Debug>(report: Report<O>) -> Vec<OpenQuestion> {
    match report.outcome {
        Outcome::Waiting { questions } => questions,
        other => panic!("{other:?}"),
    }
}

async fn answer(journal: &MemoryJournal, to: &OpenQuestion, json: &str) -> Result<u64, JournalError> {
    let body = LetterBody::Answer { to: to.by.clone(), answer: json.into() };
    journal.post(&to.run, Letter { key: Some(format!("answer {}", to.by)), body }).await
}

/// Rule 17: the run waits only if every live token waits for a person.
#[tokio::test(start_paused = true)]
async fn a_run_waits_for_a_person_and_goes_on_where_it_was() {
    let (asked, journal) = (Approve::default(), Arc::new(MemoryJournal::new()));
    let report = desk(&asked, &journal).start("text".to_owned()).await.unwrap();
    assert_eq!(report.took.as_millis(), 50, "the other branch was not held up");
    let questions = waiting(report);
    let [question] = &questions[..] else { panic!("{questions:?}") };
    assert_eq!(question.by, By { node: "approve".to_owned(), visit: 1, attempt: 1 });
    assert_eq!(question.question, serde_json::json!({ "text": "text", "round": 1 }));
    assert_eq!(question.schema["properties"]["good"]["type"], "boolean");
    // Nothing has changed, and the question is not asked twice.
    assert_eq!(waiting(desk(&asked, &journal).resume().await.unwrap()), questions);
    answer(&journal, question, r#"{"good":false}"#).await.unwrap();
    let next = waiting(desk(&asked, &journal).resume().await.unwrap());
    assert_eq!(next[0].question, serde_json::json!({ "text": "text, again", "round": 2 }));
    answer(&journal, &next[0], r#"{"good":true}"#).await.unwrap();
    let log = Log::new();
    let report = desk(&asked, &journal).with_events(log.sink()).resume().await.unwrap();
    assert_eq!(finished(report), "text, again: 4");
    assert_eq!(asked.0.load(Ordering::SeqCst), 2, "each question was made once");
    assert!(!log.lines().contains("started index"), "nothing re-executes: {}", log.lines());
}

/// The node was not cancelled: it goes on once the run is resumed.
#[tokio::test(start_paused = true)]
async fn a_node_that_waits_for_a_person_says_so() {
    let (log, journal) = (Log::new(), Arc::new(MemoryJournal::new()));
    waiting(desk(&Approve::default(), &journal).with_events(log.sink()).start("text".to_owned()).await.unwrap());
    assert_eq!(log.line("suspended approve 1.1"), "50 suspended approve 1.1");
    assert!(!log.lines().contains("cancelled"), "{}", log.lines());
    assert!(
        log.lines().ends_with("50 ended waiting: $0.00 in 0 calls, 0 tokens in, 0 tokens out\n"),
        "{}",
        log.lines()
    );
}

#[tokio::test(start_paused = true)]
async fn the_first_answer_counts() {
    let (asked, journal) = (Approve::default(), Arc::new(MemoryJournal::new()));
    let questions = waiting(desk(&asked, &journal).start("text".to_owned()).await.unwrap());
    answer(&journal, &questions[0], r#"{"good":true}"#).await.unwrap();
    let twice = answer(&journal, &questions[0], r#"{"good":false}"#).await.unwrap_err();
    assert_eq!(twice.to_string(), "run `run` has had its answer approve.1.1 already: the first one counts");
    assert_eq!(finished(desk(&asked, &journal).resume().await.unwrap()), "text: 4");
}

/// A service may keep running, and take answers as they come.
#[tokio::test(start_paused = true)]
async fn a_run_may_await_people_in_its_process() {
    let (asked, journal, log) = (Approve::default(), Arc::new(MemoryJournal::new()), Log::new());
    let run = desk(&asked, &journal).with_wait_for_people().with_events(log.sink()).start("text".to_owned());
    let person = async {
        pass(1_000).await;
        let by = |visit| By { node: "approve".to_owned(), visit, attempt: 1 };
        for (visit, good) in [(1, "false"), (2, "true")] {
            let body = LetterBody::Answer { to: by(visit), answer: format!("{{\"good\":{good}}}").into() };
            journal.post(&"run".parse().unwrap(), Letter { key: None, body }).await.unwrap();
            pass(1_000).await;
        }
    };
    let (report, ()) = tokio::join!(run, person);
    let report = report.unwrap();
    assert_eq!(report.took.as_millis(), 2_000);
    assert_eq!(finished(report), "text, again: 4");
    assert_eq!(log.lines().matches("Waiting").count(), 2, "{}", log.lines());
}

/// A question of a child is a question of the whole tree.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Office {
    #[node(entry, input = Vec<String>, map = Desk, goto(exit))]
    desks: MapNode<Desks>,
}
struct Desks(Approve);
impl MapHandler<office::desks> for Desks {
    fn graph(&self, _: &Cx<'_, office::desks>) -> Result<Arc<Desk>, NodeError> {
        Ok(Arc::new(Desk {
            split: ForkNode(Split),
            approve: HumanNode(self.0.clone()),
            index: LogicNode(Index),
            print: JoinNode(Print),
        }))
    }
    async fn items(&self, texts: &Vec<String>, _: &mut Cx<'_, office::desks>) -> Result<Vec<Item<Desk>>, NodeError> {
        Ok(texts.iter().cloned().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<String>,
        children: Children<Desk>,
        cx: &mut Cx<'_, office::desks>,
    ) -> Route<office::desks> {
        let printed = children.all().await.into_iter().map(|child| child.result);
        let printed = printed.collect::<Result<_, _>>()?;
        goto!(cx, office::exit, printed)
    }
}

#[tokio::test(start_paused = true)]
async fn a_tree_of_runs_waits_when_all_its_children_do() {
    let (asked, journal) = (Approve::default(), Arc::new(MemoryJournal::new()));
    let office = || timed(Office { desks: MapNode(Desks(asked.clone())) }).with_journal(journal.clone());
    let texts = vec!["one".to_owned(), "three".to_owned()];
    let report = office().start(texts).await.unwrap();
    assert_eq!(report.took.as_millis(), 50, "each child was let go as far as it came");
    let questions = waiting(report);
    assert_eq!(questions.len(), 2);
    assert!(questions.iter().all(|question| question.run.as_str().starts_with("run-")), "{questions:?}");
    for question in &questions {
        answer(&journal, question, r#"{"good":true}"#).await.unwrap();
    }
    assert_eq!(finished(office().resume().await.unwrap()), ["one: 3", "three: 5"]);
    let asked = journal.runs().await.unwrap().into_iter().flat_map(|run| journal.records(&run.run));
    assert_eq!(asked.filter(|record| matches!(record.entry, Entry::Asked { .. })).count(), 2);
}

#[tokio::test]
async fn a_question_needs_a_journal_to_be_kept_in() {
    let run = desk(&Approve::default(), &Arc::default()).without_journal();
    let failure = crate::support::failed(run.start("text".to_owned()).await.unwrap());
    assert_eq!(failure.node, "approve");
    let said = "`approve` cannot ask a person: give the run a journal, in which it is asked and answered";
    assert_eq!(failure.message, said);
}

held!(Desk, Office);
