//! `--approve`: the operator's answer to the review, given in advance. It is recorded like any person's answer.

use interlocking::cli::{CommandError, Start, Style};
use interlocking::prelude::*;
use interlocking::runtime::journal::answer::{answer, open_questions};
use interlocking::runtime::{Event, EventKind};
use scout_and_wave::graph::{ReviewAnswer, ScoutAndWave};
use std::sync::Arc;

/// A run that waits in this process, and is answered when it asks for the review.
pub(crate) fn approve(run: Run<ScoutAndWave>, start: &Start) -> Run<ScoutAndWave> {
    let start = start.clone();
    let told = move |event: Event| {
        if !matches!(event.kind, EventKind::Waiting) {
            return;
        }
        let start = start.clone();
        tokio::spawn(async move {
            let approving = async {
                let approval = serde_json::to_value(ReviewAnswer::Approve { acknowledge_caveats: true })?;
                let asked = open_questions(&*start.journal, &start.run).await?;
                for question in asked.into_iter().filter(|question| question.by.node == "review") {
                    answer(&*start.journal, &start.run, &question.by, &approval).await?;
                    start.console.line(Style::Plain, "the plan is approved, as --approve says");
                }
                Ok::<_, NodeError>(())
            };
            if let Err(error) = approving.await {
                start.tell(&CommandError::new(format!("the plan could not be approved: {error}")));
            }
        });
    };
    run.with_wait_for_people().with_events(Arc::new(told))
}
