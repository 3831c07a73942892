//! Reused worktrees: the next worktrees have the files of the last ones, and nothing else that was left in them.

use crate::project::Project;
use interlocking::prelude::*;
use interlocking::runtime::{Journal, MemoryJournal};
use interlocking::worktree::CommitId;
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

/// Two waves of agents, one after the other.
#[derive(Graph)]
#[graph(output = CommitId)]
struct Waves {
    #[node(entry, input = (), map = Agent, goto(second), workspace = "staging")]
    first: MapNode<First>,
    #[node(input = (), map = Agent, goto(exit), workspace = "staging")]
    second: MapNode<Second>,
}

#[derive(Graph)]
#[graph(output = CommitId)]
struct Agent {
    #[node(entry, input = String, goto(exit), workspace = "tree")]
    work: LogicNode<Work>,
}

held!(Waves, Agent, Ahead);

/// A file's identity in the file system: its inode number and modification time.
type Identity = (u64, i64, i64);

fn identity(path: &Path) -> Identity {
    let metadata = std::fs::metadata(path).unwrap();
    (metadata.ino(), metadata.mtime(), metadata.mtime_nsec())
}

/// The names in a directory, if it exists.
fn names(directory: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap())
}

#[derive(Clone, Default)]
struct Watch {
    /// The README that each agent has found, by its letter.
    found: Arc<Mutex<BTreeSet<(String, Identity)>>>,
    /// The directory of the worktrees that are ready to be reused. The second wave waits for those of the first.
    ready: Option<PathBuf>,
    /// Whether the run stops after the first wave.
    stops: bool,
    stopped: Arc<Notify>,
}

struct First(Watch);
struct Second(Watch);
struct Work(Watch);

impl LogicHandler<agent::work> for Work {
    async fn run(&self, letter: String, cx: &mut Cx<'_, agent::work>) -> Route<agent::work> {
        let mut worktree = cx.worktree().await?;
        let path = worktree.path().to_owned();
        let mut there: Vec<_> = names(&path).collect();
        there.sort();
        // The files of the previous wave, which have been merged, and nothing else.
        let merged = ["a.txt", "b.txt"].into_iter().filter(|_| ["c", "d"].contains(&letter.as_str()));
        assert_eq!(there, [".git", ".gitignore", "README.md"].into_iter().chain(merged).collect::<Vec<_>>());
        assert_eq!(std::fs::read_to_string(path.join("README.md"))?, "# Project\n");
        self.0.found.lock().unwrap().insert((letter.clone(), identity(&path.join("README.md"))));
        std::fs::write(path.join(format!("{letter}.txt")), &letter)?;
        let head = worktree.commit(format!("Add {letter}")).await?.ok_or("nothing new")?;
        // What an agent may leave behind.
        std::fs::write(path.join(".gitignore"), "")?;
        std::fs::write(path.join("ignored.log"), "ignored")?;
        std::fs::write(path.join("untracked.txt"), "untracked")?;
        std::fs::create_dir_all(path.join("target/debug"))?;
        std::fs::write(path.join("target/debug/built"), "built")?;
        goto!(cx, agent::exit, head)
    }
}

fn agent(watch: &Watch) -> Arc<Agent> {
    Arc::new(Agent { work: LogicNode(Work(watch.clone())) })
}

fn items(letters: [&str; 2]) -> Vec<Item<Agent>> {
    letters.map(|letter| Item::new(letter.to_owned()).with_key(letter)).into()
}

impl MapHandler<waves::first> for First {
    fn graph(&self, _: &Cx<'_, waves::first>) -> Result<Arc<Agent>, NodeError> {
        Ok(agent(&self.0))
    }
    async fn items(&self, (): &(), _: &mut Cx<'_, waves::first>) -> Result<Vec<Item<Agent>>, NodeError> {
        Ok(items(["a", "b"]))
    }
    async fn gather(&self, (): (), children: Children<Agent>, cx: &mut Cx<'_, waves::first>) -> Route<waves::first> {
        for child in children.all().await {
            cx.worktree().await?.merge(child.result?, format!("Merge {}", child.key)).await?;
        }
        cx.retire_child_workspaces::<waves::first>().await?;
        assert_eq!(cx.repository()?.worktrees()?.len(), 1, "that of the parent");
        while self
            .0
            .ready
            .as_ref()
            .is_some_and(|ready| names(ready).filter(|name| name.ends_with(".ready")).count() < 2)
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if self.0.stops {
            self.0.stopped.notify_one();
            std::future::pending::<()>().await;
        }
        goto!(cx, waves::second, ())
    }
}

impl MapHandler<waves::second> for Second {
    fn graph(&self, _: &Cx<'_, waves::second>) -> Result<Arc<Agent>, NodeError> {
        Ok(agent(&self.0))
    }
    async fn items(&self, (): &(), _: &mut Cx<'_, waves::second>) -> Result<Vec<Item<Agent>>, NodeError> {
        Ok(items(["c", "d"]))
    }
    async fn gather(&self, (): (), children: Children<Agent>, cx: &mut Cx<'_, waves::second>) -> Route<waves::second> {
        let mut head = None;
        for child in children.all().await {
            head = Some(cx.worktree().await?.merge(child.result?, format!("Merge {}", child.key)).await?);
        }
        let landed = cx.land(head.ok_or("nothing was merged")?).await?;
        goto!(cx, waves::exit, landed)
    }
}

