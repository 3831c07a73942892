//! The worst-case number of agent calls, on tables for which it can be computed by hand.

use crate::protocols;
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow, Table, Visits};
use interlocking_soundness::{AgentCalls, agent_calls, own_agent_calls, starts};

fn calls(table: Table) -> AgentCalls {
    agent_calls(&Net::new(table).unwrap())
}

fn exactly(count: u64) -> AgentCalls {
    AgentCalls { at_most: Some(count), exact: true }
}

fn llm(name: &str) -> NodeRow {
    NodeRow::new(name, NodeKind::Llm)
}

fn logic(name: &str) -> NodeRow {
    NodeRow::new(name, NodeKind::Logic)
}

#[test]
fn a_node_that_fails_has_called() {
    let table = |write: NodeRow| Table::new("Newsroom", "T").with(write.entry().goto("exit", &[]));
    assert_eq!(calls(table(llm("write").failed("write", &[]).attempts(3))), exactly(3));
    let mend = || llm("mend").goto("exit", &[]);
    let timed = |write: NodeRow| write.timeout_ms(1).timed_out("mend", &[]);
    assert_eq!(calls(table(timed(llm("write"))).with(mend())), exactly(2));
    let both = timed(llm("write")).failed("write", &[]).attempts(2);
    assert_eq!(calls(table(both).with(mend())), exactly(3));
}

#[test]
fn a_loop_is_counted_by_its_budget() {
    let review = || logic("review").goto("write", &[]).goto("exit", &[]);
    let table = || Table::new("Newsroom", "T").with(llm("write").entry().goto("review", &[]));
    assert_eq!(calls(table().with(review().visits(3))), exactly(4), "written first, and after each of three reviews");
    let unbounded = calls(table().with(review().unbounded()));
    assert_eq!(unbounded, AgentCalls { at_most: None, exact: false });
    assert_eq!(
        calls(Table::new("Quiet", "T").with(review().entry()).with(logic("write").goto("exit", &[]))),
        exactly(0)
    );
}

#[test]
fn attempts_are_calls() {
    let table = Table::new("Stubborn", "T")
        .with(llm("write").entry().goto("write", &[]).goto("review", &[]).attempts(5))
        .with(logic("review").goto("write", &[]).goto("exit", &[]).visits(2));
    assert_eq!(calls(table), exactly(15));
}

#[test]
fn branches_add_up_and_alternatives_do_not() {
    let table = Table::new("Wide", "T")
        .with(llm("plan").entry().fork(&["code", "docs|meet.docs"], &[]))
        .with(llm("code").goto("meet.code", &[]))
        .with(llm("docs").goto("more", &[]).goto("meet.docs", &[]))
        .with(llm("more").goto("meet.docs", &[]))
        .with(
            NodeRow::new("meet", NodeKind::Join)
                .slot("code", "T", &["code"], false)
                .slot("docs", "T", &["plan", "docs", "more"], false)
                .goto("exit", &[]),
        );
    assert_eq!(calls(table), exactly(4));
}

/// A spawned node does not count if no run reaches the node that spawns it; a node that fails spawns nothing.
#[test]
fn who_does_not_run_spawns_nothing() {
    let advisory = NodeRow::new("advice", NodeKind::Advisory).agent("adviser").visits(5);
    let table = Table::new("Fork", "T")
        .with(logic("choose").entry().goto("ask", &[]).goto("write", &[]))
        .with(logic("ask").spawn("advice").goto("exit", &[]))
        .with(llm("write").goto("exit", &[]))
        .with(advisory);
    assert_eq!(calls(table), exactly(5), "or one, where it writes itself");
}

