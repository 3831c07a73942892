//! A branch on which a run's nodes and its children work: the latest commit counts, and a node that holds the branch is
//! not disturbed.

use crate::project::Project;
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::{Journal, MemoryJournal};
use interlocking::workspaces::GitWorkspacesError;
use interlocking::worktree::{CommitId, FastForwardError};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

/// A node that commits or rebases, and children that land, in one workspace. The node asks for the workspace by its
/// name, which is not in the table.
#[derive(Graph)]
#[graph(output = CommitId)]
struct Shared {
    #[node(entry, input = (), goto(split), workspace = "impl")]
    begin: LogicNode<Begin>,
    #[node(input = (), fork(own, parts))]
    split: ForkNode<Split>,
    #[node(input = (), goto(meet))]
    own: LogicNode<Own>,
    #[node(input = (), map = Landing, concurrency = 1, goto(meet), workspace = "impl")]
    parts: MapNode<Parts>,
    #[node(join(own: CommitId, parts: CommitId), goto(exit), workspace = "impl")]
    meet: JoinNode<Meet>,
}

/// A child that commits and lands.
#[derive(Graph)]
#[graph(output = CommitId)]
struct Landing {
    #[node(entry, input = String, goto(exit), workspace = "work")]
    work: LogicNode<Work>,
}

held!(Shared, Landing);

/// The case: what happens, and in which order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Case {
    /// The run's node commits, and its outcome is recorded after a child has landed on the commit; then the run is
    /// interrupted.
    RecordedLate,
    /// The run's node holds the branch and rebases it.
    Rebased,
    /// The run is interrupted once its first child has ended.
    FirstEnded,
    /// Nothing special happens.
    Plain,
}

#[derive(Clone)]
struct Watch {
    case: Case,
    /// The run's node has done its first operation.
    began: Arc<Notify>,
    /// A child has landed, or is trying to.
    landed: Arc<Notify>,
    /// The run should be interrupted.
    cut: Arc<Notify>,
    log: Arc<Mutex<Vec<String>>>,
    journal: Arc<dyn Journal>,
}

impl Watch {
    fn new(case: Case, journal: &Arc<dyn Journal>) -> Self {
        let (began, landed, cut, log) = Default::default();
        Self { case, began, landed, cut, log, journal: journal.clone() }
    }

    fn log(&self, text: impl Into<String>) {
        self.log.lock().unwrap().push(text.into());
    }

    async fn cut(&self) {
        self.cut.notify_one();
        std::future::pending::<()>().await;
    }
}

struct Begin;
impl LogicHandler<shared::begin> for Begin {
    async fn run(&self, (): (), cx: &mut Cx<'_, shared::begin>) -> Route<shared::begin> {
        let mut worktree = cx.worktree().await?;
        std::fs::write(worktree.path().join("begin.txt"), "begin")?;
        worktree.commit("First").await?;
        goto!(cx, shared::split, ())
    }
}

struct Split;
impl ForkHandler<shared::split> for Split {
    async fn fork(&self, (): (), cx: &mut Cx<'_, shared::split>) -> Route<shared::split> {
        fork!(cx, ((), ()))
    }
}

struct Own(Watch);
impl LogicHandler<shared::own> for Own {
    async fn run(&self, (): (), cx: &mut Cx<'_, shared::own>) -> Route<shared::own> {
        let Self(watch) = self;
        let repository = cx.repository()?;
        match watch.case {
            Case::RecordedLate => {
                let mut worktree = cx.worktree_of("impl").await?;
                std::fs::write(worktree.path().join("own.txt"), "own")?;
                worktree.commit("Own").await?;
                watch.began.notify_one();
                watch.landed.notified().await;
            }
            Case::Rebased => {
                // Another change, onto which the branch is rebased.
                let mut other = cx.worktree_of("other").await?;
                std::fs::write(other.path().join("other.txt"), "other")?;
                let onto = other.commit("Other").await?.ok_or("nothing new")?;
                let base = other.base();
                let mut worktree = cx.worktree_of("impl").await?;
                worktree.hold().await;
                watch.log("held");
                watch.began.notify_one();
                watch.landed.notified().await;
                // A child is about to land, and waits.
                tokio::time::sleep(Duration::from_millis(100)).await;
                let branch = worktree.branch().ok_or("no branch")?.clone();
                assert_eq!(repository.branch_head(&branch)?, Some(worktree.head()));
                let head = worktree.rebase(base, onto).await?;
                watch.log("rebased");
                assert_eq!(worktree.head(), head);
            }
            Case::FirstEnded | Case::Plain => watch.began.notify_one(),
        }
        let head = cx.worktree_of("impl").await?.head();
        goto!(cx, shared::meet, head)
    }
}

