//! What a run may do next, by a direct implementation of the rules of runs: no net, no frontier, no reductions. This file has all
//! rules of how tokens move, so that they can be compared with the specification in one reading.
//!
//! The start of an execution and its end are separate steps, in any order. Sets of places and nodes are bit sets so that ten
//! thousand tables take only seconds. A table may have up to 126 places, 16 bounded nodes and 16 bounded edges.

use crate::names::Resolve;
use crate::writers;
use interlocking_core::table::{NodeKind, NodeRow, Quorum, Table, Visits};

/// The number of the exit, after the table's own places.
pub const EXIT: usize = 127;

/// A set of places or of nodes, as bits.
pub type Set = u128;

/// How budgets are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budgets {
    /// Only whether a node was entered, or an edge taken, before: if so, the next entry or the edge may be exhausted or not. A
    /// retry may always be exhausted.
    OneBit,
    /// The exact count, as in a run.
    Concrete,
}

/// The order in which nodes that have their input start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// Any order.
    Any,
    /// The order of the frontier.
    InTurn,
}

/// A table whose nodes and places have numbers in place of names.
pub struct Rules {
    /// The nodes in table order: a node's number is its position here.
    pub nodes: Vec<Node>,
    /// The names of the places: a place's number is its position here.
    pub places: Vec<String>,
    optional: Set,
    /// By place: the node that takes its token.
    consumers: Vec<usize>,
    latched: Set,
    /// The nodes that wait for a person or for children while they run: meanwhile, messages are handled.
    waiting: Set,
    entry: usize,
    budgets: Budgets,
    starts: Starts,
    /// The pairs of nodes that must not work at the same time.
    pub apart: Vec<(usize, usize)>,
}

/// A node, with its ways by number.
pub struct Node {
    /// As in the table.
    pub name: String,
    /// As in the table.
    pub kind: NodeKind,
    /// The places from which the node takes tokens.
    pub places: Set,
    /// Gotos in table order, then the fork with each choice of its branches, then the routes of a timeout and of a failure.
    pub ways: Vec<Way>,
    /// The route of the node beyond a bound.
    pub exhausted: Option<Way>,
    resume: bool,
    /// How many slots must have a value, and which places the join clears when it fires.
    quorum: Option<(u32, Set)>,
    visits: Option<Bound>,
    attempts: Option<Bound>,
}

/// A budget and the counter that it uses.
#[derive(Clone, Copy)]
pub struct Bound {
    limit: u64,
    counter: u32,
}

/// A way on: one effect that the end of an execution can have.
#[derive(Clone)]
pub struct Way {
    /// The places that get a token.
    pub tokens: Vec<usize>,
    /// The slots that it fills with a token that does not count for a quorum.
    pub blank: Set,
    /// The places that it empties.
    pub clears: Set,
    /// Its position among the row's alternatives.
    pub alternative: usize,
    /// Whether it is a fork, which may bring several tokens.
    pub fork: bool,
    /// The budget of an edge.
    pub times: Option<Bound>,
    /// The route that is taken once the budget is spent.
    pub instead: Option<Box<Self>>,
    /// Set if the way is taken when an execution takes too long, or fails: any execution may.
    pub failing: Option<Failing>,
}

/// Why a run takes a way without the handler's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    /// An execution takes too long.
    TimedOut,
    /// An execution fails.
    Failed,
}

/// The state of one run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Places with a waiting token.
    pub queued: Set,
    /// Places whose token a running node holds.
    pub held: Set,
    /// Places whose token does not count for a quorum.
    blank: Set,
    /// Latched slots with a remembered value.
    pub remembered: Set,
    /// The running nodes.
    pub running: Set,
    /// The running nodes that are beyond a bound.
    pub exhausted: Set,
    /// Nodes whose waiting token came from themselves, on an edge that `attempts` bounds.
    again: Set,
    visits: u64,
    attempts: u64,
    /// How often edges with a budget were taken, four bits each.
    taken: u64,
    /// The nodes that are due, first to last, if their order matters: four bits each, the node's number plus one.
    turn: u64,
}

/// A step that a run can take next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A node that has its input starts.
    Start {
        /// The node.
        node: usize,
        /// Whether it is beyond a bound.
        exhausted: bool,
    },
    /// An execution ends.
    End {
        /// The node.
        node: usize,
        /// The index of the way that it takes.
        way: usize,
    },
    /// An execution beyond a bound ends, by its exhausted route or by failing.
    EndExhausted {
        /// The node.
        node: usize,
    },
    /// A node, or the handler of a message, chooses a spent edge.
    Spent {
        /// The node.
        node: usize,
        /// The index of the way.
        way: usize,
    },
    /// An event that leaves the run as it is.
    Resume {
        /// The node.
        node: usize,
    },
    /// An event that moves the run elsewhere.
    Redirect {
        /// The node.
        node: usize,
        /// The index of the way.
        way: usize,
    },
    /// An event beyond its bound fails or redirects the run.
    Overrun {
        /// The node.
        node: usize,
    },
}

