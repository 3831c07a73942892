//! The children that are cancelled: their usage, their questions to people, the programs of their agents.

use super::*;
use crate::support::Recording;
use interlocking::agents::program::Secret;
use interlocking::agents::{ClaudeCode, ClaudeSettings};
use interlocking::runtime::{Budgets, Outcome};
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(askama::Template)]
#[template(source = "{{ text }}", ext = "txt")]
struct Question<'a> {
    text: &'a str,
}

/// The first good answer of several, and a comment on it.
#[derive(Graph)]
#[graph(output = String)]
pub(super) struct Panel {
    #[node(entry, input = Vec<String>, map = Judge, quorum = 1, goto(sum))]
    judges: MapNode<Judges>,
    #[node(input = String, prompt = Question<'_>, output = u32, goto(exit))]
    sum: LLMNode<Sum>,
}

/// A judge thinks itself, or asks a person.
#[derive(Graph)]
#[graph(output = String)]
pub(super) struct Judge {
    #[node(entry, input = String, goto(think, ask))]
    read: LogicNode<Read>,
    #[node(input = String, prompt = Question<'_>, output = u32, goto(exit))]
    think: LLMNode<Think>,
    #[node(input = String, question = String, answer = bool, goto(exit))]
    ask: HumanNode<Person>,
}

#[derive(Clone, Copy)]
struct Judges;
impl MapHandler<panel::judges> for Judges {
    fn graph(&self, _: &Cx<'_, panel::judges>) -> Result<Arc<Judge>, NodeError> {
        Ok(Arc::new(Judge { read: LogicNode(Read), think: LLMNode(Think), ask: HumanNode(Person) }))
    }
    async fn items(&self, cases: &Vec<String>, _: &mut Cx<'_, panel::judges>) -> Result<Vec<Item<Judge>>, NodeError> {
        Ok(cases.iter().cloned().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<String>,
        children: Children<Judge>,
        cx: &mut Cx<'_, panel::judges>,
    ) -> Route<panel::judges> {
        goto!(cx, panel::sum, told(children.all().await.into_iter().map(|child| child.result)))
    }
}
struct Sum;
impl LLMHandler<panel::sum> for Sum {
    async fn before<'a>(&'a self, text: &'a String, _: &mut Cx<'_, panel::sum>) -> Ask<Question<'a>> {
        Ok((Question { text }, SessionOp::StartFresh(Slug::new("sum")?)))
    }
    async fn after(&self, text: String, reply: Reply<u32>, cx: &mut Cx<'_, panel::sum>) -> Route<panel::sum> {
        goto!(cx, panel::exit, format!("{text}: {}", reply.output))
    }
}
logic!(Read for judge::read, |case: String, cx| {
    if case == "ask" { goto!(cx, judge::ask, case) } else { goto!(cx, judge::think, case) }
});
struct Think;
impl LLMHandler<judge::think> for Think {
    async fn before<'a>(&'a self, text: &'a String, _: &mut Cx<'_, judge::think>) -> Ask<Question<'a>> {
        Ok((Question { text }, SessionOp::StartFresh(Slug::new("think")?)))
    }
    async fn after(&self, text: String, reply: Reply<u32>, cx: &mut Cx<'_, judge::think>) -> Route<judge::think> {
        goto!(cx, judge::exit, format!("{text} {}", reply.output))
    }
}
struct Person;
impl HumanHandler<judge::ask> for Person {
    async fn ask(&self, case: &String, _: &mut Cx<'_, judge::ask>) -> Result<String, NodeError> {
        Ok(case.clone())
    }
    async fn answered(&self, case: String, answer: bool, cx: &mut Cx<'_, judge::ask>) -> Route<judge::ask> {
        goto!(cx, judge::exit, format!("{case} {answer}"))
    }
}

fn panel() -> Panel {
    Panel { judges: MapNode(Judges), sum: LLMNode(Sum) }
}

const SCRIPT: &str = r#"
    [[turn]]
    contains = ["quick"]
    delay = "1s"
    output = 1
    [[turn]]
    contains = ["slow"]
    times = "any"
    delay = "2m"
    output = 2
    [[turn]]
    agent = "sum"
    output = 3
"#;

fn cases(cases: &[&str]) -> Vec<String> {
    cases.iter().map(|&case| case.to_owned()).collect()
}

/// The usage of losers is in their records and on the bill, and counts for the budgets that they share with their parent.
#[tokio::test(start_paused = true)]
async fn what_losers_have_cost_is_counted() {
    for (budget, expected) in [(4, Some("cancelled, quick 1, cancelled: 3")), (3, None)] {
        let journal = Arc::new(MemoryJournal::new());
        let run = timed(panel()).with_agent_for_others(Recording::new(SCRIPT)).with_journal(journal.clone());
        let run = run.with_budgets(Budgets::unlimited().with_calls(budget));
        let report = run.start(cases(&["slow", "quick", "slower"])).await.unwrap();
        let (calls, took) = (report.usage().calls, report.took.as_millis());
        assert_eq!((calls, took), (budget, 1_000));
        match expected {
            Some(expected) => assert_eq!(finished(report), expected),
            None => assert!(matches!(report.outcome, Outcome::BudgetExhausted(_)), "{:?}", report.outcome),
        }
        let mut spent = 0;
        for child in journal.children(&RunId::DEFAULT).await.unwrap() {
            let records = journal.load(&child.run).await.unwrap();
            let calls = records.iter().map(|record| match &record.entry {
                Entry::Spent { calls, .. } => calls.len(),
                _ => 0,
            });
            spent += calls.sum::<usize>();
        }
        assert_eq!(spent, 2, "each loser's one");
    }
}

