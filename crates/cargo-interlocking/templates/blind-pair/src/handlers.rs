//! Handlers, which give each author its order, commit its work, and run the check on the merged work before it lands.

use crate::graph::{Done, Order, blind_pair};
use interlocking::prelude::*;
use interlocking::worktree::CommitId;
use std::process::Stdio;
use std::time::Duration;

/// The command that must succeed on the merged work. It runs code that agents wrote, and without a sandbox: use a `Runner` of
/// `interlocking::toolchain` to confine it.
const CHECK: [&str; 2] = ["sh", "check.sh"];

/// The time limit of the check.
const LONGEST_CHECK: Duration = Duration::from_secs(10 * 60);

#[derive(Default)]
pub struct Share;

impl ForkHandler<blind_pair::share> for Share {
    async fn fork(
        &self,
        task: String,
        cx: &mut Cx<'_, blind_pair::share>,
    ) -> Route<blind_pair::share> {
        let order = |part: &str, file: &str| Order {
            part: part.to_owned(),
            file: file.to_owned(),
            task: task.clone(),
        };
        fork!(
            cx,
            (
                order("program", "program.sh"),
                order("check of the program", "check.sh")
            )
        )
    }
}

#[derive(Default)]
pub struct Author;

impl ReplyHandler<blind_pair::program> for Author {
    async fn after(
        &self,
        _: Order,
        reply: Reply<Done>,
        cx: &mut Cx<'_, blind_pair::program>,
    ) -> Route<blind_pair::program> {
        let commit = cx.worktree().await?.commit(reply.output.subject).await?;
        goto!(
            cx,
            blind_pair::merge,
            commit.ok_or("no program was written")?
        )
    }
}

impl ReplyHandler<blind_pair::check> for Author {
    async fn after(
        &self,
        _: Order,
        reply: Reply<Done>,
        cx: &mut Cx<'_, blind_pair::check>,
    ) -> Route<blind_pair::check> {
        let commit = cx.worktree().await?.commit(reply.output.subject).await?;
        goto!(cx, blind_pair::merge, commit.ok_or("no check was written")?)
    }
}

#[derive(Default)]
pub struct Merge;

impl JoinHandler<blind_pair::merge> for Merge {
    async fn join(
        &self,
        (program, check): (CommitId, CommitId),
        cx: &mut Cx<'_, blind_pair::merge>,
    ) -> Route<blind_pair::merge> {
        let mut worktree = cx.worktree().await?;
        worktree.merge(program, "Merge the program").await?;
        let merged = worktree.merge(check, "Merge its check").await?;
        let [shell, script] = CHECK;
        let check = tokio::process::Command::new(shell)
            .arg(script)
            .current_dir(worktree.path())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let checked = tokio::time::timeout(LONGEST_CHECK, check)
            .await
            .map_err(|_| "the check does not end: nothing lands")??;
        if !checked.status.success() {
            let said = [checked.stdout, checked.stderr].concat();
            return Err(format!(
                "the check fails ({}): nothing lands\n{}",
                checked.status,
                String::from_utf8_lossy(&said).trim_end()
            )
            .into());
        }
        let landed = cx.land(merged).await?;
        goto!(cx, blind_pair::exit, landed)
    }
}
