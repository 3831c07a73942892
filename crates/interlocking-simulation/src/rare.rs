//! Situations that few seeds reach, in tables where they are common. Each run must pass all checks.

use crate::checks::Account;
use crate::graph::set_nets;
use crate::history;
use crate::plan::{Way, Weather};
use crate::tables::NODES;
use crate::world::{EVENT, LogEvent, World};
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow, Table, Target};
use interlocking_runtime::journal::{Entry, Record};
use interlocking_soundness::{Verdict, check};
use std::sync::Arc;

/// How many of the seeds reach the situation `is_there` in foul weather, in a run with the rows `parent` whose children
/// have the rows `child`. Stops after `enough` such seeds.
fn seeds_with(
    seeds: u64,
    enough: usize,
    parent: Vec<NodeRow>,
    child: Vec<NodeRow>,
    is_there: fn(&Account<'_>) -> bool,
) -> usize {
    let nets = [("Parent", parent), ("Child", child)].map(|(name, rows)| {
        let mut table = Table::new(name, "T");
        table.nodes = rows;
        let net: &Net = Box::leak(Box::new(Net::new(table).unwrap()));
        assert!(matches!(check(net), Verdict::Sound { .. }), "{name} is sound");
        net
    });
    set_nets(nets);
    let found = (0..seeds).filter(|seed| {
        let world = Arc::new(World::new(*seed, nets));
        let ended = history::run(&world, Weather::Foul, Way::USUAL).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let account = Account::of(&ended).unwrap();
        assert_eq!(account.check().err(), None, "seed {seed}");
        is_there(&account)
    });
    found.take(enough).count()
}

fn node(name: &str, kind: NodeKind) -> NodeRow {
    NodeRow::new(name, kind)
}

/// Nodes that spawn advisory nodes and lead on.
fn spawning() -> Vec<NodeRow> {
    let mut advisory = node("advisory", NodeKind::Advisory).llm("Asking", "Said");
    advisory.report = Some("u64".to_owned());
    let spawning = |name, next| node(name, NodeKind::Logic).goto(next, &[]).spawn("advisory");
    vec![spawning("n0", "n1").entry(), spawning("n1", "exit"), advisory]
}

/// A map with child runs, as the entry.
fn map() -> NodeRow {
    node("n0", NodeKind::Map).map("Child").depth(2).entry()
}

#[test]
fn a_record_that_is_refused_when_its_executor_has_left_stops_nobody() {
    let parent = vec![map().goto("n1", &[]), node("n1", NodeKind::Human).asks("u64", "u64").goto("exit", &[])];
    let found = seeds_with(1_000, 1, parent, spawning(), |account| {
        account.log.iter().any(|line| matches!(line.what, LogEvent::Refused { left_behind: true, .. }))
    });
    assert!(found >= 1, "in no seed");
}

#[test]
fn a_process_may_end_with_a_record_that_comes_after_its_runs_end() {
    let child = vec![node("n0", NodeKind::Logic).entry().goto("exit", &[])];
    let found = seeds_with(2_000, 3, spawning(), child, |account| {
        let ends =
            |what: &LogEvent| matches!(what, LogEvent::Harness(text) if text.starts_with("its process ends with"));
        account.log.iter().any(|line| ends(&line.what))
    });
    assert!(found >= 3, "only {found} seeds");
}

#[test]
fn children_are_retried_with_the_execution_that_took_them_over() {
    let event = node(EVENT, NodeKind::Event).goto("n0", &["*"]).visits(1);
    let child = vec![node("n0", NodeKind::Human).asks("u64", "u64").entry().goto("exit", &[])];
    let found = seeds_with(500, 3, vec![map().adopt().goto("exit", &[]), event], child, |account| {
        account.records.values().any(|records| is_taken_over_and_retried(records))
    });
    assert!(found >= 3, "only {found} seeds");
}

/// Whether a child was retried after another execution than the one that started it had adopted it.
fn is_taken_over_and_retried(records: &[Record]) -> bool {
    let by_a_later_one = |record: &Record| match &record.entry {
        Entry::Resumed { taken_by, .. } => taken_by.as_ref().is_some_and(|by| by.visit > 1),
        _ => false,
    };
    let taken_over = records.iter().position(by_a_later_one);
    taken_over.is_some_and(|at| records[at..].iter().any(|it| matches!(it.entry, Entry::Retried { .. })))
}

#[test]
fn an_attempt_that_a_message_holds_up_knows_what_the_one_before_has_done() {
    let again = node("n0", NodeKind::Logic).entry().goto("n0", &[]).goto("exit", &[]).attempts(5);
    let child = vec![node("n0", NodeKind::Logic).entry().goto("exit", &[])];
    let found = seeds_with(1_000, 3, vec![again, node(EVENT, NodeKind::Event).resume()], child, |account| {
        account.records.values().any(|records| is_resumed_between_attempts(records))
    });
    assert!(found >= 3, "only {found} seeds");
}

/// Whether a run was resumed after an attempt had recorded an effect and ended, and before the next attempt had an
/// outcome.
fn is_resumed_between_attempts(records: &[Record]) -> bool {
    let mut done = false;
    let mut ended = false;
    for record in records {
        match &record.entry {
            Entry::Once { by, .. } if by.node == "n0" => done = true,
            Entry::Outcome(outcome) if outcome.node == "n0" => ended = true,
            Entry::Outcome(_) if done && ended => ended = false,
            Entry::Resumed { .. } if done && ended => return true,
            _ => {}
        }
    }
    false
}

#[test]
fn a_refusal_of_items_by_a_map_that_takes_items_is_refused() {
    // The second message ends the run before the map shows what the first has added.
    let event = node(EVENT, NodeKind::Event).adds_to("n0").visits(1);
    let child = vec![node("n0", NodeKind::Human).asks("u64", "u64").entry().goto("exit", &[])];
    let found = seeds_with(500, 3, vec![map().goto("exit", &[]), event], child, |account| {
        let mut account = Account::of(account.ended).unwrap();
        let is_refused = account.records.values_mut().flatten().any(|record| match &mut record.entry {
            Entry::Outcome(outcome) => outcome.added.take().is_some(),
            _ => false,
        });
        assert!(!is_refused || account.check().is_err(), "items are refused that a map would take");
        is_refused && account.ended.report.outcome.name() == "failed"
    });
    assert!(found >= 3, "only {found} seeds");
}

#[test]
fn a_message_that_is_handled_while_an_exclusive_graph_node_runs_is_refused() {
    let parent = vec![
        node("n0", NodeKind::Graph).graph("Child").depth(2).exclusive("turn").entry().goto("n1", &[]),
        node("n1", NodeKind::Logic).exclusive("turn").goto("exit", &[]),
        node(EVENT, NodeKind::Event).resume(),
    ];
    let child = vec![node("n0", NodeKind::Logic).entry().goto("exit", &[])];
    let found = seeds_with(1_000, 3, parent, child, |account| {
        let mut account = Account::of(account.ended).unwrap();
        let root = account.ended.history.root.clone();
        let Some(records) = account.records.get_mut(&root) else { return false };
        let of = |node: &str| {
            let is_it = |it: &Record| matches!(&it.entry, Entry::Outcome(outcome) if outcome.node == node);
            records.iter().position(is_it)
        };
        // The message came while the graph node ran, and was handled after it.
        let (Some(graph), Some(event)) = (of("n0"), of(EVENT)) else { return false };
        let received = records.iter().position(|it| matches!(it.entry, Entry::Received { .. }));
        if event != graph + 1 || received.is_none_or(|received| received > graph) {
            return false;
        }
        records.swap(graph, event);
        (0..).zip(records).for_each(|(sequence, record)| record.sequence = sequence);
        let why = account.check().err().unwrap_or_default();
        assert!(why.contains("a message is handled while n0 runs"), "{why}");
        true
    });
    assert!(found >= 3, "only {found} seeds");
}

#[test]
fn every_node_of_a_full_table_may_have_a_memory() {
    let names: Vec<String> = (0..=NODES).map(|at| format!("n{at}")).collect();
    let mut nodes: Vec<NodeRow> =
        names.windows(2).map(|names| node(&names[0], NodeKind::Logic).goto(&names[1], &[])).collect();
    nodes[NODES - 2].goto[0].to = Target::from("exit");
    nodes[0].entry = true;
    nodes[NODES - 1] = node("observer", NodeKind::Observer).report("Sum");
    nodes[NODES - 1].observes = vec!["n0".to_owned()];
    let nodes = nodes.into_iter().map(|row| {
        let name = row.name.clone();
        row.memory(&name, "Sum")
    });
    let child = vec![node("n0", NodeKind::Logic).entry().goto("exit", &[])];
    assert_eq!(seeds_with(3, 3, nodes.collect(), child, |account| account.ended.report.visits.len() > 1), 3);
}
