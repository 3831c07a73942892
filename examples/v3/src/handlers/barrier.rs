//! The barrier: once tests and children's merges are there, the tests are put onto the node's branch.

use super::Barrier;
use super::places::{IMPL, SKELETON, TESTS};
use crate::graph::{Tests, v3};
use crate::types::children::Merges;
use crate::types::implementation::ImplInput;
use crate::types::outcome::{Failed, V3Outcome};
use crate::types::scaffold::{Clarification, InitWorkPayload};
use interlocking::prelude::*;
use interlocking::workspaces::{FilePath, in_repository};
use interlocking::worktree::{CommitId, Repository};

impl JoinHandler<v3::barrier> for Barrier {
    async fn join(&self, (tests, merges): (Tests, Merges), cx: &mut Cx<'_, v3::barrier>) -> Route<v3::barrier> {
        let fork = cx.input_of::<v3::fork>()?;
        if merges.is_split && merges.merged.is_empty() {
            let each = merges.failed.iter().map(|failed| format!("{}: {}", failed.node_id, failed.why));
            let reason = format!("no child was merged: {}", each.collect::<Vec<_>>().join("; "));
            return goto!(cx, v3::exit, V3Outcome::Failed(Failed { node: "barrier".to_owned(), reason }));
        }
        let repository = cx.repository()?;
        let skeleton = cx.worktree_of(SKELETON).await?.head();
        let tests_head = cx.worktree_of(TESTS).await?.head();
        let head = cx.worktree_of(IMPL).await?.head();
        let range = (skeleton, tests_head);
        let since = picked(repository, &fork.spec.test_path, range, head).await?;
        if let Err(error) = cx.worktree().await?.cherry_pick(since, tests_head).await {
            let Some(conflicts) = error.conflicts() else { return Err(error.into()) };
            let file = conflicts.first().map(|conflict| conflict.path.to_text().into_owned()).unwrap_or_default();
            let why = Clarification::RebaseConflict {
                conflict_file: file,
                our_change: "the tests of this node are written there.".to_owned(),
                their_change: "a child has written to the same file.".to_owned(),
                why_unresolvable: "the tests cannot be put on what the children have merged.".to_owned(),
            };
            return goto!(cx, v3::scaffold, cx.input_of::<v3::scaffold>()?.asked_again(why));
        }
        let scaffold: InitWorkPayload = (&fork.work).into();
        // An attempt on another scaffold is over (CON-11).
        let next = cx.memory().next.filter(|next| next.scaffold == scaffold);
        let (critique_list, violations, retry_feedback, merge_rejection) = next
            .map(|next| (next.critique_list, next.violations, next.retry_feedback, next.merge_rejection))
            .unwrap_or_default();
        let input = ImplInput {
            scaffold,
            spec: fork.spec,
            tests_ready: tests.ready,
            child_merges: merges.is_split.then_some(merges.merged),
            attempt_count: 1,
            critique_list: if tests.critiques.is_empty() { critique_list } else { Some(tests.critiques) },
            violations,
            retry_feedback,
            merge_rejection: tests.merge_rejection.or(merge_rejection),
            child_failures: (!merges.failed.is_empty()).then_some(merges.failed),
        };
        goto!(cx, v3::implement, input)
    }
}

/// The last commit of tests that is already on the branch. No other node changes their file there, so it is the commit with the
/// same contents.
async fn picked(
    repository: Repository,
    file: &FilePath,
    (skeleton, tests): (CommitId, CommitId),
    head: CommitId,
) -> Result<CommitId, NodeError> {
    let path = file.in_repository().clone();
    in_repository(repository, move |repository| {
        let there = repository.read_file(head, &path)?;
        let mut last = skeleton;
        for commit in repository.commits(skeleton..tests)? {
            if repository.read_file(commit.id, &path)? == there {
                last = commit.id;
            }
        }
        Ok(last)
    })
    .await
}
