//! Whatever an interrupted node or a killed process has left in a workspace, the workspace is restored to its commit.

use crate::project::Project;
use askama::Template;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use interlocking::runtime::{Journal, MemoryJournal};
use interlocking::worktree::CommitId;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Notify;

#[derive(Template)]
#[template(source = "Work.", ext = "txt")]
struct WorkPrompt;

/// Where the run is interrupted: in a workspace, or beside it.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
enum At {
    Work,
    Cell,
    Elsewhere,
}

/// Works in a worktree and in a clone, is interrupted, and then both are checked.
#[derive(Graph)]
#[graph(output = (CommitId, CommitId))]
struct Job {
    #[node(entry, input = At, goto(cell), workspace = "work")]
    work: LogicNode<Work>,
    #[node(input = At, prompt = WorkPrompt, output = bool, goto(in_work, in_cell, elsewhere), workspace = "cell", isolation = "clone")]
    cell: LLMNode<Cell>,
    #[node(input = (), goto(look), workspace = "work")]
    in_work: LogicNode<Waits>,
    #[node(input = (), goto(look), workspace = "cell")]
    in_cell: LogicNode<Waits>,
    #[node(input = (), goto(look))]
    elsewhere: LogicNode<Waits>,
    #[node(input = (), goto(exit))]
    look: LogicNode<Look>,
}

held!(Job);

struct Work;
impl LogicHandler<job::work> for Work {
    async fn run(&self, at: At, cx: &mut Cx<'_, job::work>) -> Route<job::work> {
        let mut worktree = cx.worktree().await?;
        fs::write(worktree.path().join("work.rs"), "done\n")?;
        worktree.commit("Work").await?;
        goto!(cx, job::cell, at)
    }
}

struct Cell;
impl LLMHandler<job::cell> for Cell {
    async fn before<'a>(&'a self, _: &'a At, _: &mut Cx<'_, job::cell>) -> Ask<WorkPrompt> {
        Ok((WorkPrompt, SessionOp::StartFresh(Slug::new("work")?)))
    }
    async fn after(&self, at: At, _: Reply<bool>, cx: &mut Cx<'_, job::cell>) -> Route<job::cell> {
        let mut worktree = cx.worktree().await?;
        fs::write(worktree.path().join("work.rs"), "done\n")?;
        worktree.commit("Work").await?;
        match at {
            At::Work => goto!(cx, job::in_work, ()),
            At::Cell => goto!(cx, job::in_cell, ()),
            At::Elsewhere => goto!(cx, job::elsewhere, ()),
        }
    }
}

/// Waits for ever the first time.
struct Waits(Arc<Notify>, bool);

