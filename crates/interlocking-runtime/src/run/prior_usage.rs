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

/// What `run`, which has these records, and all its descendants have used up. `is_executed` says that another executor still has
/// the run. If the run `goes_on`, this waits for late work of its descendants in this process, as that would use up more later.
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
    // Sorted by name, so that the order does not depend on a clock.
    below.sort_by(|one, other| one.run.cmp(&other.run));
    for RunSummary { run, origin, holder, ended, .. } in below {
        let parent = match origin {
            Some(Origin::Child { parent, .. }) => Some(parent.clone()),
            _ => None,
        };
        // Writes that were pending when the child run was dropped count, too.
        claims::wait_until_released(journal, run).await;
        // Late work may still use up something, so it must end first.
        let is_done = goes_on && claims::wait_for_late_work(journal, run).await;
        // Only late work after a child's end can still be going on: this executor has the parent, so no other executes the child.
        let records = journal.load(run).await?;
        let calls = calls(&records, holder.is_some() && ended.is_some() && !is_done);
        let has_turn = ended.is_none() && !turns(&records).is_empty();
        past.push(PastCalls { run: run.clone(), parent, calls, has_turn });
    }
    Ok(past)
}

/// What each run has used up, without its children.
type Shares = Vec<(RunId, Usage)>;

/// What `run`, which has these records, has used up without its children, by the run that made the calls. The calls in records
/// that a fork has copied belong to the original run, as long as that has the same records under its name.
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
            // A removed run's name may be reused, even for a fork of its own fork. This stops the cycle.
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
        // The original's records were complete when they were copied, so none of their turns is under way.
        (run, records, is_executed) = match other {
            Some((of, known)) => (of, known, false),
            None => return Ok(shares),
        };
    }
}

/// The recorded calls, followed by the calls of turns that were killed.
fn calls(records: &[Record], is_executed: bool) -> Vec<LedgerEntry> {
    let recorded = records.iter().flat_map(|record| match &record.entry {
        Entry::Outcome(outcome) => &*outcome.calls,
        Entry::Report { calls, .. } | Entry::Spent { calls, .. } => calls,
        _ => &[],
    });
    recorded.cloned().chain(killed(records, is_executed).into_iter().map(|(_, call)| call)).collect()
}
