//! Runs that are interrupted at any point and resumed by values that share only the journal with those before, and in
//! another process.

use crate::project::Project;
use interlocking::prelude::*;
use interlocking::runtime::journal::fork::{ForkPoint, fork};
use interlocking::runtime::{Journal, MemoryJournal};
use interlocking::sqlite::SqliteJournal;
use interlocking::workspaces::{Base, Checkout, Landings, landings};
use interlocking::worktree::CommitId;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Notify;

/// Two nodes in one workspace, one node in a workspace that begins at the commit of the first, and one node that merges
/// and lands.
#[derive(Graph)]
#[graph(output = CommitId)]
struct Paper {
    #[node(entry, input = (), goto(revise), workspace = "draft")]
    draft: LogicNode<Draft>,
    #[node(input = (), goto(review), workspace = "draft")]
    revise: LogicNode<Revise>,
    #[node(input = CommitId, goto(print), workspace = "review")]
    review: LogicNode<Review>,
    #[node(input = (CommitId, CommitId), goto(exit), workspace = "print")]
    print: LogicNode<Print>,
}

held!(Paper);

/// Where a run is interrupted, and how.
#[derive(Clone)]
enum Cut {
    Never,
    /// The handler waits for ever, after it has signalled that it does.
    Waits(&'static str, Arc<Notify>),
    /// The handler fails.
    Panics(&'static str),
    /// The process ends.
    Dies(String),
}

impl Cut {
    fn is(&self, moment: &str) -> bool {
        match self {
            Self::Never => false,
            Self::Waits(wanted, _) | Self::Panics(wanted) => *wanted == moment,
            Self::Dies(wanted) => wanted == moment,
        }
    }

    async fn at(&self, moment: &str) {
        match self {
            Self::Waits(wanted, told) if *wanted == moment => {
                told.notify_one();
                std::future::pending::<()>().await;
            }
            Self::Panics(wanted) => assert!(*wanted != moment, "{moment}"),
            Self::Dies(wanted) if wanted == moment => std::process::abort(),
            _ => {}
        }
    }
}

/// Writes a file, leaves uncommitted files, and is interrupted before or after the commit.
async fn write(worktree: &mut Checkout<'_>, cut: &Cut, what: &str, text: &str) -> Result<CommitId, NodeError> {
    let path = worktree.path().to_owned();
    assert!(
        !path.join("mess").exists() && !path.join("mess.log").exists(),
        "nothing of a node that was interrupted is there"
    );
    std::fs::write(path.join(format!("{what}.txt")), text)?;
    std::fs::write(path.join("mess"), "half")?;
    std::fs::write(path.join("mess.log"), "ignored")?;
    cut.at(&format!("{what}: written")).await;
    std::fs::remove_file(path.join("mess"))?;
    std::fs::remove_file(path.join("mess.log"))?;
    let commit = worktree.commit(what).await?.ok_or("nothing new")?;
    cut.at(&format!("{what}: committed")).await;
    Ok(commit)
}

struct Draft(Cut);
impl LogicHandler<paper::draft> for Draft {
    async fn run(&self, (): (), cx: &mut Cx<'_, paper::draft>) -> Route<paper::draft> {
        write(&mut cx.worktree().await?, &self.0, "draft", "one\n").await?;
        // The next node finds this file, in whichever process it runs.
        std::fs::write(cx.workspace()?.path.join("uncommitted.txt"), "not yet")?;
        goto!(cx, paper::revise, ())
    }
}

struct Revise(Cut);
impl LogicHandler<paper::revise> for Revise {
    async fn run(&self, (): (), cx: &mut Cx<'_, paper::revise>) -> Route<paper::revise> {
        let mut worktree = cx.worktree().await?;
        let _ = std::fs::remove_file(worktree.path().join("uncommitted.txt"));
        let commit = write(&mut worktree, &self.0, "revise", "two\n").await?;
        goto!(cx, paper::review, commit)
    }
}

struct Review(Cut);
impl LogicHandler<paper::review> for Review {
    async fn run(&self, paper: CommitId, cx: &mut Cx<'_, paper::review>) -> Route<paper::review> {
        let mut worktree = cx.worktree().await?;
        assert_eq!(worktree.base(), paper, "it began where the draft stood");
        let review = write(&mut worktree, &self.0, "review", "good\n").await?;
        goto!(cx, paper::print, (paper, review))
    }
}

struct Print(Cut);
impl LogicHandler<paper::print> for Print {
    async fn run(&self, (paper, review): (CommitId, CommitId), cx: &mut Cx<'_, paper::print>) -> Route<paper::print> {
        let mut worktree = cx.worktree().await?;
        worktree.squash_merge(paper, "Paper").await?;
        self.0.at("print: merged").await;
        let merged = worktree.squash_merge(review, "Review").await?;
        worktree.retire().await?;
        self.0.at("print: retired").await;
        let landed = cx.land(merged).await?;
        // Wait past the second, so that a commit that is made again has another time and another id.
        tokio::time::sleep(std::time::Duration::from_millis(if self.0.is("print: landed") { 1100 } else { 0 })).await;
        self.0.at("print: landed").await;
        goto!(cx, paper::exit, landed)
    }
}

fn paper(project: &Project, journal: &Arc<dyn Journal>, cut: &Cut) -> Run<Paper> {
    let graph = Paper {
        draft: LogicNode(Draft(cut.clone())),
        revise: LogicNode(Revise(cut.clone())),
        review: LogicNode(Review(cut.clone())),
        print: LogicNode(Print(cut.clone())),
    };
    let workspaces = project.workspaces().with_base("review", Base::Workspace("draft".to_owned()));
    Run::new(graph).with_workspaces(Arc::new(workspaces)).with_journal(journal.clone())
}

const MOMENTS: [&str; 9] = [
    "draft: written",
    "draft: committed",
    "revise: written",
    "revise: committed",
    "review: written",
    "review: committed",
    "print: merged",
    "print: retired",
    "print: landed",
];

/// Checks the result, which is the same however often the run was interrupted.
fn is_printed(project: &Project) {
    assert_eq!(project.git(&["log", "--format=%s", "main"]), "Review\nPaper\nBegin\n");
    for (path, text) in [("draft.txt", "one\n"), ("revise.txt", "two\n"), ("review.txt", "good\n")] {
        assert_eq!(project.file("main", path).as_deref(), Some(text), "{path}");
    }
    assert_eq!(project.git(&["ls-tree", "-r", "--name-only", "main"]).lines().count(), 5);
    assert_eq!(project.left(), [""; 0]);
}

#[tokio::test]
async fn a_run_that_is_interrupted_anywhere_comes_to_the_same() {
    for moment in MOMENTS {
        let project = Project::new();
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
        let told = Arc::new(Notify::new());
        tokio::select! {
            ended = paper(&project, &journal, &Cut::Waits(moment, told.clone())).start(()) => panic!("{moment}: {:?}", ended),
            () = told.notified() => {}
        }
        let ended = paper(&project, &journal, &Cut::Never).resume().await.unwrap();
        assert!(matches!(ended.outcome, Outcome::Finished(_)), "{moment}: {:?}", ended.outcome);
        is_printed(&project);
    }
}

/// The run is interrupted again and again by the end of its process.
#[tokio::test]
async fn a_run_whose_process_dies_again_and_again_comes_to_the_same() {
    let project = Project::new();
    let database = project.runs().with_file_name("journal");
    for (number, moment) in MOMENTS.into_iter().enumerate() {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "again::dies", "--nocapture"]).env("DIES_AT", moment).env("DIES_IN", project.root());
        child.env("DATABASE", &database).env("BEGINS", (number == 0).to_string());
        let ended = child.output().unwrap();
        assert!(!ended.status.success(), "{moment}: {}", String::from_utf8_lossy(&ended.stdout));
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(!said.contains("panicked"), "{moment}: {said}");
    }
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(&database).unwrap());
    let ended = paper(&project, &journal, &Cut::Never).resume().await.unwrap();
    assert!(matches!(ended.outcome, Outcome::Finished(_)), "{:?}", ended.outcome);
    is_printed(&project);
}

