//! Moving a node's branches onto another commit of the parent's, and back where that cannot be.

use super::places::{BASE, IMPL, SKELETON, Standing, TESTS};
use crate::graph::v3;
use crate::workbench::in_repository;
use interlocking::prelude::*;
use interlocking::workspaces::GitWorkspacesError;
use interlocking::worktree::{CommitId, RebaseError};

/// What a rebase has come to.
pub(crate) enum Moved {
    /// All branches stand on the new base.
    To {
        /// Where they stand.
        standing: Standing,
        /// The files in which both sides had changed the same lines: the other side's are there now.
        gave_way: Vec<String>,
    },
    /// They are where they were.
    Refused {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
}

/// Moves the work that stands on `from.base`, with scaffold and tests, onto `onto`; of lines that both have changed those of `onto` stay
/// (V3-101).
pub(crate) async fn onto(cx: &mut Cx<'_, v3::rebaser>, from: Standing, onto: CommitId) -> Result<Moved, NodeError> {
    let repository = cx.repository()?;
    let mut tree = cx.worktree().await?;
    // Children go on, and wait to merge until the branch has moved (CON-149).
    tree.hold().await;
    let from = Standing { head: tree.head(), ..from };
    let range = from.base..from.head;
    let before = in_repository(repository, move |repository| Ok(repository.commits(range)?)).await?;
    let rebased = match tree.rebase_preferring_onto(from.base, onto).await {
        Ok(rebased) => rebased,
        Err(error) => return refused(error),
    };
    let head = tree.head();
    let position = before.iter().position(|commit| commit.id == from.skeleton);
    let skeleton = position.and_then(|position| rebased.moved.get(position)).copied();
    let Some(skeleton) = skeleton.filter(|_| rebased.moved.len() == before.len()) else {
        tree.reset(from.head).await?;
        let why = "a commit of this branch says nothing that is not there already.".to_owned();
        return Ok(Moved::Refused { file: String::new(), why });
    };
    drop(tree);
    let conflicts = rebased.conflicts.iter().flat_map(|commit| &commit.conflicts);
    let gave_way = conflicts.map(|conflict| conflict.path.to_text().into_owned()).collect();
    let tests = match cx.worktree_of(TESTS).await?.rebase(from.skeleton, skeleton).await {
        Ok(tests) => tests,
        Err(error) => {
            cx.worktree_of(IMPL).await?.reset(from.head).await?;
            return refused(error);
        }
    };
    cx.worktree_of(SKELETON).await?.reset(skeleton).await?;
    cx.worktree_of(BASE).await?.reset(onto).await?;
    Ok(Moved::To { standing: Standing { skeleton, tests, head, base: onto }, gave_way })
}

/// Takes all branches back from where they stand to where they stood (V3-105). What children have merged meanwhile comes along.
pub(crate) async fn back(cx: &mut Cx<'_, v3::rebaser>, from: CommitId, to: Standing) -> Result<(), NodeError> {
    let mut tree = cx.worktree().await?;
    tree.hold().await;
    let head = tree.head();
    tree.reset(to.head).await?;
    if head != from {
        tree.cherry_pick(from, head).await?;
    }
    drop(tree);
    for (place, commit) in [(SKELETON, to.skeleton), (TESTS, to.tests), (BASE, to.base)] {
        cx.worktree_of(place).await?.reset(commit).await?;
    }
    Ok(())
}

fn refused(error: GitWorkspacesError) -> Result<Moved, NodeError> {
    match error {
        GitWorkspacesError::Rebase(error @ RebaseError::Conflict { .. }) => {
            let RebaseError::Conflict { conflicts, .. } = &error else { return Err(error.into()) };
            let file = conflicts.first().map(|conflict| conflict.path.to_text().into_owned()).unwrap_or_default();
            Ok(Moved::Refused { file, why: error.to_string() })
        }
        error => Err(error.into()),
    }
}
