//! The worst-case number of agent calls: compares the bound from the table with every run.

use crate::compare::smallest;
use crate::hand_made::{join, logic, table};
use crate::routed;
use interlocking_core::net::Net;
use interlocking_core::table::{Goto, NodeKind, NodeRow, Quorum, Table, Visits};
use interlocking_reference_model::edge_budgets::budgeted;
use interlocking_reference_model::explore::{Graph, explore};
use interlocking_reference_model::generate;
use interlocking_reference_model::quorums::with_quorums;
use interlocking_reference_model::rules::{Budgets, Move, Rules, Starts};
use interlocking_soundness::{agent_calls, own_agent_calls, starts};
use std::sync::mpsc;
use std::time::Duration;

/// The most calls that a run makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Most {
    Calls(u64),
    /// Some cycle makes calls without end.
    NoBound,
}

/// The calls that one execution of `row` makes itself.
fn calls_of(row: &NodeRow) -> u64 {
    u64::from(row.kind == NodeKind::Llm || (row.kind == NodeKind::Event && row.agent.is_some()))
}

/// The calls of the table's advisory node, once it may have been started; `None` if nothing bounds them.
fn calls_beside(table: &Table) -> Option<u64> {
    let asks = |row: &&NodeRow| row.kind == NodeKind::Advisory && row.agent.is_some();
    match table.nodes.iter().find(asks).map(|row| row.visits) {
        None => Some(0),
        Some(Some(Visits::AtMost(visits))) => Some(visits.into()),
        Some(_) => None,
    }
}

/// By exploring every run; `None` if there are more than `limit` states.
fn most_calls(table: &Table, limit: usize) -> Option<Most> {
    most_calls_with(table, 0, limit)
}

/// The same, if the child of each execution of a graph node makes `of_child` calls.
fn most_calls_with(table: &Table, of_child: u64, limit: usize) -> Option<Most> {
    let calls_of = |node: usize| {
        let row = &table.nodes[node];
        calls_of(row) + if row.kind == NodeKind::Graph { of_child } else { 0 }
    };
    let rules = Rules::new(table, Budgets::Concrete, Starts::Any);
    let graph = Graph::of(&rules, limit)?;
    // Beyond its bound an event node handles no message, even if the message leaves the run as it is.
    let is_handled = |at: usize, node: usize| rules.entries(&graph.states[at], node).0;
    let calls = |at: usize, step: Move| match step {
        Move::Resume { node } if is_handled(at, node) => calls_of(node),
        Move::Start { node, exhausted: false } | Move::Redirect { node, .. } => calls_of(node),
        // The agent of a message's handler has been called; that of another node was called when the node started.
        Move::Spent { node, .. } if table.nodes[node].kind == NodeKind::Event => calls_of(node),
        _ => 0,
    };
    let spawns = |at: usize, step: Move| match step {
        Move::Resume { node } => is_handled(at, node) && !table.nodes[node].spawn.is_empty(),
        Move::End { node, way } if rules.nodes[node].ways[way].failing.is_some() => false,
        Move::End { node, .. } | Move::Redirect { node, .. } | Move::Spent { node, .. } => {
            !table.nodes[node].spawn.is_empty()
        }
        _ => false,
    };
    let beside = calls_beside(table);
    let may_spawn = |at: usize| rules.moves(&graph.states[at]).into_iter().any(|step| spawns(at, step));
    if beside.is_none() && (0..graph.states.len()).any(may_spawn) {
        return Some(Most::NoBound);
    }
    // Each state before the advisory node is started, and after. It is started as often as allowed, at the first chance.
    let states = graph.states.len();
    let first = |at: usize, step: Move| at < states && spawns(at, step);
    let calls =
        |at: usize, step: Move| calls(at % states, step) + if first(at, step) { beside.unwrap_or_default() } else { 0 };
    let to = |at: usize, step: Move, to: usize| if at >= states || first(at, step) { states + to } else { to };
    let from = |at: usize| {
        graph.edges(at % states).iter().map(|&(step, next)| (calls(at, step), to(at, step, next))).collect()
    };
    let edges: Vec<Vec<(u64, usize)>> = (0..2 * states).map(from).collect();
    if graph.is_cyclic() || edges.iter().enumerate().any(|(at, edges)| edges.iter().any(|&(_, to)| to == at)) {
        let costs = |at: usize| edges[at].iter().filter(|(calls, _)| *calls > 0).map(move |&(_, to)| (at, to));
        if (0..edges.len()).flat_map(costs).any(|(at, to)| reaches(&edges, to, at)) {
            return Some(Most::NoBound);
        }
    }
    // No cycle makes a call, so the largest number of calls up to each state converges.
    let (mut most, mut is_reached) = (vec![0; edges.len()], vec![false; edges.len()]);
    is_reached[0] = true;
    let mut todo = vec![0];
    while let Some(at) = todo.pop() {
        for &(calls, to) in &edges[at] {
            if !std::mem::replace(&mut is_reached[to], true) || most[at] + calls > most[to] {
                most[to] = most[at] + calls;
                todo.push(to);
            }
        }
    }
    // The last step of a run leads to no state.
    let last = |at: usize| {
        rules.moves(&graph.states[at % states]).into_iter().map(|step| calls(at, step)).max().unwrap_or_default()
    };
    Some(Most::Calls(
        (0..edges.len()).filter(|&at| is_reached[at]).map(|at| most[at] + last(at)).max().unwrap_or_default(),
    ))
}

