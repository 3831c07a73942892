use askama::Template;
use interlocking::agents::ScriptedAgent;
use interlocking::prelude::*;
use interlocking::workspaces::Ownership;
use interlocking::worktree::{CommitId, Repository, Signature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Graph, Default)]
#[graph(output = CommitId)]
struct Waves {
    #[node(entry, input = Goal, output = Plan, goto(wave))]
    plan: LLMNode<Planner>,
    // Visited once for each wave: runs the wave's tasks in parallel and merges them. The next wave begins at the merge.
    #[node(input = Plan, map = Work, concurrency = 4, workspace = "merge", goto(wave, exit), visits = 10)]
    wave: MapNode<Wave>,
}

/// The child graph, which is run once for each task of a wave.
#[derive(Graph, Default)]
#[graph(output = CommitId)]
struct Work {
    #[node(entry, input = Task, output = Done, workspace = "task", goto(exit))]
    work: LLMNode<Worker>,
}

#[derive(Serialize, Deserialize, Template)]
#[template(source = "Plan waves for: {{ text }}", ext = "txt")]
struct Goal {
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Plan {
    waves: Vec<Vec<Task>>,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema, Template)]
#[template(source = "{{ what }}. Write nothing but {{ files|join(\", \") }}.", ext = "txt")]
struct Task {
    name: String,
    what: String,
    files: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Done {
    subject: String,
}

#[derive(Default)]
struct Planner;
impl ReplyHandler<waves::plan> for Planner {
    async fn after(&self, _: Goal, reply: Reply<Plan>, cx: &mut Cx<'_, waves::plan>) -> Route<waves::plan> {
        for wave in &reply.output.waves {
            let mut files = Ownership::new();
            for task in wave {
                files = files.with(&task.name, &task.files)?;
            }
            if let Some(overlap) = files.overlaps().first() {
                return Err(format!("two tasks of one wave may write one file: {overlap}").into());
            }
        }
        goto!(cx, waves::wave, reply.output)
    }
}

#[derive(Default)]
struct Worker;
impl ReplyHandler<work::work> for Worker {
    async fn after(&self, task: Task, reply: Reply<Done>, cx: &mut Cx<'_, work::work>) -> Route<work::work> {
        let mut worktree = cx.worktree().await?;
        // The task's changes are read from git, and compared with the files that it may change.
        let changes = worktree.diff_since(worktree.base()).await?;
        let files = Ownership::new().with(&task.name, &task.files)?;
        if let Some(violation) = files.violations(&task.name, &changes).first() {
            return Err(format!("{} has changed what is not its own: {violation}", task.name).into());
        }
        let commit = worktree.commit(reply.output.subject).await?;
        goto!(cx, work::exit, commit.ok_or("nothing was written")?)
    }
}

#[derive(Default)]
struct Wave;
impl MapHandler<waves::wave> for Wave {
    fn graph(&self, _: &Cx<'_, waves::wave>) -> Result<Arc<Work>, NodeError> {
        Ok(Arc::new(Work::default()))
    }

    async fn items(&self, plan: &Plan, _: &mut Cx<'_, waves::wave>) -> Result<Vec<Item<Work>>, NodeError> {
        let tasks = plan.waves.first().into_iter().flatten();
        Ok(tasks.map(|task| Item::new(task.clone()).with_key(&task.name)).collect())
    }

    async fn gather(&self, plan: Plan, children: Children<Work>, cx: &mut Cx<'_, waves::wave>) -> Route<waves::wave> {
        let mut worktree = cx.worktree().await?;
        let mut merged = worktree.head();
        for child in children.all().await {
            merged = worktree.merge(child.result?, format!("Merge {}", child.key)).await?;
        }
        let left: Vec<_> = plan.waves.into_iter().skip(1).collect();
        if !left.is_empty() {
            return goto!(cx, waves::wave, Plan { waves: left });
        }
        let landed = cx.land(merged).await?;
        goto!(cx, waves::exit, landed)
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
        contains = ["Plan waves for: a greeting"]
        output.waves = [
            [{ name = "hello", what = "Say hello", files = ["a.sh"] }, { name = "world", what = "Name it", files = ["b.sh"] }],
            [{ name = "greet", what = "Say both", files = ["greet.sh"] }],
        ]

        [[turn]]
        contains = ["Say hello. Write nothing but a.sh."]
        write = [{ path = "a.sh", content = "echo hello" }]
        output = { subject = "Say hello" }

        [[turn]]
        contains = ["Name it. Write nothing but b.sh."]
        write = [{ path = "b.sh", content = "echo world" }]
        output = { subject = "Name the world" }

        [[turn]]
        contains = ["Say both. Write nothing but greet.sh."]
        write = [{ path = "greet.sh", content = "sh a.sh && sh b.sh" }]
        output = { subject = "Greet" }
    "#;
    let workspaces = Arc::new(GitWorkspaces::new(project.clone(), place.path().join("runs")));
    let run = Run::new(Waves::default())
        .with_agent_for_others(ScriptedAgent::parse("waves.toml", script)?)
        .with_workspaces(workspaces);
    let landed = run.start(Goal { text: "a greeting".into() }).await?.outcome.finished().ok_or("it did not land")?;
    assert_eq!(main.head()?, landed);
    assert!(["a.sh", "b.sh", "greet.sh"].iter().all(|file| main.path().join(file).exists()));
    Ok(())
}
