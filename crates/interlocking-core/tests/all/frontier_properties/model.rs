//! A naive model of the rules of runs: names for places, linear searches, no code shared with the frontier.

use interlocking_core::table::{Goto, NodeKind, NodeRow, Quorum, Table, Target, Visits};
use std::collections::{BTreeMap, BTreeSet};

/// A way on, written out: the place of each token, by name, and what is cleared first.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    /// The position of the goto, if it has a budget.
    pub(crate) budgeted: Option<usize>,
    pub(crate) tokens: Vec<(String, u32)>,
    /// The places of branches that choose among targets.
    pub(crate) chosen: Vec<String>,
    pub(crate) cancels: Vec<String>,
}

/// A violation, in the detail that the model distinguishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    DoubleToken { place: String },
    LiveAtExit { live: BTreeSet<String> },
}

/// A node that starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Started {
    pub(crate) node: String,
    pub(crate) visit: u32,
    pub(crate) attempt: u32,
    pub(crate) exhausted: bool,
    pub(crate) inputs: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    visit: u32,
    attempt: u32,
    from_itself: bool,
}

/// The state of one run; values are serial numbers.
#[derive(Clone, Debug)]
pub(crate) struct Model<'t> {
    table: &'t Table,
    /// The waiting tokens, by place.
    queued: BTreeMap<String, u32>,
    /// The tokens that running nodes hold, by node and place.
    held: BTreeMap<String, BTreeMap<String, u32>>,
    /// The values that latched slots remember.
    remembered: BTreeMap<String, u32>,
    /// The slots whose token does not count for a quorum.
    blank: BTreeSet<String>,
    /// The joins that have reached their quorum and have not ended.
    fired: BTreeSet<String>,
    due: Vec<String>,
    counts: BTreeMap<String, Counts>,
    /// By node and position of the goto: how often a budgeted edge was taken.
    taken: BTreeMap<(String, usize), u32>,
    pub(crate) exit: Option<u32>,
}

impl<'t> Model<'t> {
    pub(crate) fn new(table: &'t Table, entry: u32) -> Self {
        let mut model = Self {
            table,
            queued: BTreeMap::new(),
            held: BTreeMap::new(),
            remembered: BTreeMap::new(),
            blank: BTreeSet::new(),
            fired: BTreeSet::new(),
            due: Vec::new(),
            counts: BTreeMap::new(),
            taken: BTreeMap::new(),
            exit: None,
        };
        let name = &table.entry().unwrap().name;
        model.queued.insert(name.clone(), entry);
        model.find_due(None);
        model
    }

    pub(crate) fn marking(&self) -> BTreeSet<String> {
        let all = self.fired.iter().flat_map(|join| places_of(self.table.node(join).unwrap()));
        self.queued.keys().chain(self.held.values().flat_map(BTreeMap::keys)).cloned().chain(all).collect()
    }

    pub(crate) fn running(&self) -> Vec<String> {
        self.held.keys().cloned().collect()
    }

    pub(crate) fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    pub(crate) fn start(&mut self) -> Option<Started> {
        if self.due.is_empty() {
            return None;
        }
        let node = self.due.remove(0);
        let row = self.table.node(&node).unwrap();
        let counts = self.counts.entry(node.clone()).or_default();
        let exhausted = if counts.from_itself && row.attempts.is_some() {
            counts.attempt += 1;
            row.attempts.is_some_and(|limit| counts.attempt > limit)
        } else {
            counts.visit += 1;
            counts.attempt = 1;
            matches!(row.visits, Some(Visits::AtMost(limit)) if counts.visit > limit)
        };
        let (visit, attempt) = (counts.visit, counts.attempt);
        let mut held = BTreeMap::new();
        let mut inputs = Vec::new();
        for place in places_of(row) {
            if let Some(value) = self.queued.remove(&place) {
                held.insert(place.clone(), value);
                if is_latched(self.table, &place) {
                    self.remembered.insert(place.clone(), value);
                }
                inputs.push(value);
            } else if row.quorum.is_none() {
                inputs.push(self.remembered[&place]);
            }
            self.blank.remove(&place);
        }
        // Inserted even if the node holds no token: the key says that the node runs.
        self.held.insert(node.clone(), held);
        Some(Started { node, visit, attempt, exhausted, inputs })
    }

