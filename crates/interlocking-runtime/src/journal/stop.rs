//! The end of a run by the wish of somebody outside, whether or not somebody executes it.

use crate::journal::account::family;
use crate::journal::record::retried_after;
use crate::journal::{Entry, Journal, JournalError, Letter, LetterBody, Origin, Record, ending};
use crate::run::claims;
use interlocking_core::run_id::RunId;
use serde::Serialize;

/// What came of the wish that a run ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "stopped", rename_all = "snake_case")]
pub enum Stop {
    /// Nobody executed it: it and its child runs are cancelled, as their journal now says.
    Cancelled {
        /// The runs that ended by it, the one that was named first.
        runs: Vec<RunId>,
    },
    /// Somebody executes it, and will find the wish in its journal.
    Asked {
        /// Who executes it.
        holder: String,
    },
    /// It had ended.
    HadEnded {
        /// How: `finished`, `failed` or `cancelled`.
        ended: String,
    },
}

/// Asks a run to end, once: one wish is enough, unless the run was retried since.
async fn wish(journal: &dyn Journal, run: &RunId) -> Result<(), JournalError> {
    let key = match retried_after(&journal.load(run).await?) {
        0 => "wish to end".to_owned(),
        letters => format!("wish to end after letter {letters}"),
    };
    match journal.post(run, Letter { key: Some(key), body: LetterBody::Cancel }).await {
        Ok(_) | Err(JournalError::AlreadyPosted { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Cancels a run: ends it where nobody executes it, and else asks who does to end it.
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
        // A retry of its parent resumes the children that ended with it, and not those that somebody has cancelled.
        wish(journal, run).await?;
    }
    match end(journal, run).await {
        Ok(Ended::Now) => {}
        Ok(Ended::Before(ended)) => return Ok(Stop::HadEnded { ended: ended.to_owned() }),
        Err(JournalError::Held { holder, .. }) => {
            wish(journal, run).await?;
            return Ok(Stop::Asked { holder });
        }
        Err(error) => return Err(error),
    }
    let mut ended = vec![run.clone()];
    for child in family(&runs, run).into_iter().skip(1).filter(|summary| summary.ended.is_none()) {
        match end(journal, &child.run).await {
            Ok(Ended::Now) => ended.push(child.run.clone()),
            // Somebody is about to find that its parent has ended.
            Ok(Ended::Before(_)) | Err(JournalError::Held { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Stop::Cancelled { runs: ended })
}

enum Ended {
    Now,
    Before(&'static str),
}

/// Writes the end of a run that nobody executes.
async fn end(journal: &dyn Journal, run: &RunId) -> Result<Ended, JournalError> {
    let _claim = claims::claim(journal, run).await?;
    // What came before the claim counts.
    let records = journal.load(run).await?;
    if let Some(ended) = ending(&records) {
        return Ok(Ended::Before(ended));
    }
    let entry = Entry::Ended { failure: None, cancelled: true, output: None };
    journal.append(Record { run: run.clone(), sequence: records.len() as u64, entry }).await?;
    Ok(Ended::Now)
}
