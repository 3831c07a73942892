//! The workspaces of children as seen by any node of their parent, in any process: branches, heads, and commits
//! (PRG-34, PRG-38).

use crate::project::Project;
use interlocking::prelude::*;
use interlocking::runtime::{Journal, MemoryJournal};
use interlocking::workspaces::{Base, ChildWorkspace};
use interlocking::worktree::CommitId;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// Chapters are written in parallel, then an appendix, twice; another node binds all of them.
#[derive(Graph)]
#[graph(output = CommitId)]
struct Book {
    #[node(entry, input = Vec<String>, map = Chapter, goto(appendix))]
    chapters: MapNode<Chapters>,
    #[node(input = String, graph = Chapter, goto(bind))]
    appendix: GraphNode<Chapter>,
    #[node(input = String, goto(appendix, exit), workspace = "book", visits = 2)]
    bind: LogicNode<Bind>,
}

/// A chapter's output is only its title: the node that binds the chapters looks up their commits.
#[derive(Graph)]
#[graph(output = String)]
struct Chapter {
    #[node(entry, input = String, goto(revise), workspace = "draft")]
    write: LogicNode<Write>,
    #[node(input = String, goto(read), workspace = "draft")]
    revise: LogicNode<Revise>,
    #[node(input = String, goto(exit), workspace = "reading", read_only)]
    read: LogicNode<Read>,
}

held!(Book, Chapter);

/// A visit of `bind`, and the workspaces of the chapters and of the appendix that it saw.
type Seen = (u32, [Vec<ChildWorkspace>; 2]);

