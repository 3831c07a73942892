//! What a run and its child runs used up before it was resumed.

use crate::journal::account::family;
use crate::journal::fork;
use crate::journal::killed::killed;
use crate::journal::record::turns;
use crate::journal::{Entry, Journal, JournalError, Origin, Record, RunSummary};
use crate::run::claims;
use crate::tree::past_calls::PastCalls;
use interlocking_agents::{LedgerEntry, Usage};
use interlocking_core::run_id::RunId;

/// What `run`, which has these records, and its children, and theirs, have used up. `is_executed` says that somebody else still
/// executes it. If it `goes_on`, nothing of its children works in this process any more when this returns: what would use up
/// something later is waited for.
pub(crate) async fn past(
    journal: &dyn Journal,
    run: &RunId,
    records: &[Record],
    is_executed: bool,
    goes_on: bool,
    has_children: bool,
) -> Result<Vec<PastCalls>, JournalError> {
    let has_turn = !turns(records).is_empty();
    let mut past = vec![PastCalls { run: run.clone(), parent: None, calls: calls(records, is_executed), has_turn }];
    if !has_children {
        return Ok(past);
    }
    let runs = journal.runs().await?;
    let mut below: Vec<_> = family(&runs, run).into_iter().skip(1).collect();
    // In an order that no clock has made.
    below.sort_by(|one, other| one.run.cmp(&other.run));
    for RunSummary { run, origin, holder, ended, .. } in below {
        let parent = match origin {
            Some(Origin::Child { parent, .. }) => Some(parent.clone()),
            _ => None,
        };
        // What was being written for it as it was dropped is a part of that.
        claims::let_go(journal, run).await;
        // And so is what was given up at its end.
        let is_done = goes_on && claims::addenda(journal, run).await;
        // Only what works on after its end is still executed: the run above is this executor's.
        let records = journal.load(run).await?;
        let calls = calls(&records, holder.is_some() && ended.is_some() && !is_done);
        let has_turn = ended.is_none() && !turns(&records).is_empty();
        past.push(PastCalls { run: run.clone(), parent, calls, has_turn });
    }
    Ok(past)
}

/// What runs have used up, each without its children.
type Shares = Vec<(RunId, Usage)>;

/// What `run`, which has these records, has used up without its children, by the run that did: of a fork, what it has taken over
/// is the other's, as long as that is recorded under the same name.
pub(crate) async fn shares(
    journal: &dyn Journal,
    run: &RunId,
    records: &[Record],
    is_executed: bool,
) -> Result<Shares, JournalError> {
    let (mut run, mut records, mut is_executed) = (run.clone(), records.to_vec(), is_executed);
    let mut shares: Shares = Vec::new();
    loop {
        let (mut taken_over, mut other) = (0, None);
        if let Some(Entry::Started { origin: Some(Origin::Fork { of, records: count }), .. }) =
            records.first().map(|record| &record.entry)
            // A name that is removed may be used again, even for a fork of what was a fork of it.
            && *of != run
            && !shares.iter().any(|(known, _)| known == of)
        {
            let mut known = journal.load(of).await?;
            known.truncate(usize::try_from(*count).unwrap_or(usize::MAX));
            let whole = fork::taken_over(of, known.clone());
            taken_over = records.iter().zip(whole).take_while(|(record, entry)| record.entry == *entry).count();
            let known: Vec<Record> = fork::kept(known).take(taken_over).collect();
            other = Some((of.clone(), known));
        }
        let own = calls(&records[taken_over..], is_executed);
        shares.push((run, own.iter().map(|call| call.usage).sum()));
        // Nobody executes what was taken over.
        (run, records, is_executed) = match other {
            Some((of, known)) => (of, known, false),
            None => return Ok(shares),
        };
    }
}

/// The calls that records tell of, those of turns that were killed last.
fn calls(records: &[Record], is_executed: bool) -> Vec<LedgerEntry> {
    let recorded = records.iter().flat_map(|record| match &record.entry {
        Entry::Outcome(outcome) => &*outcome.calls,
        Entry::Report { calls, .. } | Entry::Spent { calls, .. } => calls,
        _ => &[],
    });
    recorded.cloned().chain(killed(records, is_executed).into_iter().map(|(_, call)| call)).collect()
}