/// The process of the test above.
#[tokio::test]
async fn dies() {
    let [Some(moment), Some(place), Some(database), Some(begins)] =
        ["DIES_AT", "DIES_IN", "DATABASE", "BEGINS"].map(|name| std::env::var(name).ok())
    else {
        return;
    };
    let project = Project::at(Path::new(&place));
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(&database).unwrap());
    let run = paper(&project, &journal, &Cut::Dies(moment));
    let ended = if begins == "true" { run.start(()).await } else { run.resume().await };
    panic!("{ended:?}");
}

/// Uncommitted files of a finished node, and commits that the run has not made itself, are there for the next node if no node was
/// interrupted in the workspace.
#[tokio::test]
async fn another_process_does_not_touch_a_workspace_in_which_nothing_was_interrupted() {
    let project = Project::new();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let told = Arc::new(Notify::new());
    tokio::select! {
        ended = paper(&project, &journal, &Cut::Waits("review: written", told.clone())).start(()) => panic!("{ended:?}"),
        () = told.notified() => {}
    }
    let kept = project.runs().join("run/draft/kept.log");
    std::fs::write(&kept, "of the draft").unwrap();
    let draft = kept.parent().unwrap().to_str().unwrap();
    let by_hand =
        ["-c", "user.name=P", "-c", "user.email=p@example.org", "commit", "-q", "--allow-empty", "-m", "By hand"];
    project.git(&[&["-C", draft][..], &by_hand].concat());
    let told = Arc::new(Notify::new());
    tokio::select! {
        ended = paper(&project, &journal, &Cut::Waits("review: committed", told.clone())).resume() => panic!("{ended:?}"),
        () = told.notified() => {}
    }
    assert!(kept.exists());
    assert_eq!(project.git(&["-C", draft, "log", "-1", "--format=%s"]), "By hand\n");
    assert!(!project.runs().join("run/review/mess.log").exists());

    // With a commit of the run, of a handler that was interrupted, all of them go to the archive.
    let by_run = ["-c", "user.name=Runtime", "-c", "user.email=runtime@example.org", "commit", "-q", "--allow-empty"];
    project.git(&[&["-C", draft][..], &by_run, &["-m", "By the run"]].concat());
    let mixed = project.git(&["-C", draft, "rev-parse", "HEAD"]);
    let told = Arc::new(Notify::new());
    tokio::select! {
        ended = paper(&project, &journal, &Cut::Waits("review: written", told.clone())).resume() => panic!("{ended:?}"),
        () = told.notified() => {}
    }
    assert_eq!(project.git(&["-C", draft, "log", "-1", "--format=%s"]), "revise\n");
    assert!(project.git(&["for-each-ref", "--format=%(objectname)", "refs/interlocking/archive"]).contains(&mixed));
}

