//! The workspace that the orchestrator works in, and the document there.

use crate::document::WriteError;
use crate::graph::{Progress, ScoutAndWave};
use interlocking::graph::{Node, Remembers};
use interlocking::prelude::*;
use interlocking::workspaces::{Checkout, FilePath};

/// The workspace: the document is written there, and waves are merged there.
pub(super) const STAGING: &str = "staging";

/// A file of the staging worktree.
pub(super) async fn text_of(staging: &Checkout<'_>, file: &FilePath) -> Result<String, NodeError> {
    Ok(staging.text(file.in_repository()).await??.ok_or_else(|| format!("there is no file `{file}`"))?)
}

/// Changes the document in the staging worktree.
pub(super) async fn change_document<N>(
    cx: &mut Cx<'_, N>,
    message: &str,
    change: impl FnOnce(&str, &str) -> Result<String, WriteError>,
) -> Result<(), NodeError>
where
    N: Node<Graph = ScoutAndWave> + Remembers<Memory = Progress>,
{
    let file = cx.entry()?.document()?.clone();
    let mut staging = cx.worktree_of(STAGING).await?;
    let text = change(file.as_str(), &text_of(&staging, &file).await?)?;
    staging.write_file(file.in_repository(), text).await?;
    staging.commit(message).await?;
    Ok(())
}
