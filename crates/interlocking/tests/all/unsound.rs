//! Graphs that break a rule of runs: the run reports the rule, and ends. Their tables are written by hand, as in an
//! engine that gets its tables from elsewhere; the derive refuses such graphs.

use crate::support::{failed, pass, timed};
use interlocking::context::Entered;
use interlocking::failure::FailureKind;
use interlocking::frontier::{Limit, Payload, Violation};
use interlocking::graph::{Done, Graph, MemoryVisitor, Token};
use interlocking::net::{Net, NodeIndex, PlaceIndex};
use interlocking::route::Step;
use interlocking::runtime::MemoryJournal;
use interlocking::runtime::journal::Entry;
use interlocking::table::Table;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use std::sync::{Arc, OnceLock};

/// A number in a place.
struct Number {
    place: PlaceIndex,
    value: u64,
}

impl Payload for Number {
    fn place(&self) -> PlaceIndex {
        self.place
    }

    fn copy(&self) -> Option<Self> {
        Some(Self { ..*self })
    }
}

impl Token for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }

    fn deserialize<'de, D: Deserializer<'de>>(place: PlaceIndex, deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { place, value: u64::deserialize(deserializer)? })
    }
}

/// A type for each table, so that each is a graph.
trait Broken: Send + Sync + 'static {
    /// The table's nodes, as JSON.
    fn nodes() -> serde_json::Value;

    /// The cell that keeps the net.
    fn cell() -> &'static OnceLock<Net>;

    /// The places, by name, to which `node` sends tokens, several for a fork; and how many milliseconds it waits first.
    fn sends(node: &str) -> (u64, &'static [&'static str]);
}

struct ByHand<B>(B);

impl<B: Broken> Graph for ByHand<B> {
    type Entry = u64;
    type Output = u64;
    type Token = Number;
    const NODES: usize = 0;
    const EDGES: usize = 0;

    fn net() -> &'static Net {
        B::cell().get_or_init(|| {
            let table = json!({ "graph": "ByHand", "output": "u64", "nodes": B::nodes() });
            Net::new(serde_json::from_value::<Table>(table).expect("a table")).expect("a net")
        })
    }

    fn enter(entry: u64) -> Number {
        Number { place: Self::net().entry(), value: entry }
    }

    fn leave(token: Number) -> Option<u64> {
        (token.place == Self::net().exit()).then_some(token.value)
    }

    fn join(_: NodeIndex, slots: Vec<Number>) -> Option<Number> {
        let place = slots.first()?.place;
        Some(Number { place, value: slots.iter().map(|slot| slot.value).sum() })
    }

    fn exhausted(_: NodeIndex, _: Limit, _: Number) -> Option<Step<Number>> {
        None
    }

    async fn step<'run>(&'run self, input: Number, entered: Entered<'run, Self>) -> Done<Self> {
        let net = Self::net();
        let node = entered.execution.node;
        let (milliseconds, targets) = B::sends(net.name(node));
        pass(milliseconds).await;
        let places: Vec<_> = targets.iter().filter_map(|name| net.place_named(name)).collect();
        // The alternative with these places, or any if there is none.
        let mut range = net.node(node).alternatives.clone();
        let fits = |&index: &u16| {
            let branches = &net.alternatives()[usize::from(index)].branches;
            branches.len() == places.len() && branches.iter().zip(&places).all(|(branch, place)| branch.contains(place))
        };
        let alternative = range.clone().find(fits).or_else(|| range.next()).unwrap_or_default();
        let mut tokens = places.iter().map(|&place| Number { place, value: input.value });
        let step = match tokens.len() {
            1 => Step::One(alternative, tokens.next().expect("one token")),
            _ => Step::All(alternative, tokens.collect()),
        };
        Done { route: Ok(step), effects: Default::default() }
    }

    fn visit_memory<V: MemoryVisitor>(_: u16, _: V) -> Option<V::Output> {
        None
    }
}

macro_rules! broken {
    ($name:ident, $nodes:tt, { $($node:literal => $milliseconds:literal $targets:expr),* $(,)? }) => {
        struct $name;
        impl Broken for $name {
            fn nodes() -> serde_json::Value {
                json!($nodes)
            }
            fn cell() -> &'static OnceLock<Net> {
                static NET: OnceLock<Net> = OnceLock::new();
                &NET
            }
            fn sends(node: &str) -> (u64, &'static [&'static str]) {
                match node {
                    $($node => ($milliseconds, &$targets),)*
                    _ => (0, &[]),
                }
            }
        }
    };
}

