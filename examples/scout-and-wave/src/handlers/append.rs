//! Adds the lines of append-only files.

use super::Append;
use super::staging::{STAGING, text_of};
use crate::document::Impl;
use crate::graph::{Merged, scout_and_wave};
use crate::protocol::agent::AgentLetter;
use crate::protocol::append_only::{lines_of, only_adds, with_lines};
use crate::protocol::plan::AppendOnly;
use interlocking::prelude::*;
use interlocking::workspaces::{FilePath, in_repository};
use interlocking::worktree::{CommitId, Repository};

impl LogicHandler<scout_and_wave::append> for Append {
    async fn run(&self, merged: Merged, cx: &mut Cx<'_, scout_and_wave::append>) -> Route<scout_and_wave::append> {
        let file = cx.entry()?.document()?.clone();
        let (repository, (_, at)) = (cx.repository()?, cx.target().await?);
        let mut staging = cx.worktree_of(STAGING).await?;
        let text = text_of(&staging, &file).await?;
        let read = Impl::read(file.as_str(), &text)?;
        for shared in &read.waves.append_only {
            let mut lines: Vec<_> = lines_of(shared, &merged.agents).collect();
            if lines.is_empty() {
                // The file may not exist yet.
                continue;
            }
            // Those that a run whose journal is lost has added already; a person may have corrected them since.
            for added in added(&shared.file, staging.head(), at, repository.clone()).await? {
                if let Some(index) = lines.iter().position(|line| *line == added) {
                    lines.remove(index);
                }
            }
            let before = text_of(&staging, &shared.file).await?;
            let after = with_lines(&before, lines);
            if !only_adds(&before, &after) {
                return Err(format!("the lines for `{}` would change others", shared.file).into());
            }
            if after != before {
                staging.write_file(shared.file.in_repository(), after).await?;
            }
        }
        let committed = staging.commit(format!("Add the lines of wave {}", merged.wave)).await?;
        let commit = committed.unwrap_or(merged.commit);
        goto!(cx, scout_and_wave::verify, Merged { commit, ..merged })
    }
}

/// The lines that were added at the end of a file on the staging branch itself, from `head` back to the target branch.
async fn added(
    file: &FilePath,
    head: CommitId,
    target: CommitId,
    repository: Repository,
) -> Result<Vec<String>, NodeError> {
    let file = file.clone();
    in_repository(repository, move |repository| {
        let text = |commit| Ok::<_, NodeError>(repository.read_file(commit, file.in_repository())?.unwrap_or_default());
        let (mut lines, mut at) = (Vec::new(), head);
        while !repository.is_ancestor(at, target)? {
            let parents = repository.commit(at)?.parents;
            let Some(&parent) = parents.first() else { break };
            // What a merge brings is an agent's, or from the target branch.
            if parents.len() == 1 {
                let (before, after) = (text(parent)?, text(at)?);
                let added = after.strip_prefix(&before[..]).unwrap_or_default();
                lines.extend(String::from_utf8_lossy(added).lines().map(str::to_owned));
            }
            at = parent;
        }
        Ok(lines)
    })
    .await
}

/// The files to which lines are to be added after the work of these agents, and which are not there as text in a commit.
pub(super) async fn without_text(
    append_only: &[AppendOnly],
    agents: &[AgentLetter],
    commit: CommitId,
    repository: Repository,
) -> Result<Vec<FilePath>, NodeError> {
    let added = append_only.iter().filter(|shared| lines_of(shared, agents).next().is_some());
    let files: Vec<_> = added.map(|shared| shared.file.clone()).collect();
    in_repository(repository, move |repository| {
        let mut without = Vec::new();
        for file in files {
            let bytes = repository.read_file(commit, file.in_repository())?;
            if bytes.and_then(|bytes| String::from_utf8(bytes).ok()).is_none() {
                without.push(file);
            }
        }
        Ok(without)
    })
    .await
}