    /// Ends a running node; gives the nodes that this stops.
    pub(crate) fn end(&mut self, node: &str, way: &Way) -> Result<BTreeSet<String>, Wrong> {
        self.held.remove(node).unwrap();
        if let Some(nth) = way.budgeted {
            *self.taken.entry((node.to_owned(), nth)).or_default() += 1;
        }
        self.fired.remove(node);
        let mut stopped = self.clear(&way.cancels, None);
        self.find_due(Some(node));
        let (exits, others): (Vec<_>, Vec<_>) = way.tokens.iter().partition(|(place, _)| place == "exit");
        for (place, value) in others {
            if self.marking().contains(place) {
                return Err(Wrong::DoubleToken { place: place.clone() });
            }
            self.queued.insert(place.clone(), *value);
            if way.chosen.contains(place) || (is_optional(self.table, place) && is_nothing(*value)) {
                self.blank.insert(place.clone());
            }
            self.find_due(Some(node));
        }
        for (place, value) in exits {
            if !self.marking().is_empty() {
                return Err(Wrong::LiveAtExit { live: self.marking() });
            }
            if self.exit.is_some() {
                return Err(Wrong::DoubleToken { place: place.clone() });
            }
            self.exit = Some(*value);
        }
        for join in self.table.nodes.iter().filter(|row| row.quorum.is_some()) {
            let Some(Quorum::AtLeast(enough)) = join.quorum else { continue };
            let places = places_of(join);
            let filled = || places.iter().filter(|place| self.queued.contains_key(*place));
            let values = filled().filter(|place| !self.blank.contains(*place)).count();
            if !self.fired.contains(&join.name) && (values >= enough as usize || filled().count() == places.len()) {
                self.fired.insert(join.name.clone());
                stopped.extend(self.clear(&join.cancels, Some(&join.name)));
                self.find_due(Some(node));
            }
        }
        Ok(stopped)
    }

    /// Clears a region, except for one node; gives the nodes that this stops.
    fn clear(&mut self, cancels: &[String], but: Option<&str>) -> BTreeSet<String> {
        let mut stopped = BTreeSet::new();
        for row in self.table.nodes.iter().filter(|row| but != Some(&row.name)) {
            let places = places_of(row);
            let hit = |place: &String| cancels.iter().any(|name| name == "*" || *name == row.name || name == place);
            if !places.iter().any(hit) {
                continue;
            }
            self.fired.remove(&row.name);
            if let Some(held) = self.held.remove(&row.name) {
                stopped.insert(row.name.clone());
                self.queued.extend(held);
            }
            for place in places.iter().filter(|place| hit(place)) {
                self.queued.remove(place);
                self.remembered.remove(place);
                self.blank.remove(place);
            }
        }
        stopped
    }

    /// Whether a join has reached its quorum, possibly with empty slots, and has not ended.
    pub(crate) fn has_fired(&self, node: &str) -> bool {
        self.fired.contains(node)
    }

    /// Places of joins that hold a token, with the others of the same joins, split by whether they have a value.
    pub(crate) fn deadlock(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let marked = self.marking();
        let joins = self.table.nodes.iter().filter(|row| places_of(row).iter().any(|place| marked.contains(place)));
        joins.flat_map(places_of).partition(|place| self.has_value(place))
    }

    /// Whether an edge has been taken as often as it may be.
    pub(crate) fn is_spent(&self, node: &str, nth: usize) -> bool {
        let times = self.table.node(node).unwrap().goto[nth].times;
        times.is_some_and(|times| self.taken.get(&(node.to_owned(), nth)).is_some_and(|taken| *taken >= times))
    }

