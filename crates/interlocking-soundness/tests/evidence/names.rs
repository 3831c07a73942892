//! The names of a table, looked up one by one.

use crate::brute::{EXIT, Set, Way};
use interlocking_core::table::{NodeKind, NodeRow, Table, Target};

/// What the names of a table stand for.
pub(crate) struct Resolve<'t> {
    pub(crate) table: &'t Table,
    pub(crate) places: &'t [String],
}

impl Resolve<'_> {
    pub(crate) fn ways(&self, row: &NodeRow) -> Vec<Way> {
        let mut ways: Vec<Way> = (0..)
            .zip(&row.goto)
            .map(|(alternative, goto)| Way {
                tokens: vec![self.place(&row.name, &goto.to)],
                clears: self.region(&goto.cancels),
                alternative,
                fork: false,
            })
            .collect();
        if let Some(fork) = &row.fork {
            let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
            for branch in &fork.branches {
                choices = choices
                    .iter()
                    .flat_map(|before| {
                        branch.iter().map(|target| [&before[..], &[self.place(&row.name, target)]].concat())
                    })
                    .collect();
            }
            ways.extend(choices.into_iter().map(|tokens| Way {
                tokens,
                clears: self.region(&fork.cancels),
                alternative: row.goto.len(),
                fork: true,
            }));
        }
        ways
    }

    pub(crate) fn place(&self, source: &str, target: &Target) -> usize {
        if target.node == "exit" {
            return EXIT;
        }
        let row = self.table.node(&target.node).expect("a known node");
        let name = match (&target.slot, row.kind) {
            (None, NodeKind::Join) => {
                let slot = row.slots.iter().find(|slot| slot.sources.iter().any(|name| name == source));
                format!("{}.{}", row.name, slot.expect("a slot for that source").name)
            }
            _ => target.to_string(),
        };
        self.places.iter().position(|place| *place == name).expect("a known place")
    }

    pub(crate) fn region(&self, names: &[String]) -> Set {
        let hit = |place: &str| {
            let node = place.split('.').next();
            names.iter().any(|name| name == "*" || name == place || Some(name.as_str()) == node)
        };
        (0..self.places.len()).filter(|&place| hit(&self.places[place])).fold(0, |set, place| set | 1 << place)
    }
}
