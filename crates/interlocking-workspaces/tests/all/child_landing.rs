//! Children that land on their parent's workspace: their work is first squashed and checked elsewhere, and each part
//! lands once whatever is killed.

use crate::project::Project;
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::{Journal, MemoryJournal};
use interlocking::sqlite::SqliteJournal;
use interlocking::workspaces::GitWorkspacesError;
use interlocking::worktree::{CommitId, FastForwardError};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// A feature of three parts, each a child run, and a note that is written at the same time in the same workspace.
#[derive(Graph)]
#[graph(output = CommitId)]
struct Feature {
    #[node(entry, input = (), goto(parts), workspace = "impl")]
    begin: LogicNode<Begin>,
    #[node(input = (), map = Part, goto(exit), workspace = "impl")]
    parts: MapNode<Parts>,
}

/// A part is written in a worktree of its own, squashed onto the parent's head, checked there, and landed on the
/// parent.
#[derive(Graph)]
#[graph(output = CommitId)]
struct Part {
    #[node(entry, input = String, goto(merge), workspace = "impl")]
    write: LogicNode<Write>,
    #[node(input = (String, CommitId), goto(exit), workspace = "candidate")]
    merge: LogicNode<Merge>,
}

held!(Feature, Part);

const PARTS: [&str; 3] = ["lexer", "parser", "printer"];

/// What the runs of a tree report, and the number of the moment at which they are interrupted.
#[derive(Clone)]
struct Watch {
    left: Arc<AtomicUsize>,
    told: Arc<Notify>,
    /// Whether the process ends there.
    dies: bool,
}