struct Parts(Watch);
impl MapHandler<shared::parts> for Parts {
    fn graph(&self, _: &Cx<'_, shared::parts>) -> Result<Arc<Landing>, NodeError> {
        Ok(Arc::new(Landing { work: LogicNode(Work(self.0.clone())) }))
    }
    async fn items(&self, (): &(), _: &mut Cx<'_, shared::parts>) -> Result<Vec<Item<Landing>>, NodeError> {
        if self.0.case != Case::Plain {
            self.0.began.notified().await;
        }
        Ok(["one", "two"].map(|part| Item::new(part.to_owned()).with_key(part)).into())
    }
    async fn gather(
        &self,
        (): (),
        mut children: Children<Landing>,
        cx: &mut Cx<'_, shared::parts>,
    ) -> Route<shared::parts> {
        let Self(watch) = self;
        let mut head = cx.worktree().await?.head();
        while let Some(child) = children.any().await {
            head = child.result?;
            if watch.case == Case::FirstEnded {
                watch.cut().await;
            }
        }
        if watch.case == Case::RecordedLate {
            watch.landed.notify_one();
            // Only once the other node's outcome is recorded.
            while !watch
                .journal
                .load(cx.run_id())
                .await?
                .iter()
                .any(|record| matches!(&record.entry, Entry::Outcome(outcome) if outcome.node == "own"))
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            watch.cut().await;
        }
        goto!(cx, shared::meet, head)
    }
}

struct Work(Watch);
impl LogicHandler<landing::work> for Work {
    async fn run(&self, part: String, cx: &mut Cx<'_, landing::work>) -> Route<landing::work> {
        let Self(watch) = self;
        let mut worktree = cx.worktree().await?;
        if part == "two" {
            assert!(worktree.path().join("one.txt").exists(), "it begins where the other child has put its parent");
        }
        std::fs::write(worktree.path().join(format!("{part}.txt")), &part)?;
        let base = worktree.base();
        let mut commit = worktree.commit(&part).await?.ok_or("nothing new")?;
        watch.log(format!("{part} committed"));
        if watch.case == Case::Rebased {
            watch.landed.notify_one();
        }
        loop {
            match cx.land(commit).await {
                Err(GitWorkspacesError::FastForward(FastForwardError::NotFastForward { from, .. })) => {
                    watch.log(format!("{part} again"));
                    commit = cx.worktree().await?.rebase(base, from).await?;
                }
                landed => {
                    watch.log(format!("{part} landed"));
                    return goto!(cx, landing::exit, landed?);
                }
            }
        }
    }
}

struct Meet;
impl JoinHandler<shared::meet> for Meet {
    async fn join(&self, (_, _): (CommitId, CommitId), cx: &mut Cx<'_, shared::meet>) -> Route<shared::meet> {
        let head = cx.worktree().await?.head();
        let landed = cx.land(head).await?;
        goto!(cx, shared::exit, landed)
    }
}

fn shared(project: &Project, watch: &Watch) -> Run<Shared> {
    let graph = Shared {
        begin: LogicNode(Begin),
        split: ForkNode(Split),
        own: LogicNode(Own(watch.clone())),
        parts: MapNode(Parts(watch.clone())),
        meet: JoinNode(Meet),
    };
    Run::new(graph).with_workspaces(Arc::new(project.workspaces())).with_journal(watch.journal.clone())
}

async fn interrupted_and_resumed(case: Case) -> Project {
    let project = Project::new();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let watch = Watch::new(case, &journal);
    tokio::select! {
        ended = shared(&project, &watch).start(()) => panic!("{ended:?}"),
        () = watch.cut.notified() => {}
    }
    let ended = shared(&project, &Watch::new(Case::Plain, &journal)).resume().await.unwrap();
    assert!(matches!(ended.outcome, Outcome::Finished(_)), "{:?}", ended.outcome);
    assert_eq!(project.left(), [""; 0]);
    project
}

/// A node's commit is an ancestor of what a child has landed, and is recorded later: the later commit counts.
#[tokio::test]
async fn what_was_made_later_counts_though_it_was_recorded_first() {
    let project = interrupted_and_resumed(Case::RecordedLate).await;
    assert_eq!(project.git(&["log", "--format=%s", "main"]), "two\none\nOwn\nFirst\nBegin\n");
}