/// A loser's question is withdrawn: the run does not wait for an answer.
#[tokio::test(start_paused = true)]
async fn a_loser_asks_no_more() {
    let journal = Arc::new(MemoryJournal::new());
    let run = timed(panel()).with_agent_for_others(Recording::new(SCRIPT)).with_journal(journal.clone());
    let report = run.with_wait_for_people().start(cases(&["ask", "quick"])).await.unwrap();
    assert_eq!(finished(report), "cancelled, quick 1: 3");
    let account = interlocking::runtime::journal::account::account(&*journal, &RunId::DEFAULT).await.unwrap();
    assert!(account.open_questions().is_empty());
    let map = account.executions.iter().find(|it| it.by.node == "judges").unwrap();
    let decided = map.decided.unwrap();
    assert_eq!((decided.reached, decided.ended), (true, 1));
}

/// If all remaining children wait for a person, so does the run; those that have ended do not prevent that.
#[tokio::test(start_paused = true)]
async fn children_that_wait_for_people_are_waited_for_below_the_quorum() {
    let run = timed(panel()).with_agent_for_others(Recording::new(SCRIPT));
    let report = run.start(cases(&["ask", "ask"])).await.unwrap();
    let Outcome::Waiting { questions } = report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!(questions.len(), 2);
}

/// A program that plays an agent: it writes its process id, starts a process in a session of its own that does the same, and
/// answers only if the prompt says so.
const PROGRAM: &str = r#"#!/bin/sh
case "$*" in *--version*) echo "2.1.330 (Claude Code)"; exit 0;; esac
while [ $# -gt 0 ]; do
  case "$1" in --session-id) session="$2"; shift;; esac
  shift
done
read -r prompt
echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$session\"}"
case "$prompt" in
  *cancelled*)
    echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"3\",\"structured_output\":{\"value\":3},\"session_id\":\"$session\"}"
    ;;
  *quick*)
    while [ "$(ls DIRECTORY/far-* DIRECTORY/near-* 2>/dev/null | wc -l)" -lt 4 ]; do sleep 0.05; done
    echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"1\",\"structured_output\":{\"value\":1},\"session_id\":\"$session\"}"
    ;;
  *slow*)
    setsid sh -c 'echo > DIRECTORY/far-$$; exec sleep 300' &
    echo > DIRECTORY/near-$$
    exec sleep 300
    ;;
esac
"#;

fn is_alive(id: &str) -> bool {
    // A process that has ended and was not yet reaped counts as gone.
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// The ids of the waiting processes.
fn waiting(directory: &Path) -> Vec<String> {
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.split_once('-').map(|(_, id)| id.to_owned())).collect()
}

/// The programs of the losers' agents end, with all processes that they have started, before the handler goes on.
#[tokio::test(flavor = "multi_thread")]
async fn the_programs_of_losers_are_ended() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("claude");
    let text = directory.path().join("text");
    std::fs::write(&text, PROGRAM.replace("DIRECTORY", &directory.path().display().to_string())).unwrap();
    // Another process writes the file: a program that another test starts at that moment would inherit it open for writing, and a
    // file that is open for writing cannot be executed.
    let install = std::process::Command::new("install").args(["-m", "755"]).arg(&text).arg(&program).status();
    assert!(install.unwrap().success());
    let settings = ClaudeSettings {
        program,
        home: Some(directory.path().join("config")),
        base_url: Some("http://127.0.0.1:9".to_owned()),
        ..ClaudeSettings::default()
    };
    let agent = Arc::new(ClaudeCode::new(settings).with_key(Secret::new("key")));
    let begun = Instant::now();
    let report = Run::new(panel()).with_agent_for_others(agent).start(cases(&["slow", "quick", "slower"])).await;
    let report = report.unwrap();
    assert_eq!(report.usage().calls, 4);
    assert_eq!(finished(report), "cancelled, quick 1, cancelled: 3");
    assert!(begun.elapsed() < Duration::from_secs(100), "nobody waits for the slow");
    let waiting = waiting(directory.path());
    assert_eq!(waiting.len(), 4, "two programs, and whom they started");
    // A killed process has to be scheduled once more, which takes a while on a busy machine.
    while begun.elapsed() < Duration::from_secs(100) && waiting.iter().any(|id| is_alive(id)) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!waiting.iter().any(|id| is_alive(id)));
}
