//! Moves a node's branches onto another commit of the parent's, and restores them where that fails.

use super::places::{BASE, Heads, IMPL, SKELETON, TESTS};
use interlocking::graph::Node;
use interlocking::prelude::*;
use interlocking::workspaces::{GitWorkspacesError, in_repository};
use interlocking::worktree::{CommitId, Repository};
use std::ops::Range;

/// The result of a rebase.
pub(crate) enum Moved {
    /// All branches are on the new base.
    To {
        /// Their heads.
        heads: Heads,
        /// The files in which both sides had changed the same lines: they have the other side's lines.
        gave_way: Vec<String>,
    },
    /// They are unchanged.
    Refused {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
}

/// Rebases the work on `from.base`, with scaffold and tests, onto `onto`; where both have changed the same lines, those of `onto`
/// stay (V3-101).
pub(crate) async fn onto<N: Node>(cx: &mut Cx<'_, N>, from: Heads, onto: CommitId) -> Result<Moved, NodeError> {
    let repository = cx.repository()?;
    let own = ids(repository.clone(), from.base..from.skeleton).await?.len();
    let before = ids(repository, from.base..from.head).await?.len();
    let mut tree = cx.worktree_of(IMPL).await?;
    let rebased = match tree.rebase_preferring_onto(from.base, onto).await {
        Ok(rebased) => rebased,
        Err(error) => return refused(error),
    };
    if rebased.moved.len() != before {
        tree.reset(from.head).await?;
        let why = "a commit of this branch says nothing that is not there already.".to_owned();
        return Ok(Moved::Refused { file: String::new(), why });
    }
    let conflicts = rebased.conflicts.iter().flat_map(|commit| &commit.conflicts);
    let gave_way = conflicts.map(|conflict| conflict.path.to_text().into_owned()).collect();
    let head = tree.head();
    let skeleton = own.checked_sub(1).and_then(|last| rebased.moved.get(last)).copied().unwrap_or(onto);
    let tests = match cx.worktree_of(TESTS).await?.rebase(from.skeleton, skeleton).await {
        Ok(tests) => tests,
        Err(error) => {
            cx.worktree_of(IMPL).await?.reset(from.head).await?;
            return refused(error);
        }
    };
    cx.worktree_of(SKELETON).await?.reset(skeleton).await?;
    cx.worktree_of(BASE).await?.reset(onto).await?;
    Ok(Moved::To { heads: Heads { skeleton, tests, head, base: onto }, gave_way })
}

/// Resets all branches of a node to earlier heads (V3-105).
pub(crate) async fn restore<N: Node>(cx: &mut Cx<'_, N>, to: Heads) -> Result<(), NodeError> {
    for (place, commit) in [(IMPL, to.head), (SKELETON, to.skeleton), (TESTS, to.tests), (BASE, to.base)] {
        cx.worktree_of(place).await?.reset(commit).await?;
    }
    Ok(())
}

/// The commits of a range, the oldest first.
async fn ids(repository: Repository, range: Range<CommitId>) -> Result<Vec<CommitId>, NodeError> {
    let commits = in_repository(repository, move |repository| Ok(repository.commits(range)?));
    Ok(commits.await?.into_iter().map(|commit| commit.id).collect())
}

fn refused(error: GitWorkspacesError) -> Result<Moved, NodeError> {
    let Some(conflicts) = error.conflicts() else { return Err(error.into()) };
    let file = conflicts.first().map(|conflict| conflict.path.to_text().into_owned()).unwrap_or_default();
    Ok(Moved::Refused { file, why: error.to_string() })
}