/// The result of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The run goes on from this state.
    Next(State),
    /// The run ends properly.
    Exit,
    /// A budget without a route is exhausted: the run ends with a failure.
    Failed,
    /// A place gets a second token.
    DoubleToken {
        /// The node that sends the second token.
        from: usize,
        /// The place.
        place: usize,
    },
    /// The run ends while other nodes work or wait.
    LiveAtExit {
        /// The node that ends the run.
        from: usize,
        /// The places that still have a token.
        live: Set,
    },
}

impl Rules {
    /// The rules of a table.
    pub fn new(table: &Table, budgets: Budgets, starts: Starts) -> Self {
        let mut places = Vec::new();
        let (mut latched, mut optional, mut entry) = (0, 0, 0);
        let mut owned = Vec::new();
        let mut consumers = Vec::new();
        for (node, row) in table.nodes.iter().enumerate() {
            let first = places.len();
            match row.kind {
                NodeKind::Join => {
                    for slot in &row.slots {
                        latched |= Set::from(slot.latched) << places.len();
                        optional |= Set::from(slot.optional) << places.len();
                        places.push(format!("{}.{}", row.name, slot.name));
                    }
                }
                NodeKind::Advisory | NodeKind::Observer | NodeKind::Event => {}
                _ => places.push(row.name.clone()),
            }
            if row.entry {
                entry = first;
            }
            consumers.resize(places.len(), node);
            owned.push((first..places.len()).fold(0, |set, place| set | 1 << place));
        }
        assert!(places.len() < EXIT && table.nodes.len() <= 128, "too large for these bit sets");
        let resolve = Resolve { table, places: &places };
        let (mut visits, mut attempts, mut edges) = (0, 0, 0);
        let nodes = table
            .nodes
            .iter()
            .zip(&owned)
            .map(|(row, &places)| Node {
                name: row.name.clone(),
                kind: row.kind,
                places,
                ways: budgeted(&resolve, row, budgets, &mut edges),
                exhausted: row
                    .exhausted
                    .as_ref()
                    .map(|goto| resolve.route(row, goto, row.goto.len() + usize::from(row.fork.is_some()))),
                resume: row.may_stay(),
                quorum: row.quorum.filter(|_| row.kind == NodeKind::Join).map(|quorum| match quorum {
                    Quorum::AtLeast(values) => (values, resolve.region(&row.cancels) & !places),
                    Quorum::Enough => unreachable!("a join's quorum is a number"),
                }),
                visits: match row.visits {
                    Some(Visits::AtMost(limit)) => Some(bound(limit, budgets, &mut visits)),
                    _ => None,
                },
                attempts: row.attempts.map(|limit| bound(limit, budgets, &mut attempts)),
            })
            .collect();
        assert!(visits.max(attempts).max(edges) <= 16, "too many bounded nodes or edges");
        let waits = |row: &NodeRow| {
            matches!(row.kind, NodeKind::Map | NodeKind::Graph | NodeKind::Human) && row.exclusive.is_none()
        };
        let waiting = (0..).zip(&table.nodes).filter(|(_, row)| waits(row)).fold(0, |set, (node, _)| set | 1 << node);
        Self {
            nodes,
            places,
            optional,
            consumers,
            latched,
            waiting,
            entry,
            budgets,
            starts,
            apart: writers::apart(table),
        }
    }

    /// The first state of a run.
    pub fn start(&self) -> State {
        let mut state = State {
            queued: 0,
            held: 0,
            blank: 0,
            remembered: 0,
            running: 0,
            exhausted: 0,
            again: 0,
            visits: 0,
            attempts: 0,
            taken: 0,
            turn: 0,
        };
        self.put(&mut state, None, self.entry);
        state
    }

    /// All possible moves; events last.
    pub fn moves(&self, state: &State) -> Vec<Move> {
        let mut moves = Vec::new();
        self.list_moves(state, &mut moves);
        moves
    }