fn reaches(edges: &[Vec<(u64, usize)>], from: usize, to: usize) -> bool {
    let mut seen = vec![false; edges.len()];
    let mut todo = vec![from];
    while let Some(at) = todo.pop() {
        if at == to {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            todo.extend(edges[at].iter().map(|&(_, to)| to));
        }
    }
    false
}

#[derive(Debug, Default)]
struct Compared {
    tables: usize,
    too_large: usize,
    exhausted_for_ever: usize,
    bounded: usize,
    exact: usize,
    /// The bound equals the calls of the worst run, whether it claims to be exact or not.
    met: usize,
    calls: u64,
}

fn compare(table: &Table, compared: &mut Compared) -> Result<(), String> {
    const STATES: usize = 1500;
    let net = Net::new(table.clone()).unwrap();
    if exhausted_for_ever(table) {
        compared.exhausted_for_ever += 1;
        return Ok(());
    }
    let (Some(explored), Some(most)) = (explore(table, Budgets::OneBit, STATES), most_calls(table, STATES)) else {
        compared.too_large += 1;
        return Ok(());
    };
    let found = agent_calls(&net);
    compared.tables += 1;
    let is_sound = explored.broken.is_empty();
    match (found.at_most, most) {
        (Some(at_most), Most::Calls(calls)) if at_most >= calls => {
            compared.bounded += 1;
            compared.calls += calls;
            compared.met += usize::from(at_most == calls);
            compared.exact += usize::from(found.exact);
            // If a rule is broken the run ends there; the bound may count calls that would come later.
            if found.exact && at_most != calls && is_sound {
                return Err(format!("{found:?} is not exact: {calls}"));
            }
            Ok(())
        }
        (None, _) => Ok(()),
        (Some(_), _) => Err(format!("{found:?}, but {most:?}")),
    }
}

/// Whether a run can take exhausted routes for ever: see `that_are_exhausted_for_ever_are_none`.
fn exhausted_for_ever(table: &Table) -> bool {
    let next = |name: &str| table.node(name).and_then(|row| row.exhausted.as_ref()).map(|goto| goto.to.node.as_str());
    table.nodes.iter().any(|row| {
        let way = std::iter::successors(next(&row.name), |name| next(name)).take(table.nodes.len());
        way.into_iter().any(|name| name == row.name)
    })
}

#[test]
fn that_are_exhausted_for_ever_are_none() {
    let table = table([
        NodeRow::new("split", NodeKind::Llm).fork(&["a", "b"], &[]),
        NodeRow::new("a", NodeKind::Llm).goto("meet", &[]),
        logic("b").goto("meet", &[]).goto("split", &["a", "meet"]).visits(3).exhausted("b", &["*"]),
        join("meet", &["a", "b"]).goto("exit", &[]),
    ]);
    let at_most = calls_in_time(table);
    assert!(at_most.is_none_or(|calls| calls >= 8), "{at_most:?}");
}

#[test]
fn of_dozens_of_agents_that_lead_to_each_other_are_bounded() {
    assert_eq!(calls_in_time(crowd(60)), Some(180));
}

#[test]
fn of_hundreds_of_agents_that_lead_to_each_other_end_in_time() {
    let at_most = calls_in_time(crowd(600));
    assert!(at_most.is_none_or(|calls| calls >= 300), "{at_most:?}");
}

