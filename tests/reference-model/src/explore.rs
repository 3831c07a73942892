//! All states of a table, one by one, and which rules its runs break.

use crate::cycles;
use crate::rules::{Budgets, Move, Outcome, Rules, Set, Starts, State};
use crate::writers;
use hashbrown::HashTable;
use interlocking_core::table::{NodeKind, Table, Visits};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::ops::Range;

/// A broken rule, as far as two ways of finding it must agree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Broken {
    /// A place gets a second token.
    DoubleToken {
        /// The node that sends it.
        from: String,
        /// The place.
        place: String,
    },
    /// The run ends while others are at work, or wait.
    LiveAtExit {
        /// The node that ends it.
        from: String,
    },
    /// The joins that wait for ever: one is starved, several are deadlocked.
    Stuck {
        /// By name.
        joins: BTreeSet<String>,
    },
    /// The nodes that may change one workspace at once.
    SharedWorkspace {
        /// By name.
        nodes: BTreeSet<String>,
    },
    /// Rule 11: a cycle that nothing bounds.
    UnboundedCycle,
    /// A handler starts in no run.
    NeverRuns {
        /// Whose.
        node: String,
    },
    /// No run comes to its end.
    ExitUnreachable,
    /// From some state no run comes to its end.
    NoWayOut,
}

impl Broken {
    /// Whether it is about where tokens are, so that nothing is said of how the run would go on.
    pub fn ends_the_run(&self) -> bool {
        matches!(self, Self::DoubleToken { .. } | Self::LiveAtExit { .. } | Self::Stuck { .. })
    }

    /// Whether a way leads there. To who works beside the graph none does.
    pub fn has_way(&self) -> bool {
        self.ends_the_run() || matches!(self, Self::SharedWorkspace { .. })
    }
}

/// What exploring a table found.
#[derive(Debug)]
pub struct Explored {
    /// How many there are.
    pub states: usize,
    /// The rules that are broken, with the fewest node executions that lead there (0 where there is no path).
    pub broken: BTreeMap<Broken, u32>,
    /// Whether some run never ends.
    pub endless: bool,
}

/// Explores `table`; `None` where it has more than `limit` states.
pub fn explore(table: &Table, budgets: Budgets, limit: usize) -> Option<Explored> {
    let mut explored = explore_until(table, budgets, limit, false)?;
    if cycles::is_unbounded(table) {
        explored.broken.insert(Broken::UnboundedCycle, 0);
    }
    Some(explored)
}

/// Whether no rule is broken; `None` where there is no knowing within `limit` states.
pub fn is_sound(table: &Table, limit: usize) -> Option<bool> {
    if cycles::is_unbounded(table) {
        return Some(false);
    }
    Some(explore_until(table, Budgets::OneBit, limit, true)?.broken.is_empty())
}

/// Explores `table`, all of it or until a rule is `broken`; cycles without a budget aside.
fn explore_until(table: &Table, budgets: Budgets, limit: usize, broken: bool) -> Option<Explored> {
    let rules = Rules::new(table, budgets, Starts::Any);
    let graph = Graph::until(&rules, limit, broken)?;
    // Rule 12: where everything is bounded, every run ends.
    let is_unbounded = table.nodes.iter().any(|row| row.visits == Some(Visits::Unbounded));
    let mut broken = minimal(graph.broken(&rules));
    if broken.keys().any(Broken::ends_the_run) {
        broken.retain(|rule, _| rule.ends_the_run());
    } else {
        broken.extend(writers::beside(table).into_iter().map(|nodes| (Broken::SharedWorkspace { nodes }, 0)));
        broken.extend(never_runs(table, &graph.handled).into_iter().map(|node| (Broken::NeverRuns { node }, 0)));
        if !graph.exits {
            // That says all: there is no way out from anywhere.
            broken.insert(Broken::ExitUnreachable, 0);
        } else if is_unbounded && graph.has_no_way_out() {
            broken.insert(Broken::NoWayOut, 0);
        }
    }
    Some(Explored { states: graph.states.len(), broken, endless: graph.is_cyclic() })
}

