//! Tables with joins that do not wait for all of their slots.

use crate::generate::{self, Dice};
use crate::mutate;
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, Quorum, Table, Target};
use std::collections::BTreeSet;

/// The table of `seed`: one of the common generator, some of whose joins have a quorum.
pub fn with_quorums(seed: u64) -> Table {
    let mut dice = Dice::new(seed ^ 0x9a0e);
    loop {
        let mut table = generate::table(dice.below(1 << 40) as u64);
        give_quorums(&mut dice, &mut table);
        for _ in 0..[0, 0, 0, 1][dice.below(4)] {
            let mutant = mutate::one(&table, |many| dice.below(many)).unwrap();
            table = if Net::new(mutant.clone()).is_ok() { mutant } else { table };
        }
        if table.nodes.iter().any(|row| row.quorum.is_some()) && Net::new(table.clone()).is_ok() {
            return table;
        }
    }
}

/// Gives quorums to joins; most of them clear everything that leads to their slots.
pub fn give_quorums(dice: &mut Dice, table: &mut Table) {
    for at in 0..table.nodes.len() {
        let row = &table.nodes[at];
        if row.kind != NodeKind::Join || row.slots.len() < 2 || !dice.percent(80) {
            continue;
        }
        let mut region = leads_to(table, at);
        match dice.below(20) {
            0..3 => region = vec!["*".to_owned()],
            3 | 4 if region.len() > 1 => {
                region.swap_remove(dice.below(region.len()));
            }
            5 => {
                let one = dice.pick(&table.nodes).name.clone();
                region = vec![one];
            }
            6 | 7 => region.extend(other_slot(dice, table, at)),
            _ => {}
        }
        let name = table.nodes[at].name.clone();
        let takes_tokens = |name: &String| {
            let kind = table.node(name).map(|row| row.kind);
            !matches!(kind, Some(NodeKind::Event | NodeKind::Advisory | NodeKind::Observer))
        };
        region.retain(|one| *one != name && takes_tokens(one));
        let row = &mut table.nodes[at];
        row.quorum = Some(Quorum::AtLeast(1 + dice.below(row.slots.len() - 1) as u32));
        row.cancels = if region.is_empty() { vec!["*".to_owned()] } else { region };
        for slot in &mut row.slots {
            (slot.latched, slot.optional) = (false, dice.percent(40));
        }
        // A join with a quorum is cleared only as a whole.
        let prefix = format!("{name}.");
        let whole = |names: &mut Vec<String>| {
            names.iter_mut().filter(|one| one.starts_with(&prefix)).for_each(|one| one.clone_from(&name));
            names.dedup();
        };
        for row in &mut table.nodes {
            let of_edges = row.goto.iter_mut().flat_map(|goto| {
                let route = goto.exhausted.as_mut().map(|route| &mut route.cancels);
                std::iter::once(&mut goto.cancels).chain(route)
            });
            let routes = row.exhausted.iter_mut().chain(&mut row.timed_out).chain(&mut row.failed);
            let of_routes = routes.map(|route| &mut route.cancels);
            let of_forks = row.fork.iter_mut().map(|fork| &mut fork.cancels);
            of_edges.chain(of_routes).chain(of_forks).chain([&mut row.cancels]).for_each(whole);
        }
    }
}

/// A slot of another join without a quorum, if there is one.
fn other_slot(dice: &mut Dice, table: &Table, join: usize) -> Option<String> {
    let rows = table.nodes.iter().enumerate();
    let others = rows.filter(|(at, row)| *at != join && row.kind == NodeKind::Join && row.quorum.is_none());
    let slots = others.flat_map(|(_, row)| row.slots.iter().map(move |slot| format!("{}.{}", row.name, slot.name)));
    let slots: Vec<String> = slots.collect();
    (!slots.is_empty()).then(|| dice.pick(&slots).clone())
}

/// The nodes that lead to one slot of a join only, and those that lead to any slot after the paths have
/// parted.
fn leads_to(table: &Table, join: usize) -> Vec<String> {
    let join = &table.nodes[join];
    let slots: Vec<_> = join.slots.iter().map(|slot| before(table, &join.name, &slot.sources, false)).collect();
    let parted = join.slots.iter().flat_map(|slot| before(table, &join.name, &slot.sources, true));
    let mut found: BTreeSet<String> = parted.collect();
    for name in slots.iter().flatten() {
        if slots.iter().filter(|slot| slot.contains(name)).count() == 1 {
            found.insert(name.clone());
        }
    }
    found.into_iter().collect()
}

/// The nodes from which a token comes to these `sources` without passing the join; or a fork either.
fn before(table: &Table, join: &str, sources: &[String], no_forks: bool) -> BTreeSet<String> {
    let (mut found, mut open) = (BTreeSet::new(), sources.to_vec());
    while let Some(name) = open.pop() {
        let parts = no_forks && table.node(&name).is_none_or(|row| row.fork.is_some());
        if name == join || parts || !found.insert(name.clone()) {
            continue;
        }
        let leads = |target: &Target| target.node == name;
        open.extend(table.nodes.iter().filter(|row| row.targets().any(leads)).map(|row| row.name.clone()));
    }
    found
}
