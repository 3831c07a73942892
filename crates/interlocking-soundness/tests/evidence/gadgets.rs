//! Combines gadgets with budgets: in a row, in a ring, and side by side. The remaining budgets of gadgets must not multiply.

use crate::compare::is_sound;
use interlocking_core::table::{Goto, NodeKind, NodeRow, Quorum, Table, Target, Visits};
use interlocking_reference_model::edge_budgets::give_budgets;
use interlocking_reference_model::generate::{self, Dice};
use interlocking_reference_model::mutate;

/// Gives the gadget's budgets routes that keep the gadget sound.
fn give_routes(dice: &mut Dice, table: &mut Table) {
    let targets = mutate::all_targets(table);
    for at in 0..table.nodes.len() {
        let row = &mut table.nodes[at];
        if matches!(row.visits, Some(Visits::AtMost(_))) || row.attempts.is_some() {
            row.exhausted = match dice.below(10) {
                0 => None,
                1..3 => Some(Goto::new("exit", &["*"])),
                3..6 => Some(Goto::new("exit", &[])),
                _ => Some(Goto::of(dice.pick(&targets).clone(), Vec::new())),
            };
        }
        mutate::name_sources(table, at);
    }
}

/// A sound block of about `size` nodes, in which the route of some budget goes on.
pub(crate) fn gadget(dice: &mut Dice, size: usize) -> Table {
    loop {
        let mut table = generate::block(dice, size);
        if table.nodes.len() > size + 2 {
            continue;
        }
        if dice.percent(50) {
            give_budgets(dice, &mut table);
        }
        give_routes(dice, &mut table);
        let goes_on = |goto: &Goto| !(goto.to.is_exit() && goto.cancels == ["*"]);
        let routes = |row: &NodeRow| -> Vec<Goto> {
            let edges = row.goto.iter().filter_map(|goto| goto.exhausted.as_deref());
            row.exhausted.iter().chain(edges).cloned().collect()
        };
        let is_told = table.nodes.iter().flat_map(routes).any(|route| goes_on(&route));
        let is_left = table.nodes.iter().flat_map(|row| &row.goto).any(|goto| goto.to.is_exit() && goes_on(goto));
        if is_told && is_left && is_sound(&table) {
            return table;
        }
    }
}

/// Adds a gadget, with `prefix` before the names of its nodes. It goes on to `next` instead of the exit. Gives its first node and
/// the nodes that go on.
fn add(dice: &mut Dice, into: &mut Table, gadget: Table, prefix: &str, next: &str) -> (String, Vec<String>) {
    let named = |name: &str| if ["exit", "*"].contains(&name) { name.to_owned() } else { format!("{prefix}{name}") };
    let all: Vec<String> = gadget.nodes.iter().map(|row| named(&row.name)).collect();
    let mut first = String::new();
    let mut last = Vec::new();
    for mut row in gadget.nodes {
        row.name = named(&row.name);
        if std::mem::take(&mut row.entry) {
            first.clone_from(&row.name);
        }
        let mut goes_on = false;
        let mut target = |target: &mut Target, gives_up: bool| {
            if target.is_exit() && !gives_up {
                (*target, goes_on) = (Target::from(next), true);
            } else {
                target.node = named(&target.node);
            }
        };
        let edges = row.goto.iter_mut().flat_map(|goto| {
            let Goto { to, cancels, exhausted, .. } = goto;
            [Some((to, cancels)), exhausted.as_deref_mut().map(|route| (&mut route.to, &mut route.cancels))]
        });
        let routes = [&mut row.exhausted, &mut row.timed_out, &mut row.failed];
        let routes = routes.into_iter().map(|route| route.as_mut().map(|route| (&mut route.to, &mut route.cancels)));
        for (to, cancels) in edges.chain(routes).flatten() {
            let is_all = cancels.iter().any(|name| name == "*");
            target(to, is_all && dice.percent(60));
            match is_all && !to.is_exit() {
                true => cancels.clone_from(&all),
                false => cancels.iter_mut().for_each(|name| *name = named(name)),
            }
        }
        if let Some(fork) = &mut row.fork {
            fork.branches.iter_mut().flatten().for_each(|to| target(to, false));
            fork.cancels.iter_mut().for_each(|name| *name = named(name));
        }
        row.slots.iter_mut().flat_map(|slot| &mut slot.sources).for_each(|source| *source = named(source));
        if goes_on {
            last.push(row.name.clone());
        }
        into.nodes.push(row);
    }
    (first, last)
}

/// Adds gadgets one after the other, the last of which goes on to `next`; gives the first node, and the nodes that go on to
/// `next`.
fn in_a_row(dice: &mut Dice, into: &mut Table, gadgets: Vec<Table>, next: &str) -> (String, Vec<String>) {
    let mut next = next.to_owned();
    let mut last = None;
    for gadget in gadgets.into_iter().rev() {
        let prefix = format!("g{}_", into.nodes.len());
        let (first, goes_on) = add(dice, into, gadget, &prefix, &next);
        last.get_or_insert(goes_on);
        next = first;
    }
    (next, last.unwrap_or_default())
}

pub(crate) fn gadgets(dice: &mut Dice, count: usize, size: usize) -> Vec<Table> {
    (0..count).map(|_| gadget(dice, size)).collect()
}

fn begin_at(table: &mut Table, first: &str) {
    table.nodes.iter_mut().filter(|row| row.name == first).for_each(|row| row.entry = true);
}

pub(crate) fn chain(dice: &mut Dice, gadgets: Vec<Table>) -> Table {
    let mut table = Table::new("Row", "T");
    let (first, _) = in_a_row(dice, &mut table, gadgets, "exit");
    begin_at(&mut table, &first);
    table
}

/// Gadgets in a row that start again.
pub(crate) fn ring(dice: &mut Dice, gadgets: Vec<Table>) -> Table {
    let mut table = Table::new("Ring", "T");
    let (first, _) = in_a_row(dice, &mut table, gadgets, "judge");
    begin_at(&mut table, &first);
    let judge = NodeRow::new("judge", NodeKind::Logic).goto("exit", &[]);
    let again = Goto::new(&first, &[]).times(3);
    table.with(judge.edge(if dice.percent(50) { again.exhausted(Goto::new("exit", &[])) } else { again }))
}

/// Gadgets side by side, before a join.
pub(crate) fn beside(dice: &mut Dice, branches: usize, count: usize, size: usize, quorum: bool) -> Table {
    let mut table = Table::new("Beside", "T");
    let mut meet = NodeRow::new("meet", NodeKind::Join).goto("exit", &[]);
    let mut heads = Vec::new();
    let mut work = Vec::new();
    for nth in 0..branches {
        let before = table.nodes.len();
        let (first, last) = {
            let gadgets = gadgets(dice, count, size);
            in_a_row(dice, &mut table, gadgets, &format!("meet.s{nth}"))
        };
        work.extend(table.nodes[before..].iter().map(|row| row.name.clone()));
        let last: Vec<&str> = last.iter().map(String::as_str).collect();
        meet = meet.slot(&format!("s{nth}"), "T", &last, false);
        heads.push(first);
    }
    if quorum {
        let work: Vec<&str> = work.iter().map(String::as_str).collect();
        meet = meet.quorum(Quorum::AtLeast(1 + dice.below(branches - 1) as u32)).cancels(&work);
    }
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    table.with(NodeRow::new("split", NodeKind::Fork).entry().fork(&heads, &[])).with(meet)
}