impl Watch {
    fn new(moment: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(moment)), told: Arc::default(), dies: false }
    }

    async fn moment(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            if self.dies {
                std::process::abort();
            }
            self.told.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

struct Begin;
impl LogicHandler<feature::begin> for Begin {
    async fn run(&self, (): (), cx: &mut Cx<'_, feature::begin>) -> Route<feature::begin> {
        let mut worktree = cx.worktree().await?;
        std::fs::write(worktree.path().join("scaffold.txt"), "scaffold")?;
        worktree.commit("Scaffold").await?;
        goto!(cx, feature::parts, ())
    }
}

struct Parts(Watch);
impl MapHandler<feature::parts> for Parts {
    fn graph(&self, _: &Cx<'_, feature::parts>) -> Result<Arc<Part>, NodeError> {
        let Self(watch) = self;
        Ok(Arc::new(Part { write: LogicNode(Write(watch.clone())), merge: LogicNode(Merge(watch.clone())) }))
    }
    async fn items(&self, (): &(), _: &mut Cx<'_, feature::parts>) -> Result<Vec<Item<Part>>, NodeError> {
        Ok(PARTS.map(|part| Item::new(part.to_owned()).with_key(part)).into())
    }
    async fn gather(&self, (): (), children: Children<Part>, cx: &mut Cx<'_, feature::parts>) -> Route<feature::parts> {
        let Self(watch) = self;
        for child in children.all().await {
            let landed = child.result?;
            let worktree = cx.worktree().await?;
            assert_eq!(
                std::fs::read_to_string(worktree.path().join(format!("{}.txt", child.key)))?,
                child.key,
                "{landed}"
            );
            // The parent's view of the child (V3-04).
            let seen = cx.child_workspaces::<feature::parts>().await?;
            let seen: Vec<_> = seen.into_iter().filter(|seen| seen.run == child.run).collect();
            let names: Vec<_> = seen.iter().map(|seen| seen.name.as_str()).collect();
            assert_eq!(names, ["candidate", "impl"]);
            let repository = cx.repository()?;
            for seen in seen {
                assert_eq!((&seen.run, &seen.key), (&child.run, &child.key));
                assert_eq!(repository.branch_head(&seen.branch)?, Some(seen.head));
                assert!(repository.read_file(seen.head, &format!("{}.txt", child.key).parse()?)?.is_some());
            }
        }
        watch.moment().await;
        // Their files are removed before the end; their branches stay.
        cx.retire_child_workspaces::<feature::parts>().await?;
        assert_eq!(cx.child_workspaces::<feature::parts>().await?.len(), 2 * PARTS.len());
        let repository = cx.repository()?;
        let listed = repository.worktrees()?.len();
        assert_eq!(listed, 1, "of the parent alone");
        let mut worktree = cx.worktree().await?;
        std::fs::write(worktree.path().join("all.txt"), "all")?;
        let head = worktree.commit("All").await?.ok_or("nothing new")?;
        watch.moment().await;
        let landed = cx.land(head).await?;
        goto!(cx, feature::exit, landed)
    }
}

struct Write(Watch);
impl LogicHandler<part::write> for Write {
    async fn run(&self, part: String, cx: &mut Cx<'_, part::write>) -> Route<part::write> {
        let mut worktree = cx.worktree().await?;
        assert!(worktree.path().join("scaffold.txt").exists(), "it begins where its parent stands");
        std::fs::write(worktree.path().join("draft"), "half")?;
        self.0.moment().await;
        worktree.commit("Draft").await?;
        std::fs::remove_file(worktree.path().join("draft"))?;
        std::fs::write(worktree.path().join(format!("{part}.txt")), &part)?;
        let head = worktree.commit("Done").await?.ok_or("nothing new")?;
        self.0.moment().await;
        goto!(cx, part::merge, (part, head))
    }
}

struct Merge(Watch);
impl LogicHandler<part::merge> for Merge {
    async fn run(&self, (part, head): (String, CommitId), cx: &mut Cx<'_, part::merge>) -> Route<part::merge> {
        loop {
            let (branch, at) = cx.target().await?;
            assert_eq!(branch.as_str(), "run/impl");
            let mut candidate = cx.worktree().await?;
            candidate.reset(at).await?;
            let commit = candidate.squash_merge(head, format!("feat({part}): implement")).await?;
            // The candidate is checked in a directory where no agent works (CON-31).
            assert!(candidate.path().join(format!("{part}.txt")).exists() && !candidate.path().join("draft").exists());
            self.0.moment().await;
            match cx.land(commit).await {
                Ok(landed) => {
                    self.0.moment().await;
                    return goto!(cx, part::exit, landed);
                }
                // A sibling has advanced the branch: the candidate is made again (CON-142).
                Err(GitWorkspacesError::FastForward(FastForwardError::NotFastForward { .. })) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn feature(project: &Project, journal: &Arc<dyn Journal>, watch: &Watch) -> Run<Feature> {
    let graph = Feature { begin: LogicNode(Begin), parts: MapNode(Parts(watch.clone())) };
    Run::new(graph).with_workspaces(Arc::new(project.workspaces())).with_journal(journal.clone())
}

/// Each part is there once, as one commit with one parent (V3-89).
fn is_whole(project: &Project) {
    let log = project.git(&["log", "--format=%s %p", "main"]);
    let subjects: Vec<_> = log.lines().map(|line| line.rsplit_once(' ').unwrap().0).collect();
    let (first, last) = (subjects[0], &subjects[4..]);
    assert_eq!((first, last), ("All", &["Scaffold", "Begin"][..]), "{log}");
    let mut parts = subjects[1..4].to_vec();
    parts.sort_unstable();
    assert_eq!(parts, PARTS.map(|part| format!("feat({part}): implement")), "{log}");
    let files = project.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert_eq!(files.lines().filter(|file| file.ends_with(".txt")).count(), 5, "{files}");
    assert_eq!(project.left(), [""; 0]);
}

/// V3-05, V3-89, V3-92, CON-30, CON-31.
#[tokio::test]
async fn children_land_on_their_parents_workspace() {
    let (project, watch) = (Project::new(), Watch::new(usize::MAX));
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let landed = feature(&project, &journal, &watch).start(()).await.unwrap().outcome.finished().unwrap();
    assert_eq!(project.main().head().unwrap(), landed);
    is_whole(&project);
    let records = journal.load(&RunId::DEFAULT).await.unwrap();
    let told: Vec<_> = records
        .iter()
        .filter_map(|record| match &record.entry {
            Entry::Landed { by, commit, .. } => Some((by.node.as_str(), commit.workspace.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(told, [("parts", "impl"); 3]);
}

/// CON-149: whichever run is interrupted, what has landed stays, and nothing lands twice.
#[tokio::test]
async fn a_tree_that_is_interrupted_anywhere_lands_each_part_once() {
    for moment in [2, 4, 6, 8, 9, 10, 11, 12, 14] {
        let project = Project::new();
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
        let watch = Watch::new(moment);
        tokio::select! {
            ended = feature(&project, &journal, &watch).start(()) => panic!("{moment}: {ended:?}"),
            () = watch.told.notified() => {}
        }
        let ended = feature(&project, &journal, &Watch::new(usize::MAX)).resume().await.unwrap();
        assert!(matches!(ended.outcome, Outcome::Finished(_)), "{moment}: {:?}", ended.outcome);
        is_whole(&project);
    }
}

/// The same for a process that dies again and again.
#[tokio::test]
async fn a_tree_whose_process_dies_again_and_again_lands_each_part_once() {
    let project = Project::new();
    let database = project.runs().with_file_name("journal");
    let mut deaths = 0;
    for number in 0..12 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "child_landing::dies", "--nocapture"]).env("PARTS_IN", project.root());
        // Some moments are repeated from the previous process, so each process gets further.
        child.env("DATABASE", &database).env("BEGINS", (number == 0).to_string()).env("DIES_AT", "4");
        let ended = child.output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(!said.contains("panicked"), "{number}: {said}");
        if ended.status.success() {
            break;
        }
        deaths += 1;
    }
    assert!(deaths >= 2, "{deaths}");
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(&database).unwrap());
    let ended = feature(&project, &journal, &Watch::new(usize::MAX)).resume().await.unwrap();
    assert!(matches!(ended.outcome, Outcome::Finished(_)), "{:?}", ended.outcome);
    is_whole(&project);
}

/// The process of the test above.
#[tokio::test]
async fn dies() {
    let [Some(place), Some(database), Some(begins), Some(moment)] =
        ["PARTS_IN", "DATABASE", "BEGINS", "DIES_AT"].map(|name| std::env::var(name).ok())
    else {
        return;
    };
    let project = Project::at(Path::new(&place));
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(&database).unwrap());
    let watch = Watch { dies: true, ..Watch::new(moment.parse().unwrap()) };
    let run = feature(&project, &journal, &watch);
    let ended = if begins == "true" { run.start(()).await } else { run.resume().await };
    assert!(matches!(ended.unwrap().outcome, Outcome::Finished(_)));
}
