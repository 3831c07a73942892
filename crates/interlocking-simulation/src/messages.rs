//! Messages to runs from outside.

use crate::history::History;
use crate::plan;
use crate::world::EVENT;
use crate::world::LogEvent;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{Journal, Letter, LetterBody};
use std::time::Duration;

/// After what virtual time an executor's runs are sent messages that they may need in order to end.
const MESSAGE_AFTER: Duration = Duration::from_secs(60);

/// Posts the seed's messages from number `posted` on. Then, repeatedly, posts one to every run that has not ended: a
/// graph is also sound where only a message leads out of a cycle that is declared unbounded.
pub(crate) async fn post(history: &History, posted: &mut usize) {
    let planned = plan::messages(&history.world);
    let mut before = 0;
    while let Some((at, number)) = planned.get(*posted) {
        tokio::time::sleep(Duration::from_millis(at.saturating_sub(before))).await;
        before = *at;
        send(history, &history.root, *number, Some(format!("message {at}"))).await;
        *posted += 1;
    }
    loop {
        tokio::time::sleep(MESSAGE_AFTER).await;
        for run in open_runs(history).await {
            send(history, &run, 0, None).await;
        }
    }
}

/// Posts a message, if the run has an event node and has begun.
async fn send(history: &History, run: &RunId, number: u64, key: Option<String>) {
    if !history.world.has_event_node(usize::from(*run != history.root)) {
        return;
    }
    let body = LetterBody::Message { node: EVENT.to_owned(), message: number.to_string().into() };
    if history.journal.kept.post(run, Letter { key, body }).await.is_ok() {
        history.world.log(LogEvent::Harness(format!("message {number} is posted to {run}")));
    }
}

/// The runs that have not ended, sorted by name: the journal lists them by wall-clock time.
async fn open_runs(history: &History) -> Vec<RunId> {
    let runs = history.journal.kept.runs().await.unwrap_or_default();
    let mut open: Vec<_> = runs.into_iter().filter(|run| run.ended.is_none()).map(|run| run.run).collect();
    open.sort();
    open
}