#[test]
fn what_is_spawned_counts_and_a_map_has_no_bound() {
    let advisory = NodeRow::new("advice", NodeKind::Advisory).agent("adviser").visits(3);
    let table = |work: NodeRow| Table::new("Aside", "T").with(work.goto("exit", &[])).with(advisory.clone());
    assert_eq!(calls(table(llm("work").entry().spawn("advice"))), exactly(4), "one handler may spawn it three times");
    let again = llm("work").entry().spawn("advice").goto("work", &[]).attempts(2);
    assert_eq!(calls(table(again)), exactly(5), "so may two");
    assert_eq!(calls(table(llm("work").entry())), exactly(1), "nobody spawns it");
    let mut unbounded = table(llm("work").entry().spawn("advice"));
    unbounded.nodes[1].visits = None;
    assert_eq!(calls(unbounded.clone()), AgentCalls::UNKNOWN, "a handler may spawn it as often as it likes");
    unbounded.nodes[1].agent = None;
    assert_eq!(calls(unbounded), exactly(1), "without an agent it asks none");
    let map = NodeRow::new("work", NodeKind::Map).entry().spawn("advice");
    assert_eq!(calls(table(map)), AgentCalls { at_most: None, exact: false });
}

/// The calls of a graph node's child are not in the table, but the number of children is.
#[test]
fn a_graph_node_starts_a_child_each_time() {
    let table = Table::new("Twice", "T")
        .with(llm("write").entry().goto("review", &[]))
        .with(NodeRow::new("review", NodeKind::Graph).graph("Review").goto("write", &[]).goto("exit", &[]).visits(3));
    let net = Net::new(table.clone()).unwrap();
    assert_eq!(agent_calls(&net), AgentCalls::UNKNOWN);
    assert_eq!((own_agent_calls(&net), starts(&net, 1)), (exactly(4), exactly(3)));
    let mut unbounded = table;
    unbounded.nodes[1].visits = Some(Visits::Unbounded);
    assert_eq!(starts(&Net::new(unbounded).unwrap(), 1), AgentCalls::UNKNOWN);
}

/// Messages may come as often as the row allows.
#[test]
fn an_event_with_an_agent_counts_once_a_message() {
    let calls_with = |event: NodeRow| {
        let work = llm("work").entry().visits(3).goto("exit", &[]);
        calls(Table::new("Told", "T").with(work).with(event.resume()))
    };
    let event = || NodeRow::new("rebase", NodeKind::Event).agent("rebaser");
    assert_eq!(calls_with(event().visits(4)).at_most, Some(1 + 4));
    assert_eq!(calls_with(event()).at_most, None, "nothing bounds how many messages come");
    // Each redirect repeats the work.
    assert_eq!(calls_with(event().visits(2).goto("work", &["work"])).at_most, Some(3 + 2));
    assert_eq!(calls_with(NodeRow::new("rebase", NodeKind::Event)), exactly(1), "without an agent it asks none");
}

#[test]
fn numbers_that_floats_do_not_tell_apart_are_no_bound() {
    let most = u32::MAX;
    let table = Table::new("Endless", "T")
        .with(llm("again").entry().visits(most).attempts(most).goto("again", &[]).goto("rest", &[]));
    let table = table.with(logic("rest").goto("again", &[]).goto("exit", &[]));
    assert_eq!(calls(table), AgentCalls::UNKNOWN);
}

#[test]
fn the_protocols() {
    // Types and their adversary, and both five times more: 12. Tests and implementation; tests five times more when they are
    // rejected; five mutation fixes; three conflicts; five fixes: 20. Six validations, each with an adversary in the graph
    // and one beside it: 12.
    let mut hybrid = protocols::hybrid();
    assert_eq!(calls(hybrid.clone()), AgentCalls::UNKNOWN, "nothing says how often the one beside it is spawned");
    for row in hybrid.nodes.iter_mut().filter(|row| row.kind == NodeKind::Advisory) {
        *row = row.clone().visits(6);
    }
    assert_eq!(calls(hybrid), exactly(44));
    for table in [protocols::v3(), protocols::scout_and_wave()] {
        assert_eq!(calls(table).at_most, None, "what a map's children do is in no table of their parent");
    }
}