    /// Appends the same to `moves`.
    pub fn list_moves(&self, state: &State, moves: &mut Vec<Move>) {
        for (node, row) in self.nodes.iter().enumerate() {
            if self.may_start(state, node) {
                let (handled, exhausted) = self.entries(state, node);
                moves.extend(handled.then_some(Move::Start { node, exhausted: false }));
                moves.extend(exhausted.then_some(Move::Start { node, exhausted: true }));
            }
            if state.exhausted >> node & 1 == 1 {
                moves.push(Move::EndExhausted { node });
            } else if state.running >> node & 1 == 1 {
                for way in 0..row.ways.len() {
                    let (taken, spent) = self.choices(state, &row.ways[way]);
                    moves.extend(taken.then_some(Move::End { node, way }));
                    moves.extend(spent.then_some(Move::Spent { node, way }));
                }
            }
        }
        // A message is handled once nothing runs except nodes that wait for others. (A node beyond a bound only leaves by its
        // route.)
        for (node, row) in self.nodes.iter().enumerate().filter(|(_, row)| row.kind == NodeKind::Event) {
            if self.busy(state) != 0 {
                break;
            }
            let (handled, exhausted) = self.entries(state, node);
            // A redirect from places without tokens leaves the run as it is.
            let holds = |way: &Way| way.clears & state.marking() != 0;
            if handled {
                let mut stays = row.resume;
                for (way, edge) in row.ways.iter().enumerate() {
                    let (taken, spent) = self.choices(state, edge);
                    let instead = edge.instead.as_deref();
                    let leads_on = instead.is_none_or(holds);
                    stays |= (taken && !holds(edge)) || (spent && !leads_on);
                    moves.extend((taken && holds(edge)).then_some(Move::Redirect { node, way }));
                    moves.extend((spent && leads_on).then_some(Move::Spent { node, way }));
                }
                moves.extend(stays.then_some(Move::Resume { node }));
            }
            let stays = row.exhausted.as_ref().is_some_and(|way| !holds(way));
            moves.extend(exhausted.then_some(if stays { Move::Resume { node } } else { Move::Overrun { node } }));
        }
    }

    /// Whether only events can move the run.
    pub fn is_stuck(&self, state: &State) -> bool {
        (0..self.nodes.len()).all(|node| state.running >> node & 1 == 0 && !self.is_due(state, node))
    }

    /// The running nodes that keep messages waiting.
    pub fn busy(&self, state: &State) -> Set {
        state.running & !self.waiting | state.exhausted
    }

    /// Whether a node's handler is at work.
    pub fn is_at_work(&self, state: &State, node: usize) -> bool {
        (state.running & !state.exhausted) >> node & 1 == 1
    }

    /// The joins that hold a token and wait for another.
    pub fn half_filled(&self, state: &State) -> Vec<usize> {
        let waits = |node: &usize| {
            let row = &self.nodes[*node];
            row.kind == NodeKind::Join && row.places & state.marking() != 0 && state.running >> node & 1 == 0
        };
        (0..self.nodes.len()).filter(|node| waits(node) && !self.is_due(state, *node)).collect()
    }

    /// The result of a move.
    #[inline]
    pub fn apply(&self, state: &State, step: Move) -> Outcome {
        let mut next = state.clone();
        match step {
            Move::Start { node, exhausted } => {
                let row = &self.nodes[node];
                if exhausted && row.exhausted.is_none() {
                    return Outcome::Failed;
                }
                self.count(&mut next, node);
                next.held |= next.queued & row.places;
                next.remembered |= next.queued & row.places & self.latched;
                next.queued &= !row.places;
                next.running |= 1 << node;
                next.exhausted |= Set::from(exhausted) << node;
                self.leave_turn(&mut next);
                Outcome::Next(next)
            }
            Move::End { node, way } => {
                let way = &self.nodes[node].ways[way];
                self.count_taken(&mut next, way);
                self.end(next, node, way)
            }
            Move::Spent { node, way } => {
                let is_event = self.nodes[node].kind == NodeKind::Event;
                let Some(instead) = &self.nodes[node].ways[way].instead else { return Outcome::Failed };
                if !is_event {
                    return self.end(next, node, instead);
                }
                self.count(&mut next, node);
                self.send(next, node, instead)
            }
            Move::EndExhausted { node } => {
                let way = self.nodes[node].exhausted.as_ref().expect("it would have failed at its start");
                self.end(next, node, way)
            }
            Move::Resume { node } => {
                self.count(&mut next, node);
                Outcome::Next(next)
            }
            Move::Redirect { node, way } => {
                let way = &self.nodes[node].ways[way];
                self.count_taken(&mut next, way);
                self.count(&mut next, node);
                self.send(next, node, way)
            }
            Move::Overrun { node } => {
                self.count(&mut next, node);
                match &self.nodes[node].exhausted {
                    Some(way) => self.send(next, node, way),
                    None => Outcome::Failed,
                }
            }
        }
    }

