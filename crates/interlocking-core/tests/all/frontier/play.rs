//! A run under the control of the test: nodes start in the order in which they are due, and end when the
//! test says so.

use interlocking_core::frontier::{Execution, Frontier, Input, Payload, Violation};
use interlocking_core::net::{AlternativeIndex, Net, PlaceIndex};
use interlocking_core::route::Step;
use interlocking_core::table::{Goto, NodeKind, NodeRow, Table};

/// A token: its place, the node that sent it, and the visit of that node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    place: PlaceIndex,
    kept: bool,
    /// Whether the token says that there is no value.
    nothing: bool,
    value: String,
}

impl Payload for Token {
    fn place(&self) -> PlaceIndex {
        self.place
    }

    fn is_value(&self) -> bool {
        !self.nothing
    }

    fn copy(&self) -> Option<Self> {
        self.kept.then(|| self.clone())
    }
}

/// A run and its executions in flight.
#[derive(Debug)]
pub(crate) struct Play<'n> {
    net: &'n Net,
    pub(crate) frontier: Frontier<'n, Token>,
    flight: Vec<Execution>,
}

pub(crate) fn logic(name: &str) -> NodeRow {
    NodeRow::new(name, NodeKind::Logic)
}

/// A join whose slots take one source each; `!` before a source latches its slot.
pub(crate) fn join(name: &str, slots: &[(&str, &str)]) -> NodeRow {
    slots.iter().fold(NodeRow::new(name, NodeKind::Join), |row, (slot, source)| {
        row.slot(slot, "T", &[source.trim_start_matches('!')], source.starts_with('!'))
    })
}

/// A net whose first node is the entry; nodes without targets go to the exit.
pub(crate) fn net<const NODES: usize>(nodes: [NodeRow; NODES]) -> Net {
    let mut table = Table::new("Test", "T");
    table.nodes = nodes.into();
    table.nodes[0].entry = true;
    let is_beside = |row: &NodeRow| matches!(row.kind, NodeKind::Advisory | NodeKind::Observer | NodeKind::Event);
    for row in table.nodes.iter_mut().filter(|row| !is_beside(row) && row.goto.is_empty() && row.fork.is_none()) {
        row.goto.push(Goto::new("exit", &[]));
    }
    name_sources(&mut table);
    Net::new(table).unwrap()
}

/// Adds every node to the sources of the slots among its targets.
fn name_sources(table: &mut Table) {
    let targets = |row: &NodeRow| row.targets().map(|target| (row.name.clone(), target.clone())).collect::<Vec<_>>();
    for (source, target) in table.nodes.iter().flat_map(targets).collect::<Vec<_>>() {
        let join = table.nodes.iter_mut().find(|row| row.name == target.node);
        let slot = join.and_then(|row| row.slots.iter_mut().find(|slot| Some(&slot.name) == target.slot.as_ref()));
        if let Some(slot) = slot.filter(|slot| !slot.sources.contains(&source)) {
            slot.sources.push(source);
        }
    }
}

impl<'n> Play<'n> {
    /// A run with a token at its entry in which no node has started.
    pub(crate) fn new(net: &'n Net) -> Self {
        let entry =
            Token { place: net.entry(), kept: net.place(net.entry()).kept, nothing: false, value: "start".into() };
        Self { net, frontier: Frontier::new(net, entry), flight: Vec::new() }
    }

    /// Starts all nodes that are due; gives each with its input: the values, their senders and the senders'
    /// visits.
    pub(crate) fn start(&mut self) -> String {
        let mut started = Vec::new();
        while self.frontier.has_due() {
            started.push(self.start_one());
        }
        started.join(" ")
    }

    /// Starts the node that has been due longest.
    pub(crate) fn start_one(&mut self) -> String {
        let due = self.frontier.next_due().unwrap();
        let input: Vec<String> = match due.input {
            Input::One(token) => vec![token.value],
            Input::Slots(tokens) => tokens.into_iter().map(|token| token.value).collect(),
        };
        let bound = due.exhausted.map(|limit| format!("!{limit}").replace(' ', "")).unwrap_or_default();
        self.flight.push(due.execution);
        format!("{}({}){bound}", self.label(due.execution), input.join(", "))
    }

    /// The execution of `node` that is in flight.
    pub(crate) fn execution(&self, node: &str) -> Execution {
        let found = self.flight.iter().rev().find(|execution| self.net.name(execution.node) == node);
        *found.unwrap_or_else(|| panic!("`{node}` is not in flight"))
    }

