use askama::Template;
use interlocking::agents::ScriptedAgent;
use interlocking::agents::program::{Environment, Invocation};
use interlocking::prelude::*;
use interlocking::worktree::{CommitId, Repository, Signature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Graph, Default)]
#[graph(output = CommitId)]
struct BlindPair {
    #[node(entry, input = String, fork(program, check))]
    share: ForkNode<Share>,
    // Each author works in a clone without the other's branch, and so cannot read what the other writes.
    #[node(input = Order, output = Done, workspace = "program", blind_to(check), goto(merge))]
    program: LLMNode<Author>,
    #[node(input = Order, output = Done, workspace = "check", blind_to(program), goto(merge))]
    check: LLMNode<Author>,
    #[node(join(program: CommitId, check: CommitId), workspace = "merge", goto(exit))]
    merge: JoinNode<Merge>,
}

#[derive(Serialize, Deserialize, Template)]
#[template(source = "Write {{ file }}, the {{ part }} of: {{ task }}", ext = "txt")]
struct Order {
    part: String,
    file: String,
    task: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Done {
    subject: String,
}

#[derive(Default)]
struct Share;
impl ForkHandler<blind_pair::share> for Share {
    async fn fork(&self, task: String, cx: &mut Cx<'_, blind_pair::share>) -> Route<blind_pair::share> {
        let order = |part: &str, file: &str| Order { part: part.into(), file: file.into(), task: task.clone() };
        fork!(cx, (order("program", "greet.sh"), order("check", "check.sh")))
    }
}

#[derive(Default)]
struct Author;
impl ReplyHandler<blind_pair::program> for Author {
    async fn after(
        &self,
        _: Order,
        reply: Reply<Done>,
        cx: &mut Cx<'_, blind_pair::program>,
    ) -> Route<blind_pair::program> {
        let commit = cx.worktree().await?.commit(reply.output.subject).await?;
        goto!(cx, blind_pair::merge, commit.ok_or("no program was written")?)
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
struct Merge;
impl JoinHandler<blind_pair::merge> for Merge {
    async fn join(
        &self,
        (program, check): (CommitId, CommitId),
        cx: &mut Cx<'_, blind_pair::merge>,
    ) -> Route<blind_pair::merge> {
        let mut worktree = cx.worktree().await?;
        worktree.merge(program, "Merge the program").await?;
        let merged = worktree.merge(check, "Merge its check").await?;
        // This runs code that agents wrote, without a sandbox; `toolchain::Runner` would run it in one. It gets none of this
        // process's variables but `PATH`, as others may hold keys, and what it starts ends with it.
        let environment = Environment::empty().inherit("PATH");
        let directory = Some(worktree.path().to_owned());
        let check = Invocation { arguments: vec!["check.sh".into()], directory, ..Invocation::new("sh", environment) };
        if check.start().await?.end().await?.exit != Some(0) {
            return Err("the check fails: nothing lands".into());
        }
        let landed = cx.land(merged).await?;
        goto!(cx, blind_pair::exit, landed)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let place = tempfile::tempdir()?;
    let project = Repository::init(place.path().join("project"))?;
    let main = project.main_worktree()?.ok_or("a new repository has a working tree")?;
    std::fs::write(main.path().join("README.md"), "# Greetings\n")?;
    main.commit_all(&Signature::new("Me", "me@example.org")?, "Begin")?;

    let script = r#"
        [[turn]]
        contains = ["Write greet.sh"]
        write = [{ path = "greet.sh", content = "echo hello" }]
        output = { subject = "Greet" }

        [[turn]]
        contains = ["Write check.sh"]
        write = [{ path = "check.sh", content = "test \"$(sh greet.sh)\" = hello" }]
        output = { subject = "Check the greeting" }
    "#;
    let workspaces = Arc::new(GitWorkspaces::new(project.clone(), place.path().join("runs")));
    let run = Run::new(BlindPair::default())
        .with_agent_for_others(ScriptedAgent::parse("pair.toml", script)?)
        .with_workspaces(workspaces);
    let landed = run.start("a greeting".into()).await?.outcome.finished().ok_or("it did not land")?;
    assert_eq!(main.head()?, landed);
    assert!(main.path().join("greet.sh").exists() && main.path().join("check.sh").exists());
    Ok(())
}