    /// The node that is due first.
    pub fn first_due(state: &State) -> Option<usize> {
        (state.turn & 15).checked_sub(1).map(|node| node as usize)
    }

    /// Whether a place is an optional slot.
    pub fn is_optional(&self, place: &str) -> bool {
        self.places.iter().position(|name| name == place).is_some_and(|place| self.optional >> place & 1 == 1)
    }

    /// The name of a place: a node, or a slot of a join.
    pub fn place_name(&self, place: usize) -> &str {
        if place == EXIT { "exit" } else { &self.places[place] }
    }

    /// The names of several places.
    pub fn names(&self, places: Set) -> Vec<&str> {
        (0..self.places.len()).filter(|place| places >> place & 1 == 1).map(|place| self.place_name(place)).collect()
    }

    fn is_due(&self, state: &State, node: usize) -> bool {
        let row = &self.nodes[node];
        let has_value = state.queued | state.remembered;
        state.running >> node & 1 == 0 && row.places & state.queued != 0 && row.places & !has_value == 0
    }

    fn may_start(&self, state: &State, node: usize) -> bool {
        match self.starts {
            Starts::Any => self.is_due(state, node),
            Starts::InTurn => Self::first_due(state) == Some(node),
        }
    }

    /// Whether the next entry may be within bounds, and whether it may be beyond.
    pub fn entries(&self, state: &State, node: usize) -> (bool, bool) {
        let again = state.again >> node & 1 == 1;
        let row = &self.nodes[node];
        let (bound, counts) = if again { (row.attempts, state.attempts) } else { (row.visits, state.visits) };
        let Some(bound) = bound else { return (true, false) };
        let before = counts >> bound.counter & 15;
        match self.budgets {
            Budgets::OneBit => (true, again || before > 0),
            Budgets::Concrete => (before < bound.limit, before >= bound.limit),
        }
    }

    /// Whether a way may be taken, and whether it may be spent.
    pub fn choices(&self, state: &State, way: &Way) -> (bool, bool) {
        let Some(times) = way.times else { return (true, false) };
        let before = state.taken >> times.counter & 15;
        match self.budgets {
            Budgets::OneBit => (true, before > 0),
            Budgets::Concrete => (before < times.limit, before >= times.limit),
        }
    }

    /// Counts that a way is taken, up to the number that matters.
    fn count_taken(&self, state: &mut State, way: &Way) {
        if let Some(times) = way.times
            && (self.budgets == Budgets::Concrete || state.taken >> times.counter & 15 == 0)
        {
            state.taken += 1 << times.counter;
        }
    }

    /// Counts an entry, up to the number that matters.
    fn count(&self, state: &mut State, node: usize) {
        let row = &self.nodes[node];
        let most = |bound: Bound| if self.budgets == Budgets::OneBit { 1 } else { bound.limit + 1 };
        let add = |counts: &mut u64, bound: Bound| {
            if *counts >> bound.counter & 15 < most(bound) {
                *counts += 1 << bound.counter;
            }
        };
        if state.again >> node & 1 == 1 {
            if let Some(bound) = row.attempts.filter(|_| self.budgets == Budgets::Concrete) {
                add(&mut state.attempts, bound);
            }
        } else {
            if let Some(bound) = row.visits {
                add(&mut state.visits, bound);
            }
            if let Some(bound) = row.attempts.filter(|_| self.budgets == Budgets::Concrete) {
                state.attempts &= !(15 << bound.counter);
                state.attempts |= 1 << bound.counter;
            }
        }
        state.again &= !(1 << node);
    }

    #[inline]
    fn end(&self, mut state: State, node: usize, way: &Way) -> Outcome {
        state.held &= !self.nodes[node].places;
        state.running &= !(1 << node);
        state.exhausted &= !(1 << node);
        self.send(state, node, way)
    }

    /// Clears the way's region, then sends its tokens, that of the exit last.
    #[inline]
    fn send(&self, mut state: State, from: usize, way: &Way) -> Outcome {
        self.clear(&mut state, way.clears);
        for &place in way.tokens.iter().filter(|&&place| place != EXIT) {
            if state.marking() >> place & 1 == 1 {
                return Outcome::DoubleToken { from, place };
            }
            state.blank |= way.blank & 1 << place;
            self.put(&mut state, Some(from), place);
        }
        match way.tokens.iter().filter(|&&place| place == EXIT).count() {
            0 => {
                self.fire_quorums(&mut state, way);
                Outcome::Next(state)
            }
            _ if state.marking() != 0 => Outcome::LiveAtExit { from, live: state.marking() },
            1 => Outcome::Exit,
            _ => Outcome::DoubleToken { from, place: EXIT },
        }
    }

