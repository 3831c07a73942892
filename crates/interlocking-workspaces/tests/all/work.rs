//! What a handler does in its worktree, and what the journal records of it.

use crate::project::Project;
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::{Journal, MemoryJournal};
use interlocking::workspaces::{Base, GitWorkspacesError, diverged, is_ancestor};
use interlocking::worktree::CommitId;
use std::sync::Arc;

/// Two nodes write one after the other in one workspace, one reads, and one merges.
#[derive(Graph)]
#[graph(output = CommitId)]
struct Essay {
    #[node(entry, input = (), goto(revise), workspace = "draft")]
    draft: LogicNode<Draft>,
    #[node(input = CommitId, goto(read), workspace = "draft")]
    revise: LogicNode<Revise>,
    #[node(input = CommitId, goto(print), workspace = "reading", read_only)]
    read: LogicNode<Read>,
    #[node(input = CommitId, goto(exit), workspace = "print")]
    print: LogicNode<Print>,
}

held!(Essay);

struct Draft;
impl LogicHandler<essay::draft> for Draft {
    async fn run(&self, (): (), cx: &mut Cx<'_, essay::draft>) -> Route<essay::draft> {
        assert!(cx.workspace()?.path.join("README.md").exists(), "it is there when the node begins");
        let mut worktree = cx.worktree().await?;
        assert_eq!((worktree.name(), worktree.base()), ("draft", worktree.head()));
        assert_eq!(worktree.commit("nothing").await?, None);
        std::fs::write(worktree.path().join("essay.txt"), "A draft.\n")?;
        std::fs::write(worktree.path().join("build.log"), "ignored")?;
        let commit = worktree.commit("Draft").await?.ok_or("nothing new")?;
        assert_eq!(worktree.head(), commit);
        goto!(cx, essay::revise, commit)
    }
}

struct Revise;
impl LogicHandler<essay::revise> for Revise {
    async fn run(&self, draft: CommitId, cx: &mut Cx<'_, essay::revise>) -> Route<essay::revise> {
        let mut worktree = cx.worktree().await?;
        assert_eq!(worktree.head(), draft);
        std::fs::write(worktree.path().join("essay.txt"), "An essay.\n")?;
        let changes = worktree.diff_since(draft).await?;
        assert_eq!(changes.iter().map(|change| change.path.to_string()).collect::<Vec<_>>(), ["essay.txt"]);
        assert!(worktree.patch_since(draft).await?.contains("-A draft.\n+An essay.\n"));
        let commit = worktree.squash("Essay").await?.ok_or("nothing new")?;
        goto!(cx, essay::read, commit)
    }
}

struct Read;
impl LogicHandler<essay::read> for Read {
    async fn run(&self, essay: CommitId, cx: &mut Cx<'_, essay::read>) -> Route<essay::read> {
        let text = std::fs::read_to_string(cx.workspace()?.path.join("essay.txt"))?;
        assert_eq!(text, "An essay.\n", "it begins where the draft stands");
        let error = cx.worktree().await?.commit("a reader's").await.unwrap_err();
        assert!(matches!(error, GitWorkspacesError::ReadOnly { .. }), "{error}");
        goto!(cx, essay::print, essay)
    }
}

struct Print;
impl LogicHandler<essay::print> for Print {
    async fn run(&self, essay: CommitId, cx: &mut Cx<'_, essay::print>) -> Route<essay::print> {
        // A workspace that the table does not name, and one side of a conflict.
        let mut other = cx.worktree_of("other").await?;
        std::fs::write(other.path().join("essay.txt"), "Another.\n")?;
        let other = other.commit("Another").await?.ok_or("nothing new")?;
        let mut worktree = cx.worktree().await?;
        let base = worktree.base();
        worktree.cherry_pick_as_one(base, essay, "Print").await?;
        let error = worktree.merge(other, "Both").await.unwrap_err();
        assert!(!error.has_moved());
        let Some(conflicts) = error.conflicts() else { panic!("{error}") };
        assert_eq!(conflicts.len(), 1);
        let head = worktree.head();
        let repository = cx.repository()?;
        assert!(diverged(repository.clone(), other, head).await? && !diverged(repository.clone(), base, head).await?);
        let unknown = "1".repeat(40).parse()?;
        for (older, newer, expected) in [
            (base, head, true),
            (head, head, true),
            (head, base, false),
            (unknown, head, false),
            (base, unknown, false),
        ] {
            assert_eq!(is_ancestor(repository.clone(), older, newer).await?, expected);
        }
        cx.land(head).await?;
        goto!(cx, essay::exit, head)
    }
}

fn essay() -> Essay {
    Essay { draft: LogicNode(Draft), revise: LogicNode(Revise), read: LogicNode(Read), print: LogicNode(Print) }
}