/// So many agents, of which each may ask twenty others.
fn crowd(size: usize) -> Table {
    let agents = (0..size).map(|nth| {
        let others = (1..=20).map(|other| format!("a{}", (nth * 7 + other * other * 13 + 1) % size));
        let agent = NodeRow::new(format!("a{nth}"), NodeKind::Llm).visits(nth as u32 % 5 + 1).exhausted("exit", &["*"]);
        others.fold(agent, |agent, other| agent.goto(&other, &[])).goto("exit", &[])
    });
    let mut table = Table::new("Crowd", "T");
    table.nodes.extend(agents);
    table.nodes[0].entry = true;
    table
}

/// The bound of a table, which must not stop a compiler.
fn calls_in_time(table: Table) -> Option<u64> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(agent_calls(&Net::new(table).unwrap()).at_most));
    receive.recv_timeout(Duration::from_secs(20)).expect("an answer in time")
}

#[test]
fn are_bounded_as_said() {
    hold((200_000..202_000).map(|seed| (seed, generate::table(seed))), 6);
}

#[test]
fn with_budgets_on_edges_are_bounded_as_said() {
    // Each edge that is counted makes more states.
    hold((200_000..202_000).map(|seed| (seed, budgeted(seed))), 4);
}

#[test]
fn with_routes_of_failures_are_bounded_as_said() {
    hold((200_000..201_000).map(|seed| (seed, routed::table(seed))), 5);
}

#[test]
fn with_joins_that_have_a_quorum_are_bounded_as_said() {
    hold((200_000..202_000).map(|seed| (seed, with_quorums(seed))), 4);
}

/// Compares the bounds of these tables with all runs; one table in `one_of` may be too large.
fn hold(tables: impl Iterator<Item = (u64, Table)>, one_of: usize) {
    let mut compared = Compared::default();
    let mut wrong = Vec::new();
    for (seed, mut table) in tables {
        // A map's children make calls that the table does not show.
        table.nodes.iter_mut().filter(|row| row.kind == NodeKind::Map).for_each(|row| row.kind = NodeKind::Llm);
        // Most tables bound how often the advisory node starts.
        for row in table.nodes.iter_mut().filter(|row| row.kind == NodeKind::Advisory && seed % 4 > 0) {
            *row = row.clone().visits((seed % 4) as u32);
        }
        if let Err(why) = compare(&table, &mut compared) {
            wrong.push((seed, why, table));
        }
    }
    report(&compared);
    if let Some((_, _, first)) = wrong.first() {
        let again = |table: &Table| compare(table, &mut Compared::default()).err();
        let small = smallest(first.clone(), &|table| again(table).is_some());
        let why = again(&serde_json::from_str(&small).unwrap()).unwrap();
        let all: Vec<String> = wrong.iter().map(|(seed, why, _)| format!("{seed}: {why}")).collect();
        panic!("{}:\n{}\nThe first, made small: {why}\n{small}", wrong.len(), all.join("\n"));
    }
    assert!(compared.bounded * 2 >= compared.tables && compared.exact * 3 >= compared.bounded, "{compared:?}");
    let left_out = compared.too_large + compared.exhausted_for_ever;
    assert!(left_out * one_of <= compared.tables, "{compared:?}");
}

#[expect(clippy::print_stderr, reason = "the measured shares, for whoever asks with --nocapture")]
fn report(compared: &Compared) {
    eprintln!("{compared:?}");
}

#[test]
fn by_a_map_are_not_bounded() {
    let table = Table::new("Small", "T")
        .with(NodeRow::new("a", NodeKind::Llm).entry().goto("b", &[]))
        .with(NodeRow::new("b", NodeKind::Map).goto("exit", &[]));
    assert_eq!(most_calls(&table, 100), Some(Most::Calls(1)), "those of the graph itself");
    assert_eq!(agent_calls(&Net::new(table).unwrap()).at_most, None);
}

