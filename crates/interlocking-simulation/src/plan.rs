//! The faults around a run: how and when its executors are interrupted.

use crate::journal::Fault;
use crate::mix::mix;
use crate::world::World;
use interlocking_reference_model::generate::Dice;
use std::time::Duration;

/// A run that takes longer than this virtual time counts as hanging.
pub(crate) const HANG_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// How many executors are interrupted at most.
const MAX_INTERRUPTED: usize = 6;

/// Whether anything goes wrong around a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weather {
    /// Nodes may fail, and nothing else goes wrong.
    Fair,
    /// Executors are interrupted, the journal breaks and is slow, and it returns payloads by digest.
    Foul,
}

/// How a run is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) is_recorded: bool,
    /// Whether its events have a sink.
    pub(crate) is_heard: bool,
}

impl Way {
    pub(crate) const USUAL: Self = Self { is_recorded: true, is_heard: true };

    /// All other ways.
    pub(crate) const OTHERS: [Self; 3] = [
        Self { is_heard: false, ..Self::USUAL },
        Self { is_recorded: false, ..Self::USUAL },
        Self { is_recorded: false, is_heard: false },
    ];
}

/// How an executor is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The process ends at some moment.
    Ends,
    /// The executor's future is dropped, but the runtime and the tasks that the executor spawned live on.
    Dropped,
    /// The journal breaks.
    Journal(Fault),
    /// The run is suspended.
    Suspended,
    /// The executor may make only this many more agent calls.
    Calls(u32),
    /// The executor tolerates only this many errors of the provider.
    Patience(u32),
}

/// The settings that are the same for all executors of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings {
    /// The run's entry value.
    pub(crate) entry: u64,
    /// How long the run waits for reports at the exit.
    pub(crate) deadline: Duration,
    /// Whether the journal returns payloads by digest.
    pub(crate) by_name: bool,
    /// The most milliseconds that the journal takes for a record.
    pub(crate) slow: u64,
    /// How many agent calls may be in progress at once.
    pub(crate) concurrency: Option<u32>,
}

/// The plan for one executor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) cut: Option<Cut>,
    /// When it is interrupted, for interruptions by time.
    pub(crate) at: Duration,
    /// After how many records the journal breaks.
    pub(crate) records: u64,
    /// Whether the executor keeps waiting when only a person's answer can continue the run.
    pub(crate) awaits: bool,
    /// When the run is cancelled.
    pub(crate) cancels: Option<Duration>,
}

impl Surroundings {
    pub(crate) fn new(dice: &mut Dice, weather: Weather) -> Self {
        let is_foul = weather == Weather::Foul;
        let deadline = Duration::from_millis([200, 60_000][usize::from(dice.percent(80))]);
        let entry = dice.below(1 << 30) as u64;
        let slow = if is_foul && dice.percent(40) { 1 + dice.below(20) as u64 } else { 0 };
        let concurrency = dice.percent(20).then(|| 1 + dice.below(2) as u32);
        Self { entry, deadline, by_name: is_foul && dice.percent(40), slow, concurrency }
    }
}

impl Plan {
    /// The plan for the next executor, after `interrupted` interrupted executors.
    pub(crate) fn new(dice: &mut Dice, weather: Weather, interrupted: usize) -> Self {
        let awaits = dice.percent(50);
        let mut plan = Self { cut: None, at: Duration::ZERO, records: 0, awaits, cancels: None };
        if weather == Weather::Fair {
            return plan;
        }
        let span = *dice.pick(&[20, 200, 2_000, 10_000]);
        let mut moment = || Duration::from_millis(dice.below(span) as u64);
        (plan.at, plan.cancels) = (moment(), Some(moment()));
        plan.cancels = plan.cancels.filter(|_| dice.percent(2));
        let records = *dice.pick(&[3, 10, 40]);
        plan.records = dice.below(records) as u64;
        let cuts = [
            Cut::Ends,
            Cut::Ends,
            Cut::Dropped,
            Cut::Journal(Fault::Refuses),
            Cut::Journal(Fault::RefusesAWhile(1 + dice.below(3) as u32)),
            Cut::Journal(Fault::RefusesAWhile(1)),
            Cut::Journal(Fault::EndsBefore),
            Cut::Journal(Fault::EndsAfter),
            Cut::Suspended,
            Cut::Calls(dice.below(6) as u32),
            Cut::Patience(dice.below(3) as u32),
        ];
        let is_cut = interrupted < MAX_INTERRUPTED && dice.percent(80);
        plan.cut = is_cut.then(|| *dice.pick(&cuts));
        plan
    }

    /// How the journal breaks, and after how many records.
    pub(crate) fn fault(&self) -> Option<(u64, Fault)> {
        match self.cut {
            Some(Cut::Journal(fault)) => Some((self.records, fault)),
            _ => None,
        }
    }
}

/// The messages that are posted to the run from outside: the time in milliseconds, and the number.
pub(crate) fn messages(world: &World) -> Vec<(u64, u64)> {
    if world.is_calm || !world.has_event_node(0) {
        return Vec::new();
    }
    let mut dice = Dice::new(mix(&[world.seed, 0x3e]));
    let many = dice.below(4);
    let mut at = 0;
    let mut message = || {
        at += 1 + dice.below(1_000) as u64;
        (at, dice.below(1 << 30) as u64)
    };
    (0..many).map(|_| message()).collect()
}
