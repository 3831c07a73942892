//! The parts of a handler's context that depend on no graph type, so that they are compiled once.

use crate::context::child_run::{ChildRun, children_of};
use crate::context::services::UntypedServices;
use crate::journal::record_writer::RecordWriter;
use crate::journal::{By, Encoded, Entry, JournalError};
use interlocking_core::frontier::Execution;
use interlocking_core::net::NodeIndex;
use interlocking_core::run_id::RunId;

impl UntypedServices {
    /// Records the result of an effect that a visit performs once.
    pub(crate) async fn record_once(&self, by: By, name: &str, json: Encoded) -> Result<(), JournalError> {
        if let Some(record_writer) = &self.record_writer {
            let entry = Entry::Once { by: by.clone(), name: name.to_owned(), value: json.clone().into() };
            record_writer.write_detached(entry).await?;
        }
        self.history().record_once(by, name, json);
        Ok(())
    }

    /// Records the question of a human node, and the schema of its answer.
    pub(crate) async fn ask(
        &self,
        record_writer: &RecordWriter,
        execution: Execution,
        by: &By,
        [question, schema]: [Encoded; 2],
    ) -> Result<(), JournalError> {
        let asked_at_ms = self.net.node(execution.node).timeout.map(|_| self.settings.clock().unix_ms());
        let (asked, allowed) = (question.clone().into(), schema.clone().into());
        let entry = Entry::Asked { by: by.clone(), question: asked, schema: allowed, asked_at_ms };
        // Noted before it is recorded: a reader of the journal may answer at once, and an answer to an unknown question is
        // dropped.
        self.history().asked(by.clone(), question, schema, asked_at_ms);
        record_writer.write_detached(entry).await.map(drop)
    }

    /// The other runs that the parent of this run has started and that have not ended.
    pub(crate) async fn siblings(&self) -> Result<Vec<RunId>, JournalError> {
        let (tree, run) = (self.settings.tree(), self.run());
        match (&self.settings.journal, tree.parent(run)) {
            (Some(journal), Some(parent)) => {
                let children = journal.children(&parent).await.inspect_err(|error| tree.journal_failed(error))?;
                let others = children.into_iter().filter(|child| child.ended.is_none() && child.run != *run);
                let mut others: Vec<_> = others.map(|child| child.run).collect();
                others.sort();
                Ok(others)
            }
            // Without a journal no run is resumed, so the siblings that are being executed are all that have started and not
            // ended.
            (None, _) => Ok(tree.siblings(run)),
            (Some(_), None) => Ok(Vec::new()),
        }
    }

    /// The child runs of a map or graph node.
    pub(crate) async fn children(&self, node: NodeIndex) -> Result<Vec<ChildRun>, JournalError> {
        let Some(journal) = &self.settings.journal else { return Ok(Vec::new()) };
        let children = children_of(&**journal, self.run(), self.net.name(node)).await;
        children.inspect_err(|error| self.settings.tree().journal_failed(error))
    }
}