#[test]
fn of_loops_with_a_budget_each_are_counted_exactly() {
    // A review sends work back twice, and a judge sends it back three times.
    let back = |times| Goto::new("work", &[]).times(times);
    let llm = |name: &str| NodeRow::new(name, NodeKind::Llm);
    let build = |review: Goto, judge: Goto| {
        table([
            llm("work").goto("review", &[]),
            llm("review").goto("judge", &[]).edge(review),
            llm("judge").goto("exit", &[]).edge(judge),
            llm("despair").goto("exit", &[]),
        ])
    };
    let calls = |table: &Table| {
        let found = agent_calls(&Net::new(table.clone()).unwrap());
        assert_eq!(most_calls(table, 2000), Some(Most::Calls(found.at_most.unwrap())));
        assert!(found.exact, "{found:?}");
        found.at_most.unwrap()
    };
    let despair = || Goto::new("despair", &[]);
    assert_eq!(calls(&build(back(2), back(3))), 6 * 2 + 4);
    // Beyond its budget each leads to one more agent, which a run reaches once.
    assert_eq!(calls(&build(back(2), back(3).exhausted(despair()))), 6 * 2 + 4 + 1);
    assert_eq!(calls(&build(back(2).exhausted(despair()), back(3).exhausted(despair()))), 6 * 2 + 4 + 1);
}

#[test]
fn of_a_join_with_a_quorum_are_counted_exactly() {
    // `begin` starts `a` again and again, but `b` comes to the join once: so there is one report, however often `a` comes
    // there.
    let llm = |name: &str| NodeRow::new(name, NodeKind::Llm);
    let meet = NodeRow::new("meet", NodeKind::Join).slot("a", "T", &["a"], false);
    let meet = meet.slot("b", "T", &["b"], false).slot("c", "T", &["b"], false);
    let table = table([
        logic("begin").fork(&["a", "b"], &[]).visits(4),
        llm("a").goto("meet", &[]),
        logic("b").goto("meet.b", &[]).goto("meet.c", &[]).goto("begin", &["a", "meet"]),
        meet.quorum(Quorum::AtLeast(2)).cancels(&["a", "b"]).goto("report", &[]),
        llm("report").goto("exit", &[]),
    ]);
    assert_eq!(most_calls(&table, 2000), Some(Most::Calls(4 + 1)));
    let found = agent_calls(&Net::new(table).unwrap());
    assert_eq!((found.at_most, found.exact), (Some(5), true));
}

/// Adds the bound of a graph and that of the child graph that its graph nodes run, and compares the sum with every run of
/// both.
#[test]
fn of_graph_nodes_are_those_of_their_child_each_time() {
    const STATES: usize = 1500;
    let (mut compared, mut exact, mut calls) = (0, 0, 0);
    for seed in 210_000..210_800 {
        let [mut parent, mut child] = [generate::table(seed), generate::table(seed + 10_000)];
        let graphs = parent.nodes.iter_mut().filter(|row| matches!(row.kind, NodeKind::Map | NodeKind::Llm));
        graphs.enumerate().filter(|(nth, _)| nth % 2 == 0).for_each(|(_, row)| {
            row.kind = NodeKind::Graph;
            row.graph = Some("Child".to_owned());
        });
        let maps = [&mut parent, &mut child].into_iter().flat_map(|table| &mut table.nodes);
        maps.filter(|row| row.kind == NodeKind::Map).for_each(|row| row.kind = NodeKind::Llm);
        let graphs: Vec<_> = (0..).zip(&parent.nodes).filter(|(_, row)| row.kind == NodeKind::Graph).collect();
        if graphs.is_empty() || exhausted_for_ever(&parent) || exhausted_for_ever(&child) {
            continue;
        }
        let Some(Most::Calls(of_child)) = most_calls(&child, STATES) else { continue };
        let (Some(explored), Some(most)) =
            (explore(&parent, Budgets::OneBit, STATES), most_calls_with(&parent, of_child, STATES))
        else {
            continue;
        };
        let [net, child] = [&parent, &child].map(|table| Net::new(table.clone()).unwrap());
        let (found, child) = (own_agent_calls(&net), agent_calls(&child));
        let found = graphs.iter().fold(found, |found, (node, _)| found.with_children(starts(&net, *node), child));
        let Some(at_most) = found.at_most else { continue };
        let Most::Calls(most) = most else { panic!("{seed}: {found:?}, and some cycle calls for ever") };
        assert!(at_most >= most, "{seed}: {found:?}, and some run makes {most}");
        // If a rule is broken the run ends there, and a child's run ends where a rule of its own graph is broken.
        let is_sound = explored.broken.is_empty() && child.at_most == Some(of_child);
        assert!(!found.exact || !is_sound || at_most == most, "{seed}: {found:?} is not exact: {most}");
        compared += 1;
        exact += usize::from(found.exact);
        calls += most;
    }
    assert!(compared > 100 && exact > 20 && calls > 300, "{compared} compared, {exact} exact, {calls} calls");
}