impl Waits {
    async fn wait(&self) {
        if self.1 {
            self.0.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

impl LogicHandler<job::in_work> for Waits {
    async fn run(&self, (): (), cx: &mut Cx<'_, job::in_work>) -> Route<job::in_work> {
        self.wait().await;
        goto!(cx, job::look, ())
    }
}

impl LogicHandler<job::in_cell> for Waits {
    async fn run(&self, (): (), cx: &mut Cx<'_, job::in_cell>) -> Route<job::in_cell> {
        self.wait().await;
        goto!(cx, job::look, ())
    }
}

impl LogicHandler<job::elsewhere> for Waits {
    async fn run(&self, (): (), cx: &mut Cx<'_, job::elsewhere>) -> Route<job::elsewhere> {
        self.wait().await;
        goto!(cx, job::look, ())
    }
}

struct Look(&'static str);
impl LogicHandler<job::look> for Look {
    async fn run(&self, (): (), cx: &mut Cx<'_, job::look>) -> Route<job::look> {
        let mut heads = Vec::new();
        for name in ["work", "cell"] {
            let worktree = cx.worktree_of(name).await?;
            // Uncommitted files stay if no node was interrupted and nothing was tampered with.
            if self.0 != "files" {
                assert_eq!(fs::read_to_string(worktree.path().join("work.rs"))?, "done\n", "{} {name}", self.0);
                assert_eq!(worktree.diff_since(worktree.head()).await?, [], "{} {name}", self.0);
            }
            heads.push(worktree.head());
            // The next commit is on top of it.
            fs::write(worktree.path().join("more.rs"), "more\n")?;
            let head = worktree.head();
            let more = cx.worktree_of(name).await?.commit("More").await?.ok_or("nothing new")?;
            assert_eq!(cx.repository()?.commit(more)?.parents, [head], "{} {name}", self.0);
        }
        goto!(cx, job::exit, (heads[0], heads[1]))
    }
}

fn job(project: &Project, journal: &Arc<dyn Journal>, told: &Arc<Notify>, waits: bool, left: &'static str) -> Run<Job> {
    let waits = || LogicNode(Waits(told.clone(), waits));
    let graph = Job {
        work: LogicNode(Work),
        cell: LLMNode(Cell),
        in_work: waits(),
        in_cell: waits(),
        elsewhere: waits(),
        look: LogicNode(Look(left)),
    };
    let agent = ScriptedAgent::new(Script::parse("script", "[[turn]]\noutput_json = 'true'\n").unwrap());
    Run::new(graph)
        .with_agent_for_others(Arc::new(agent))
        .with_workspaces(Arc::new(project.workspaces()))
        .with_journal(journal.clone())
}

type Disturb = fn(&Project, &Path);

pub(crate) fn own_git_directory(at: &Path) -> PathBuf {
    let link = fs::read_to_string(at.join(".git")).unwrap();
    link.strip_prefix("gitdir: ").unwrap().trim_end().into()
}

fn mess(at: &Path) {
    fs::write(at.join("work.rs"), "half").unwrap();
    fs::write(at.join("new.rs"), "new").unwrap();
    fs::remove_file(at.join("README.md")).unwrap();
}

/// Commits with the name that the run commits with.
fn commit(project: &Project, at: &Path, arguments: &[&str]) {
    fs::write(at.join("work.rs"), at.to_str().unwrap()).unwrap();
    let identity = ["-c", "user.name=Runtime", "-c", "user.email=runtime@example.org"];
    let place = ["-C", at.to_str().unwrap()];
    project.git(&[&place[..], &identity, &["commit", "-q", "-a", "-m", "Stray"], arguments].concat());
}

/// In a worktree.
const IN_WORKTREES: [(&str, Disturb); 8] = [
    ("nothing", |_, _| {}),
    ("files", |_, at| mess(at)),
    ("a commit", |project, at| commit(project, at, &[])),
    ("a commit in place of the recorded one", |project, at| commit(project, at, &["--amend"])),
    ("locks", |project, at| {
        fs::write(own_git_directory(at).join("index.lock"), "").unwrap();
        fs::write(project.root().join(".git/refs/heads/run/work.lock"), "").unwrap();
    }),
    ("another branch", |_, at| fs::write(own_git_directory(at).join("HEAD"), "ref: refs/heads/main\n").unwrap()),
    ("half made", |_, at| {
        fs::write(own_git_directory(at).join("locked"), "initializing").unwrap();
        fs::remove_file(at.join("README.md")).unwrap();
    }),
    ("no directory", |_, at| fs::remove_dir_all(at).unwrap()),
];

/// In a clone, whose `.git` is within its agent's reach.
const IN_CLONES: [(&str, Disturb); 9] = [
    ("nothing", |_, _| {}),
    ("files", |_, at| mess(at)),
    ("a commit that was not brought back", |project, at| commit(project, at, &[])),
    ("a commit in place of the recorded one", |project, at| commit(project, at, &["--amend"])),
    ("locks", |_, at| {
        fs::write(at.join(".git/index.lock"), "").unwrap();
        fs::write(at.join(".git/refs/heads/run/cell.lock"), "").unwrap();
    }),
    ("another branch", |_, at| fs::write(at.join(".git/HEAD"), "ref: refs/heads/mine\n").unwrap()),
    ("objects of somebody else's", |project, at| {
        let objects = project.root().join(".git/objects");
        fs::write(at.join(".git/objects/info/alternates"), objects.to_str().unwrap()).unwrap();
    }),
    ("no repository", |_, at| fs::remove_dir_all(at.join(".git")).unwrap()),
    ("no directory", |_, at| fs::remove_dir_all(at).unwrap()),
];

async fn is_put_back(name: &str, at: At, left: &'static str, disturb: Disturb) {
    let (project, journal): (_, Arc<dyn Journal>) = (Project::new(), Arc::new(MemoryJournal::new()));
    let told = Arc::new(Notify::new());
    tokio::select! {
        ended = job(&project, &journal, &told, true, "").start(at) => panic!("{left}: {ended:?}"),
        () = told.notified() => {}
    }
    let [cell, work] = ["run/cell", "run/work"].map(|branch| project.repository().resolve(branch).unwrap());
    disturb(&project, &project.runs().join("run").join(name).canonicalize().unwrap());
    // Uncommitted files are left for the next node, unless the node that wrote them was interrupted.
    let left = if left == "files" && at != At::Elsewhere { "files of a node that was interrupted" } else { left };
    let ended = job(&project, &journal, &told, false, left).resume().await.unwrap();
    let Outcome::Finished(heads) = ended.outcome else { panic!("{name} {at:?} {left}: {:?}", ended.outcome) };
    assert_eq!(heads, (work, cell), "{name} {at:?} {left}");
    assert_eq!(project.left(), [""; 0], "{name} {at:?} {left}");
    // CON-153: nothing is lost. Otherwise the archive has nothing but the heads of a run that has not landed.
    let stray = if left.contains("commit") { "Stray\n" } else { "" };
    assert_eq!(subjects_in_the_archive(&project), format!("More\nMore\n{stray}"), "{name} {at:?} {left}");
}

fn subjects_in_the_archive(project: &Project) -> String {
    project.git(&["for-each-ref", "--sort=subject", "--format=%(subject)", "refs/interlocking/archive"])
}

/// What an agent has committed by itself is kept, too, if the run is not resumed but removed.
#[tokio::test]
async fn commits_that_no_handler_has_seen_are_kept_when_a_run_is_removed() {
    let (project, journal): (_, Arc<dyn Journal>) = (Project::new(), Arc::new(MemoryJournal::new()));
    let told = Arc::new(Notify::new());
    tokio::select! {
        ended = job(&project, &journal, &told, true, "").start(At::Elsewhere) => panic!("{ended:?}"),
        () = told.notified() => {}
    }
    for name in ["work", "cell"] {
        commit(&project, &project.runs().join("run").join(name), &[]);
    }
    project.leftover_run().await.remove().await.unwrap();
    // The clone's branch in the repository is at the commit that a handler has made.
    assert_eq!((project.left(), subjects_in_the_archive(&project)), (vec![], "Stray\nStray\nWork\n".to_owned()));
}

#[tokio::test]
async fn a_worktree_is_put_back_to_its_commit_whatever_was_left_in_it() {
    for (left, disturb) in IN_WORKTREES {
        for at in [At::Work, At::Elsewhere] {
            is_put_back("work", at, left, disturb).await;
        }
    }
}

#[tokio::test]
async fn a_clone_is_put_back_to_its_commit_whatever_was_left_in_it() {
    for (left, disturb) in IN_CLONES {
        for at in [At::Cell, At::Elsewhere] {
            is_put_back("cell", at, left, disturb).await;
        }
    }
}
