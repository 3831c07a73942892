//! What each execution does: a function of the seed, the run, the node, the visit, the attempt and the number of
//! retries only. So an interrupted run does the same again. A failure may be gone when the run is retried.

use crate::dialogue::{Dialogue, Must, nudges};
use crate::mix::{mix, mix_text};
use crate::tables::TIMEOUT_MS;
use interlocking_core::failure::FailureKind;
use interlocking_core::frontier::Execution;
use interlocking_core::net::{AlternativeIndex, Net, NodeIndex, PlaceIndex};
use interlocking_core::run_id::RunId;
use interlocking_core::table::NodeKind;
use interlocking_reference_model::generate::Dice;

/// What one execution does.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// How long it waits, in milliseconds, before and after its side effect.
    pub(crate) delays: [u64; 2],
    pub(crate) fate: Fate,
    /// Where it goes; `None` for an event node that leaves the run as it is, and for nodes beside the graph.
    pub(crate) way: Option<Way>,
    /// Whether it has a side effect that is recorded.
    pub(crate) once: bool,
    /// What it adds to its memory, if it has one.
    pub(crate) adds: Option<u64>,
    /// The advisory nodes that it spawns.
    pub(crate) spawns: Vec<PlaceIndex>,
    /// Whether it sends a message, and which.
    pub(crate) sends: Option<u64>,
    /// For a map node: the entries of its children.
    pub(crate) items: Vec<u64>,
    /// For a graph node: the entry of its child.
    pub(crate) entry: u64,
    /// For an event node that leaves the run as it is: the map to which it adds items, and the entries of their
    /// children.
    pub(crate) adds_items: Option<(NodeIndex, Vec<u64>)>,
    /// What its agent does, if it asks one.
    pub(crate) dialogue: Option<Dialogue>,
    /// A random number, from which its tokens, its report and its question are computed.
    pub(crate) number: u64,
}

impl Choice {
    /// The same without messages, and with delays that hardly any other execution has.
    pub(crate) fn calm(mut self) -> Self {
        self.sends = None;
        self.delays[0] += 1 + self.number % 53;
        self.delays[1] += 1 + self.number / 53 % 47;
        self
    }
}

/// The percentage of failing executions that succeed after their run is retried.
const MENDED_PERCENT: usize = 65;

/// How an execution ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Well,
    Fails,
    Panics,
    TimesOut,
    /// Its agent has no answer.
    Unanswered,
}

impl Fate {
    /// The sort of failure, if this is a failure.
    pub(crate) fn failure(self) -> FailureKind {
        match self {
            Self::Panics => FailureKind::Panic,
            Self::TimesOut => FailureKind::Timeout { limit_ms: TIMEOUT_MS },
            Self::Unanswered => FailureKind::Agent,
            Self::Well | Self::Fails => FailureKind::Handler,
        }
    }
}

/// One route out of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) alternative: AlternativeIndex,
    pub(crate) places: Vec<PlaceIndex>,
    /// The branches that send no value to their slot.
    pub(crate) nothing: Vec<usize>,
    pub(crate) fork: bool,
}

/// The rates of failures, delays and messages of one seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    /// How many executions in a hundred fail.
    pub(crate) failing: usize,
    /// The longest usual delay, in milliseconds.
    pub(crate) delay: usize,
    /// How many executions in a hundred send a message to an event node.
    pub(crate) sending: usize,
}

impl Rates {
    pub(crate) fn of(seed: u64) -> Self {
        let mut dice = Dice::new(seed ^ 0x7e_4be4);
        Self {
            failing: *dice.pick(&[0, 0, 0, 1, 4, 12]),
            delay: *dice.pick(&[1, 10, 10, 100, 1_000]),
            sending: *dice.pick(&[0, 0, 5, 25]),
        }
    }
}

