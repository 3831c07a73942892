//! Whether a run that exists is the one that is to be started: of the same graph, with the same entry value.

use crate::journal::payload::text_of;
use crate::journal::{Entry, JournalError, Record};
use crate::service::{Service, ServiceError};
use interlocking_core::graph::{self, Graph, Stored};
use serde_json::Value;

impl Service {
    /// Checks that the run with this first record is of graph `G` and has that entry value.
    pub(super) async fn is_same<G: Graph>(&self, first: &Record, entry: &G::Entry) -> Result<(), ServiceError> {
        let Entry::Started { table, input, .. } = &first.entry else { return Ok(()) };
        let taken = |what| Err(ServiceError::Taken { run: first.run.clone(), what });
        if table.graph != G::net().table().graph {
            return taken("of another graph");
        }
        let what = format!("the entry value of run `{}`", first.run);
        let recorded = text_of(&*self.journal, &first.run, input, &what).await?;
        let is_same = is_recorded(entry, &recorded)
            .map_err(|error| JournalError::Encoding { what, reason: error.to_string() })?;
        match is_same {
            true => Ok(()),
            false => taken("with another entry value"),
        }
    }
}

/// Whether `recorded` is the JSON text of this entry value.
fn is_recorded<E: graph::Value>(entry: &E, recorded: &str) -> Result<bool, serde_json::Error> {
    let given = serde_json::to_string(&Stored(entry))?;
    if given == recorded {
        return Ok(true);
    }
    // The members of an object may stand in another order. From texts on both sides, as a value that is made of an `f32` directly has
    // other digits.
    let [given, recorded]: [Value; 2] = [serde_json::from_str(&given)?, serde_json::from_str(recorded)?];
    Ok(given == recorded)
}