/// A child that is first started after its parent was killed begins at the commit of the parent's workspace.
#[tokio::test]
async fn a_child_that_is_started_after_a_crash_begins_where_its_parent_stands() {
    let project = interrupted_and_resumed(Case::FirstEnded).await;
    assert_eq!(project.git(&["log", "--format=%s", "main"]), "two\none\nFirst\nBegin\n");
}

/// V3-99, V3-100, CON-28, CON-149: while a branch is being rebased, a child goes on, commits to its own branch, and
/// waits to land.
#[tokio::test]
async fn a_child_does_not_land_on_a_branch_that_is_being_rebased() {
    let project = Project::new();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let watch = Watch::new(Case::Rebased, &journal);
    let ended = shared(&project, &watch).start(()).await.unwrap();
    assert!(matches!(ended.outcome, Outcome::Finished(_)), "{:?}", ended.outcome);
    let log = watch.log.lock().unwrap().join(", ");
    assert_eq!(log, "held, one committed, rebased, one again, one landed, two committed, two landed");
    assert_eq!(project.git(&["log", "--format=%s", "main"]), "two\none\nFirst\nOther\nBegin\n");
    assert_eq!(project.left(), [""; 0]);
}

/// A child whose map node has no workspace, or a read-only one, gets an error that says so.
#[tokio::test]
async fn a_child_is_told_that_it_has_nowhere_to_land() {
    #[derive(Graph)]
    #[graph(output = String)]
    struct Bare {
        #[node(entry, input = (), map = Lone, goto(exit))]
        bare: MapNode<All>,
    }
    #[derive(Graph)]
    #[graph(output = String)]
    struct Reader {
        #[node(entry, input = (), map = Lone, goto(exit), workspace = "docs", read_only)]
        read: MapNode<All>,
    }
    #[derive(Graph)]
    #[graph(output = String)]
    struct Lone {
        #[node(entry, input = (), goto(exit), workspace = "work")]
        lone: LogicNode<Try>,
    }
    struct Try;
    impl LogicHandler<lone::lone> for Try {
        async fn run(&self, (): (), cx: &mut Cx<'_, lone::lone>) -> Route<lone::lone> {
            let mut worktree = cx.worktree().await?;
            std::fs::write(worktree.path().join("lone.txt"), "lone")?;
            let commit = worktree.commit("Lone").await?.ok_or("nothing new")?;
            let target = cx.target().await.unwrap_err().to_string();
            let error = cx.land(commit).await.unwrap_err().to_string();
            assert_eq!(error, target);
            goto!(cx, lone::exit, error)
        }
    }
    struct All;
    macro_rules! maps {
        ($($node:path => $exit:path),*) => { $(
            impl MapHandler<$node> for All {
                fn graph(&self, _: &Cx<'_, $node>) -> Result<Arc<Lone>, NodeError> {
                    Ok(Arc::new(Lone { lone: LogicNode(Try) }))
                }
                async fn items(&self, (): &(), _: &mut Cx<'_, $node>) -> Result<Vec<Item<Lone>>, NodeError> {
                    Ok(vec![Item::new(())])
                }
                async fn gather(&self, (): (), children: Children<Lone>, cx: &mut Cx<'_, $node>) -> Route<$node> {
                    let mut all = children.all().await;
                    let error = all.remove(0).result?;
                    goto!(cx, $exit, error)
                }
            }
        )* };
    }
    maps!(bare::bare => bare::exit, reader::read => reader::exit);
    crate::held::is_held::<Bare>(module_path!());
    crate::held::is_held::<Reader>(module_path!());
    crate::held::is_held::<Lone>(module_path!());
    async fn told<G: interlocking::graph::Graph<Entry = (), Output = String>>(graph: G) -> String {
        let project = Project::new();
        let ended = Run::new(graph).with_workspaces(Arc::new(project.workspaces())).start(()).await.unwrap();
        let told = match ended.outcome {
            Outcome::Finished(told) => told,
            other => panic!("{other:?}"),
        };
        assert_eq!(project.left(), [""; 0]);
        told
    }
    assert_eq!(
        told(Bare { bare: MapNode(All) }).await,
        "the map node that started this run names no workspace for it to land on: name one in the map node's row, or let the child's \
         output be its commit"
    );
    assert_eq!(
        told(Reader { read: MapNode(All) }).await,
        "every node of `docs` is `read_only`, so it has no branch to change: do that in another workspace"
    );
}
