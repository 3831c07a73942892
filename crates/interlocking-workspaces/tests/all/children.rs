//! Child runs: each has its own worktrees and branches, begins at its parent's commit, and can be reopened.

use crate::project::Project;
use interlocking::prelude::*;
use interlocking::runtime::{Journal, MemoryJournal};
use interlocking::worktree::CommitId;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// A part with a number of levels of parts below it. Each is written in a worktree of its own and merged into that of
/// its parent.
#[derive(Graph)]
#[graph(output = CommitId)]
struct Tree {
    #[node(entry, input = (String, u32), goto(grow), workspace = "impl")]
    plant: LogicNode<Plant>,
    #[node(input = (String, u32), map = Tree, depth = 4, goto(exit), workspace = "impl")]
    grow: MapNode<Grow>,
}

held!(Tree);

/// What the runs of a tree report, and the number of the moment at which they are interrupted.
#[derive(Clone)]
struct Watch {
    left: Arc<AtomicUsize>,
    told: Arc<Notify>,
    worked_in: Arc<Mutex<Vec<PathBuf>>>,
}

impl Watch {
    fn new(moment: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(moment)), told: Arc::default(), worked_in: Arc::default() }
    }

    async fn moment(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.told.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

struct Plant(Watch);
impl LogicHandler<tree::plant> for Plant {
    async fn run(&self, (name, levels): (String, u32), cx: &mut Cx<'_, tree::plant>) -> Route<tree::plant> {
        let is_child = cx.parent().is_some();
        let mut worktree = cx.worktree().await?;
        self.0.worked_in.lock().unwrap().push(worktree.path().to_owned());
        if is_child {
            assert!(worktree.path().join("a.txt").exists(), "it begins where the run above it stands");
        }
        assert!(!worktree.path().join("mess").exists());
        std::fs::write(worktree.path().join("mess"), "half")?;
        self.0.moment().await;
        std::fs::remove_file(worktree.path().join("mess"))?;
        std::fs::write(worktree.path().join(format!("{name}.txt")), &name)?;
        worktree.commit(format!("Plant {name}")).await?;
        self.0.moment().await;
        goto!(cx, tree::grow, (name, levels))
    }
}

struct Grow(Watch);
impl MapHandler<tree::grow> for Grow {
    fn graph(&self, cx: &Cx<'_, tree::grow>) -> Result<Arc<Tree>, NodeError> {
        Ok(cx.own_graph()?)
    }
    async fn items(
        &self,
        (name, levels): &(String, u32),
        _: &mut Cx<'_, tree::grow>,
    ) -> Result<Vec<Item<Tree>>, NodeError> {
        let below = |part: &str| Item::new((format!("{name}{part}"), levels - 1));
        Ok(if *levels == 0 { Vec::new() } else { vec![below("a"), below("b")] })
    }
    async fn gather(
        &self,
        (name, _): (String, u32),
        children: Children<Tree>,
        cx: &mut Cx<'_, tree::grow>,
    ) -> Route<tree::grow> {
        let mut worktree = cx.worktree().await?;
        let mut head = worktree.head();
        for child in children.all().await {
            head = worktree.merge(child.result?, format!("Merge {}", child.key)).await?;
        }
        self.0.moment().await;
        if cx.parent().is_none() {
            assert_eq!(name, "a");
            head = cx.land(head).await?;
        }
        goto!(cx, tree::exit, head)
    }
}

fn tree(project: &Project, journal: &Arc<dyn Journal>, watch: &Watch) -> Run<Tree> {
    let graph = Tree { plant: LogicNode(Plant(watch.clone())), grow: MapNode(Grow(watch.clone())) };
    Run::new(graph).with_workspaces(Arc::new(project.workspaces())).with_journal(journal.clone())
}

fn is_grown(project: &Project) {
    let files = project.git(&["ls-tree", "-r", "--name-only", "main"]);
    let parts: Vec<_> = files.lines().filter(|file| file.ends_with(".txt")).collect();
    assert_eq!(parts, ["a.txt", "aa.txt", "aaa.txt", "aab.txt", "ab.txt", "aba.txt", "abb.txt"]);
    assert_eq!(files.lines().count(), 9);
    assert_eq!(project.left(), [""; 0]);
    assert_eq!(std::fs::read_to_string(project.root().join("abb.txt")).unwrap(), "abb");
}

/// V3-04, V3-05: every run of the tree has a worktree and a branch of its own, and its work is merged into its
/// parent's.
#[tokio::test]
async fn every_run_of_a_tree_has_a_worktree_of_its_own() {
    let (project, watch) = (Project::new(), Watch::new(usize::MAX));
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let landed = tree(&project, &journal, &watch).start(("a".to_owned(), 2)).await.unwrap().outcome.finished().unwrap();
    assert_eq!(project.main().head().unwrap(), landed);
    is_grown(&project);
    assert_eq!(project.archived(), [""; 0]);
    let mut worked_in = std::mem::take(&mut *watch.worked_in.lock().unwrap());
    worked_in.sort();
    worked_in.dedup();
    assert_eq!(worked_in.len(), 7);
    let within = |path: &&PathBuf| path.strip_prefix(project.runs().canonicalize().unwrap_or(project.runs())).is_ok();
    assert_eq!(worked_in.iter().filter(within).count(), 7, "{worked_in:?}");
}

/// SAW-46: a resumed tree continues in the worktrees of its runs, whichever of them were interrupted.
#[tokio::test]
async fn a_tree_that_is_interrupted_anywhere_comes_to_the_same() {
    for moment in [1, 2, 3, 4, 5, 7, 9, 11, 13, 15, 17, 19, 20, 21] {
        let project = Project::new();
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
        let watch = Watch::new(moment);
        tokio::select! {
            ended = tree(&project, &journal, &watch).start(("a".to_owned(), 2)) => panic!("{moment}: {ended:?}"),
            () = watch.told.notified() => {}
        }
        let ended = tree(&project, &journal, &Watch::new(usize::MAX)).resume().await.unwrap();
        assert!(matches!(ended.outcome, Outcome::Finished(_)), "{moment}: {:?}", ended.outcome);
        is_grown(&project);
    }
}
