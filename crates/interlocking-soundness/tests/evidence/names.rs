//! The names of a table, looked up one by one.

use crate::brute::{EXIT, Failing, Set, Way};
use interlocking_core::table::{Goto, NodeKind, NodeRow, Table, Target};

/// What the names of a table stand for.
pub(crate) struct Resolve<'t> {
    pub(crate) table: &'t Table,
    pub(crate) places: &'t [String],
}

impl Resolve<'_> {
    pub(crate) fn ways(&self, row: &NodeRow) -> Vec<Way> {
        let mut ways: Vec<Way> =
            (0..).zip(&row.goto).map(|(alternative, goto)| self.way(row, goto, alternative)).collect();
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
                times: None,
                instead: None,
                failing: None,
            }));
        }
        let before = row.goto.len() + usize::from(row.fork.is_some()) + usize::from(row.exhausted.is_some());
        let routes = [(&row.timed_out, Failing::TimedOut), (&row.failed, Failing::Failed)];
        let routes = routes.into_iter().filter_map(|(route, failing)| Some((route.as_ref()?, failing)));
        ways.extend(
            (before..).zip(routes).map(|(alternative, (goto, failing))| Way {
                failing: Some(failing),
                ..self.way(row, goto, alternative)
            }),
        );
        ways
    }

    pub(crate) fn way(&self, row: &NodeRow, goto: &Goto, alternative: usize) -> Way {
        let (tokens, clears) = (vec![self.place(&row.name, &goto.to)], self.region(&goto.cancels));
        Way { tokens, clears, alternative, fork: false, times: None, instead: None, failing: None }
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