    /// Fires, after all tokens of a way, the joins that have their quorum or whose slots are all filled: from then on each holds
    /// all of its slots, and its region is cleared.
    fn fire_quorums(&self, state: &mut State, way: &Way) {
        for (node, row) in self.nodes.iter().enumerate() {
            let Some((values, clears)) = row.quorum else { continue };
            let filled = row.places & state.queued;
            let is_enough = (filled & !state.blank).count_ones() >= values || filled == row.places;
            if is_enough && way.tokens.iter().any(|&place| place != EXIT && row.places >> place & 1 == 1) {
                self.clear(state, clears);
                state.queued |= row.places;
                state.blank &= !row.places;
                self.take_turn(state, node);
            }
        }
    }

    /// Takes all tokens out of a region, and stops the nodes that run with them.
    fn clear(&self, state: &mut State, clears: Set) {
        for (node, row) in self.nodes.iter().enumerate() {
            if row.places & clears != 0 {
                // The tokens of a stopped node wait again, unless they are cleared too.
                state.queued |= state.held & row.places;
                state.held &= !row.places;
                state.running &= !(1 << node);
                state.exhausted &= !(1 << node);
                state.again &= !(1 << node);
            }
        }
        state.queued &= !clears;
        state.remembered &= !clears;
        state.blank &= !clears;
        self.leave_turn(state);
    }

    fn put(&self, state: &mut State, from: Option<usize>, place: usize) {
        state.queued |= 1 << place;
        let node = self.consumers[place];
        if from == Some(node) && self.nodes[node].attempts.is_some() {
            state.again |= 1 << node;
        }
        if self.nodes[node].quorum.is_none() {
            self.take_turn(state, node);
        }
    }

    fn take_turn(&self, state: &mut State, node: usize) {
        if self.starts == Starts::InTurn && self.is_due(state, node) {
            let mut turn = turns(state.turn);
            if !turn.contains(&node) {
                turn.push(node);
            }
            state.turn = packed(&turn);
        }
    }

    fn leave_turn(&self, state: &mut State) {
        if self.starts == Starts::InTurn {
            let mut turn = turns(state.turn);
            turn.retain(|&node| self.is_due(state, node));
            state.turn = packed(&turn);
        }
    }
}

impl State {
    /// The places that hold a token.
    pub fn marking(&self) -> Set {
        self.queued | self.held
    }
}

/// The ways of a row's node. A way with a budget includes its route; `edges` counts the edges that have a budget.
fn budgeted(resolve: &Resolve<'_>, row: &NodeRow, budgets: Budgets, edges: &mut u32) -> Vec<Way> {
    let mut ways = resolve.ways(row);
    // After the gotos come the fork and the routes of the node itself.
    let own = [&row.exhausted, &row.timed_out, &row.failed].into_iter().flatten().count();
    let mut route = row.goto.len() + usize::from(row.fork.is_some()) + own;
    for (goto, way) in row.goto.iter().zip(&mut ways) {
        let Some(times) = goto.times else { continue };
        way.times = Some(bound(times, budgets, edges));
        way.instead = goto.exhausted.as_ref().map(|goto| Box::new(resolve.route(row, goto, route)));
        route += usize::from(goto.exhausted.is_some());
    }
    // The variants that send nothing to an optional slot come last.
    let (gotos, rest) = ways.split_at_mut(row.goto.len());
    for way in rest.iter_mut().filter(|way| !way.fork && way.alternative < gotos.len()) {
        (way.times, way.instead) = (gotos[way.alternative].times, gotos[way.alternative].instead.clone());
    }
    ways
}

/// A budget with the next of the counters, of which `counters` are in use.
fn bound(limit: u32, budgets: Budgets, counters: &mut u32) -> Bound {
    assert!(budgets == Budgets::OneBit || limit < 15, "a counter has four bits");
    *counters += 1;
    Bound { limit: limit.into(), counter: 4 * (*counters - 1) }
}

fn turns(mut turn: u64) -> Vec<usize> {
    let mut nodes = Vec::new();
    while turn != 0 {
        nodes.push((turn & 15) as usize - 1);
        turn >>= 4;
    }
    nodes
}

fn packed(turn: &[usize]) -> u64 {
    assert!(turn.iter().all(|&node| node < 15), "too large for turns of four bits");
    turn.iter().rev().fold(0, |packed, &node| packed << 4 | (node as u64 + 1))
}
