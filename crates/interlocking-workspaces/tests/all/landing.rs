//! Landing on a branch that a user or another program uses, too.

use crate::project::{Project, author};
use interlocking::prelude::*;
use interlocking::runtime::{Journal, MemoryJournal};
use interlocking::workspaces::{GitWorkspaces, GitWorkspacesError};
use interlocking::worktree::{BranchName, CommitId, FastForwardError, Setup};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// A node that commits, causes something to happen, and lands.
#[derive(Graph)]
#[graph(output = CommitId)]
struct Job {
    #[node(entry, input = (), goto(exit), workspace = "work")]
    work: LogicNode<Work>,
}

held!(Job, Attempts);

/// What happens in the user's working tree before the landing.
enum Meanwhile {
    Nothing,
    /// A git program works there for this long.
    Locked(Duration),
    /// Another commit lands first, and the node follows the advice of the error.
    Moved,
    /// The user changes the file.
    Changed,
    /// The worktree was prepared before.
    Prepared,
    /// The node lands from its base, after the branch `release` was moved to this commit.
    Since(Option<&'static str>),
    /// The node lands, lands a revert, and lands the same files again, from there if this says so. Then it waits for
    /// ever, after it has signalled that it does.
    Reverted {
        from_there: bool,
        waits: Option<Arc<Notify>>,
    },
    /// The node lands without its context, as a graph does at its exit.
    By(GitWorkspaces),
}

struct Work(Meanwhile, PathBuf);
impl LogicHandler<job::work> for Work {
    async fn run(&self, (): (), cx: &mut Cx<'_, job::work>) -> Route<job::work> {
        let mut worktree = cx.worktree().await?;
        std::fs::write(worktree.path().join("work.txt"), "done")?;
        let commit = worktree.commit("Work").await?.ok_or("nothing new")?;
        let lock = self.1.join(".git/index.lock");
        match &self.0 {
            Meanwhile::Nothing => {}
            Meanwhile::Prepared => assert!(cx.worktree().await?.path().join("ready.log").exists()),
            Meanwhile::Locked(time) => {
                std::fs::write(&lock, "")?;
                let time = *time;
                tokio::spawn(async move {
                    tokio::time::sleep(time).await;
                    std::fs::remove_file(lock)
                });
            }
            Meanwhile::Moved => {
                std::fs::write(self.1.join("other.txt"), "another's")?;
                let main = cx.repository()?.main_worktree()?.ok_or("it is bare")?;
                let other = main.commit_all(&author(), "Other")?.ok_or("nothing new")?;
                let error = cx.land(commit).await.unwrap_err();
                assert!(error.has_moved() && error.conflicts().is_none());
                let GitWorkspacesError::FastForward(FastForwardError::NotFastForward { from, .. }) = error else {
                    panic!("{error}")
                };
                assert_eq!(from, other);
                let base = cx.repository()?.commit(commit)?.parents[0];
                let rebased = cx.worktree().await?.rebase(base, other).await?;
                let landed = cx.land(rebased).await?;
                assert_eq!(cx.land(rebased).await?, landed, "once more it does nothing");
                return goto!(cx, job::exit, landed);
            }
            Meanwhile::Since(moved_to) => {
                let base = cx.worktree().await?.base();
                if let Some(revision) = moved_to {
                    let repository = cx.repository()?;
                    let (release, to) = (BranchName::new("release")?, repository.resolve(revision)?);
                    repository.move_branch(&release, to, base)?;
                }
                let landed = cx.land_from(base, commit).await?;
                assert_eq!(cx.land_from(base, commit).await?, landed, "once more it does nothing");
                return goto!(cx, job::exit, landed);
            }
            Meanwhile::Reverted { from_there, waits } => {
                // Commits that are made again have other ids.
                let restarts = cx.restarts();
                cx.land(commit).await?;
                let mut worktree = cx.worktree().await?;
                std::fs::remove_file(worktree.path().join("work.txt"))?;
                let reverted = worktree.commit(format!("Revert {restarts}")).await?.ok_or("nothing new")?;
                let reverted = cx.land(reverted).await?;
                let mut worktree = cx.worktree().await?;
                std::fs::write(worktree.path().join("work.txt"), "done")?;
                let again = worktree.commit(format!("Again {restarts}")).await?.ok_or("nothing new")?;
                let landed = match *from_there {
                    true => cx.land_from(reverted, again).await?,
                    false => cx.land(again).await?,
                };
                assert_eq!(cx.land(again).await?, landed, "once more it does nothing");
                if let Some(told) = waits {
                    told.notify_one();
                    std::future::pending::<()>().await;
                }
                return goto!(cx, job::exit, landed);
            }
            Meanwhile::By(workspaces) => {
                let (base, run) = (cx.worktree().await?.base(), cx.run_id().clone());
                workspaces.land_from(&run, base, commit).await?;
                workspaces.land_from(&run, base, commit).await?;
                return goto!(cx, job::exit, commit);
            }
            Meanwhile::Changed => std::fs::write(self.1.join("README.md"), "changed")?,
        }
        let landed = cx.land(commit).await?;
        goto!(cx, job::exit, landed)
    }
}

async fn job(project: &Project, meanwhile: Meanwhile, patience: Duration) -> Outcome<CommitId> {
    let workspaces = project.workspaces().with_landing_timeout(patience);
    let run = Run::new(Job { work: LogicNode(Work(meanwhile, project.root())) });
    run.with_workspaces(Arc::new(workspaces)).start(()).await.unwrap().outcome
}

#[tokio::test]
async fn landing_waits_for_a_git_program_and_not_for_ever() {
    let (project, long) = (Project::new(), Duration::from_secs(60));
    let outcome = job(&project, Meanwhile::Locked(Duration::from_millis(200)), long).await;
    assert_eq!(outcome.finished(), Some(project.main().head().unwrap()));

    let project = Project::new();
    let Outcome::Failed(failure) = job(&project, Meanwhile::Locked(long), Duration::from_millis(150)).await else {
        panic!("it cannot land")
    };
    assert!(
        failure.message.contains("main could not be advanced in ") && failure.message.contains("index.lock"),
        "{failure}"
    );
    std::fs::remove_file(project.root().join(".git/index.lock")).unwrap();
    assert_eq!(project.main().head().unwrap(), project.begin);
    assert_eq!((project.left(), project.archived()), (vec![], vec!["run/work".to_owned()]));
}

#[tokio::test]
async fn a_run_that_is_under_way_lands_without_its_context() {
    let project = Project::new();
    let workspaces = project.workspaces();
    let run = Run::new(Job { work: LogicNode(Work(Meanwhile::By(workspaces.clone()), project.root())) });
    let report = run.with_workspaces(Arc::new(workspaces.clone())).start(()).await.unwrap();
    let landed = report.outcome.finished().unwrap();
    assert_eq!(project.main().head().unwrap(), landed);
    assert_eq!((project.left(), project.archived()), (vec![], vec![]));
    let over = workspaces.land_from(&report.run, project.begin, landed).await;
    assert!(matches!(over, Err(GitWorkspacesError::RunEnded)), "{over:?}");
}

/// Files that have landed before, in the same visit, land like any others.
#[tokio::test]
async fn what_was_reverted_lands_again() {
    for from_there in [false, true] {
        let project = Project::new();
        let outcome = job(&project, Meanwhile::Reverted { from_there, waits: None }, Duration::ZERO).await;
        assert_eq!(outcome.finished(), Some(project.main().head().unwrap()), "{from_there}");
        assert_eq!(project.git(&["log", "--format=%s"]), "Again 0\nRevert 0\nWork\nBegin\n", "{from_there}");
        assert_eq!(project.file("main", "work.txt").as_deref(), Some("done"), "{from_there}");
        assert_eq!((project.left(), project.archived()), (vec![], vec![]), "{from_there}");
    }
}

/// A node that lands, lands the same work again as another commit, lands a revert, and lands the work once more, each in
/// an attempt of its own.
#[derive(Graph)]
#[graph(output = ())]
struct Attempts {
    #[node(entry, input = Option<CommitId>, goto(work, exit), workspace = "work", attempts = 3)]
    work: LogicNode<Attempted>,
}

struct Attempted;
impl LogicHandler<attempts::work> for Attempted {
    async fn run(&self, landed: Option<CommitId>, cx: &mut Cx<'_, attempts::work>) -> Route<attempts::work> {
        let attempt = cx.attempt();
        let mut worktree = cx.worktree().await?;
        let file = worktree.path().join("work.txt");
        if attempt < 3 {
            let base = worktree.base();
            worktree.reset(base).await?;
        }
        std::fs::write(&file, "done")?;
        let commit = worktree.commit(format!("Work {attempt}")).await?.ok_or("nothing new")?;
        let is_again = cx.land(commit).await?;
        match (attempt, landed) {
            (1, None) => assert_eq!(is_again, commit),
            (2, Some(landed)) => {
                assert_eq!(is_again, landed, "it has landed in the attempt before");
                let mut worktree = cx.worktree().await?;
                worktree.reset(landed).await?;
                std::fs::remove_file(&file)?;
                let reverted = worktree.commit("Revert").await?.ok_or("nothing new")?;
                cx.land(reverted).await?;
            }
            _ => {
                assert_eq!(is_again, commit);
                return goto!(cx, attempts::exit, ());
            }
        }
        goto!(cx, self, Some(is_again))
    }
}

#[tokio::test]
async fn an_attempt_finds_what_the_attempt_before_has_landed() {
    let project = Project::new();
    let run = Run::new(Attempts { work: LogicNode(Attempted) });
    let outcome = run.with_workspaces(Arc::new(project.workspaces())).start(None).await.unwrap().outcome;
    assert!(matches!(outcome, Outcome::Finished(())), "{outcome:?}");
    assert_eq!(project.git(&["log", "--format=%s"]), "Work 3\nRevert\nWork 1\nBegin\n");
    assert_eq!(project.left(), [""; 0]);
}

/// The handler that begins again gets the commit of each of its landings, also if two have the same files.
#[tokio::test]
async fn every_landing_before_an_interruption_is_found_again() {
    let project = Project::new();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let run = |waits| {
        let work = Work(Meanwhile::Reverted { from_there: true, waits }, project.root());
        let run = Run::new(Job { work: LogicNode(work) }).with_journal(journal.clone());
        run.with_workspaces(Arc::new(project.workspaces()))
    };
    let told = Arc::new(Notify::new());
    tokio::select! {
        ended = run(Some(told.clone())).start(()) => panic!("{ended:?}"),
        () = told.notified() => {}
    }
    let landed = project.main().head().unwrap();
    let ended = run(None).resume().await.unwrap();
    assert_eq!((ended.outcome.finished(), project.main().head().unwrap()), (Some(landed), landed));
    assert_eq!(project.git(&["log", "--format=%s"]), "Again 0\nRevert 0\nWork\nBegin\n");
    assert_eq!(project.left(), [""; 0]);
}

#[tokio::test]
async fn what_lands_has_what_others_have_landed() {
    let project = Project::new();
    job(&project, Meanwhile::Moved, Duration::ZERO).await.finished().unwrap();
    assert_eq!(project.git(&["log", "--format=%s"]), "Work\nOther\nBegin\n");
    assert_eq!(project.left(), [""; 0]);
}

#[tokio::test]
async fn what_is_not_committed_in_the_users_working_tree_is_not_touched() {
    let project = Project::new();
    let main = project.main();
    std::fs::write(main.path().join("work.txt"), "the user's").unwrap();
    let Outcome::Failed(failure) = job(&project, Meanwhile::Nothing, Duration::ZERO).await else {
        panic!("it cannot land")
    };
    assert!(failure.message.contains("main is checked out"), "{failure}");
    assert_eq!(std::fs::read_to_string(main.path().join("work.txt")).unwrap(), "the user's");
    assert_eq!((main.head().unwrap(), project.archived()), (project.begin, vec!["run/work".to_owned()]));
    let project = Project::new();
    let outcome = job(&project, Meanwhile::Changed, Duration::ZERO).await;
    assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
    assert_eq!(std::fs::read_to_string(project.root().join("README.md")).unwrap(), "changed");
}

/// Also on a branch that is not checked out, or that landing would create. Elsewhere work lands.
#[tokio::test]
async fn nothing_lands_in_a_directory_that_is_the_programs_own() {
    for (reserved, landing, lands) in [
        ("Work.txt", None, false),
        ("work.txt", Some("mine"), false),
        ("work.txt/below", Some("mine"), false),
        ("", None, false),
        ("other", None, true),
        ("../elsewhere", Some("mine"), true),
    ] {
        let project = Project::new();
        let directory = project.root().join(reserved);
        // A directory of this name is untracked, which would keep the file from landing on `main`, too.
        std::fs::create_dir_all(&directory).unwrap();
        let mut workspaces = project.workspaces().with_reserved_directory(&directory);
        if let Some(branch) = landing {
            workspaces = workspaces.with_landing(BranchName::new(branch).unwrap());
        }
        let run = Run::new(Job { work: LogicNode(Work(Meanwhile::Nothing, project.root())) });
        let outcome = run.with_workspaces(Arc::new(workspaces)).start(()).await.unwrap().outcome;
        let main = project.main().head().unwrap();
        match outcome {
            Outcome::Finished(landed) => {
                assert_eq!((lands, landing.is_some() || main == landed), (true, true), "{reserved}");
            }
            Outcome::Failed(failure) => {
                assert!(
                    !lands && failure.message.contains("does not land, because it changes work.txt: "),
                    "{failure}"
                );
                let mine = project.repository().branch_head(&BranchName::new("mine").unwrap()).unwrap();
                assert_eq!((main, mine), (project.begin, None), "{reserved}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// The setup command runs in each new worktree. If it fails, the node fails, and nothing is left.
#[tokio::test]
async fn a_new_worktree_is_made_ready() {
    for (command, is_ready) in [("echo ready > ready.log", true), ("echo trouble >&2; exit 3", false)] {
        let project = Project::new();
        let setup = Setup::new("sh", ["-c", command]).with_variable("PATH", std::env::var("PATH").unwrap());
        let run = Run::new(Job { work: LogicNode(Work(Meanwhile::Prepared, project.root())) });
        let run = run.with_workspaces(Arc::new(project.workspaces().with_setup(setup)));
        match run.start(()).await.unwrap().outcome {
            Outcome::Finished(_) => assert!(is_ready),
            Outcome::Failed(failure) => {
                assert!(!is_ready && failure.kind == FailureKind::Workspace, "{failure}");
                assert!(failure.message.contains("trouble"), "{failure}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!((project.left(), project.archived()), (vec![], vec![]));
    }
}

/// A branch that is not checked out is advanced, too. The error names a branch that does not exist.
#[tokio::test]
async fn it_lands_on_the_branch_that_it_is_told() {
    let project = Project::new();
    project.git(&["branch", "release"]);
    for (target, landed) in [("release", true), ("nowhere", false)] {
        let workspaces = project.workspaces().with_target(BranchName::new(target).unwrap());
        let run = Run::new(Job { work: LogicNode(Work(Meanwhile::Nothing, project.root())) });
        let ended = run.with_workspaces(Arc::new(workspaces)).start(()).await;
        match ended {
            Ok(report) => assert!(landed && report.outcome.finished().is_some()),
            Err(error) => assert!(!landed && error.to_string().contains("there is no branch nowhere"), "{error}"),
        }
    }
    assert_eq!(project.file("release", "work.txt").as_deref(), Some("done"));
    assert_eq!((project.main().head().unwrap(), project.left()), (project.begin, vec!["release".to_owned()]));
}

/// CON-71: work that was verified on top of one commit lands on that commit or not at all. A landing branch that does
/// not exist is created.
#[tokio::test]
async fn what_lands_from_where_it_began_does_so_only_there() {
    for (landing, moved_to, lands) in [
        (None, None, true),
        (None, Some("main"), false),
        // The branch is an ancestor of what lands.
        (None, Some("release~1"), false),
        (Some("mine"), None, true),
        (Some("mine"), Some("main"), true),
        (Some("main"), None, false),
    ] {
        let project = Project::new();
        project.main().commit_empty(&author(), "Begin again").unwrap();
        project.git(&["branch", "release"]);
        let release = project.repository().resolve("release").unwrap();
        project.main().commit_empty(&author(), "Other").unwrap();
        let main = project.main().head().unwrap();
        let branch = |name: &str| BranchName::new(name).unwrap();
        let mut workspaces = project.workspaces().with_target(branch("release"));
        if let Some(landing) = landing {
            workspaces = workspaces.with_landing(branch(landing));
        }
        let run = Run::new(Job { work: LogicNode(Work(Meanwhile::Since(moved_to), project.root())) });
        let case = format!("{landing:?} {moved_to:?}");
        match run.with_workspaces(Arc::new(workspaces)).start(()).await.unwrap().outcome {
            Outcome::Finished(landed) => {
                assert!(lands, "{case}");
                let at = project.repository().resolve(landing.unwrap_or("release")).unwrap();
                assert_eq!(
                    (at, project.repository().commit(landed).unwrap().parents),
                    (landed, vec![release]),
                    "{case}"
                );
            }
            Outcome::Failed(failure) => {
                assert!(
                    !lands && failure.message.contains(&format!("expected at {release}, found ")),
                    "{case}: {failure}"
                );
                assert_eq!(project.archived(), ["run/work"], "{case}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(project.main().head().unwrap(), main, "{case}");
    }
}
