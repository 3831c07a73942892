//! A workspace is prepared whenever it has been emptied: made, reset, restored, or moved along with its base.

use crate::disturbed::own_git_directory;
use crate::project::{Project, author};
use interlocking::prelude::*;
use interlocking::runtime::{Journal, MemoryJournal};
use interlocking::sqlite::SqliteJournal;
use interlocking::workspaces::Base;
use interlocking::worktree::{CommitId, Setup};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Three rounds of writing, each read in a read-only workspace that follows the one that is written.
#[derive(Graph)]
#[graph(output = ())]
struct Rounds {
    #[node(entry, input = u32, goto(look), workspace = "draft", visits = 9)]
    write: LogicNode<Write>,
    #[node(input = (u32, CommitId), goto(write, exit), workspace = "reading", read_only, visits = 9)]
    look: LogicNode<Look>,
}

held!(Rounds, Reading);

/// Where the run is interrupted: in this round, while writing or reading.
#[derive(Clone)]
struct Cut(Option<(u32, &'static str)>, Arc<Notify>);

impl Cut {
    async fn at(&self, round: u32, what: &str) {
        if self.0 == Some((round, what)) {
            self.1.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

/// It has the ignored files that the project needs, as the user has them, and nothing of an agent's.
fn is_as_new(place: &Path) -> bool {
    let read = |file: &str| std::fs::read_to_string(place.join(file)).unwrap_or_default();
    read("env.log") == "TOKEN=1\n" && read("built.log") == "built of TOKEN=1\n" && !place.join("noise.log").exists()
}

fn mess(place: &Path) -> Result<(), NodeError> {
    for file in ["env.log", "built.log", "noise.log"] {
        std::fs::write(place.join(file), "an agent's")?;
    }
    Ok(())
}

struct Write(Cut);
impl LogicHandler<rounds::write> for Write {
    async fn run(&self, round: u32, cx: &mut Cx<'_, rounds::write>) -> Route<rounds::write> {
        let repository = cx.repository()?;
        let mut worktree = cx.worktree().await?;
        assert!(is_as_new(worktree.path()), "also where a node was interrupted");
        mess(worktree.path())?;
        self.0.at(round, "written").await;
        let head = worktree.head();
        if round == 1 && self.0.0.is_none() {
            std::fs::write(worktree.path().join("stray.txt"), "stray")?;
            repository.open_worktree(worktree.path())?.commit_all(&author(), "Stray")?;
            // As left by an agent's git that was stopped during a commit. The operation waits some seconds for it, so
            // this happens only here.
            std::fs::write(own_git_directory(worktree.path()).join("index.lock"), "")?;
        }
        worktree.reset(head).await?;
        assert!(is_as_new(worktree.path()), "after a reset");
        std::fs::write(worktree.path().join("round.txt"), round.to_string())?;
        let commit = worktree.commit(format!("Round {round}")).await?.ok_or("nothing new")?;
        goto!(cx, rounds::look, (round, commit))
    }
}

struct Look(Cut);
impl LogicHandler<rounds::look> for Look {
    async fn run(&self, (round, commit): (u32, CommitId), cx: &mut Cx<'_, rounds::look>) -> Route<rounds::look> {
        let place = cx.workspace()?.path;
        assert_eq!(std::fs::read_to_string(place.join("round.txt"))?, round.to_string(), "it follows its base");
        assert_eq!(cx.worktree().await?.head(), commit);
        assert!(is_as_new(&place), "in round {round}");
        self.0.at(round, "looked").await;
        mess(&place)?;
        if round < 3 {
            return goto!(cx, rounds::write, round + 1);
        }
        cx.land(commit).await?;
        goto!(cx, rounds::exit, ())
    }
}

fn rounds(project: &Project, journal: &Arc<dyn Journal>, cut: &Cut) -> Run<Rounds> {
    let setup = Setup::new("sh", ["-c", "echo built of $(cat env.log) > built.log"]);
    let workspaces = project
        .workspaces()
        .with_setup(setup.with_variable("PATH", std::env::var("PATH").unwrap()))
        .with_copied_files(["env.log".parse().unwrap()])
        .with_base("reading", Base::Workspace("draft".to_owned()));
    let run = Run::new(Rounds { write: LogicNode(Write(cut.clone())), look: LogicNode(Look(cut.clone())) });
    run.with_workspaces(Arc::new(workspaces)).with_journal(journal.clone())
}

/// Also by another process, whichever node was interrupted; and a read-only workspace follows its base all the time.
#[tokio::test]
async fn a_workspace_is_made_ready_whenever_it_was_emptied() {
    for at in [None, Some((1, "written")), Some((2, "written")), Some((2, "looked")), Some((3, "looked"))] {
        let project = Project::new();
        std::fs::write(project.root().join("env.log"), "TOKEN=1\n").unwrap();
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
        let cut = Cut(at, Arc::default());
        let ended = match at {
            None => rounds(&project, &journal, &cut).start(1).await.unwrap(),
            Some(_) => {
                tokio::select! {
                    ended = rounds(&project, &journal, &cut).start(1) => panic!("{at:?}: {ended:?}"),
                    () = cut.1.notified() => {}
                }
                rounds(&project, &journal, &Cut(Some((0, "never")), Arc::default())).resume().await.unwrap()
            }
        };
        assert!(matches!(ended.outcome, Outcome::Finished(())), "{at:?}: {:?}", ended.outcome);
        assert_eq!(project.git(&["log", "--format=%s"]), "Round 3\nRound 2\nRound 1\nBegin\n");
        // What an agent has committed by itself is kept when the workspace is reset (CON-74).
        let archived = if at.is_none() { vec!["run/draft".to_owned()] } else { vec![] };
        assert_eq!((project.left(), project.archived()), (vec![], archived), "{at:?}");
    }
}

/// A listed file that does not exist, or is not ignored, fails the node that needs the workspace.
#[tokio::test]
async fn a_file_that_cannot_be_copied_is_named() {
    let project = Project::new();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let ended = rounds(&project, &journal, &Cut(None, Arc::default())).start(1).await.unwrap();
    let Outcome::Failed(failure) = ended.outcome else { panic!("{:?}", ended.outcome) };
    assert!(failure.kind == FailureKind::Workspace, "{failure}");
    let root = project.root().canonicalize().unwrap();
    let told =
        format!("env.log is listed to be copied, but is not in {}: make it, or take it off the list", root.display());
    assert!(failure.message.contains(&told), "{failure}");
    assert_eq!((project.left(), project.archived()), (vec![], vec![]));
}

/// A node that only reads.
#[derive(Graph)]
#[graph(output = ())]
struct Reading {
    #[node(entry, input = (), goto(exit), workspace = "reading", read_only)]
    read: LogicNode<Read>,
}

struct Read;
impl LogicHandler<reading::read> for Read {
    async fn run(&self, (): (), cx: &mut Cx<'_, reading::read>) -> Route<reading::read> {
        let place = cx.workspace()?.path;
        assert!(is_as_new(&place));
        let ticks = || std::fs::read(place.join("ticks.log")).unwrap_or_default().len();
        let before = ticks();
        if before > 0 {
            tokio::time::sleep(Duration::from_millis(200)).await;
            assert_eq!(ticks(), before, "a process of the setup is still writing");
        }
        goto!(cx, reading::exit, ())
    }
}

fn reading(project: &Project, database: &Path, setup: &str) -> Run<Reading> {
    let setup = Setup::new("sh", ["-c", setup]).with_variable("PATH", std::env::var("PATH").unwrap());
    let workspaces = project.workspaces().with_setup(setup).with_copied_files(["env.log".parse().unwrap()]);
    let run = Run::new(Reading { read: LogicNode(Read) }).with_workspaces(Arc::new(workspaces));
    run.with_journal(Arc::new(SqliteJournal::open(database).unwrap()))
}

/// Also what has left the setup's process group and its environment.
#[tokio::test]
async fn what_a_setup_leaves_running_ends_with_it() {
    let ticking = "while :; do echo tick >> ticks.log; sleep .02; done";
    for start in [format!("({ticking})"), format!("setsid env -i PATH=\"$PATH\" sh -c '{ticking}'")] {
        let project = Project::new();
        std::fs::write(project.root().join("env.log"), "TOKEN=1\n").unwrap();
        let setup = format!(
            "echo built of $(cat env.log) > built.log; {start} > /dev/null 2>&1 & \
             until test -s ticks.log; do sleep .01; done"
        );
        let database = project.runs().with_file_name("journal");
        let outcome = reading(&project, &database, &setup).start(()).await.unwrap().outcome;
        assert!(matches!(outcome, Outcome::Finished(())), "{start}: {outcome:?}");
        assert_eq!(project.left(), [""; 0], "{start}");
    }
}

/// To git, the worktree is complete by then, and nothing that changes it was interrupted. What the setup has started ends with its
/// process.
#[tokio::test]
async fn a_workspace_whose_process_was_killed_in_its_setup_is_made_ready_again() {
    let project = Project::new();
    std::fs::write(project.root().join("env.log"), "TOKEN=1\n").unwrap();
    let database = project.runs().with_file_name("journal");
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "made_ready::is_killed_in_the_setup", "--nocapture"]);
    let ended = child.env("KILLED_IN", project.root()).env("DATABASE", &database).output().unwrap();
    assert_eq!(ended.status.signal(), Some(9), "{}", String::from_utf8_lossy(&ended.stdout));
    assert!(project.runs().join("run/reading/README.md").exists());
    let left = std::fs::read_to_string(database.with_file_name("left")).unwrap();
    let is_there =
        || std::fs::read_to_string(format!("/proc/{}/stat", left.trim())).is_ok_and(|stat| !stat.contains(") Z "));
    let patience = Instant::now();
    while is_there() {
        assert!(patience.elapsed() < Duration::from_secs(60), "the setup has outlived its process");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let setup = "echo built of $(cat env.log) > built.log";
    let outcome = reading(&project, &database, setup).resume().await.unwrap().outcome;
    assert!(matches!(outcome, Outcome::Finished(())), "{outcome:?}");
    assert_eq!(project.left(), [""; 0]);
}

/// The process of the test above.
#[tokio::test]
async fn is_killed_in_the_setup() {
    let [Some(place), Some(database)] = ["KILLED_IN", "DATABASE"].map(|name| std::env::var(name).ok()) else { return };
    let database = Path::new(&database);
    let left = database.with_file_name("left");
    let setup = format!("sleep 600 & echo $! > '{}'; kill -9 $PPID; exit 1", left.display());
    let ended = reading(&Project::at(Path::new(&place)), database, &setup).start(()).await;
    panic!("{ended:?}");
}