/// A failed run has left nothing but the archive. When it is retried, its worktrees are made again.
#[tokio::test]
async fn a_run_that_has_failed_is_retried_in_worktrees_made_again() {
    for (moment, archived) in [
        ("draft: committed", &["run/draft"][..]),
        ("revise: written", &["run/draft"]),
        ("review: committed", &["run/draft", "run/review"]),
        ("print: merged", &["run/draft", "run/print", "run/review"]),
    ] {
        let project = Project::new();
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
        let ended = paper(&project, &journal, &Cut::Panics(moment)).start(()).await.unwrap();
        assert!(matches!(ended.outcome, Outcome::Failed(_)), "{moment}: {:?}", ended.outcome);
        assert_eq!(
            (project.left(), project.archived()),
            (vec![], archived.iter().map(|name| name.to_string()).collect())
        );
        let ended = paper(&project, &journal, &Cut::Never).retry().await.unwrap();
        assert!(matches!(ended.outcome, Outcome::Finished(_)), "{moment}: {:?}", ended.outcome);
        is_printed(&project);
    }
}

/// A fork works in worktrees of its own, at the commits of its history; those of the other run are not touched.
#[tokio::test]
async fn a_fork_has_worktrees_of_its_own() {
    let project = Project::new();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let told = Arc::new(Notify::new());
    tokio::select! {
        ended = paper(&project, &journal, &Cut::Waits("review: written", told.clone())).start(()) => panic!("{ended:?}"),
        () = told.notified() => {}
    }
    let other = RunId::new("other").unwrap();
    fork(&*journal, &RunId::DEFAULT, &ForkPoint::End, &other).await.unwrap();
    let ended = paper(&project, &journal, &Cut::Never).with_id(other).resume().await.unwrap();
    assert!(matches!(ended.outcome, Outcome::Finished(_)), "{:?}", ended.outcome);
    assert_eq!(project.git(&["log", "--format=%s", "main"]), "Review\nPaper\nBegin\n");
    let left = ["run/draft", "run/review", "worktree run/draft", "worktree run/review", "directory \"run\""];
    assert_eq!(project.left(), left);
    assert!(project.runs().join("run/review/mess").exists());
}