    /// All ways on from `node`: the alternative's position in the row, and its effect. A spent edge is replaced by its route, or
    /// left out if it has none.
    pub(crate) fn ways(&self, node: &str, serial: u32) -> Vec<(usize, bool, Way)> {
        let row = self.table.node(node).unwrap();
        let mut ways = Vec::new();
        let way = |goto: &Goto, budgeted| {
            let tokens = vec![(place_of(self.table, node, &goto.to), serial)];
            Way { tokens, chosen: Vec::new(), cancels: goto.cancels.clone(), budgeted }
        };
        // After the gotos come the fork, the exhausted route, and the routes of edges.
        let last = row.goto.len() + usize::from(row.fork.is_some());
        let mut routes = last + usize::from(row.exhausted.is_some());
        for (nth, goto) in row.goto.iter().enumerate() {
            let route = goto.exhausted.as_deref().map(|route| (routes, false, way(route, None)));
            routes += usize::from(route.is_some());
            if self.is_spent(node, nth) {
                ways.extend(route);
            } else {
                ways.push((nth, false, way(goto, goto.times.map(|_| nth))));
            }
        }
        ways.extend(row.exhausted.iter().map(|goto| (last, false, way(goto, None))));
        if let Some(fork) = &row.fork {
            let mut choices: Vec<Vec<(String, u32)>> = vec![Vec::new()];
            for (branch, targets) in (0..).zip(&fork.branches) {
                choices = targets
                    .iter()
                    .flat_map(|target| {
                        let token = (place_of(self.table, node, target), serial + branch);
                        choices.iter().map(move |before| [before.clone(), vec![token.clone()]].concat())
                    })
                    .collect();
            }
            let way = |tokens: Vec<(String, u32)>| {
                let chosen = tokens.iter().zip(&fork.branches).filter(|(_, targets)| targets.len() > 1);
                let chosen = chosen.map(|((place, _), _)| place.clone()).collect();
                (row.goto.len(), true, Way { tokens, chosen, cancels: fork.cancels.clone(), budgeted: None })
            };
            ways.extend(choices.into_iter().map(way));
        }
        ways
    }

    fn has_value(&self, place: &str) -> bool {
        let held = self.held.values().any(|held| held.contains_key(place));
        self.queued.contains_key(place) || self.remembered.contains_key(place) && !held
    }

    /// Updates the list of due nodes: nodes that are not due are removed, new ones are appended.
    fn find_due(&mut self, from: Option<&str>) {
        let enabled = |model: &Self, row: &NodeRow| {
            let places = places_of(row);
            let has_input = if row.quorum.is_some() {
                model.fired.contains(&row.name)
            } else {
                places.iter().all(|place| model.has_value(place))
            };
            !model.held.contains_key(&row.name)
                && places.iter().any(|place| model.queued.contains_key(place))
                && has_input
        };
        let now: Vec<String> =
            self.table.nodes.iter().filter(|row| enabled(self, row)).map(|row| row.name.clone()).collect();
        self.due.retain(|name| now.contains(name));
        for name in now {
            if !self.due.contains(&name) {
                self.counts.entry(name.clone()).or_default().from_itself = from == Some(&name);
                self.due.push(name);
            }
        }
    }
}

fn places_of(row: &NodeRow) -> Vec<String> {
    match row.kind {
        NodeKind::Join => row.slots.iter().map(|slot| format!("{}.{}", row.name, slot.name)).collect(),
        _ => vec![row.name.clone()],
    }
}

/// Whether this value means no value for an optional slot.
pub(crate) fn is_nothing(value: u32) -> bool {
    !value.is_multiple_of(3)
}

fn is_optional(table: &Table, place: &str) -> bool {
    let Some((join, slot)) = place.split_once('.') else { return false };
    table.node(join).unwrap().slots.iter().any(|found| found.name == slot && found.optional)
}

fn is_latched(table: &Table, place: &str) -> bool {
    let Some((join, slot)) = place.split_once('.') else { return false };
    table.node(join).unwrap().slots.iter().any(|found| found.name == slot && found.latched)
}

/// The place of a target for a token from `node`.
fn place_of(table: &Table, node: &str, target: &Target) -> String {
    let row = table.node(&target.node);
    match row.filter(|row| row.kind == NodeKind::Join && target.slot.is_none()) {
        None => target.to_string(),
        Some(join) => {
            let slot = join.slots.iter().find(|slot| slot.sources.iter().any(|source| source == node)).unwrap();
            format!("{}.{}", join.name, slot.name)
        }
    }
}