    /// Ends `node` with the alternative that leads to `target`; gives the executions that this cancels.
    pub(crate) fn goto(&mut self, node: &str, target: &str) -> Result<String, Violation> {
        let row = self.net.row(self.execution(node).node);
        let nth = row.goto.iter().position(|goto| goto.to.to_string() == target);
        let nth = nth.unwrap_or_else(|| panic!("`{node}` has no goto to `{target}`"));
        let alternative = self.alternative(node, nth);
        let place = self.net.alternatives()[usize::from(alternative)].branches[0][0];
        self.end(node, Step::One(alternative, self.token(node, place)))
    }

    /// Ends `node` with a token without a value for its slot of `pick`.
    pub(crate) fn nothing(&mut self, node: &str) -> Result<String, Violation> {
        let token = self.token_in(node, &format!("pick.{node}"));
        self.end(node, Step::One(self.alternative(node, 0), Token { nothing: true, ..token }))
    }

    /// Ends `node` with its fork; each branch has one place.
    pub(crate) fn fork(&mut self, node: &str, places: &[&str]) -> Result<String, Violation> {
        let fork = self.alternative(node, self.net.row(self.execution(node).node).goto.len());
        let tokens = places.iter().map(|place| self.token(node, self.net.place_named(place).unwrap())).collect();
        self.end(node, Step::All(fork, tokens))
    }

    /// Ends `node` along its exhausted route.
    pub(crate) fn exhausted(&mut self, node: &str) -> Result<String, Violation> {
        let alternative = self.net.node(self.execution(node).node).exhausted.unwrap();
        let place = self.net.alternatives()[usize::from(alternative)].branches[0][0];
        self.end(node, Step::One(alternative, self.token(node, place)))
    }

    /// Ends `node` along the exhausted route of its edge to `target`.
    pub(crate) fn instead_of(&mut self, node: &str, target: &str) -> Result<String, Violation> {
        let row = self.net.row(self.execution(node).node);
        let edge = self.alternative(node, row.goto.iter().position(|goto| goto.to.to_string() == target).unwrap());
        let route = self.net.alternative(edge).unwrap().times.unwrap().exhausted.unwrap();
        let place = self.net.alternatives()[usize::from(route)].branches[0][0];
        self.end(node, Step::One(route, self.token(node, place)))
    }

    /// How often the edge from `node` to `target` has been taken; `None` where it has no budget.
    pub(crate) fn taken(&self, node: &str, target: &str) -> Option<u32> {
        let row = self.net.table().node(node).unwrap();
        self.frontier.taken(self.alternative(node, row.goto.iter().position(|goto| goto.to.to_string() == target)?))
    }

    /// Ends `node` with any step.
    pub(crate) fn end(&mut self, node: &str, step: Step<Token>) -> Result<String, Violation> {
        let execution = self.execution(node);
        let completed = self.frontier.complete(execution, step)?;
        self.flight.retain(|other| *other != execution && !completed.cancelled.contains(other));
        Ok(completed.cancelled.into_iter().map(|other| self.label(other)).collect::<Vec<_>>().join(" "))
    }

    /// The index of a node's alternative by its position in the row: gotos, fork, exhausted route.
    pub(crate) fn alternative(&self, node: &str, nth: usize) -> AlternativeIndex {
        let node = self.net.node_named(node).unwrap();
        self.net.node(node).alternatives.start + AlternativeIndex::try_from(nth).unwrap()
    }

    /// A token from `node` in `place`.
    pub(crate) fn token(&self, node: &str, place: PlaceIndex) -> Token {
        Token { place, kept: self.net.place(place).kept, nothing: false, value: self.label(self.execution(node)) }
    }

    /// A token from `node` in the place with this name.
    pub(crate) fn token_in(&self, node: &str, place: &str) -> Token {
        self.token(node, self.net.place_named(place).unwrap())
    }

    /// The places that hold a token.
    pub(crate) fn marking(&self) -> String {
        let names: Vec<_> = self.frontier.marking().map(|place| self.net.places()[place].name.as_str()).collect();
        names.join(" ")
    }

    /// The sender of the exit's token, if the run has ended.
    pub(crate) fn exit(&mut self) -> Option<String> {
        self.frontier.take_exit().map(|token| token.value)
    }

    /// `node`, `node#visit` or `node#visit/attempt`; a visit or attempt of 1 is left out.
    pub(crate) fn label(&self, execution: Execution) -> String {
        let name = self.net.name(execution.node);
        match (execution.visit, execution.attempt) {
            (1, 1) => name.into(),
            (visit, 1) => format!("{name}#{visit}"),
            (visit, attempt) => format!("{name}#{visit}/{attempt}"),
        }
    }
}

pub(crate) fn double_token(from: &str, place: &str) -> Violation {
    Violation::DoubleToken { from: from.into(), place: place.into() }
}

pub(crate) fn live_at_exit(from: &str, live: &[&str]) -> Violation {
    Violation::LiveAtExit { from: from.into(), live: live.iter().map(|&name| name.into()).collect() }
}
