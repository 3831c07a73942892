//! Tables of up to eight nodes, built from small numbers so that a failing table shrinks.

use interlocking_core::table::{Goto, NodeKind, NodeRow, Quorum, Table};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// A node as numbers: places, nodes and regions are indices modulo the size of the table.
#[derive(Clone, Debug)]
pub(crate) struct RandomNode {
    join: bool,
    latched: [bool; 2],
    quorum: Option<RandomQuorum>,
    gotos: Vec<(u8, Vec<u8>, Option<Budget>)>,
    fork: Option<(Vec<Vec<u8>>, Vec<u8>)>,
    visits: Option<u32>,
    attempts: Option<u32>,
    exhausted: Option<(u8, Vec<u8>)>,
}

/// A third slot: the quorum, the join's region, and which slots are optional.
type RandomQuorum = (u32, Vec<u8>, [bool; 3]);

/// How often an edge may be taken, and where its exhausted route leads.
type Budget = (u32, Option<(u8, Vec<u8>)>);

pub(crate) fn nodes() -> impl Strategy<Value = Vec<RandomNode>> {
    let cancels = || prop_oneof![3 => Just(Vec::new()), 2 => vec(any::<u8>(), 1..3)];
    let goto = move || (any::<u8>(), cancels());
    let budget = (1..3_u32, option::weighted(0.6, goto()));
    let edge = (any::<u8>(), cancels(), option::weighted(0.3, budget));
    let fork = (vec(vec(any::<u8>(), 1..3), 2..4), cancels());
    let quorum = (1..3_u32, vec(any::<u8>(), 1..4), prop::array::uniform3(prop::bool::weighted(0.7)));
    let node = (
        prop::bool::weighted(0.5),
        prop::array::uniform2(prop::bool::weighted(0.6)),
        vec(edge, 1..4),
        option::weighted(0.8, fork),
        option::weighted(0.3, 1..4_u32),
        option::weighted(0.3, 1..4_u32),
        option::weighted(0.5, goto()),
        option::weighted(0.4, quorum),
    );
    let node = node.prop_map(|(join, latched, gotos, fork, visits, attempts, exhausted, quorum)| RandomNode {
        join,
        latched,
        gotos,
        fork,
        visits,
        attempts,
        exhausted,
        quorum,
    });
    vec(node, 2..=8)
}

pub(crate) fn table(nodes: &[RandomNode]) -> Table {
    let name = |index: usize| format!("n{index}");
    let is_join = |index: usize| index > 0 && nodes[index].join;
    // Joins by slot, and also by name: then a source with an even index fills `a`, one with an odd index
    // `b`.
    let mut targets = vec!["exit".to_owned()];
    let mut regions = vec!["*".to_owned()];
    for (index, node) in nodes.iter().enumerate() {
        targets.push(name(index));
        regions.push(name(index));
        if is_join(index) {
            let third = node.quorum.as_ref().map(|_| "c");
            let slots = ["a", "b"].into_iter().chain(third).map(|slot| format!("{}.{slot}", name(index)));
            targets.extend(slots.clone());
            // A join with a quorum is cleared as a whole.
            regions.extend(slots.filter(|_| third.is_none()));
        }
    }
    let target = |number: u8| targets[usize::from(number) % targets.len()].as_str();
    let region = |numbers: &[u8]| -> Vec<&str> {
        numbers.iter().map(|&number| regions[usize::from(number) % regions.len()].as_str()).collect()
    };
    let parity = |parity: usize| -> Vec<String> { (parity..nodes.len()).step_by(2).map(name).collect() };
    let (even, odd) = (parity(0), parity(1));

    let mut table = Table::new("Random", "T");
    for (index, node) in nodes.iter().enumerate() {
        let mut row = NodeRow::new(name(index), if is_join(index) { NodeKind::Join } else { NodeKind::Logic });
        row.entry = index == 0;
        if let Some((values, cancels, optional)) = node.quorum.as_ref().filter(|_| is_join(index)) {
            for ((slot, names), optional) in [("a", &even), ("b", &odd), ("c", &even)].into_iter().zip(optional) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                row = if *optional { row.optional_slot(slot, "T", &names) } else { row.slot(slot, "T", &names, false) };
            }
            let mut cancels = region(cancels);
            cancels.retain(|name| *name != row.name);
            row = row.quorum(Quorum::AtLeast(*values)).cancels(if cancels.is_empty() { &["*"] } else { &cancels });
        } else if is_join(index) {
            // At least one slot is not latched.
            let latched = [node.latched[0], node.latched[1] && !node.latched[0]];
            for ((slot, names), latched) in [("a", &even), ("b", &odd)].into_iter().zip(latched) {
                row = row.slot(slot, "T", &names.iter().map(String::as_str).collect::<Vec<_>>(), latched);
            }
        }
        for (to, cancels, budget) in &node.gotos {
            let mut goto = Goto::new(target(*to), &region(cancels));
            let is_bounded = goto.to.is_exit() || (goto.to.node == row.name && node.attempts.is_some());
            if let Some((times, route)) = budget.as_ref().filter(|_| !is_bounded) {
                goto = goto.times(*times);
                goto.exhausted = route.as_ref().map(|(to, cancels)| Goto::new(target(*to), &region(cancels)).into());
            }
            row = row.edge(goto);
        }
        if let Some((branches, cancels)) = &node.fork {
            let branches: Vec<String> = branches
                .iter()
                .map(|choices| choices.iter().map(|&to| target(to)).collect::<Vec<_>>().join("|"))
                .collect();
            row = row.fork(&branches.iter().map(String::as_str).collect::<Vec<_>>(), &region(cancels));
        }
        if let Some((to, cancels)) = &node.exhausted {
            row = row.exhausted(target(*to), &region(cancels));
        }
        if let Some(limit) = node.visits {
            row = row.visits(limit);
        }
        // A join has no `attempts`.
        row.attempts = node.attempts.filter(|_| !is_join(index));
        table = table.with(row);
    }
    name_sources(&mut table);
    table
}

/// Adds every node to the sources of the slots among its targets.
fn name_sources(table: &mut Table) {
    let targets = |row: &NodeRow| row.targets().map(|target| (row.name.clone(), target.clone())).collect::<Vec<_>>();
    for (source, target) in table.nodes.iter().flat_map(targets).collect::<Vec<_>>() {
        let join = table.nodes.iter_mut().find(|row| row.name == target.node);
        let slot = join.and_then(|row| row.slots.iter_mut().find(|slot| Some(&slot.name) == target.slot.as_ref()));
        if let Some(slot) = slot.filter(|slot| !slot.sources.contains(&source)) {
            slot.sources.push(source);
        }
    }
}
