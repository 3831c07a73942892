//! The position of a run according to its records alone: without its graph, and whether or not it is being executed.

use crate::journal::replay::{Replayed, replay};
use crate::journal::{By, Entry, Record, ending};
use interlocking_core::net::Net;
use std::collections::BTreeSet;

/// The position of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The executions that had begun or were due when the last record was written, in the order in which they began.
    pub(crate) in_flight: Vec<By>,
    /// The advisory executions that had begun and not ended.
    pub(crate) background: Vec<By>,
    /// The execution that was handling a message, or failed to.
    pub(crate) handling: Option<By>,
    /// The questions that wait for an answer, by the execution that asks.
    pub(crate) open: BTreeSet<By>,
    /// The number of the last letter that was received.
    pub(crate) letters: u64,
    /// Why the records cannot be replayed, so that only what they say directly is known.
    pub(crate) problem: Option<String>,
}

/// The position of the run with these records.
pub(crate) fn standing(records: &[Record]) -> Standing {
    let mut standing = Standing { letters: letters(records), ..Standing::default() };
    match follow(records) {
        Ok(Followed { in_flight, background, begun: by_now }) => {
            let end = records.iter().rposition(|record| record.entry.ending().is_some());
            let by_then = end.filter(|_| ending(records).is_some()).map(|end| begun(&records[..end]));
            let mut begun = by_then.unwrap_or(by_now).into_iter();
            standing.handling = begun.find(|by| !in_flight.contains(by) && !background.contains(by));
            (standing.in_flight, standing.background) = (in_flight, background);
        }
        Err(problem) => {
            // Each question is then taken to be open until its execution has a recorded outcome.
            standing.in_flight = unended(records);
            standing.problem = Some(problem);
        }
    }
    if ending(records).is_some() {
        return standing;
    }
    for record in records {
        match &record.entry {
            Entry::Asked { by, .. } if standing.in_flight.contains(by) => drop(standing.open.insert(by.clone())),
            Entry::Answered { by, .. } => drop(standing.open.remove(by)),
            _ => {}
        }
    }
    standing
}

/// The number of the last letter that is recorded as received.
fn letters(records: &[Record]) -> u64 {
    let numbers = records.iter().map(|record| match record.entry {
        Entry::Answered { letter, .. } | Entry::Received { letter, .. } => letter,
        _ => 0,
    });
    numbers.max().unwrap_or(0)
}

/// The executions that had begun or were due when the last of these records was written, including advisory executions and the
/// execution that handles a message. Empty where the records cannot be replayed.
pub(crate) fn begun(records: &[Record]) -> Vec<By> {
    let Some(Entry::Started { table, .. }) = records.first().map(|record| &record.entry) else { return Vec::new() };
    let Ok(net) = Net::new((**table).clone()) else { return Vec::new() };
    let Ok(replayed) = replay(&net, records.to_vec()) else { return Vec::new() };
    begun_in(&net, &replayed)
}

fn begun_in(net: &Net, replayed: &Replayed<'_>) -> Vec<By> {
    match replayed.frontier.has_ended() {
        true => replayed.background.iter().map(|(execution, _)| By::of(net, *execution)).collect(),
        false => replayed.interrupted(net).into_iter().map(|execution| By::of(net, execution)).collect(),
    }
}

/// What a replay of records says.
struct Followed {
    in_flight: Vec<By>,
    /// The advisory executions under way.
    background: Vec<By>,
    /// What [`begun`] says of these records.
    begun: Vec<By>,
}

/// Replays the records. The error says why they cannot be replayed.
fn follow(records: &[Record]) -> Result<Followed, String> {
    if records.iter().any(|record| matches!(record.entry, Entry::Resumed { table: Some(_), .. })) {
        return Err("its history was migrated to another table, which only its program can follow".to_owned());
    }
    let Some(Entry::Started { table, .. }) = records.first().map(|record| &record.entry) else {
        return Err("its first record does not say that it started".to_owned());
    };
    let net = Net::new((**table).clone()).map_err(|error| error.to_string())?;
    let replayed = replay(&net, records.to_vec()).map_err(|error| error.to_string())?;
    let in_flight = replayed.in_flight.values().map(|(execution, _)| By::of(&net, *execution)).collect();
    let background = replayed.background.iter().map(|(execution, _)| By::of(&net, *execution)).collect();
    Ok(Followed { in_flight, background, begun: begun_in(&net, &replayed) })
}

/// The executions that records name and that have no recorded outcome.
fn unended(records: &[Record]) -> Vec<By> {
    let mut named: Vec<By> = Vec::new();
    for record in records {
        match &record.entry {
            Entry::Outcome(outcome) => named.retain(|by| *by != outcome.by()),
            entry => {
                if let Some(by) = entry.by()
                    && !named.contains(by)
                {
                    named.push(by.clone());
                }
            }
        }
    }
    named
}
