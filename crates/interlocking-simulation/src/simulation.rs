//! One seed: run in fair and in foul weather, checked, and compared.

use crate::checks::{Account, Compared, compare};
use crate::counts::Counts;
use crate::graph::set_nets;
use crate::history;
use crate::plan::{Way, Weather};
use crate::tables::{NODES, tables};
use crate::world::World;
use interlocking_core::net::Net;
use interlocking_core::table::Table;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The result of a seed.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// The whole trace, line by line: the log, and the records of all runs.
    pub trace: String,
    /// How often each kind of event happened.
    pub counts: Counts,
}

/// Runs a seed. Afterwards the thread's nets are those of the seed's graphs.
///
/// # Errors
///
/// The first violated check, in words; the trace has what happened until then.
pub fn simulate(seed: u64) -> (Played, Result<(), String>) {
    simulate_tables(seed, tables(seed))
}

/// Runs a seed with these tables in place of its own: one for the run, and one for its children and their children.
/// Each has at most fourteen nodes; a node that takes messages is named `event`, an advisory node `advisory`. All other
/// random choices are the seed's.
///
/// # Errors
///
/// As [`simulate`].
///
/// # Panics
///
/// If a table has more nodes, or does not compile to a net.
pub fn simulate_tables(seed: u64, tables: [Table; 2]) -> (Played, Result<(), String>) {
    assert!(tables.iter().all(|table| table.nodes.len() <= NODES), "there are markers for {NODES} nodes");
    let nets = tables.map(|table| &*Box::leak(Box::new(Net::new(table).expect("it was one before"))));
    set_nets(nets);
    let mut played = Played::default();
    let result = weather(seed, nets, Weather::Fair, &mut played).and_then(|fair| {
        let foul = weather(seed, nets, Weather::Foul, &mut played)?;
        played.counts.add("compared", usize::from(compare(&fair, &foul)?));
        Ok(())
    });
    (played, result)
}

fn weather(seed: u64, nets: [&'static Net; 2], weather: Weather, played: &mut Played) -> Result<Compared, String> {
    let world = Arc::new(World::new(seed, nets));
    let ended = catch_unwind(AssertUnwindSafe(|| history::run(&world, weather, Way::USUAL)));
    let ended = ended.unwrap_or_else(|panic| Err(message(&*panic)));
    for line in world.logged() {
        played.trace += &format!("{line:?}\n");
    }
    let checked = ended.and_then(|ended| {
        let account = Account::of(&ended)?;
        for record in account.records.values().flatten() {
            played.trace += &format!("{}\n", serde_json::to_string(record).map_err(|error| error.to_string())?);
        }
        played.trace += &format!("{:?}\n", ended.report);
        let followed = account.check()?;
        played.counts.of(&followed);
        if weather == Weather::Fair {
            let unrecorded = followed.goes_the_same_in_every_way(&mut played.trace)?;
            played.counts.add("unrecorded", unrecorded.with_recorded);
            played.counts.add("only unrecorded", unrecorded.with_each_other);
        }
        Ok(Compared::of(&followed))
    });
    checked.map_err(|why| format!("{weather:?}: {why}"))
}

/// The message of a panic outside of handlers.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("the driver panicked: {}", text.unwrap_or("without words"))
}
