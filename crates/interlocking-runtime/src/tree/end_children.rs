//! Ends the children of a run that has ended.

use crate::journal::stop::end;
use crate::journal::{Journal, JournalError};
use crate::tree::Tree;
use interlocking_core::run_id::RunId;
use std::pin::Pin;

/// Records the end of the children of a run whose own end is recorded, and so its outcome does not change if theirs cannot be.
pub(crate) async fn end_remaining_children(journal: &dyn Journal, tree: &Tree, parent: &RunId) {
    if let Err(error) = end_children(journal, tree, parent).await {
        tracing::warn!(run = %parent, %error, "the end of a child run could not be recorded");
    }
}

/// Records the end of the children of a run that has ended (those that its map nodes stopped), and of their children (rule 15).
async fn end_children(journal: &dyn Journal, tree: &Tree, parent: &RunId) -> Result<(), JournalError> {
    for child in journal.children(parent).await? {
        if child.ended.is_none() {
            end_child(journal, tree, &child.run).await?;
        }
    }
    Ok(())
}

/// Records the end of a child that is never resumed, and of its own children.
pub(crate) fn end_child<'a>(
    journal: &'a dyn Journal,
    tree: &'a Tree,
    run: &'a RunId,
) -> Pin<Box<dyn Future<Output = Result<(), JournalError>> + Send + 'a>> {
    Box::pin(async move {
        tree.wait_until_left(run).await;
        match end(journal, run, end_children(journal, tree, run)).await {
            // If another executor holds the child, it records the child's end.
            Ok(_) | Err(JournalError::Held { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    })
}
