//! Adds the lines of append-only files.

use super::Append;
use super::staging::{STAGING, text_of};
use crate::document::Impl;
use crate::graph::{Merged, scout_and_wave};
use crate::protocol::append_only::{lines_of, only_adds, with_lines};
use interlocking::prelude::*;
use interlocking::workspaces::text_at;

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
