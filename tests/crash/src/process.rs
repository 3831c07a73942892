//! The work of a process: it starts or resumes the run, and reports the run's outcome.

use crate::agent::Logged;
use crate::gazette::{Gazette, Part, Task};
use crate::handlers::Desk;
use crate::kill_switch::KillSwitch;
use crate::log::Log;
use crate::order::{Ending, Order, Presence};
use crate::people::People;
use crate::places::Places;
use crate::room::{Room, WriteLimit};
use crate::watched::Watched;
use interlocking::agents::Usage;
use interlocking::prelude::{NodeError, Outcome, Run, RunId};
use interlocking::runtime::journal::JournalError;
use interlocking::runtime::{Journal, StartError};
use interlocking_sqlite::{Durability, SqliteJournal};
use std::sync::Arc;

/// The run's name.
///
/// # Errors
///
/// None: the name is valid.
pub fn root() -> Result<RunId, NodeError> {
    Ok("gazette".parse()?)
}

/// Carries an order out.
///
/// # Errors
///
/// If the run is refused for any reason other than a full journal: a full journal is reported as
/// the run's outcome.
pub async fn execute(order: Order) -> Result<Ending, NodeError> {
    let kill_switch = KillSwitch::new(order.dies_at);
    let log = Log::open(&order.directory, order.process, kill_switch.clone())?;
    // Written data survives the process with either durability, and these tests lose no power.
    let options = SqliteJournal::options().durability(Durability::Relaxed);
    let options = if let Room::Bytes(bytes) = order.room { options.maximum_bytes(bytes) } else { options };
    let journal = options.open(order.directory.join("journal"))?;
    let journal: Arc<dyn Journal> = Arc::new(journal);
    let people = (order.people == Presence::Here).then(|| People::new(journal.clone()));
    let is_new = journal.load(&root()?).await?.is_empty();
    if let Some(people) = &people {
        people.catch_up().await?;
    }
    let places = Places::new(&order.directory);
    let desk = Desk::new(log.clone(), places.clone(), journal.clone());
    let run = Run::new(Gazette::new(&desk))
        .with_id(root()?)
        .with_journal(Arc::new(Watched::new(journal, kill_switch.clone(), WriteLimit::new(order.room), people)))
        .with_agent("write", Arc::new(Logged::new(&order.directory, log)?))
        .with_workspaces(Arc::new(places));
    let run = if order.people == Presence::Away { run } else { run.with_wait_for_people() };
    let report = if is_new { run.start(Task { part: Part::Root, refused: 0 }).await } else { run.resume().await };
    let report = match report {
        Ok(report) => report,
        Err(StartError::Entry(error @ JournalError::Full { .. })) => {
            let (outcome, usage, points) = (Outcome::JournalFailed(error), Usage::default(), kill_switch.passed());
            return Ok(Ending { outcome, visits: Vec::new(), usage, points });
        }
        Err(error) => return Err(error.into()),
    };
    let (usage, visits) = (report.usage(), report.visits);
    let visits = visits.into_iter().map(|(node, visits)| (node.to_owned(), visits)).collect();
    Ok(Ending { outcome: report.outcome, visits, usage, points: kill_switch.passed() })
}
