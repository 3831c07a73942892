//! A fork to a thousand branches that a join gathers, as a graph whose table is built at run time, and by hand.
//!
//! The derive writes a graph for one struct; nothing in the executor needs it. This graph implements the same trait with a
//! table made by a loop.

use interlocking::context::Entered;
use interlocking::frontier::{Limit, Payload};
use interlocking::graph::{Done, Graph, MemoryVisitor, Token};
use interlocking::net::Net;
use interlocking::route::Step;
use interlocking::runtime::Run;
use interlocking::table::{NodeKind, NodeRow, Table};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};
use std::sync::OnceLock;
use tokio::task::JoinSet;

/// How many branches the fork has.
pub const BRANCHES: u16 = 1_000;

const MEET: u16 = 1 + BRANCHES;
const EXIT: u16 = 1 + 2 * BRANCHES;

/// `fan` forks to `b0` … `b999`, which `meet` joins, and then goes to `fan` again or to the exit.
#[derive(Debug)]
pub struct Fan;

/// The entry of a run: how many rounds are left, and the sum so far.
pub type Rounds = (u32, u64);

/// A payload in its place.
#[derive(Debug)]
pub enum Spot {
    /// Before the fork.
    Start(Rounds),
    /// Before a branch.
    Branch(u16, Rounds),
    /// In a slot of the join.
    Slot(u16, Rounds),
    /// The join's full set.
    Full(Vec<Rounds>),
    /// The sum.
    Exit(u64),
}

/// The work of a branch.
pub async fn work(branch: u16, (left, sum): Rounds) -> Rounds {
    (left, sum.wrapping_mul(31).wrapping_add(branch.into()))
}

fn gather(values: impl Iterator<Item = Rounds>) -> Rounds {
    values.fold((0, 0), |(_, sum), (left, value)| (left - 1, sum.wrapping_add(value)))
}

/// Forks and joins `rounds` times in the executor.
///
/// # Panics
///
/// If the run does not finish.
pub async fn graph(rounds: u32) -> u64 {
    let report = Run::new(Fan).without_journal().start((rounds, 0)).await.expect("nothing is missing");
    report.outcome.finished().expect("the graph is sound")
}

/// The same with a bare [`JoinSet`].
///
/// # Panics
///
/// If a branch panics.
pub async fn join_set(rounds: u32) -> u64 {
    let mut state = (rounds, 0);
    loop {
        let mut set = JoinSet::new();
        for branch in 0..BRANCHES {
            set.spawn(async move { (branch, work(branch, state).await) });
        }
        let mut slots = vec![(0, 0); usize::from(BRANCHES)];
        while let Some(landed) = set.join_next().await {
            let (branch, value) = landed.expect("no branch panics");
            slots[usize::from(branch)] = value;
        }
        state = gather(slots.into_iter());
        if state.0 == 0 {
            return state.1;
        }
    }
}

impl Graph for Fan {
    type Entry = Rounds;
    type Output = u64;
    type Token = Spot;
    const NODES: usize = 2 + BRANCHES as usize;
    const EDGES: usize = 2 + 2 * BRANCHES as usize;
    const MAY_BE_CHAIN: bool = true;

    fn net() -> &'static Net {
        static NET: OnceLock<Net> = OnceLock::new();
        NET.get_or_init(|| {
            let names: Vec<String> = (0..BRANCHES).map(|branch| format!("b{branch}")).collect();
            let branches: Vec<&str> = names.iter().map(String::as_str).collect();
            let fan = NodeRow::new("fan", NodeKind::Fork).entry().input("Rounds").fork(&branches, &[]).unbounded();
            let mut table = Table::new("Fan", "u64").with(fan);
            let mut meet = NodeRow::new("meet", NodeKind::Join).goto("fan", &[]).goto("exit", &[]);
            for name in &names {
                let branch = NodeRow::new(name, NodeKind::Logic).input("Rounds").goto("meet", &[]);
                table = table.with(branch.unbounded());
                meet = meet.slot(name, "Rounds", &[name], false);
            }
            Net::new(table.with(meet.unbounded())).expect("the table is a net")
        })
    }

    fn enter(entry: Rounds) -> Spot {
        Spot::Start(entry)
    }

    fn leave(token: Spot) -> Option<u64> {
        if let Spot::Exit(sum) = token { Some(sum) } else { None }
    }

    fn join(_: u16, slots: Vec<Spot>) -> Option<Spot> {
        let value = |spot| if let Spot::Slot(_, value) = spot { Some(value) } else { None };
        slots.into_iter().map(value).collect::<Option<_>>().map(Spot::Full)
    }

    fn exhausted(_: u16, _: Limit, _: Spot) -> Option<Step<Spot>> {
        None
    }

    // As the derive writes it: not an `async fn`, which would move its arguments once more.
    #[expect(clippy::manual_async_fn, reason = "an `async fn` keeps each argument twice")]
    fn step<'run>(&'run self, input: Spot, _: Entered<'run, Self>) -> impl Future<Output = Done<Self>> + Send + 'run {
        async move {
            let step = match input {
                Spot::Start(state) => Step::All(0, (0..BRANCHES).map(|branch| Spot::Branch(branch, state)).collect()),
                Spot::Branch(branch, state) => Step::One(1 + branch, Spot::Slot(branch, work(branch, state).await)),
                Spot::Full(values) => match gather(values.into_iter()) {
                    (0, sum) => Step::One(MEET + 1, Spot::Exit(sum)),
                    state => Step::One(MEET, Spot::Start(state)),
                },
                Spot::Slot(..) | Spot::Exit(_) => return Done::misplaced(),
            };
            Done { route: Ok(step), effects: Default::default() }
        }
    }

    fn visit_memory<V: MemoryVisitor>(_: u16, _: V) -> Option<V::Output> {
        None
    }
}

impl Payload for Spot {
    fn place(&self) -> u16 {
        match self {
            Self::Start(_) => 0,
            Self::Branch(branch, _) => 1 + branch,
            Self::Slot(branch, _) => MEET + branch,
            Self::Exit(_) => EXIT,
            Self::Full(_) => u16::MAX,
        }
    }

    fn copy(&self) -> Option<Self> {
        None
    }
}

impl Token for Spot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Start(value) | Self::Branch(_, value) | Self::Slot(_, value) => value.serialize(serializer),
            Self::Exit(sum) => sum.serialize(serializer),
            Self::Full(_) => Err(S::Error::custom("the full set of a join is not stored")),
        }
    }

    fn deserialize<'de, D: Deserializer<'de>>(place: u16, deserializer: D) -> Result<Self, D::Error> {
        match place {
            0 => Deserialize::deserialize(deserializer).map(Self::Start),
            1..MEET => Deserialize::deserialize(deserializer).map(|value| Self::Branch(place - 1, value)),
            MEET..EXIT => Deserialize::deserialize(deserializer).map(|value| Self::Slot(place - MEET, value)),
            EXIT => Deserialize::deserialize(deserializer).map(Self::Exit),
            _ => Err(D::Error::custom("no such place")),
        }
    }
}
