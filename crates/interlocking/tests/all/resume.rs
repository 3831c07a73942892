//! Runs that are resumed at the end of their journal.

use crate::support::{Log, Recording, finished, pass, timed};
use askama::Template;
use interlocking::agents::SessionOp;
use interlocking::prelude::*;
use interlocking::runtime::journal::{By, Entry, JournalError, RecordedPayload};
use interlocking::runtime::{CancelToken, Journal, MemoryJournal, StartError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What was executed, and how often; shared by all processes that execute a run.
type Diary = Arc<Mutex<BTreeMap<String, u32>>>;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Notes(Vec<String>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Verdict(String);

impl From<Exhausted<String>> for Verdict {
    fn from(exhausted: Exhausted<String>) -> Self {
        Self(format!("gave up on {}", exhausted.input))
    }
}

#[derive(Template)]
#[template(source = "Work on {{ task }}.", ext = "txt")]
struct WorkPrompt<'a> {
    task: &'a str,
}

/// A fork, an agent, a latched join that fires twice, memory, attempts, an exhausted route.
#[derive(Graph)]
#[graph(output = Verdict)]
struct Workshop {
    #[node(entry, input = String, fork(work, look))]
    split: ForkNode<Split>,
    #[node(input = String, prompt = WorkPrompt<'_>, output = u32, goto(gate), visits = 2,
        exhausted(exit, cancels(*)), memory(notes: Notes))]
    work: LLMNode<Work>,
    #[node(input = String, goto(gate))]
    look: LogicNode<Look>,
    #[node(join(work: u32, look: bool latched), goto(polish), memory(notes: Notes))]
    gate: JoinNode<Gate>,
    #[node(input = u32, goto(polish, work), attempts = 3)]
    polish: LogicNode<Polish>,
}
held!(Workshop);

fn mark(diary: &Diary, cx: &str) {
    *diary.lock().unwrap().entry(cx.to_owned()).or_default() += 1;
}

forks!(Split(diary: Diary) for workshop::split, |task: String, cx| {
    mark(diary, &format!("split {}", cx.visit()));
    fork!(cx, (task.clone(), task))
});
struct Work(Diary);
impl LLMHandler<workshop::work> for Work {
    async fn before<'a>(&'a self, task: &'a String, _: &mut Cx<'_, workshop::work>) -> Ask<WorkPrompt<'a>> {
        Ok((WorkPrompt { task }, SessionOp::StartFresh(Slug::new("work")?)))
    }
    async fn after(&self, task: String, reply: Reply<u32>, cx: &mut Cx<'_, workshop::work>) -> Route<workshop::work> {
        mark(&self.0, &format!("work {} {}", cx.visit(), reply.session));
        cx.update_memory(move |notes| notes.0.push(format!("{task} {}", reply.output)));
        goto!(cx, workshop::gate, reply.output)
    }
}
logic!(Look(diary: Diary) for workshop::look, |_: String, cx| {
    pass(5).await;
    mark(diary, &format!("look {}", cx.visit()));
    goto!(cx, workshop::gate, true)
});
joins!(Gate(diary: Diary) for workshop::gate, |(number, _): (u32, bool), cx| {
    mark(diary, &format!("gate {} {:?}", cx.visit(), cx.memory().0));
    goto!(cx, workshop::polish, number)
});
logic!(Polish(diary: Diary) for workshop::polish, |number: u32, cx| {
    let paid = cx.once("pay", async { mark(diary, "pay"); Ok(number) }).await?;
    mark(diary, &format!("polish {} {}", cx.visit(), cx.attempt()));
    match cx.attempt() {
        1 => goto!(cx, self, number + paid),
        _ => goto!(cx, workshop::work, format!("more than {number}, {} {}", cx.input_of::<workshop::split>()?, cx.entry()?)),
    }
});

const SCRIPT: &str = "
    [[turn]]
    delay = '10ms'
    contains = ['Work on it.']
    output_json = '7'
    cost = 0.01
    [[turn]]
    delay = '20ms'
    contains = ['Work on more than 14, it it.']
    output_json = '8'
    cost = 0.02
";

