//! Memory: a snapshot to read, updates that take effect with the outcome, shared within a group only.

use crate::slow::Slow;
use crate::support::{Recording, failed, finished, pass, timed};
use askama::Template;
use interlocking::prelude::*;
use interlocking::runtime::MemoryJournal;
use interlocking::runtime::journal::{Entry, MemoryRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Coverage {
    criteria: Vec<String>,
}

/// `write` and `review` share one memory, `build` has its own, `report` none.
#[derive(Graph)]
#[graph(output = (Coverage, u32))]
struct Shared {
    #[node(entry, input = u32, goto(review), memory(tests: Coverage))]
    write: LogicNode<Write>,
    #[node(input = u32, goto(build, write), visits = 3, memory(tests: Coverage))]
    review: LogicNode<Review>,
    #[node(input = Coverage, goto(build, report), attempts = 4, memory = u32)]
    build: LogicNode<Build>,
    #[node(input = (Coverage, u32), goto(exit))]
    report: LogicNode<Tell>,
}

/// The round whose update panics because it accesses what does not exist.
const TOO_MANY: u32 = 9;

logic!(Write for shared::write, |round: u32, cx| {
    cx.update_memory(move |tests| tests.criteria.push(format!("write {round}")));
    if round == TOO_MANY {
        cx.update_memory(|tests| tests.criteria[2].clear());
    }
    goto!(cx, shared::review, round)
});
logic!(Review for shared::review, |round: u32, cx| {
    let before = cx.memory();
    assert_eq!(before.criteria.last().unwrap(), &format!("write {round}"), "the group's last write");
    cx.update_memory(move |tests| tests.criteria.push(format!("review {round}")));
    assert_eq!(before.criteria.len() + 1, cx.memory().criteria.len(), "a snapshot, and then one's own update");
    if round < 2 { goto!(cx, shared::write, round + 1) } else { goto!(cx, shared::build, cx.memory()) }
});
logic!(Build for shared::build, |seen: Coverage, cx| {
    assert_eq!(cx.memory(), cx.attempt() - 1, "its own memory survives its loop");
    cx.update_memory(|tries| *tries += 1);
    if cx.is_final_attempt() { goto!(cx, shared::report, (seen, cx.memory())) } else { goto!(cx, self, seen) }
});
logic!(Tell for shared::report, |(seen, tries): (Coverage, u32), cx| goto!(cx, shared::exit, (seen, tries)));

fn shared() -> Shared {
    Shared { write: LogicNode(Write), review: LogicNode(Review), build: LogicNode(Build), report: LogicNode(Tell) }
}

fn expected() -> (Coverage, u32) {
    let criteria = ["write 1", "review 1", "write 2", "review 2"].map(str::to_owned).to_vec();
    (Coverage { criteria }, 4)
}

/// PRG-24: a snapshot and an update with a function, typed by the table. PRG-25: shared inside a group. PRG-26: it
/// survives loops and back-routes.
#[tokio::test(start_paused = true)]
async fn a_group_shares_its_memory_across_loops() {
    for run in crate::support::both_ways(shared) {
        assert_eq!(finished(run.start(1).await.unwrap()), expected());
    }
}

/// PRG-26: each run has its own memory. A run that shares the graph value starts with empty memory, even while another
/// run goes on.
#[tokio::test(start_paused = true)]
async fn each_run_has_its_own_memory() {
    let graph = Arc::new(shared());
    let (one, other) = tokio::join!(Run::from_arc(graph.clone()).start(1), Run::from_arc(graph.clone()).start(1));
    assert_eq!(finished(one.unwrap()), expected());
    assert_eq!(finished(other.unwrap()), expected());
    assert_eq!(finished(Run::from_arc(graph).start(1).await.unwrap()), expected());
}

/// A panic in an update counts as its handler's, although the update is applied later.
#[tokio::test(start_paused = true)]
async fn an_update_that_panics_fails_its_node() {
    for run in crate::support::both_ways(shared) {
        let failure = failed(run.start(TOO_MANY).await.unwrap());
        assert_eq!((failure.node.as_str(), &failure.kind), ("write", &FailureKind::Panic));
        assert!(failure.message.starts_with("index out of bounds"), "{}", failure.message);
    }
    let journal = Arc::new(MemoryJournal::new());
    let report = timed(shared()).with_journal(journal.clone()).start(TOO_MANY).await.unwrap();
    assert!(matches!(journal.records(&report.run).last().unwrap().entry, Entry::Ended { failure: Some(_), .. }));
}

/// An update takes effect with its outcome: it is in that record, and in no earlier one.
#[tokio::test(start_paused = true)]
async fn the_journal_has_each_groups_value_after_its_update() {
    let journal = Arc::new(MemoryJournal::new());
    let report = timed(shared()).with_journal(journal.clone()).start(1).await.unwrap();
    let memories: Vec<_> = journal
        .records(&report.run)
        .into_iter()
        .filter_map(|record| match record.entry {
            Entry::Outcome(outcome) => Some((outcome.node, outcome.memory)),
            _ => None,
        })
        .collect();
    let of = |group: &str, value: &str| Some(MemoryRecord { group: group.into(), value: value.into() });
    assert_eq!(memories[0], ("write".to_owned(), of("tests", r#"{"criteria":["write 1"]}"#)));
    assert_eq!(memories[1], ("review".to_owned(), of("tests", r#"{"criteria":["write 1","review 1"]}"#)));
    assert_eq!(memories[4], ("build".to_owned(), of("build", "1")));
    assert_eq!(memories.last().unwrap(), &("report".to_owned(), None), "a node without memory records none");
}

/// Branches that only make updates, concurrently and many times.
#[derive(Graph)]
#[graph(output = Tally)]
struct Stress {
    #[node(entry, input = u64, fork(a, b, c, d, e, f))]
    split: ForkNode<Split>,
    #[node(input = u64, goto(a, all), visits = 1000, memory(tally: Tally))]
    a: LogicNode<Add>,
    #[node(input = u64, goto(b, all), visits = 1000, memory(tally: Tally))]
    b: LogicNode<Add>,
    #[node(input = u64, goto(c, all), visits = 1000, memory(tally: Tally))]
    c: LogicNode<Add>,
    #[node(input = u64, goto(d, all), visits = 1000, memory(tally: Tally))]
    d: LogicNode<Add>,
    #[node(input = u64, goto(e, all), visits = 1000, memory(tally: Tally))]
    e: LogicNode<Add>,
    #[node(input = u64, goto(f, all), visits = 1000, memory(tally: Tally))]
    f: LogicNode<Add>,
    #[node(join(a: (), b: (), c: (), d: (), e: (), f: ()), goto(exit), memory(tally: Tally))]
    all: JoinNode<All>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Tally {
    total: u64,
    /// Read and written in one update; a lost update would show in either.
    history: u64,
}

struct Add;
macro_rules! add {
    ($($node:ident)*) => {$(
        impl LogicHandler<stress::$node> for Add {
            async fn run(&self, left: u64, cx: &mut Cx<'_, stress::$node>) -> Route<stress::$node> {
                let before = cx.memory().total;
                cx.update_memory(|tally| {
                    tally.total += 1;
                    tally.history = tally.history.wrapping_mul(3).wrapping_add(1);
                });
                tokio::task::yield_now().await;
                assert!(cx.memory().total > before, "one's own update is seen, whatever the others do");
                if left == 1 { goto!(cx, stress::all, ()) } else { goto!(cx, self, left - 1) }
            }
        }
    )*};
}
add!(a b c d e f);
forks!(Split for stress::split, |times: u64, cx| fork!(cx, (times, times, times, times, times, times)));
joins!(All for stress::all, |_: ((), (), (), (), (), ()), cx| goto!(cx, stress::exit, cx.memory()));

/// PRG-27: no update of a concurrent node is lost or applied twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn updates_of_concurrent_nodes_are_safe() {
    let history = (0..6 * 300).fold(0_u64, |value, _| value.wrapping_mul(3).wrapping_add(1));
    for journal in [true, false] {
        let node = || LogicNode(Add);
        let graph = Stress {
            split: ForkNode(Split),
            a: node(),
            b: node(),
            c: node(),
            d: node(),
            e: node(),
            f: node(),
            all: JoinNode(All),
        };
        let run = if journal { Run::new(graph) } else { Run::new(graph).without_journal() };
        assert_eq!(finished(run.start(300).await.unwrap()), Tally { total: 6 * 300, history });
    }
}

/// Branches whose updates must not take effect.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Lost {
    #[node(entry, input = String, fork(good, bad), memory(notes: Vec<String>))]
    split: ForkNode<Begin>,
    #[node(input = String, goto(end), memory(notes: Vec<String>))]
    good: LogicNode<Good>,
    #[node(input = String, goto(end), timeout = "50ms", memory(notes: Vec<String>))]
    bad: LogicNode<Bad>,
    #[node(join(good: (), bad: ()), goto(exit), memory(notes: Vec<String>))]
    end: JoinNode<End>,
}

forks!(Begin for lost::split, |how: String, cx| {
    cx.update_memory(|notes| notes.push("split".into()));
    fork!(cx, (how.clone(), how))
});
logic!(Good for lost::good, |_: String, cx| {
    // By this time the other branch has requested its update, which is not visible here.
    pass(10).await;
    assert_eq!(cx.memory(), ["split"]);
    cx.update_memory(|notes| notes.push("good".into()));
    goto!(cx, lost::end, ())
});
logic!(Bad for lost::bad, |how: String, cx| {
    cx.update_memory(|notes| notes.push("bad".into()));
    pass(20).await;
    match how.as_str() {
        "error" => Err("no")?,
        "panic" => panic!("no"),
        "timeout" => pass(1_000).await,
        _ => {}
    }
    goto!(cx, lost::end, ())
});
joins!(End for lost::end, |_: ((), ()), cx| goto!(cx, lost::exit, cx.memory()));

/// The updates of a failed execution leave no trace: not in other nodes, and not in the journal.
#[tokio::test(start_paused = true)]
async fn updates_of_failed_executions_never_count() {
    let graph = || Lost { split: ForkNode(Begin), good: LogicNode(Good), bad: LogicNode(Bad), end: JoinNode(End) };
    for how in ["error", "panic", "timeout"] {
        let journal = Arc::new(MemoryJournal::new());
        let report = timed(graph()).with_journal(journal.clone()).start(how.to_owned()).await.unwrap();
        let records = journal.records(&report.run);
        assert_eq!(failed(report).node, "bad");
        let last = records.iter().rev().find_map(|record| match &record.entry {
            Entry::Outcome(outcome) => outcome.memory.clone(),
            _ => None,
        });
        assert_eq!(last.unwrap().value, r#"["split","good"]"#.into(), "{how}");
    }
    let well = timed(graph()).start("well".to_owned()).await.unwrap();
    assert_eq!(finished(well), ["split", "good", "bad"], "and they do when it does not fail");
}

/// The memory of an agent between its attempts. It has no `JsonSchema`, so no agent can be asked for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct BuildMemory {
    session_of_last_attempt: Option<SessionId>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Built {
    passed: bool,
}

#[derive(Template)]
#[template(source = "Build {{ what }}.", ext = "txt")]
struct BuildPrompt<'a> {
    what: &'a str,
}

#[derive(Graph)]
#[graph(output = u32)]
struct Builder {
    #[node(entry, input = String, prompt = BuildPrompt<'_>, output = Built, goto(build, exit), attempts = 5,
        memory = BuildMemory)]
    build: LLMNode<Builds>,
}

held!(Shared, Stress, Lost, Builder, Beside);

struct Builds;
impl LLMHandler<builder::build> for Builds {
    async fn before<'a>(&'a self, what: &'a String, cx: &mut Cx<'_, builder::build>) -> Ask<BuildPrompt<'a>> {
        let session = match cx.memory().session_of_last_attempt {
            Some(session) => SessionOp::ContinueFrom(session),
            None => SessionOp::StartFresh(Slug::new("build")?),
        };
        Ok((BuildPrompt { what }, session))
    }
    async fn after(&self, what: String, reply: Reply<Built>, cx: &mut Cx<'_, builder::build>) -> Route<builder::build> {
        cx.update_memory(move |memory| memory.session_of_last_attempt = Some(reply.session.clone()));
        if reply.output.passed { goto!(cx, builder::exit, cx.attempt()) } else { goto!(cx, self, what) }
    }
}

async fn build() -> Arc<Recording> {
    let agent = Recording::new(
        "[[turn]]\nsession = 'fresh'\noutput = { passed = false }\n\
         [[turn]]\nsession = 'continue'\noutput = { passed = false }\n\
         [[turn]]\nsession = 'continue'\noutput = { passed = true }\n",
    );
    let run = timed(Builder { build: LLMNode(Builds) }).with_agent("build", agent.clone());
    assert_eq!(finished(run.start("it".to_owned()).await.unwrap()), 3);
    agent
}

/// PRG-23: without a stored session a fresh one starts, its id is stored after the call, and attempt 2 continues
/// attempt 1's session.
#[tokio::test(start_paused = true)]
async fn the_next_attempt_continues_the_session_that_memory_holds() {
    let agent = build().await;
    let operations: Vec<_> = agent.turns().into_iter().map(|turn| turn.session).collect();
    let first = SessionId::new("build-1").unwrap();
    assert_eq!(
        operations,
        [
            SessionOp::StartFresh(Slug::new("build").unwrap()),
            SessionOp::ContinueFrom(first.clone()),
            SessionOp::ContinueFrom(first.clone()),
        ]
    );
    assert_eq!(agent.scripted().history(&first).unwrap().len(), 3, "one conversation");
}

/// PRG-28: every schema that an agent gets is that of the node's output; memory is in none of them, nor in the prompt.
#[tokio::test(start_paused = true)]
async fn memory_is_in_no_schema() {
    let output = schemars::schema_for!(Built).to_value();
    for turn in build().await.turns() {
        let schema = turn.schema.expect("a schema");
        assert_eq!(schema.as_value(), &output);
        assert!(!schema.as_value().to_string().contains("session_of_last_attempt"));
        assert!(!turn.prompt.contains("session_of_last_attempt"));
    }
}

/// Two branches that share one memory.
#[derive(Graph)]
#[graph(output = (u32, u32))]
struct Beside {
    #[node(entry, input = (), fork(change, look))]
    split: ForkNode<Branch>,
    #[node(input = (), goto(both), memory(count: u32))]
    change: LogicNode<Change>,
    #[node(input = (), goto(both), memory(count: u32))]
    look: LogicNode<Look>,
    #[node(join(change: (), look: (u32, u32)), goto(exit))]
    both: JoinNode<Both>,
}

forks!(Branch for beside::split, |_: (), cx| fork!(cx, ((), ())));
logic!(Change for beside::change, |_: (), cx| {
    cx.update_memory(|count| *count += 1);
    goto!(cx, beside::both, ())
});
logic!(Look for beside::look, |_: (), cx| {
    pass(10).await;
    let early = cx.memory();
    pass(40).await;
    goto!(cx, beside::both, (early, cx.memory()))
});
joins!(Both for beside::both, |(_, seen): ((), (u32, u32)), cx| goto!(cx, beside::exit, seen));

/// Nothing is built on an update that a crash could still take back.
#[tokio::test(start_paused = true)]
async fn an_update_is_seen_once_it_is_recorded() {
    let journal = Slow::new(|entry| match entry {
        Entry::Outcome(outcome) if outcome.node == "change" => 30,
        _ => 0,
    });
    let graph =
        Beside { split: ForkNode(Branch), change: LogicNode(Change), look: LogicNode(Look), both: JoinNode(Both) };
    assert_eq!(finished(timed(graph).with_journal(journal).start(()).await.unwrap()), (0, 1));
}