/// The number of the moment at which the tree is interrupted, and what each visit of `bind` saw.
#[derive(Clone)]
struct Watch {
    left: Arc<AtomicUsize>,
    told: Arc<Notify>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Watch {
    fn new(moment: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(moment)), told: Arc::default(), seen: Arc::default() }
    }

    async fn moment(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.told.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

struct Chapters(Watch);
impl MapHandler<book::chapters> for Chapters {
    fn graph(&self, _: &Cx<'_, book::chapters>) -> Result<Arc<Chapter>, NodeError> {
        Ok(Arc::new(chapter(&self.0)))
    }
    async fn items(
        &self,
        titles: &Vec<String>,
        cx: &mut Cx<'_, book::chapters>,
    ) -> Result<Vec<Item<Chapter>>, NodeError> {
        assert_eq!(cx.child_workspaces::<book::appendix>().await?, [], "it has not run");
        Ok(titles.iter().map(|title| Item::new(title.clone()).with_key(title)).collect())
    }
    async fn gather(
        &self,
        _: Vec<String>,
        children: Children<Chapter>,
        cx: &mut Cx<'_, book::chapters>,
    ) -> Route<book::chapters> {
        let ended = children.all().await;
        let seen = cx.child_workspaces::<book::chapters>().await?;
        // Each is known by its run.
        for child in &ended {
            assert_eq!(seen.iter().filter(|seen| seen.run == child.run && seen.key == child.key).count(), 1);
        }
        goto!(cx, book::appendix, "index".to_owned())
    }
}

struct Bind(Watch);
impl LogicHandler<book::bind> for Bind {
    async fn run(&self, _: String, cx: &mut Cx<'_, book::bind>) -> Route<book::bind> {
        let chapters = cx.child_workspaces::<book::chapters>().await?;
        let appendix = cx.child_workspaces::<book::appendix>().await?;
        self.0.seen.lock().unwrap().push((cx.visit(), [chapters.clone(), appendix.clone()]));
        self.0.moment().await;
        let repository = cx.repository()?;
        let mut head = cx.worktree().await?.head();
        let chapters = if cx.visit() == 1 { chapters } else { Vec::new() };
        for child in chapters.into_iter().chain(appendix) {
            assert_eq!((child.name.as_str(), repository.branch_head(&child.branch)?), ("draft", Some(child.head)));
            let committed = repository.commits(child.base..child.head)?;
            let subjects: Vec<_> = committed.iter().map(|commit| commit.subject().to_owned()).collect();
            assert_eq!(child.has_commits(), !subjects.is_empty());
            if child.has_commits() {
                let title = subjects[1].strip_prefix("Revise ").ok_or("a title")?.to_owned();
                assert_eq!(subjects, [format!("Write {title}"), format!("Revise {title}")]);
                head = cx.worktree().await?.merge(child.head, format!("Bind {title}")).await?;
            }
        }
        self.0.moment().await;
        match cx.visit() {
            1 => goto!(cx, book::appendix, "errata".to_owned()),
            _ => {
                let landed = cx.land(head).await?;
                goto!(cx, book::exit, landed)
            }
        }
    }
}

struct Write;
impl LogicHandler<chapter::write> for Write {
    async fn run(&self, title: String, cx: &mut Cx<'_, chapter::write>) -> Route<chapter::write> {
        let mut worktree = cx.worktree().await?;
        if title != "blank" {
            std::fs::write(worktree.path().join(format!("{title}.txt")), "a draft")?;
            worktree.commit(format!("Write {title}")).await?;
        }
        goto!(cx, chapter::revise, title)
    }
}

struct Revise(Watch);
impl LogicHandler<chapter::revise> for Revise {
    async fn run(&self, title: String, cx: &mut Cx<'_, chapter::revise>) -> Route<chapter::revise> {
        self.0.moment().await;
        let mut worktree = cx.worktree().await?;
        if title != "blank" {
            std::fs::write(worktree.path().join(format!("{title}.txt")), &title)?;
            worktree.commit(format!("Revise {title}")).await?;
        }
        goto!(cx, chapter::read, title)
    }
}

struct Read;
impl LogicHandler<chapter::read> for Read {
    async fn run(&self, title: String, cx: &mut Cx<'_, chapter::read>) -> Route<chapter::read> {
        goto!(cx, chapter::exit, title)
    }
}

fn chapter(watch: &Watch) -> Chapter {
    let (write, revise) = (LogicNode(Write), LogicNode(Revise(watch.clone())));
    Chapter { write, revise, read: LogicNode(Read) }
}

fn book(project: &Project, watch: &Watch) -> Run<Book> {
    let chapters = MapNode(Chapters(watch.clone()));
    let graph = Book { chapters, appendix: GraphNode(chapter(watch)), bind: LogicNode(Bind(watch.clone())) };
    let workspaces = project.workspaces().with_base("reading", Base::Workspace("draft".to_owned()));
    Run::new(graph).with_workspaces(Arc::new(workspaces))
}

fn titles() -> Vec<String> {
    ["b", "a", "blank"].map(str::to_owned).into()
}

/// Everything that was committed is bound. In the second visit the appendix is another child.
fn is_bound(project: &Project, watch: &Watch) {
    let files = project.git(&["ls-tree", "-r", "--name-only", "main"]);
    let texts: Vec<_> = files.lines().filter(|file| file.ends_with(".txt")).collect();
    assert_eq!(texts, ["a.txt", "b.txt", "errata.txt", "index.txt"]);
    assert_eq!(project.file("main", "a.txt").as_deref(), Some("a"));
    assert_eq!(project.left(), [""; 0]);
    let seen = watch.seen.lock().unwrap();
    for (visit, [chapters, appendix]) in &*seen {
        let keys: Vec<_> = chapters.iter().map(|seen| (seen.key.as_str(), seen.by.to_string())).collect();
        assert_eq!(keys, ["a", "b", "blank"].map(|key| (key, "chapters.1.1".to_owned())));
        let [appendix] = &appendix[..] else { panic!("{appendix:?}") };
        assert_eq!((appendix.key.as_str(), appendix.by.to_string()), ("appendix", format!("appendix.{visit}.1")));
        assert!(appendix.branch.as_str().starts_with("run/appendix-"), "{}", appendix.branch);
    }
    // A visit that is repeated in another process sees the same.
    for pair in seen.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        assert_eq!(pair[0], pair[1]);
    }
}

#[tokio::test]
async fn any_node_sees_what_the_children_of_others_have_committed() {
    for is_recorded in [true, false] {
        let (project, watch) = (Project::new(), Watch::new(usize::MAX));
        let run = book(&project, &watch);
        let run = if is_recorded { run } else { run.without_journal() };
        let landed = run.start(titles()).await.unwrap().outcome.finished().unwrap();
        assert_eq!(project.main().head().unwrap(), landed, "recorded: {is_recorded}");
        is_bound(&project, &watch);
        assert_eq!(watch.seen.lock().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn a_process_that_resumes_the_run_sees_the_same() {
    // In a chapter, in an appendix, and before and after binding.
    for moment in 2..=9 {
        let project = Project::new();
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
        let watch = Watch::new(moment);
        tokio::select! {
            ended = book(&project, &watch).with_journal(journal.clone()).start(titles()) => panic!("{moment}: {ended:?}"),
            () = watch.told.notified() => {}
        }
        let ended = book(&project, &watch).with_journal(journal).resume().await.unwrap();
        assert!(matches!(ended.outcome, Outcome::Finished(_)), "{moment}: {:?}", ended.outcome);
        is_bound(&project, &watch);
    }
}
