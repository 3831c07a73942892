//! Two agents write at the same time, each in a worktree of its own: a program, and its check. What passes its check lands.

use askama::Template;
use interlocking::agents::program::{Environment, Invocation};
use interlocking::prelude::*;
use interlocking::worktree::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

/// What an agent says of its work.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Done {
    subject: String,
}

/// A program and its check, written side by side.
#[derive(Graph, Default)]
#[graph(output = CommitId)]
pub(crate) struct Pair {
    #[node(entry, input = String, fork(program, check))]
    share: ForkNode<Share>,
    #[node(input = Writing, output = Done, workspace = "program", goto(merge))]
    program: LLMNode<Write>,
    #[node(input = Writing, output = Done, workspace = "check", goto(merge))]
    check: LLMNode<Write>,
    #[node(join(program: CommitId, check: CommitId), workspace = "merge", goto(exit))]
    merge: JoinNode<Merge>,
}

/// What an agent is asked.
#[derive(Serialize, Deserialize, Template)]
#[template(source = "Write the {{ what }} of: {{ task }}", ext = "txt")]
pub(crate) struct Writing {
    what: String,
    task: String,
}

#[derive(Default)]
pub(crate) struct Share;

impl ForkHandler<pair::share> for Share {
    async fn fork(&self, task: String, cx: &mut Cx<'_, pair::share>) -> Route<pair::share> {
        let write = |what: &str| Writing { what: what.to_owned(), task: task.clone() };
        fork!(cx, (write("program"), write("check")))
    }
}

#[derive(Default)]
pub(crate) struct Write;

impl ReplyHandler<pair::program> for Write {
    async fn after(&self, _: Writing, reply: Reply<Done>, cx: &mut Cx<'_, pair::program>) -> Route<pair::program> {
        let commit = cx.worktree().await?.commit(reply.output.subject).await?;
        goto!(cx, pair::merge, commit.ok_or("no program was written")?)
    }
}

impl ReplyHandler<pair::check> for Write {
    async fn after(&self, _: Writing, reply: Reply<Done>, cx: &mut Cx<'_, pair::check>) -> Route<pair::check> {
        let commit = cx.worktree().await?.commit(reply.output.subject).await?;
        goto!(cx, pair::merge, commit.ok_or("no check was written")?)
    }
}

#[derive(Default)]
pub(crate) struct Merge;

impl JoinHandler<pair::merge> for Merge {
    async fn join(&self, (program, check): (CommitId, CommitId), cx: &mut Cx<'_, pair::merge>) -> Route<pair::merge> {
        let mut worktree = cx.worktree().await?;
        worktree.merge(program, "Merge the program").await?;
        let merged = worktree.merge(check, "Merge its check").await?;
        let checked = tokio::time::timeout(Duration::from_secs(600), is_passed(worktree.path())).await;
        if !checked.map_err(|_| "the check does not end: nothing lands")?? {
            return Err("the check fails: nothing lands".into());
        }
        let landed = cx.land(merged).await?;
        goto!(cx, pair::exit, landed)
    }
}

/// Runs the check in a directory. An agent wrote it: it gets none of this process's variables but `PATH`, as others may hold keys,
/// and what it starts is ended with it.
async fn is_passed(directory: &Path) -> Result<bool, NodeError> {
    let check = Invocation {
        arguments: vec!["check.sh".into()],
        directory: Some(directory.to_owned()),
        ..Invocation::new("sh", Environment::empty().inherit("PATH"))
    };
    Ok(check.start().await?.end().await?.exit == Some(0))
}
