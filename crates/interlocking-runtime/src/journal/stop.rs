//! Cancels a run from outside, whether or not it is being executed.

use crate::journal::account::family;
use crate::journal::record::retried_after;
use crate::journal::{Entry, Journal, JournalError, Letter, LetterBody, Origin, Record, ending};
use crate::run::claims;
use interlocking_core::run_id::RunId;
use serde::Serialize;
use std::future::ready;

/// The result of [`stop()`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "stopped", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// The run was not being executed. It and its child runs are recorded as cancelled.
    Cancelled {
        /// The cancelled runs; the run that was named comes first.
        runs: Vec<RunId>,
    },
    /// The run is being executed. Its executor receives the request to cancel it through the journal.
    Asked {
        /// The executor.
        holder: String,
    },
    /// The run had ended before.
    HadEnded {
        /// How: `finished`, `failed` or `cancelled`.
        ended: String,
    },
}

/// Sends a run a request to cancel it. A repeated request is not sent, unless the run was retried since.
async fn request_cancel(journal: &dyn Journal, run: &RunId) -> Result<(), JournalError> {
    let key = match retried_after(&journal.load(run).await?) {
        0 => "cancel".to_owned(),
        letters => format!("cancel after letter {letters}"),
    };
    match journal.post(run, Letter { key: Some(key), body: LetterBody::Cancel }).await {
        Ok(_) | Err(JournalError::AlreadyPosted { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Cancels a run: ends it if it is not being executed, and otherwise asks its executor to end it.
///
/// # Errors
///
/// [`JournalError::NoRun`] where there is no such run.
pub async fn stop(journal: &dyn Journal, run: &RunId) -> Result<Stop, JournalError> {
    let runs = journal.runs().await?;
    let Some(summary) = runs.iter().find(|summary| summary.run == *run) else {
        return Err(JournalError::NoRun { run: run.clone(), place: "the journal".to_owned() });
    };
    if let Some(ended) = &summary.ended {
        return Ok(Stop::HadEnded { ended: ended.clone() });
    }
    if matches!(summary.origin, Some(Origin::Child { .. })) {
        // A retry of the parent retries children that ended with the parent, but not those with a request to cancel them.
        request_cancel(journal, run).await?;
    }
    match end(journal, run, ready(Ok(()))).await {
        Ok(Ended::Now) => {}
        Ok(Ended::Before(ended)) => return Ok(Stop::HadEnded { ended: ended.to_owned() }),
        Err(JournalError::Held { holder, .. }) => {
            request_cancel(journal, run).await?;
            return Ok(Stop::Asked { holder });
        }
        Err(error) => return Err(error),
    }
    let mut ended = vec![run.clone()];
    for child in family(&runs, run).into_iter().skip(1).filter(|summary| summary.ended.is_none()) {
        match end(journal, &child.run, ready(Ok(()))).await {
            Ok(Ended::Now) => ended.push(child.run.clone()),
            // The child's executor will find that its parent has ended.
            Ok(Ended::Before(_)) | Err(JournalError::Held { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Stop::Cancelled { runs: ended })
}

pub(crate) enum Ended {
    Now,
    Before(&'static str),
}

/// Records the end of a run that is not being executed, unless it has ended before. `first` is done before that.
pub(crate) async fn end(
    journal: &dyn Journal,
    run: &RunId,
    first: impl Future<Output = Result<(), JournalError>>,
) -> Result<Ended, JournalError> {
    let _claim = claims::claim(journal, run).await?;
    // The records are read under the claim, as the run may have ended before it.
    let records = journal.load(run).await?;
    if let Some(ended) = ending(&records) {
        return Ok(Ended::Before(ended));
    }
    first.await?;
    let entry = Entry::Ended { failure: None, cancelled: true, output: None };
    journal.append(Record { run: run.clone(), sequence: records.len() as u64, entry }).await?;
    Ok(Ended::Now)
}