/// Every state that runs come to, and the moves between them.
#[derive(Default)]
pub struct Graph {
    /// By number; a run begins in the first.
    pub states: Vec<State>,
    /// By state: where its moves are among all.
    moves: Vec<Range<usize>>,
    edges: Vec<(Move, usize)>,
    /// The states in which a run may end as it should.
    ends: Vec<usize>,
    exits: bool,
    /// The nodes whose handler starts in some run.
    handled: Set,
    broken: BTreeMap<Breach, u32>,
}

/// A broken rule of tokens or workspaces, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Breach {
    DoubleToken { from: usize, place: usize },
    LiveAtExit { from: usize },
    Stuck { joins: Set },
    SharedWorkspace { nodes: (usize, usize) },
}

impl Graph {
    /// Breadth first by node executions: neither a start nor a message that leaves the run as it is is a step.
    pub fn of(rules: &Rules, limit: usize) -> Option<Self> {
        Self::until(rules, limit, false)
    }

    /// The same, or what there is of it when the first rule is `broken`.
    fn until(rules: &Rules, limit: usize, broken: bool) -> Option<Self> {
        let mut graph = Self::default();
        let mut known = Known::default();
        let mut steps = vec![0_u32];
        let mut done = vec![false];
        let mut queue = VecDeque::from([0]);
        let mut moves = Vec::new();
        known.find_or_add(rules.start(), &mut graph.states);
        graph.moves.push(0..0);
        while let Some(at) = queue.pop_front() {
            if std::mem::replace(&mut done[at], true) {
                continue;
            }
            let state = graph.states[at].clone();
            let so_far = steps[at];
            if rules.is_stuck(&state) {
                let joins = rules.half_filled(&state).into_iter().fold(0, |joins, node| joins | 1 << node);
                graph.breaks(Breach::Stuck { joins }, so_far);
                continue;
            }
            for &(one, other) in &rules.apart {
                if rules.is_at_work(&state, one) && rules.is_at_work(&state, other) {
                    graph.breaks(Breach::SharedWorkspace { nodes: (one, other) }, so_far);
                }
            }
            let first = graph.edges.len();
            rules.list_moves(&state, &mut moves);
            for step in moves.drain(..) {
                let costs = u32::from(!matches!(step, Move::Start { .. } | Move::Resume { .. }));
                if let Move::Start { node, exhausted: false }
                | Move::Resume { node }
                | Move::Redirect { node, .. }
                | Move::Spent { node, .. } = step
                {
                    graph.handled |= 1 << node;
                }
                let next = match rules.apply(&state, step) {
                    Outcome::Next(next) => next,
                    Outcome::Exit => {
                        graph.exits = true;
                        graph.ends.push(at);
                        continue;
                    }
                    Outcome::Failed => {
                        graph.ends.push(at);
                        continue;
                    }
                    Outcome::DoubleToken { from, place } => {
                        graph.breaks(Breach::DoubleToken { from, place }, so_far + costs);
                        continue;
                    }
                    Outcome::LiveAtExit { from, .. } => {
                        graph.breaks(Breach::LiveAtExit { from }, so_far + costs);
                        continue;
                    }
                };
                let to = known.find_or_add(next, &mut graph.states);
                if to == steps.len() {
                    graph.moves.push(0..0);
                    steps.push(u32::MAX);
                    done.push(false);
                }
                graph.edges.push((step, to));
                if so_far + costs < steps[to] {
                    steps[to] = so_far + costs;
                    if costs == 0 { queue.push_front(to) } else { queue.push_back(to) }
                }
            }
            graph.moves[at] = first..graph.edges.len();
            if broken && !graph.broken.is_empty() {
                break;
            }
            if graph.states.len() > limit {
                return None;
            }
        }
        Some(graph)
    }

    /// The moves from a state, and where they lead.
    pub fn edges(&self, at: usize) -> &[(Move, usize)] {
        &self.edges[self.moves[at].clone()]
    }

    fn breaks(&mut self, rule: Breach, steps: u32) {
        let least = self.broken.entry(rule).or_insert(steps);
        *least = steps.min(*least);
    }