/// A fork takes over what the other run has landed before, and has not landed that itself.
#[tokio::test]
async fn what_the_other_run_has_landed_is_not_counted_as_the_forks() {
    let project = Project::new();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let ended = paper(&project, &journal, &Cut::Never).start(()).await.unwrap();
    let landed = vec![ended.outcome.finished().unwrap()];
    let of = async |run: &RunId| {
        let Landings { inherited, own, .. } = landings(&*journal, run).await.unwrap();
        (inherited, own)
    };
    assert_eq!(of(&RunId::DEFAULT).await, (vec![], landed.clone()));
    let [early, late] = ["early", "late"].map(|name| RunId::new(name).unwrap());
    let before = ForkPoint::Before { node: "review".to_owned(), visit: 1 };
    fork(&*journal, &RunId::DEFAULT, &before, &early).await.unwrap();
    fork(&*journal, &RunId::DEFAULT, &ForkPoint::End, &late).await.unwrap();
    assert_eq!((of(&early).await, of(&late).await), ((vec![], vec![]), (landed.clone(), vec![])));
    journal.remove(&RunId::DEFAULT).await.unwrap();
    assert_eq!(of(&late).await, (vec![], landed), "nobody knows whose it is");
}

/// A run's name is taken if another run of that name has branches.
#[tokio::test]
async fn a_new_run_takes_no_branch_of_another() {
    let project = Project::new();
    project.git(&["branch", "run/draft"]);
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let error = paper(&project, &journal, &Cut::Never).start(()).await.unwrap_err();
    assert!(error.to_string().contains("the run's name is taken: there is a branch run/draft, at "), "{error}");
    let ended = paper(&project, &journal, &Cut::Never).without_journal().start(()).await.unwrap();
    assert!(
        matches!(ended.outcome, Outcome::Failed(Failure { kind: FailureKind::Workspace, .. })),
        "{:?}",
        ended.outcome
    );
    assert_eq!(project.left(), ["run/draft"], "and what is not its own stays");
}

/// The reference that kept a commit was deleted: the run is refused before anything is made, until the commit is back.
#[tokio::test]
async fn a_run_whose_commits_are_gone_is_refused_until_they_are_back() {
    let project = Project::new();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    paper(&project, &journal, &Cut::Panics("revise: written")).start(()).await.unwrap();
    let [(name, commit)] = &project.repository().archived().unwrap()[..] else { panic!("one is kept") };
    let (pack, reference) = (project.root().with_file_name("copy.git"), name.reference());
    project.git(&["clone", "--quiet", "--mirror", ".", pack.to_str().unwrap()]);
    project.git(&["update-ref", "-d", &reference]);
    project.git(&["reflog", "expire", "--expire=now", "--all"]);
    project.git(&["gc", "--quiet", "--prune=now"]);
    let refused = paper(&project, &journal, &Cut::Never).retry().await.unwrap_err().to_string();
    let said = format!("the commit {commit}, which `draft` stood at, is not in ");
    assert!(refused.contains(&said) && refused.contains("bring the commit back from a copy"), "{refused}");
    assert_eq!(project.left(), [""; 0]);
    project.git(&["fetch", "--quiet", pack.to_str().unwrap(), "+refs/interlocking/*:refs/interlocking/*"]);
    paper(&project, &journal, &Cut::Never).retry().await.unwrap();
    is_printed(&project);
}
