//! Resolves the names of a table.

use crate::rules::{EXIT, Failing, Set, Way};
use interlocking_core::table::{Goto, NodeKind, NodeRow, Table, Target};

/// Resolves names to nodes and places of a table.
pub(crate) struct Resolve<'t> {
    pub(crate) table: &'t Table,
    pub(crate) places: &'t [String],
}

impl Resolve<'_> {
    pub(crate) fn ways(&self, row: &NodeRow) -> Vec<Way> {
        let mut ways: Vec<Way> =
            (0..).zip(&row.goto).map(|(alternative, goto)| self.way(row, goto, alternative)).collect();
        if let Some(fork) = &row.fork {
            let mut choices: Vec<(Vec<usize>, Set)> = vec![(Vec::new(), 0)];
            for branch in &fork.branches {
                let targets = branch.iter().flat_map(|target| {
                    let place = self.place(&row.name, target);
                    self.blanks(place, branch.len() > 1).into_iter().map(move |blank| (place, blank))
                });
                let targets: Vec<(usize, Set)> = targets.collect();
                choices = choices
                    .iter()
                    .flat_map(|(before, others)| {
                        targets.iter().map(move |(place, blank)| ([&before[..], &[*place]].concat(), others | blank))
                    })
                    .collect();
            }
            ways.extend(choices.into_iter().map(|(tokens, blank)| Way {
                tokens,
                blank,
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
        ways.extend((before..).zip(routes).map(|(alternative, (goto, failing))| Way {
            failing: Some(failing),
            ..self.route(row, goto, alternative)
        }));
        for (alternative, goto) in (0..).zip(&row.goto) {
            let blank = self.nothing(self.place(&row.name, &goto.to));
            ways.extend((blank != 0).then(|| Way { blank, ..self.way(row, goto, alternative) }));
        }
        ways
    }

    /// The place as a set of slots without a value if it is an optional slot, otherwise the empty set.
    fn nothing(&self, place: usize) -> Set {
        let name = self.places.get(place).and_then(|name| name.split_once('.'));
        let is_optional = name.is_some_and(|(join, slot)| {
            let row = self.table.node(join).expect("a known node");
            row.slots.iter().any(|found| found.name == slot && found.optional)
        });
        if is_optional { 1 << place } else { 0 }
    }

    /// The possible sets of slots to which a branch sends no value that counts. A token of a branch that chooses among
    /// targets never counts.
    fn blanks(&self, place: usize, chooses: bool) -> Vec<Set> {
        match self.nothing(place) {
            _ if chooses && place != EXIT => vec![1 << place],
            0 => vec![0],
            nothing => vec![0, nothing],
        }
    }

    /// The way of a route that a run takes without the handler's choice: to an optional slot it sends no value.
    pub(crate) fn route(&self, row: &NodeRow, goto: &Goto, alternative: usize) -> Way {
        let way = self.way(row, goto, alternative);
        Way { blank: self.nothing(way.tokens[0]), ..way }
    }

    pub(crate) fn way(&self, row: &NodeRow, goto: &Goto, alternative: usize) -> Way {
        let (tokens, clears) = (vec![self.place(&row.name, &goto.to)], self.region(&goto.cancels));
        Way { tokens, blank: 0, clears, alternative, fork: false, times: None, instead: None, failing: None }
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