fn workshop_run(diary: &Diary, journal: &Arc<MemoryJournal>) -> Run<Workshop> {
    let graph = Workshop {
        split: ForkNode(Split(diary.clone())),
        work: LLMNode(Work(diary.clone())),
        look: LogicNode(Look(diary.clone())),
        gate: JoinNode(Gate(diary.clone())),
        polish: LogicNode(Polish(diary.clone())),
    };
    timed(graph).with_agent("work", Recording::new(SCRIPT)).with_id(id("demo")).with_journal(journal.clone())
}

fn id(name: &str) -> RunId {
    name.parse().unwrap()
}

const ENDING: &str = "gave up on more than 16, it it";

/// A journal with the first `count` records of a run.
async fn cut(whole: &MemoryJournal, count: usize) -> Arc<MemoryJournal> {
    let journal = Arc::new(MemoryJournal::new());
    for record in whole.records(&id("demo")).into_iter().take(count) {
        journal.append(record).await.unwrap();
    }
    journal
}

#[tokio::test(start_paused = true)]
async fn a_run_goes_on_from_wherever_its_journal_ends_and_repeats_nothing_that_is_recorded() {
    let (diary, journal) = (Diary::default(), Arc::new(MemoryJournal::new()));
    let whole = workshop_run(&diary, &journal).start("it".to_owned()).await.unwrap();
    let (visits, usage) = (whole.visits.clone(), whole.usage());
    assert_eq!(finished(whole).0, ENDING);
    let undisturbed = diary.lock().unwrap().clone();
    let records = journal.records(&id("demo"));
    assert!(records.len() > 10, "{records:#?}");
    for count in 1..=records.len() {
        let (diary, journal) = (Diary::default(), cut(&journal, count).await);
        let report = workshop_run(&diary, &journal).resume().await.unwrap();
        // A turn that began and has no outcome was also a call, at an unknown price.
        let is_of_work = |entry: &Entry| match entry {
            Entry::Session { .. } => 1,
            Entry::Outcome(outcome) if outcome.node == "work" => -1,
            _ => 0,
        };
        let killed: i32 = records[..count].iter().map(|record| is_of_work(&record.entry)).sum();
        let mut usage = usage;
        (usage.calls, usage.unpriced_calls) = (usage.calls + killed as u32, usage.unpriced_calls + killed as u32);
        assert_eq!((&report.visits, report.usage()), (&visits, usage), "after {count} records");
        assert_eq!(finished(report).0, ENDING, "after {count} records");
        let done: Vec<_> = records[..count].iter().filter(|record| matches!(record.entry, Entry::Outcome(_))).collect();
        let repeated = diary.lock().unwrap().clone();
        let finishing = |diary: &BTreeMap<String, u32>| {
            diary.iter().filter(|(name, _)| *name != "pay").map(|(_, count)| count).sum::<u32>()
        };
        assert_eq!(
            finishing(&repeated) as usize + done.len(),
            finishing(&undisturbed) as usize,
            "after {count} records"
        );
        let paid = |records: &[interlocking::runtime::journal::Record]| {
            records.iter().filter(|record| matches!(record.entry, Entry::Once { .. })).count()
        };
        assert_eq!(repeated.get("pay").copied().unwrap_or(0) as usize + paid(&records[..count]), paid(&records));
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_has_ended_gives_its_outcome_again_and_does_nothing() {
    let (diary, journal) = (Diary::default(), Arc::new(MemoryJournal::new()));
    let first = workshop_run(&diary, &journal).start("it".to_owned()).await.unwrap();
    let before = journal.records(&id("demo"));
    let (log, diary) = (Log::new(), Diary::default());
    let again = workshop_run(&diary, &journal).with_events(log.sink()).resume().await.unwrap();
    assert_eq!((again.outcome, again.visits), (first.outcome, first.visits));
    assert_eq!(again.ledger, first.ledger);
    assert!(diary.lock().unwrap().is_empty() && log.events().is_empty());
    assert_eq!(journal.records(&id("demo")), before);
}

#[tokio::test(start_paused = true)]
async fn a_suspended_run_is_not_at_its_end() {
    let (diary, journal, cancel) = (Diary::default(), Arc::new(MemoryJournal::new()), CancelToken::new());
    let run = workshop_run(&diary, &journal).with_cancel(cancel.clone());
    let suspend = async {
        pass(7).await;
        cancel.suspend();
    };
    let (report, ()) = tokio::join!(run.start("it".to_owned()), suspend);
    let report = report.unwrap();
    assert_eq!(report.outcome, Outcome::Suspended);
    let usage = report.usage();
    assert_eq!((usage.calls, usage.unpriced_calls), (1, 1), "the agent that was interrupted");
    let last = journal.records(&id("demo")).pop().unwrap().entry;
    assert!(matches!(&last, Entry::Spent { by, .. } if by.node == "work"), "{last:?}");
    let log = Log::new();
    let report = workshop_run(&diary, &journal).with_events(log.sink()).resume().await.unwrap();
    assert_eq!(report.usage().calls, 1 + 2, "what was interrupted stays on the bill");
    assert_eq!(finished(report).0, ENDING);
    assert_eq!(diary.lock().unwrap()["look 1"], 1);
    assert!(!log.lines().contains("started look"), "{}", log.lines());
}

/// An execution's restarts are counted separately from its visits and attempts, which are part of the
/// protocol.
#[tokio::test(start_paused = true)]
async fn what_is_interrupted_is_repeated_with_the_same_visit_and_one_restart_more() {
    #[derive(Graph)]
    #[graph(output = u32)]
    struct Slow {
        #[node(entry, input = u32, goto(exit))]
        wait: LogicNode<Wait>,
    }
    struct Wait(Arc<Mutex<Vec<(u32, u32, u32)>>>);
    impl LogicHandler<slow::wait> for Wait {
        async fn run(&self, input: u32, cx: &mut Cx<'_, slow::wait>) -> Route<slow::wait> {
            self.0.lock().unwrap().push((cx.visit(), cx.attempt(), cx.restarts()));
            pass(if cx.restarts() < 2 { 1_000 } else { 1 }).await;
            goto!(cx, exit, input)
        }
    }
    use slow::exit;
    let (seen, journal) = (Arc::new(Mutex::new(Vec::new())), Arc::new(MemoryJournal::new()));
    let run = || timed(Slow { wait: LogicNode(Wait(seen.clone())) }).with_journal(journal.clone());
    let limit = Duration::from_millis(10);
    tokio::time::timeout(limit, run().start(3)).await.unwrap_err();
    // A run whose future is dropped is released at once.
    tokio::time::timeout(limit, run().resume()).await.unwrap_err();
    assert_eq!(finished(run().resume().await.unwrap()), 3);
    assert_eq!(*seen.lock().unwrap(), [(1, 1, 0), (1, 1, 1), (1, 1, 2)]);
    crate::held::is_held::<Slow>(module_path!());
}

#[tokio::test(start_paused = true)]
async fn nobody_executes_a_run_that_another_executes() {
    let (diary, journal) = (Diary::default(), Arc::new(MemoryJournal::new()));
    let first = workshop_run(&diary, &journal).start("it".to_owned());
    let second = async {
        pass(3).await;
        workshop_run(&diary, &journal).resume().await.unwrap_err()
    };
    let (first, second) = tokio::join!(first, second);
    finished(first.unwrap());
    assert_eq!(second, StartError::Entry(JournalError::Held { run: id("demo"), holder: "this process".to_owned() }));
    assert_eq!(second.to_string(), "run `demo` is being executed by this process: wait until it ends, or stop it");
}

#[tokio::test]
async fn there_must_be_something_to_take_up() {
    let (diary, journal) = (Diary::default(), Arc::new(MemoryJournal::new()));
    let nothing = workshop_run(&diary, &journal).resume().await.unwrap_err();
    assert_eq!(nothing.to_string(), "there is no run `demo` to resume: start it, or name another");
    let no_journal = workshop_run(&diary, &journal).without_journal().resume().await.unwrap_err();
    assert_eq!(
        no_journal.to_string(),
        "run `demo` keeps no journal, so there is nothing to resume: give it the journal it was started with"
    );
    assert!(journal.runs().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_payload_that_no_longer_parses_names_the_run_the_node_and_the_field() {
    #[derive(Serialize, Deserialize)]
    struct Text {
        words: u32,
    }
    #[derive(Graph)]
    #[graph(output = u32)]
    struct Counting {
        #[node(entry, input = u32, goto(count))]
        write: LogicNode<Write>,
        #[node(input = Text, goto(exit))]
        count: LogicNode<Count>,
    }
    logic!(Write for counting::write, |words: u32, cx| goto!(cx, counting::count, Text { words }));
    logic!(Count for counting::count, |text: Text, cx| goto!(cx, counting::exit, text.words));
    crate::held::is_held::<Counting>(module_path!());

    let run = |journal: &Arc<MemoryJournal>| {
        let graph = Counting { write: LogicNode(Write), count: LogicNode(Count) };
        timed(graph).with_id(id("demo")).with_journal(journal.clone())
    };
    let (journal, changed) = (Arc::new(MemoryJournal::new()), Arc::new(MemoryJournal::new()));
    assert_eq!(finished(run(&journal).start(3).await.unwrap()), 3);
    for mut record in journal.records(&id("demo")).into_iter().take(2) {
        if let Entry::Outcome(outcome) = &mut record.entry {
            outcome.tokens[0].payload = RecordedPayload::from(r#"{"words":"many"}"#);
        }
        changed.append(record).await.unwrap();
    }
    let error = run(&changed).resume().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "run `demo`, node `count`: what is recorded no longer parses: at `words`: invalid type: string \"many\", expected \
         u32 at line 1 column 15; bring the type back, let it take the old form too, or give a migration"
    );
}

mod changed {
    //! A later version of the graph.

    use super::{Diary, Verdict, id, mark};
    use crate::support::timed;
    use interlocking::prelude::*;
    use interlocking::runtime::MemoryJournal;
    use std::sync::Arc;

    #[derive(Graph)]
    #[graph(output = Verdict)]
    pub(super) struct Workshop {
        #[node(entry, input = String, fork(work, look))]
        split: ForkNode<Split>,
        #[node(input = String, goto(gate))]
        work: LogicNode<Work>,
        #[node(input = String, goto(gate))]
        look: LogicNode<Look>,
        #[node(join(work: String, look: bool latched), goto(exit))]
        gate: JoinNode<Gate>,
    }
    held!(Workshop);

    forks!(Split(diary: Diary) for workshop::split, |task: String, cx| {
        mark(diary, "split");
        fork!(cx, (task.clone(), task))
    });
    logic!(Work for workshop::work, |task: String, cx| goto!(cx, workshop::gate, task));
    logic!(Look for workshop::look, |_: String, cx| goto!(cx, workshop::gate, true));
    joins!(Gate for workshop::gate, |(task, _): (String, bool), cx| goto!(cx, workshop::exit, Verdict(task)));

    pub(super) fn run(diary: &Diary, journal: &Arc<MemoryJournal>) -> Run<Workshop> {
        let graph = Workshop {
            split: ForkNode(Split(diary.clone())),
            work: LogicNode(Work),
            look: LogicNode(Look),
            gate: JoinNode(Gate),
        };
        timed(graph).with_id(id("demo")).with_journal(journal.clone())
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_is_not_taken_up_under_another_table_unless_a_migration_is_given() {
    let (diary, journal) = (Diary::default(), Arc::new(MemoryJournal::new()));
    workshop_run(&diary, &journal).start("it".to_owned()).await.unwrap();
    let journal = cut(&journal, 2).await;
    let diary = Diary::default();
    let error = changed::run(&diary, &journal).resume().await.unwrap_err();
    expect_test::expect![[r#"
        run `demo` was executed under another routing table of `Workshop`:
          node `work`: `agent` was `work` and is not given
          node `work`: `exhausted` was `exit, cancels(*)` and is not given
          node `work`: `kind` was `llm` and is `logic`
          node `work`: `memory` was `notes: Notes` and is not given
          node `work`: `output` was `u32` and is not given
          node `work`: `prompt` was `WorkPrompt<'_>` and is not given
          node `work`: `visits` was `2` and is not given
          node `gate`: `goto` was `polish` and is `exit`
          node `gate`: `memory` was `notes: Notes` and is not given
          node `gate`: `slots` was `work: u32`, `look: bool latched` and is `work: String`, `look: bool latched`
          node `polish` is gone
        finish it with the graph that it was executed with, or give a migration, `with_migration`"#]]
    .assert_eq(&error.to_string());
    // The common part of the two tables needs no change here: the outcome of `split` is the same.
    let migrated = changed::run(&diary, &journal).with_migration(|then, records| {
        assert_eq!(then.nodes.len(), 5);
        Ok(records)
    });
    assert_eq!(finished(migrated.resume().await.unwrap()).0, "it");
    assert!(diary.lock().unwrap().is_empty(), "`split` was done before");
    // Later records belong to the new table; earlier ones still need the migration.
    let again = changed::run(&diary, &journal).with_migration(|_, records| {
        assert_eq!(records.len(), 2);
        Ok(records)
    });
    assert_eq!(finished(again.resume().await.unwrap()).0, "it");
    let refused = changed::run(&diary, &journal).with_migration(|_, _| Err("too old".into())).resume().await;
    assert_eq!(refused.unwrap_err().to_string(), "the migration of run `demo` failed: too old");
}

/// Each migration of this test keeps the start and the outcome of `split`, and drops the rest.
#[tokio::test(start_paused = true)]
async fn a_run_that_another_table_took_up_goes_back_to_its_first_table_only_with_a_migration() {
    let (diary, journal) = (Diary::default(), Arc::new(MemoryJournal::new()));
    workshop_run(&diary, &journal).start("it".to_owned()).await.unwrap();
    let journal = cut(&journal, 2).await;
    let there = changed::run(&diary, &journal).with_migration(|_, records| Ok(records));
    assert_eq!(finished(there.resume().await.unwrap()).0, "it");

    // With one outcome under the changed table.
    let journal = cut(&journal, 4).await;
    let before = journal.records(&id("demo"));
    let error = workshop_run(&diary, &journal).resume().await.unwrap_err();
    let StartError::TableChanged { differences, .. } = &error else { panic!("{error:?}") };
    assert!(differences.contains(&"node `polish` is new".to_owned()), "{differences:#?}");
    assert_eq!(journal.records(&id("demo")), before, "nothing was done");
    let back = workshop_run(&diary, &journal).with_migration(|then, mut records| {
        assert_eq!((then.nodes.len(), records.len()), (5, 4));
        records.truncate(2);
        Ok(records)
    });
    assert_eq!(finished(back.resume().await.unwrap()).0, ENDING);
    let records = journal.records(&id("demo"));
    let resumed = &records[4].entry;
    assert!(matches!(resumed, Entry::Resumed { table: Some(table), .. } if table.nodes.len() == 5), "{resumed:?}");

    // The records in between still belong to the changed table.
    let refused = workshop_run(&diary, &journal).resume().await;
    assert!(matches!(refused, Err(StartError::TableChanged { .. })), "{refused:?}");
    let again = workshop_run(&diary, &journal).with_migration(|_, mut records| {
        assert_eq!(records.len(), 4, "the later ones belong to this table");
        records.truncate(2);
        Ok(records)
    });
    assert_eq!(finished(again.resume().await.unwrap()).0, ENDING);

    let journal = cut(&journal, 6).await;
    let there_again = changed::run(&diary, &journal).with_migration(|then, mut records| {
        assert_eq!((then.nodes.len(), records.len()), (5, 6));
        records.truncate(2);
        Ok(records)
    });
    assert_eq!(finished(there_again.resume().await.unwrap()).0, "it");
}

#[tokio::test(start_paused = true)]
async fn an_agents_session_goes_on_where_it_was_interrupted() {
    let (diary, journal, cancel) = (Diary::default(), Arc::new(MemoryJournal::new()), CancelToken::new());
    let run = workshop_run(&diary, &journal).with_cancel(cancel.clone());
    let suspend = async {
        pass(7).await;
        cancel.suspend();
    };
    let (report, ()) = tokio::join!(run.start("it".to_owned()), suspend);
    assert_eq!(report.unwrap().outcome, Outcome::Suspended);
    let begun = journal.records(&id("demo")).into_iter().find_map(|record| match record.entry {
        Entry::Session { by, session, .. } => Some((by, session)),
        _ => None,
    });
    let (by, session) = begun.expect("the journal knows the session before its turn is over");
    assert_eq!(by, By { node: "work".to_owned(), visit: 1, attempt: 1 });
    let agent = Recording::new(SCRIPT);
    let report = workshop_run(&diary, &journal).with_agent("work", agent.clone()).resume().await.unwrap();
    assert_eq!(finished(report).0, ENDING);
    let asked: Vec<_> = agent.turns().into_iter().map(|turn| turn.session).collect();
    let anew = || SessionOp::StartFresh(Slug::new("work").unwrap());
    // This agent does not know the session, so it is asked anew. The next visit starts a session of
    // its own.
    assert_eq!(asked, [SessionOp::ContinueFrom(session), anew(), anew()]);
}
