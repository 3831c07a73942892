//! Enumerates all states of a table and the rules that its runs break.

use crate::cycles;
use crate::rules::{Budgets, Move, Outcome, Rules, Set, Starts, State};
use crate::writers;
use hashbrown::HashTable;
use interlocking_core::table::{NodeKind, Table, Visits};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::ops::Range;

/// A broken rule, in the detail in which the brute force and the check must agree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Broken {
    /// A place gets a second token.
    DoubleToken {
        /// The node that sends the second token.
        from: String,
        /// The place.
        place: String,
    },
    /// The run ends while other nodes work or wait.
    LiveAtExit {
        /// The node that ends the run.
        from: String,
    },
    /// The joins that wait for ever: a single join is starved, several are deadlocked.
    Stuck {
        /// The names of the joins.
        joins: BTreeSet<String>,
    },
    /// The nodes that may change one workspace at the same time.
    SharedWorkspace {
        /// The names of the nodes.
        nodes: BTreeSet<String>,
    },
    /// Rule 11: no budget bounds some cycle.
    UnboundedCycle,
    /// A node's handler starts in no run.
    NeverRuns {
        /// The name of the node.
        node: String,
    },
    /// No run reaches the exit.
    ExitUnreachable,
    /// From some state, no run reaches its end.
    NoWayOut,
}

impl Broken {
    /// Whether the rule is about the places of tokens. Then nothing is reported about how the run would go on.
    pub fn ends_the_run(&self) -> bool {
        matches!(self, Self::DoubleToken { .. } | Self::LiveAtExit { .. } | Self::Stuck { .. })
    }

    /// Whether a path leads to the broken rule. There is none to a node that works beside the graph.
    pub fn has_way(&self) -> bool {
        self.ends_the_run() || matches!(self, Self::SharedWorkspace { .. })
    }
}

/// The result of exploring a table.
#[derive(Debug)]
pub struct Explored {
    /// The number of states.
    pub states: usize,
    /// The broken rules, each with the smallest number of node executions that leads to it (0 where there is no path).
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

/// Whether no rule is broken; `None` if `limit` states do not decide it.
pub fn is_sound(table: &Table, limit: usize) -> Option<bool> {
    if cycles::is_unbounded(table) {
        return Some(false);
    }
    Some(explore_until(table, Budgets::OneBit, limit, true)?.broken.is_empty())
}

/// Explores `table`, either completely or until a rule is `broken`, except for rule 11 (cycles without a budget).
fn explore_until(table: &Table, budgets: Budgets, limit: usize, broken: bool) -> Option<Explored> {
    let rules = Rules::new(table, budgets, Starts::Any);
    let graph = Graph::until(&rules, limit, broken)?;
    // Rule 12: if everything is bounded, every run ends.
    let is_unbounded = table.nodes.iter().any(|row| row.visits == Some(Visits::Unbounded));
    let mut broken = minimal(graph.broken(&rules));
    if broken.keys().any(Broken::ends_the_run) {
        broken.retain(|rule, _| rule.ends_the_run());
    } else {
        broken.extend(writers::beside(table).into_iter().map(|nodes| (Broken::SharedWorkspace { nodes }, 0)));
        broken.extend(never_runs(table, &graph.handled).into_iter().map(|node| (Broken::NeverRuns { node }, 0)));
        if !graph.exits {
            // This implies that no state has a way out.
            broken.insert(Broken::ExitUnreachable, 0);
        } else if is_unbounded && graph.has_no_way_out() {
            broken.insert(Broken::NoWayOut, 0);
        }
    }
    Some(Explored { states: graph.states.len(), broken, endless: graph.is_cyclic() })
}

/// Every reachable state, and the moves between states.
#[derive(Default)]
pub struct Graph {
    /// The states by number; a run begins in the first.
    pub states: Vec<State>,
    /// The range of each state's moves in `edges`.
    moves: Vec<Range<usize>>,
    edges: Vec<(Move, usize)>,
    /// The states in which a run may end properly.
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
    /// Explores breadth first by node executions: a start, or a message that leaves the run as it is, does not count as a
    /// step.
    pub fn of(rules: &Rules, limit: usize) -> Option<Self> {
        Self::until(rules, limit, false)
    }

    /// The same; if `broken`, stops at the first broken rule and gives the graph so far.
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

    /// The moves from a state, each with the state that it leads to.
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

    /// Whether some state has no path to an end. A message may end a run that would otherwise go on for ever, but it
    /// never rescues a run that is stuck.
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

/// Removes the sets of joins that contain another set.
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

/// The nodes whose handler starts in no run. Events and observers are left out.
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

/// The index of each state in the list of all, found by hash.
#[derive(Default)]
struct Known(HashTable<u32>);

impl Known {
    /// The index of `state` in `states`; a new state is appended.
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

/// A hash function that is fast on a few words, also in debug builds.
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