    /// The broken rules by name.
    fn broken(&self, rules: &Rules) -> BTreeMap<Broken, u32> {
        let name = |node: usize| rules.nodes[node].name.clone();
        let named = |rule: Breach| match rule {
            Breach::DoubleToken { from, place } => {
                Broken::DoubleToken { from: name(from), place: rules.place_name(place).to_owned() }
            }
            Breach::LiveAtExit { from } => Broken::LiveAtExit { from: name(from) },
            Breach::Stuck { joins } => Broken::Stuck {
                joins: (0..rules.nodes.len()).filter(|node| joins >> node & 1 == 1).map(name).collect(),
            },
            Breach::SharedWorkspace { nodes: (one, other) } => {
                Broken::SharedWorkspace { nodes: [one, other].map(name).into() }
            }
        };
        self.broken.iter().map(|(&rule, &steps)| (named(rule), steps)).collect()
    }

    /// Whether from some state no end can be reached. A message may be the end of a run that would go on for ever, though
    /// never the rescue of one that is stuck.
    fn has_no_way_out(&self) -> bool {
        let mut before = vec![Vec::new(); self.states.len()];
        for at in 0..self.states.len() {
            for &(_, to) in self.edges(at) {
                before[to].push(at);
            }
        }
        let mut ends = vec![false; self.states.len()];
        let mut todo = self.ends.clone();
        while let Some(at) = todo.pop() {
            if !std::mem::replace(&mut ends[at], true) {
                todo.extend(&before[at]);
            }
        }
        ends.contains(&false)
    }

    /// Whether a run can go on for ever, other than by messages that leave it as it is.
    pub fn is_cyclic(&self) -> bool {
        let moved = |(step, _): &&(Move, usize)| !matches!(step, Move::Resume { .. });
        let mut entries = vec![0; self.states.len()];
        for &(_, to) in self.edges.iter().filter(moved) {
            entries[to] += 1;
        }
        let mut todo: Vec<usize> = (0..entries.len()).filter(|&at| entries[at] == 0).collect();
        let mut left = entries.len();
        while let Some(at) = todo.pop() {
            left -= 1;
            for &(_, to) in self.edges(at).iter().filter(moved) {
                entries[to] -= 1;
                todo.extend((entries[to] == 0).then_some(to));
            }
        }
        left > 0
    }
}

/// Without the sets of joins that contain another.
fn minimal(broken: BTreeMap<Broken, u32>) -> BTreeMap<Broken, u32> {
    let sets: Vec<BTreeSet<String>> = broken
        .keys()
        .filter_map(|rule| if let Broken::Stuck { joins } = rule { Some(joins.clone()) } else { None })
        .collect();
    let contains_another = |joins: &BTreeSet<String>| sets.iter().any(|other| other != joins && other.is_subset(joins));
    let mut broken = broken;
    broken.retain(|rule, _| !matches!(rule, Broken::Stuck { joins } if contains_another(joins)));
    broken
}

/// The nodes whose handler starts in no run. Who waits for messages or watches is not waited for.
fn never_runs(table: &Table, handled: &Set) -> Vec<String> {
    let runs =
        |name: &str| table.nodes.iter().position(|row| row.name == name).is_some_and(|at| handled >> at & 1 == 1);
    let never = table.nodes.iter().filter(|row| match row.kind {
        NodeKind::Event | NodeKind::Observer => false,
        NodeKind::Advisory => !table.nodes.iter().any(|other| other.spawn.contains(&row.name) && runs(&other.name)),
        _ => !runs(&row.name),
    });
    never.map(|row| row.name.clone()).collect()
}

/// Where each state stands among all, found by its hash.
#[derive(Default)]
struct Known(HashTable<u32>);

impl Known {
    /// Where `state` stands among `states`; at their end if it is new.
    fn find_or_add(&mut self, state: State, states: &mut Vec<State>) -> usize {
        let hash = |state: &State| Hashes::default().hash_one(state);
        let entry = self.0.entry(hash(&state), |&at| states[at as usize] == state, |&at| hash(&states[at as usize]));
        let at = *entry.or_insert(states.len() as u32).get() as usize;
        if at == states.len() {
            states.push(state);
        }
        at
    }
}

/// The hashes of states.
pub type Hashes = BuildHasherDefault<Quick>;

/// A hash that is quick on a few words, also in debug builds.
#[derive(Default)]
pub struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_u128(&mut self, words: u128) {
        self.write_u64(words as u64 ^ ((words >> 64) as u64).rotate_left(32));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
