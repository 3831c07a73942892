//! Agents' reports: written into the document, and checked for uncompleted work.

use super::staging::change_document;
use crate::document;
use crate::graph::{Done, Progress, ScoutAndWave};
use crate::protocol::report::Status;
use interlocking::graph::{Node, Remembers};
use interlocking::prelude::*;

/// Reports of work that was not completed.
pub(super) struct Incomplete {
    /// The text of each.
    pub(super) problems: Vec<String>,
    /// Whether a contract that cannot be implemented is among them (SAW-45).
    pub(super) is_contract: bool,
}

/// The incomplete ones among these reports.
pub(super) fn incomplete(done: &[Done]) -> Incomplete {
    let (mut problems, mut is_contract) = (Vec::new(), false);
    for Done { post, report, .. } in done {
        let status = match report.status {
            Status::Complete if report.is_complete() => continue,
            Status::Complete => "complete",
            Status::Partial => "partial",
            Status::Blocked => "blocked",
        };
        is_contract |= report.status == Status::Blocked && !report.interface_deviations.is_empty();
        let deviations = report.interface_deviations.iter().map(|deviation| deviation.description.as_str());
        let failed = (report.status == Status::Complete).then(|| report.verification.to_string());
        let said = failed.as_deref().into_iter().chain(deviations).chain([report.notes.as_str()]);
        let said: Vec<_> = said.filter(|said| !said.is_empty()).collect();
        problems.push(format!("{} reports `{status}`: {}", post.label(), said.join("; ")));
    }
    Incomplete { problems, is_contract }
}

/// Writes reports into the document: the orchestrator is its only writer (SAW-16, CON-101).
pub(super) async fn record<N>(wave: u32, done: &[Done], cx: &mut Cx<'_, N>) -> Result<(), NodeError>
where
    N: Node<Graph = ScoutAndWave> + Remembers<Memory = Progress>,
{
    change_document(cx, &format!("docs: reports of wave {wave}"), |file, text| {
        let mut reports = done.iter();
        reports.try_fold(text.to_owned(), |text, done| document::with_report(file, &text, &done.post, &done.report))
    })
    .await
}
