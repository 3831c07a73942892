//! Handlers, which give each author its order, commit its work, and run the check on the merged work before it lands.

use crate::graph::{Done, Order, blind_pair};
use interlocking::agents::program::{Environment, Invocation};
use interlocking::prelude::*;
use interlocking::worktree::CommitId;
use std::path::Path;
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
        tokio::time::timeout(LONGEST_CHECK, check_in(worktree.path()))
            .await
            .map_err(|_| "the check does not end: nothing lands")??;
        let landed = cx.land(merged).await?;
        goto!(cx, blind_pair::exit, landed)
    }
}

/// Runs the check in a directory; the error has the end of what it printed. The check gets none of this process's variables but
/// `PATH`, as others may hold keys. What it starts is ended with it, and all of it when this future is dropped.
async fn check_in(directory: &Path) -> Result<(), NodeError> {
    let [shell, script] = CHECK;
    let check = Invocation {
        arguments: vec![script.into()],
        directory: Some(directory.to_owned()),
        ..Invocation::new(shell, Environment::empty().inherit("PATH"))
    };
    let mut running = check.start().await?;
    let output = running.output_tail().await?;
    let ended = running.end().await?;
    match ended.exit {
        Some(0) => Ok(()),
        exit => Err(format!(
            "the check fails ({}): nothing lands\n{output}\n{}",
            exit.map_or("killed".to_owned(), |code| format!("exit code {code}")),
            ended.stderr
        )
        .into()),
    }
}
