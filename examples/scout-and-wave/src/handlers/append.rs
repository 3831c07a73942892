//! Adds the lines of append-only files.

use super::Append;
use super::staging::{STAGING, text_of};
use crate::document::Impl;
use crate::graph::{Merged, scout_and_wave};
use crate::protocol::agent::AgentLetter;
use crate::protocol::append_only::{lines_of, only_adds, with_lines};
use crate::protocol::plan::AppendOnly;
use interlocking::prelude::*;
use interlocking::workspaces::{FilePath, in_repository, text_at};
use interlocking::worktree::{CommitId, Repository};

impl LogicHandler<scout_and_wave::append> for Append {
    async fn run(&self, merged: Merged, cx: &mut Cx<'_, scout_and_wave::append>) -> Route<scout_and_wave::append> {
        let file = cx.entry()?.document()?.clone();
        let (repository, (_, at)) = (cx.repository()?, cx.target().await?);
        let mut staging = cx.worktree_of(STAGING).await?;
        let text = text_of(&staging, &file).await?;
        let read = Impl::read(file.as_str(), &text)?;
        for shared in &read.waves.append_only {
            let lines: Vec<_> = lines_of(shared, &merged.agents).collect();
            if lines.is_empty() {
                // The file may not exist yet.
                continue;
            }
            let before = text_of(&staging, &shared.file).await?;
            let landed = text_at(repository.clone(), at, &shared.file).await?.unwrap_or_default();
            if before == with_lines(&landed, lines.clone()) {
                // A run whose journal is lost has already added them.
                continue;
            }
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