fn waves(project: &Project, journal: &Arc<dyn Journal>, watch: &Watch, reuses: bool) -> Run<Waves> {
    let graph = Waves { first: MapNode(First(watch.clone())), second: MapNode(Second(watch.clone())) };
    let workspaces = project.workspaces().with_children_kept();
    let workspaces = if reuses { workspaces.with_worktrees_reused() } else { workspaces };
    Run::new(graph).with_workspaces(Arc::new(workspaces)).with_journal(journal.clone())
}

/// The directory of a run's worktrees that are ready to be reused.
fn ready(project: &Project) -> PathBuf {
    project.runs().join(RunId::DEFAULT.as_str()).join(".retired")
}

/// How many agents of the second wave have found a file that was written for an agent of the first.
fn found_again(watch: &Watch) -> usize {
    let found = watch.found.lock().unwrap();
    let of = |letters: [&'static str; 2]| found.iter().filter(move |(letter, _)| letters.contains(&letter.as_str()));
    of(["c", "d"]).filter(|(_, one)| of(["a", "b"]).any(|(_, other)| one == other)).count()
}

fn is_landed(project: &Project) {
    let files = project.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert_eq!(files, ".gitignore\nREADME.md\na.txt\nb.txt\nc.txt\nd.txt\n");
    assert_eq!(project.left(), [""; 0]);
}

#[tokio::test]
async fn worktrees_of_the_next_wave_have_the_files_of_the_last() {
    for reuses in [false, true] {
        let project = Project::new();
        let watch = Watch { ready: reuses.then(|| ready(&project)), ..Watch::default() };
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
        waves(&project, &journal, &watch, reuses).start(()).await.unwrap().outcome.finished().unwrap();
        is_landed(&project);
        assert_eq!(found_again(&watch) > 0, reuses, "{watch:?}", watch = watch.found);
    }
}

/// Another process that resumes the run uses them, too.
#[tokio::test]
async fn a_run_that_was_interrupted_between_two_waves_comes_to_the_same() {
    let project = Project::new();
    let watch = Watch { ready: Some(ready(&project)), stops: true, ..Watch::default() };
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    tokio::select! {
        ended = waves(&project, &journal, &watch, true).start(()) => panic!("{ended:?}"),
        () = watch.stopped.notified() => {}
    }
    let watch = Watch { ready: None, stops: false, ..watch };
    waves(&project, &journal, &watch, true).resume().await.unwrap().outcome.finished().unwrap();
    is_landed(&project);
    assert!(found_again(&watch) > 0, "{:?}", watch.found);
}

/// Two fresh checkouts, one after the other, and a worktree whose files were written ahead of time.
#[derive(Graph)]
#[graph(output = Vec<bool>)]
struct Ahead {
    #[node(entry, input = (), goto(exit), workspace = "work")]
    look: LogicNode<Look>,
}

struct Look {
    /// The directory of the worktrees that are ready to be used.
    ready: PathBuf,
}

impl LogicHandler<ahead::look> for Look {
    async fn run(&self, (): (), cx: &mut Cx<'_, ahead::look>) -> Route<ahead::look> {
        let mut work = cx.worktree().await?;
        let begun = work.base();
        std::fs::write(work.path().join("code.rs"), "code")?;
        let commit = work.commit("Add code").await?.ok_or("nothing new")?;
        let first = cx.fresh_checkout(begun).await?;
        let (path, readme) = (first.path().to_owned(), identity(&first.path().join("README.md")));
        // What a build may leave behind.
        std::fs::write(path.join(".gitignore"), "*")?;
        std::fs::create_dir_all(path.join("target"))?;
        std::fs::write(path.join("target/built"), "built")?;
        std::fs::write(path.join(".git/config"), "[core]\n\tfsmonitor = ./target/built\n")?;
        drop(first);
        let stays = path.exists();
        let second = cx.fresh_checkout(commit).await?;
        let mut there: Vec<_> = names(&path).collect();
        there.sort();
        assert_eq!((second.path(), there.join(" ").as_str()), (&*path, ".git .gitignore README.md code.rs"));
        assert!(!std::fs::read_to_string(path.join(".git/config"))?.contains("fsmonitor"));
        assert_ne!(std::fs::read_to_string(path.join(".gitignore"))?, "*");
        let is_same = identity(&path.join("README.md")) == readme;

        cx.prepare_worktrees(2, commit).await?;
        let written: Vec<_> = names(&self.ready).filter(|name| name.ends_with(".ready")).collect();
        let readmes = written.iter().map(|name| identity(&self.ready.join(name).join("files/README.md")));
        let readmes: BTreeSet<_> = readmes.collect();
        let other = cx.worktree_of("other").await?;
        let is_one = readmes.contains(&identity(&other.path().join("README.md")));
        goto!(cx, ahead::exit, vec![stays, is_same, readmes.len() == 2, is_one])
    }
}

#[tokio::test]
async fn files_of_checkouts_and_of_worktrees_to_come_are_there_where_they_are_used_again() {
    for reuses in [false, true] {
        let project = Project::new();
        let workspaces = project.workspaces();
        let workspaces = if reuses { workspaces.with_worktrees_reused() } else { workspaces };
        let graph = Ahead { look: LogicNode(Look { ready: ready(&project) }) };
        let run = Run::new(graph).with_workspaces(Arc::new(workspaces));
        let is_used = run.start(()).await.unwrap().outcome.finished().unwrap();
        assert_eq!(is_used, [reuses; 4]);
        assert_eq!(project.left(), [""; 0]);
    }
}
