//! Tables whose edges have budgets, instead of those of nodes or in addition to them.

use crate::generate::{self, Dice};
use crate::mutate;
use interlocking_core::net::Net;
use interlocking_core::table::{Goto, NodeKind, Table, Visits};

/// The largest number of edges with a budget for which the brute force has counters.
pub const EDGES: usize = 16;

/// The table of `seed`: one of the common generator, with budgets on edges.
pub fn budgeted(seed: u64) -> Table {
    let mut dice = Dice::new(seed ^ 0xed6e);
    loop {
        let mut table = generate::table(dice.below(1 << 40) as u64);
        let edges = give_budgets(&mut dice, &mut table);
        if (1..=EDGES).contains(&edges) && Net::new(table.clone()).is_ok() {
            return table;
        }
    }
}

/// Gives budgets to edges, mostly to those that lead back; returns their number.
pub fn give_budgets(dice: &mut Dice, table: &mut Table) -> usize {
    let targets = mutate::all_targets(table);
    let names: Vec<String> = table.nodes.iter().map(|row| row.name.clone()).collect();
    let mut edges = 0;
    for at in 0..table.nodes.len() {
        let row = &mut table.nodes[at];
        let (own, tries, is_event) = (row.name.clone(), row.attempts.is_some(), row.kind == NodeKind::Event);
        for goto in row.goto.iter_mut().filter(|goto| !(goto.to.is_exit() || tries && goto.to.node == own)) {
            let back = names.iter().position(|name| *name == goto.to.node).is_some_and(|to| to <= at);
            if !dice.percent(if back { 70 } else { 15 }) {
                continue;
            }
            edges += 1;
            goto.times = Some(1 + dice.below(3) as u32);
            let region = |dice: &mut Dice| match dice.below(10) {
                0..5 => vec!["*".to_owned()],
                5..7 => vec![dice.pick(&names).clone()],
                _ if is_event => vec!["*".to_owned()],
                _ => Vec::new(),
            };
            goto.exhausted = match dice.below(10) {
                0..3 => None,
                3..6 => Some(Goto::new("exit", &["*"])),
                6 => Some(Goto::of("exit".into(), region(dice))),
                7 => Some(Goto::of(goto.to.clone(), region(dice))),
                _ => Some(Goto::of(dice.pick(&targets).clone(), region(dice))),
            }
            .map(Box::new);
        }
        // Often the edge's budget is the only budget.
        if row.goto.iter().any(|goto| goto.times.is_some()) && row.visits != Some(Visits::Unbounded) && dice.percent(70)
        {
            row.visits = None;
            row.exhausted = row.exhausted.take().filter(|_| tries);
        }
        mutate::name_sources(table, at);
    }
    edges
}