/// What `execution` of a run on `net` does after the run has been retried `retries` times.
pub(crate) fn choice(seed: u64, rates: Rates, net: &Net, run: &RunId, execution: Execution, retries: u32) -> Choice {
    let Execution { node, visit, attempt } = execution;
    let number = mix(&[seed, mix_text(run.as_str()), node.into(), visit.into(), attempt.into()]);
    let mut dice = Dice::new(number);
    let row = net.row(node);
    let fate = match dice.below(5) {
        _ if !dice.percent(rates.failing) => Fate::Well,
        0 | 1 => Fate::Fails,
        2 => Fate::Panics,
        _ if row.timeout_ms.is_some() => Fate::TimesOut,
        _ => Fate::Fails,
    };
    let is_mended = retries > 0 && Dice::new(mix(&[number, 0x4e7, retries.into()])).percent(MENDED_PERCENT);
    let fate = if is_mended { Fate::Well } else { fate };
    let mut delay = || match dice.below(10) {
        0..3 => 0,
        9 => dice.below(800) as u64,
        _ => dice.below(rates.delay.min(900)) as u64,
    };
    let mut delays = [delay(), delay()];
    if fate == Fate::TimesOut {
        delays[1] = 2 * TIMEOUT_MS;
    }
    let mut fate = fate;
    let dialogue = row.is_prompted().then(|| {
        // Separate dice, so that all other choices of an execution with an agent stay the same.
        let mut dice = Dice::new(mix(&[number, 0xd1a]));
        let must = match fate {
            Fate::TimesOut if dice.percent(50) => Must::Drag,
            Fate::Fails | Fate::Panics if dice.percent(60) => Must::Fail,
            _ => Must::Answer,
        };
        if must == Must::Fail {
            fate = Fate::Unanswered;
        }
        if row.timeout_ms.is_some() {
            // The agent's time is added to the delays, and the execution must stay within its timeout.
            delays.iter_mut().filter(|delay| **delay < TIMEOUT_MS).for_each(|delay| *delay %= 200);
        }
        Dialogue::new(&mut dice, &nudges(seed), must, row.timeout_ms.is_some())
    });
    let works_on_tokens = !matches!(row.kind, NodeKind::Advisory | NodeKind::Observer);
    let way = works_on_tokens.then(|| way(&mut dice, net, execution)).flatten();
    let adds_items =
        row.adds_to.first().and_then(|map| net.node_named(map)).filter(|_| way.is_none()).and_then(|map| {
            let mut dice = Dice::new(mix(&[number, 0xadd]));
            dice.percent(70).then(|| (map, (0..1 + dice.below(2)).map(|_| dice.below(5) as u64).collect()))
        });
    let spawns = row.spawn.iter().filter(|_| dice.percent(60)).filter_map(|name| net.place_named(name)).collect();
    Choice {
        delays,
        fate,
        way,
        once: dice.percent(25),
        adds: (row.memory.is_some() && dice.percent(70)).then(|| dice.below(1 << 20) as u64),
        spawns,
        sends: (works_on_tokens && dice.percent(rates.sending)).then(|| dice.below(1 << 20) as u64),
        // Few different values, so that some items are equal and some occur again when the node is entered again.
        items: (0..[0, 1, 1, 2, 3][dice.below(5)]).map(|_| dice.below(5) as u64).collect(),
        entry: number % 5,
        adds_items,
        dialogue,
        number,
    }
}

fn way(dice: &mut Dice, net: &Net, execution: Execution) -> Option<Way> {
    let (node, row) = (net.node(execution.node), net.row(execution.node));
    // The alternatives after the gotos and the fork are routes, which no handler chooses.
    let chosen = row.goto.len() + usize::from(row.fork.is_some());
    let range = node.alternatives.start..node.alternatives.start + chosen as AlternativeIndex;
    let ways = range.len() + usize::from(row.resume);
    let chosen = dice.below(ways.max(1));
    let alternative = range.clone().nth(chosen)?;
    let branches = &net.alternative(alternative)?.branches;
    let places: Vec<PlaceIndex> = branches.iter().map(|places| *dice.pick(places)).collect();
    let is_nothing = |place: PlaceIndex| place != net.exit() && net.place(place).optional && dice.percent(50);
    let nothing = places.iter().copied().map(is_nothing).collect::<Vec<_>>();
    let nothing = (0..).zip(nothing).filter_map(|(branch, is_nothing)| is_nothing.then_some(branch)).collect();
    Some(Way { alternative, places, nothing, fork: row.fork.is_some() && alternative + 1 == range.end })
}