#[tokio::test]
async fn what_a_handler_commits_lands_and_is_in_the_journal() {
    for is_recorded in [true, false] {
        let (project, journal) = (Project::new(), Arc::new(MemoryJournal::new()));
        let workspaces = project.workspaces().with_base("reading", Base::Workspace("draft".to_owned()));
        let run = Run::new(essay()).with_workspaces(Arc::new(workspaces));
        let run = if is_recorded { run.with_journal(journal.clone()) } else { run.without_journal() };
        let report = run.start(()).await.unwrap();
        let landed = report.outcome.finished().unwrap();
        assert_eq!(project.main().head().unwrap(), landed);
        assert_eq!(project.file("main", "essay.txt").unwrap(), "An essay.\n");
        assert_eq!(project.git(&["log", "--format=%s %an", "main"]), "Print Runtime\nBegin Runtime\n");
        assert_eq!(std::fs::read_to_string(project.root().join("essay.txt")).unwrap(), "An essay.\n");
        assert_eq!((project.left(), project.archived()), (vec![], vec![]));
        if !is_recorded {
            continue;
        }
        let mut known = Vec::new();
        for record in journal.load(&RunId::DEFAULT).await.unwrap() {
            match record.entry {
                Entry::Started { workspaces, .. } => known.extend(workspaces),
                Entry::Outcome(outcome) => known.extend(outcome.commits),
                _ => {}
            }
        }
        let begin = project.begin.to_string();
        let [draft, print, ..] = &known[..] else { panic!("{known:?}") };
        assert_eq!(
            [(&*draft.workspace, &draft.id), (&*print.workspace, &print.id)],
            [("draft", &begin), ("print", &begin)]
        );
        let names: Vec<_> = known[2..].iter().map(|commit| commit.workspace.as_str()).collect();
        assert_eq!(names, ["draft", "draft", "reading", "other", "other", "print"]);
        assert_eq!(known[7].id, landed.to_string());
    }
}

/// If no workspaces were given that a handler needs, the error says what to do.
#[tokio::test]
async fn without_git_a_handler_is_told_so() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("README.md"), "").unwrap();
    let directories = interlocking::runtime::workspaces::Directories::new().with("draft", place.path());
    let report = Run::new(essay()).with_workspaces(Arc::new(directories)).start(()).await.unwrap();
    let Outcome::Failed(failure) = report.outcome else { panic!("{:?}", report.outcome) };
    assert!(failure.message.contains("give it `GitWorkspaces` with `Run::with_workspaces`"), "{failure}");
}

/// Two nodes that commit to one branch take turns, and a node that holds the branch is not disturbed (CON-28, CON-149,
/// V3-99).
#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_is_held_is_nobody_elses() {
    #[derive(Graph)]
    #[graph(output = CommitId)]
    struct Turns {
        #[node(entry, input = (), fork(holds, waits))]
        split: ForkNode<Split>,
        #[node(input = (), goto(meet), workspace = "shared")]
        holds: LogicNode<Holds>,
        // A workspace that a handler asks for by its name is not in the table.
        #[node(input = (), goto(meet))]
        waits: LogicNode<Waits>,
        #[node(join(holds: CommitId, waits: CommitId), goto(exit), workspace = "shared")]
        meet: JoinNode<Meet>,
    }
    struct Split;
    impl ForkHandler<turns::split> for Split {
        async fn fork(&self, (): (), cx: &mut Cx<'_, turns::split>) -> Route<turns::split> {
            fork!(cx, ((), ()))
        }
    }
    struct Holds(Arc<tokio::sync::Notify>);
    impl LogicHandler<turns::holds> for Holds {
        async fn run(&self, (): (), cx: &mut Cx<'_, turns::holds>) -> Route<turns::holds> {
            let mut worktree = cx.worktree().await?;
            worktree.hold().await;
            self.0.notify_one();
            for number in 1..=3 {
                std::fs::write(worktree.path().join("held.txt"), number.to_string())?;
                worktree.commit(format!("Held {number}")).await?;
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
            let head = worktree.head();
            goto!(cx, turns::meet, head)
        }
    }
    struct Waits(Arc<tokio::sync::Notify>);
    impl LogicHandler<turns::waits> for Waits {
        async fn run(&self, (): (), cx: &mut Cx<'_, turns::waits>) -> Route<turns::waits> {
            let mut worktree = cx.worktree_of("shared").await?;
            self.0.notified().await;
            // Other files in the directory, which they share, are the other node's.
            worktree.commit_empty("Waited").await?;
            let head = worktree.head();
            goto!(cx, turns::meet, head)
        }
    }
    struct Meet;
    impl JoinHandler<turns::meet> for Meet {
        async fn join(&self, (_, _): (CommitId, CommitId), cx: &mut Cx<'_, turns::meet>) -> Route<turns::meet> {
            let head = cx.worktree().await?.head();
            let landed = cx.land(head).await?;
            goto!(cx, turns::exit, landed)
        }
    }
    crate::held::is_held::<Turns>(module_path!());
    let (project, told) = (Project::new(), Arc::new(tokio::sync::Notify::new()));
    let graph = Turns {
        split: ForkNode(Split),
        holds: LogicNode(Holds(told.clone())),
        waits: LogicNode(Waits(told)),
        meet: JoinNode(Meet),
    };
    let ended = Run::new(graph).with_workspaces(Arc::new(project.workspaces())).start(()).await.unwrap();
    assert!(matches!(ended.outcome, Outcome::Finished(_)), "{:?}", ended.outcome);
    let log = project.git(&["log", "--format=%s"]);
    assert_eq!(log, "Waited\nHeld 3\nHeld 2\nHeld 1\nBegin\n");
    assert_eq!(project.left(), [""; 0]);
}
