//! The workspaces of a node of the tree. The heads of their branches count: a rebase moves them all, and commits in earlier
//! payloads are those that were checked then.

use crate::types::node_id::NodeId;
use crate::types::shared::NodeInfo;
use crate::types::spec::Spec;
use interlocking::graph::Node;
use interlocking::prelude::*;
use interlocking::workspaces::{FilePath, changed_paths, in_repository};
use interlocking::worktree::{CommitId, Repository};
use std::collections::BTreeSet;

/// The node's work: scaffold, what children merge, tests, implementation, in a line of commits.
pub(crate) const IMPL: &str = "impl";

/// Its tests, on the scaffold alone: there they fail.
pub(crate) const TESTS: &str = "tests";

/// The head of the scaffold.
pub(crate) const SKELETON: &str = "skeleton";

/// The commit of the parent's branch on which the work is based.
pub(crate) const BASE: &str = "base";

/// What is to be merged, as one commit on the parent's branch.
pub(crate) const CANDIDATE: &str = "candidate";

/// The heads of a node's branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heads {
    /// The scaffold.
    pub(crate) skeleton: CommitId,
    /// The tests.
    pub(crate) tests: CommitId,
    /// The work.
    pub(crate) head: CommitId,
    /// The commit of the parent's branch on which the work is based.
    pub(crate) base: CommitId,
}

/// The heads of the branches of a node that has a scaffold.
pub(crate) async fn heads<N: Node>(cx: &mut Cx<'_, N>) -> Result<Heads, NodeError> {
    let skeleton = cx.worktree_of(SKELETON).await?.head();
    let tests = cx.worktree_of(TESTS).await?.head();
    let head = cx.worktree_of(IMPL).await?.head();
    let base = cx.worktree_of(BASE).await?.head();
    Ok(Heads { skeleton, tests, head, base })
}

/// The head of a node's work, and its changes since the scaffold (V3-83).
pub(crate) async fn implemented<N: Node>(cx: &mut Cx<'_, N>) -> Result<(CommitId, String), NodeError> {
    let (repository, at) = (cx.repository()?, heads(cx).await?);
    let diff = in_repository(repository, move |repository| Ok(repository.unified_diff(at.skeleton, at.head)?));
    Ok((at.head, diff.await?))
}

/// The id of a node, and the branch of its work.
pub(crate) async fn node_info<N: Node>(cx: &mut Cx<'_, N>, id: &NodeId) -> Result<NodeInfo, NodeError> {
    let branch =
        cx.worktree_of(IMPL).await?.branch().ok_or("the workspace of a node's work is on no branch")?.to_string();
    Ok(NodeInfo { node_id: id.to_string(), branch })
}

/// The message of the commit of a merged node, which names its run: a rebase of the commit keeps that.
pub(crate) fn merge_message(id: &NodeId, run: &RunId) -> String {
    format!("feat({id}): implement\n\n{}", of_run(run))
}

/// Whether a commit with this message is the merge of this run.
pub(crate) fn is_merge_of_run(run: &RunId, message: &str) -> bool {
    message.lines().last() == Some(&of_run(run))
}

fn of_run(run: &RunId) -> String {
    format!("Run: {run}")
}

/// Whether a commit with this subject is the merge of a child of the node.
pub(crate) fn is_merge_of_child(id: &NodeId, subject: &str) -> bool {
    let author = subject.strip_prefix("feat(").and_then(|rest| rest.strip_suffix("): implement"));
    author.and_then(|author| NodeId::new(author).ok()).is_some_and(|author| author.is_child_of(id))
}

/// The last of a node's commits that belongs to its scaffold, or to a child: the later commits are tests and implementation.
pub(crate) async fn before_own_work(
    repository: Repository,
    id: &NodeId,
    skeleton: CommitId,
    head: CommitId,
) -> Result<CommitId, NodeError> {
    let id = id.clone();
    in_repository(repository, move |repository| {
        let commits = repository.commits(skeleton..head)?;
        let last = commits.iter().rfind(|commit| is_merge_of_child(&id, commit.subject()));
        Ok(last.map_or(skeleton, |commit| commit.id))
    })
    .await
}

/// Whether a file is a test of a node: its own file of tests, its contract, or anything else in the directory of its tests.
pub(crate) fn is_test(path: &str, spec: &Spec, contract_suite: &FilePath) -> bool {
    path == spec.test_path.as_str() || path == contract_suite.as_str() || spec.is_in_test_directory(path)
}

/// The Rust files that differ between two commits, except tests.
pub(crate) async fn changed_sources(
    repository: Repository,
    (from, to): (CommitId, CommitId),
    spec: &Spec,
    contract_suite: &FilePath,
) -> Result<Vec<FilePath>, NodeError> {
    let paths: BTreeSet<String> = changed_paths(repository, from, to).await?;
    let sources = paths.into_iter().filter(|path| path.ends_with(".rs") && !is_test(path, spec, contract_suite));
    // No agent's commit has a path that cannot be used: `forbidden` refuses it.
    Ok(sources.map(FilePath::new).collect::<Result<_, _>>()?)
}