broken!(EndsEarly, [
    { "name": "split", "kind": "fork", "entry": true, "input": "u64", "fork": { "branches": [["quick"], ["slow"]] } },
    { "name": "quick", "kind": "logic", "input": "u64", "goto": [{ "to": "exit" }] },
    { "name": "slow", "kind": "logic", "input": "u64", "goto": [{ "to": "exit" }] },
], { "split" => 0 ["quick", "slow"], "quick" => 1 ["exit"], "slow" => 9 ["exit"] });

broken!(Starved, [
    { "name": "split", "kind": "fork", "entry": true, "input": "u64", "fork": { "branches": [["left"], ["right"]] } },
    { "name": "left", "kind": "logic", "input": "u64", "goto": [{ "to": "gate" }] },
    { "name": "right", "kind": "logic", "input": "u64", "goto": [{ "to": "gate" }] },
    { "name": "gate", "kind": "join", "slots": [
        { "name": "left", "type": "u64", "sources": ["left"] },
        { "name": "right", "type": "u64", "sources": ["right"] },
    ], "goto": [{ "to": "left" }, { "to": "exit" }] },
], { "split" => 0 ["left", "right"], "left" => 0 ["gate.left"], "right" => 0 ["gate.right"], "gate" => 0 ["left"] });

broken!(Doubled, [
    { "name": "split", "kind": "fork", "entry": true, "input": "u64", "fork": { "branches": [["left"], ["right"]] } },
    { "name": "left", "kind": "logic", "input": "u64", "goto": [{ "to": "end" }] },
    { "name": "right", "kind": "logic", "input": "u64", "goto": [{ "to": "end" }] },
    { "name": "end", "kind": "logic", "input": "u64", "goto": [{ "to": "exit" }] },
], { "split" => 0 ["left", "right"], "left" => 1 ["end"], "right" => 2 ["end"], "end" => 5 ["exit"] });

broken!(Astray, [
    { "name": "begin", "kind": "logic", "entry": true, "input": "u64", "goto": [{ "to": "exit" }] },
    { "name": "end", "kind": "logic", "input": "u64", "goto": [{ "to": "exit" }] },
], { "begin" => 0 ["end"] });

async fn failure_of<B: Broken>(graph: B) -> interlocking::failure::Failure {
    let journal = Arc::new(MemoryJournal::new());
    let report = timed(ByHand(graph)).with_journal(journal.clone()).start(1).await.unwrap();
    let run = report.run.clone();
    let failure = failed(report);
    let ended = Entry::Ended { failure: Some(failure.clone()), cancelled: false, output: None };
    assert_eq!(journal.records(&run).last().unwrap().entry, ended);
    failure
}

#[tokio::test(start_paused = true)]
async fn going_to_exit_while_a_branch_is_live_is_no_end() {
    let failure = failure_of(EndsEarly).await;
    let violation = Violation::LiveAtExit { from: "quick".into(), live: vec!["slow".into()] };
    assert_eq!(failure.kind, FailureKind::Unsound(violation));
    assert_eq!(failure.to_string(), "node `quick` failed: `quick` went to exit while work is left at `slow`");
}

#[tokio::test(start_paused = true)]
async fn a_join_that_nothing_will_complete_is_a_deadlock_and_not_a_hang() {
    let failure = failure_of(Starved).await;
    let (filled, missing) = (vec!["gate.left".to_owned()], vec!["gate.right".to_owned()]);
    assert_eq!(failure.kind, FailureKind::Unsound(Violation::Deadlock { filled, missing }));
    assert_eq!(failure.message, "nothing can run: `gate.left` has a value, but nothing will fill `gate.right`");
}

#[tokio::test(start_paused = true)]
async fn a_second_token_in_one_place_is_refused() {
    let failure = failure_of(Doubled).await;
    let violation = Violation::DoubleToken { from: "right".into(), place: "end".into() };
    assert_eq!(failure.kind, FailureKind::Unsound(violation));
}

#[tokio::test(start_paused = true)]
async fn a_step_that_is_not_in_the_table_is_refused() {
    let failure = failure_of(Astray).await;
    assert_eq!(failure.kind, FailureKind::Unsound(Violation::NotInTable { from: "begin".into() }));
    assert_eq!(failure.to_string(), "node `begin` failed: `begin` took a step that is not in its routing table");
    let report = timed(ByHand(Astray)).without_journal().start(1).await.unwrap();
    assert_eq!(failed(report), failure, "the short way from node to node checks as much");
}
