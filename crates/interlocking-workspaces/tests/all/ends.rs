//! What is left of a run, however it ends.

use crate::project::Project;
use interlocking::prelude::*;
use interlocking::runtime::{CancelToken, Journal, MemoryJournal};
use interlocking::worktree::{CommitId, Keep, Setup};
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Finishes,
    Lands,
    /// Lands, and commits something else after that.
    WorksOn,
    Fails,
    Cancelled,
    Waits,
}

/// A node that commits in a worktree and in one that the table does not name, and a node that waits for a person.
#[derive(Graph)]
#[graph(output = CommitId)]
struct Job {
    #[node(entry, input = (), goto(exit, ask), workspace = "work")]
    work: LogicNode<Work>,
    #[node(input = CommitId, question = String, answer = bool, goto(exit))]
    ask: HumanNode<Asks>,
}

held!(Job);

struct Work(Ending, CancelToken);
impl LogicHandler<job::work> for Work {
    async fn run(&self, (): (), cx: &mut Cx<'_, job::work>) -> Route<job::work> {
        let mut worktree = cx.worktree().await?;
        std::fs::write(worktree.path().join("work.txt"), "done")?;
        let commit = worktree.commit("Work").await?.ok_or("nothing new")?;
        std::fs::write(worktree.path().join("mess"), "not committed")?;
        cx.worktree_of("aside").await?;
        match self.0 {
            Ending::Finishes => goto!(cx, job::exit, commit),
            Ending::Lands => {
                let landed = cx.land(commit).await?;
                goto!(cx, job::exit, landed)
            }
            Ending::WorksOn => {
                cx.land(commit).await?;
                let commit = cx.worktree().await?.commit("More").await?.ok_or("nothing new")?;
                goto!(cx, job::exit, commit)
            }
            Ending::Fails => Err("it fails".into()),
            Ending::Waits => goto!(cx, job::ask, commit),
            Ending::Cancelled => {
                self.1.cancel();
                std::future::pending().await
            }
        }
    }
}

struct Asks;
impl HumanHandler<job::ask> for Asks {
    async fn ask(&self, _: &CommitId, _: &mut Cx<'_, job::ask>) -> Result<String, NodeError> {
        Ok("Done?".to_owned())
    }
    async fn answered(&self, commit: CommitId, _: bool, cx: &mut Cx<'_, job::ask>) -> Route<job::ask> {
        goto!(cx, job::exit, commit)
    }
}

fn job(project: &Project, journal: &Arc<dyn Journal>, ending: Ending, keep: Keep) -> Run<Job> {
    let cancel = CancelToken::new();
    let graph = Job { work: LogicNode(Work(ending, cancel.clone())), ask: HumanNode(Asks) };
    let workspaces = Arc::new(project.workspaces().with_keep(keep));
    Run::new(graph).with_workspaces(workspaces).with_journal(journal.clone()).with_cancel(cancel)
}

#[tokio::test]
async fn what_did_not_land_is_in_the_archive_and_nothing_else_is_left() {
    for (ending, archived) in [
        (Ending::Lands, &[][..]),
        (Ending::WorksOn, &["run/work"]),
        (Ending::Finishes, &["run/work"]),
        (Ending::Fails, &["run/work"]),
        (Ending::Cancelled, &["run/work"]),
    ] {
        let (project, journal): (_, Arc<dyn Journal>) = (Project::new(), Arc::new(MemoryJournal::new()));
        let report = job(&project, &journal, ending, Keep::Never).start(()).await.unwrap();
        assert!(!matches!(report.outcome, Outcome::Waiting { .. }));
        assert_eq!(project.left(), [""; 0]);
        assert_eq!(project.archived(), archived);
        if let Some((name, commit)) = project.repository().archived().unwrap().first() {
            assert!(name.as_str().ends_with(&commit.short()));
            assert_eq!(project.file(&commit.to_string(), "work.txt").as_deref(), Some("done"));
        }
    }
}

/// The end of a run does not wait for a setup that goes on.
#[tokio::test]
async fn a_setup_is_stopped_when_its_run_is_cancelled() {
    let (project, outside, cancel) = (Project::new(), tempfile::tempdir().unwrap(), CancelToken::new());
    let begun = outside.path().join("begun");
    let command = format!("echo > '{}'; sleep 1000", begun.display());
    let setup = Setup::new("sh", ["-c", command.as_str()]).with_variable("PATH", std::env::var("PATH").unwrap());
    let graph = Job { work: LogicNode(Work(Ending::Fails, CancelToken::new())), ask: HumanNode(Asks) };
    let run = Run::new(graph).with_workspaces(Arc::new(project.workspaces().with_setup(setup)));
    let cancelling = async {
        while !begun.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(run.with_cancel(cancel.clone()).start(()), cancelling);
    assert!(matches!(ended.unwrap().outcome, Outcome::Cancelled));
    assert_eq!((project.left(), project.archived()), (vec![], vec![]));
}

/// Also while another process puts the workspaces of an interrupted run back.
#[tokio::test]
async fn a_setup_is_stopped_when_its_run_is_cancelled_while_it_is_resumed() {
    for is_suspended in [false, true] {
        let (project, outside) = (Project::new(), tempfile::tempdir().unwrap());
        let (journal, told): (Arc<dyn Journal>, _) = (Arc::new(MemoryJournal::new()), CancelToken::new());
        let begun = outside.path().join("begun");
        let run = |setup: &str, told: &CancelToken| {
            let setup = Setup::new("sh", ["-c", setup]).with_variable("PATH", std::env::var("PATH").unwrap());
            let graph = Job { work: LogicNode(Work(Ending::Cancelled, told.clone())), ask: HumanNode(Asks) };
            let workspaces = Arc::new(project.workspaces().with_setup(setup));
            Run::new(graph).with_workspaces(workspaces).with_journal(journal.clone())
        };
        tokio::select! {
            ended = run("true", &told).start(()) => panic!("{ended:?}"),
            () = told.cancelled() => {}
        }
        let (begins, cancel) = (CancelToken::new(), CancelToken::new());
        let setup = format!("echo > '{}'; sleep 1000", begun.display());
        let cancelling = async {
            while !begun.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            if is_suspended { cancel.suspend() } else { cancel.cancel() }
        };
        let resumed = run(&setup, &begins).with_cancel(cancel.clone()).resume();
        let resumed = tokio::time::timeout(Duration::from_secs(60), resumed);
        let (ended, ()) = tokio::join!(resumed, cancelling);
        let outcome = ended.expect("the setup is stopped").unwrap().outcome;
        assert!(!begins.is_cancelled(), "no node began");
        if is_suspended {
            assert!(matches!(outcome, Outcome::Suspended), "{outcome:?}");
            let again = run("true", &begins).with_cancel(begins.clone()).resume().await.unwrap().outcome;
            assert!(matches!(again, Outcome::Cancelled), "{again:?}");
        } else {
            assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
        }
        // What the interrupted node had committed was archived before the setup (CON-153). Two commits of one second
        // are the same.
        let mut archived = project.archived();
        archived.dedup();
        assert_eq!((project.left(), archived), (vec![], vec!["run/work".to_owned()]), "{is_suspended}");
    }
}

#[tokio::test]
async fn what_is_to_be_kept_is() {
    for (keep, ending, stays) in [
        (Keep::OnFailure, Ending::Lands, false),
        (Keep::OnFailure, Ending::Fails, true),
        (Keep::Always, Ending::Lands, true),
        (Keep::Never, Ending::Waits, true),
    ] {
        let (project, journal): (_, Arc<dyn Journal>) = (Project::new(), Arc::new(MemoryJournal::new()));
        job(&project, &journal, ending, keep).start(()).await.unwrap();
        let all = ["run/aside", "run/work", "worktree run/aside", "worktree run/work", "directory \"run\""];
        assert_eq!(project.left(), if stays { &all[..] } else { &[] });
        assert_eq!(project.runs().join("run/work/mess").exists(), stays);
        assert_eq!(project.archived(), [""; 0]);
    }
}

/// A process is killed between the end of its run and the cleanup: the next process that asks for the run's outcome
/// cleans up.
#[tokio::test]
async fn what_a_killed_process_has_left_of_a_run_that_has_ended_goes_when_the_run_is_taken_up() {
    let (project, journal): (_, Arc<dyn Journal>) = (Project::new(), Arc::new(MemoryJournal::new()));
    job(&project, &journal, Ending::Finishes, Keep::Always).start(()).await.unwrap();
    assert_eq!(project.left().len(), 5);
    let again = job(&project, &journal, Ending::Fails, Keep::Never).resume().await.unwrap();
    assert!(matches!(again.outcome, Outcome::Finished(_)), "it does nothing again");
    assert_eq!((project.left(), project.archived()), (vec![], vec!["run/work".to_owned()]));
}

/// Two runs at once in one repository, with one `GitWorkspaces`.
#[tokio::test]
async fn runs_do_not_touch_each_other() {
    let project = Project::new();
    let workspaces = Arc::new(project.workspaces());
    let run = |name: &str, ending| {
        let graph = Job { work: LogicNode(Work(ending, CancelToken::new())), ask: HumanNode(Asks) };
        Run::new(graph).with_id(RunId::new(name).unwrap()).with_workspaces(workspaces.clone()).start(())
    };
    let (one, two, three) =
        tokio::join!(run("one", Ending::Waits), run("two", Ending::Fails), run("one-two", Ending::Finishes));
    assert!(matches!(one.unwrap().outcome, Outcome::Waiting { .. }));
    assert!(two.unwrap().outcome.finished().is_none() && three.unwrap().outcome.finished().is_some());
    assert_eq!(
        project.left(),
        ["one/aside", "one/work", "worktree one/aside", "worktree one/work", "directory \"one\""]
    );
    assert_eq!(project.archived(), ["one-two/work", "two/work"]);
}

/// Runs that no process is working on are listed, and removed on request.
#[tokio::test]
async fn what_is_left_of_runs_is_found_and_removed() {
    let project = Project::new();
    assert!(project.workspaces().leftover_runs().await.unwrap().is_empty());
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let kept = job(&project, &journal, Ending::Fails, Keep::Always).with_id(RunId::new("kept").unwrap());
    kept.start(()).await.unwrap();
    // A run that goes on: its workspaces are in use.
    let (told, mut working) = (CancelToken::new(), tokio::task::JoinSet::new());
    let graph = Job { work: LogicNode(Work(Ending::Cancelled, told.clone())), ask: HumanNode(Asks) };
    working.spawn(Run::new(graph).with_workspaces(Arc::new(project.workspaces())).start(()));
    told.cancelled().await;
    std::fs::create_dir(project.runs().join("strangers")).unwrap();

    let left = project.workspaces().leftover_runs().await.unwrap();
    let [run] = &left[..] else { panic!("{left:?}") };
    assert_eq!((run.run().as_str(), run.worktrees().len(), run.branches().len()), ("kept", 2, 2));
    assert!(project.workspaces().leftover_runs().await.unwrap().is_empty(), "somebody deals with it");
    for run in left {
        run.remove().await.unwrap();
    }
    assert_eq!(project.archived(), ["kept/work"]);
    assert!(!project.runs().join("kept").exists() && project.runs().join("run/work").exists());

    // Its process dies.
    working.shutdown().await;
    let [run] = <[_; 1]>::try_from(project.workspaces().leftover_runs().await.unwrap()).unwrap();
    run.remove().await.unwrap();
    assert_eq!(project.left(), ["directory \"strangers\""]);
    assert_eq!(project.archived(), ["kept/work", "run/work"]);
}

/// What is left of a run is found by its name, even if its directory was deleted, and the name stays taken.
#[tokio::test]
async fn what_is_left_of_one_run_is_found_without_its_directory() {
    let (project, name) = (Project::new(), RunId::new("kept").unwrap());
    let workspaces = project.workspaces();
    assert!(workspaces.leftover_of(&name).await.unwrap().is_none());
    workspaces.ensure_name_is_free(&name).unwrap();
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    job(&project, &journal, Ending::Fails, Keep::Always).with_id(name.clone()).start(()).await.unwrap();
    assert!(workspaces.leftover_of(&RunId::new("other").unwrap()).await.unwrap().is_none());
    let found = workspaces.leftover_of(&name).await.unwrap().unwrap();
    assert_eq!((found.worktrees().len(), found.branches().len()), (2, 2));
    for workspace in ["work", "aside"] {
        let (branch, head) = found.branch(workspace).unwrap().unwrap();
        assert_eq!(branch.as_str(), format!("kept/{workspace}"));
        let entry = found.worktree(workspace).unwrap().unwrap();
        assert_eq!((entry.branch.as_ref(), entry.head), (Some(branch), Some(head)));
    }
    assert!(found.branch("other").unwrap().is_none() && found.worktree("other").unwrap().is_none());
    assert!(found.branch("no name").is_err());
    assert!(workspaces.leftover_of(&name).await.unwrap().is_none(), "somebody deals with it");
    drop(found);
    // Another program looks for its runs in another directory.
    let elsewhere = project.workspaces().with_directory(project.runs().join("elsewhere"));
    let own = elsewhere.directory_of(&name).unwrap().unwrap();
    assert_eq!(own, project.runs().canonicalize().unwrap());
    assert_eq!(elsewhere.directory_of(&RunId::new("other").unwrap()).unwrap(), None);
    assert_eq!(elsewhere.clone().leftover_of(&name).await.unwrap().unwrap().worktrees().len(), 0);
    assert_eq!(elsewhere.with_directory(own).leftover_of(&name).await.unwrap().unwrap().worktrees().len(), 2);
    std::fs::remove_dir_all(project.runs()).unwrap();
    let taken = workspaces.ensure_name_is_free(&name).unwrap_err().to_string();
    assert!(taken.starts_with("the run's name is taken: there is a branch kept/aside, at "), "{taken}");
    workspaces.leftover_of(&name).await.unwrap().unwrap().remove().await.unwrap();
    assert_eq!((project.left(), project.archived()), (vec![], vec!["kept/work".to_owned()]));
    workspaces.ensure_name_is_free(&name).unwrap();
}

/// Also if a workspace, or the directory of all runs, is called like the run.
#[test]
fn the_directory_of_a_run_is_found_whatever_is_called_like_it() {
    let project = Project::new();
    let runs = project.runs().join("run");
    let of_user = project.worktree_of_user();
    project.git(&["-C", of_user.to_str().unwrap(), "switch", "--quiet", "--create", "run/mine"]);
    let own = || project.workspaces().directory_of(&RunId::DEFAULT).unwrap();
    assert_eq!(own(), None, "a branch of the user's");
    for place in ["run/run", "run/part-0123456789abcdef/run"] {
        let directory = runs.join(place);
        project.git(&["worktree", "add", "--quiet", "-b", place, directory.to_str().unwrap()]);
        assert_eq!(own(), Some(runs.canonicalize().unwrap()), "{place}");
        project.git(&["worktree", "remove", directory.to_str().unwrap()]);
        project.git(&["branch", "--quiet", "-D", place]);
    }
}

/// An agent can make a branch of its run lead to anything, and delete objects.
#[tokio::test]
async fn a_branch_without_a_readable_commit_stays_and_keeps_nothing_else() {
    for revision in ["HEAD^{tree}", "an object that is not there"] {
        let (project, name) = (Project::new(), RunId::new("kept").unwrap());
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
        job(&project, &journal, Ending::Fails, Keep::Always).with_id(name.clone()).start(()).await.unwrap();
        let head = match revision {
            "HEAD^{tree}" => project.git(&["rev-parse", revision]),
            _ => format!("{}\n", "1".repeat(40)),
        };
        // The branch is before the other one in the list.
        std::fs::write(project.root().join(".git/refs/heads/kept/aside"), &head).unwrap();
        let run = project.workspaces().leftover_of(&name).await.unwrap().unwrap();
        let error = run.remove().await.unwrap_err().to_string();
        let said = format!("the branch kept/aside stays: its head, {}, is not", head.trim_end());
        assert!(error.starts_with(&said), "{revision}: {error}");
        let branches = project.repository().branches().unwrap().into_iter().map(|(branch, _)| branch.to_string());
        assert_eq!(branches.collect::<Vec<_>>(), ["kept/aside", "main"], "{revision}");
        assert_eq!(project.archived(), ["kept/work"], "{revision}");
        assert!(!project.runs().exists(), "{revision}");
        let left = project.workspaces().leftover_of(&name).await.unwrap().unwrap();
        assert_eq!((left.worktrees().len(), left.branches().len()), (0, 1), "{revision}");
    }
}

/// A program that looks at what is left of a run, or removes it, and a process that resumes the run exclude each other.
#[tokio::test]
async fn a_run_is_not_resumed_while_what_is_left_of_it_is_removed() {
    let (project, journal): (_, Arc<dyn Journal>) = (Project::new(), Arc::new(MemoryJournal::new()));
    job(&project, &journal, Ending::Waits, Keep::Never).start(()).await.unwrap();
    let left = project.workspaces().leftover_of(&RunId::DEFAULT).await.unwrap().unwrap();
    let refused = job(&project, &journal, Ending::Waits, Keep::Never).resume().await.unwrap_err().to_string();
    assert!(refused.contains("a program is looking at what is left of run `run`, or removing it"), "{refused}");
    assert!(project.runs().join("run/work/mess").exists());
    drop(left);
    let resumed = job(&project, &journal, Ending::Waits, Keep::Never).resume().await.unwrap();
    assert!(matches!(resumed.outcome, Outcome::Waiting { .. }), "{:?}", resumed.outcome);
}

/// A user's alias for a branch that was deleted, and a branch whose file is empty.
#[tokio::test]
async fn a_broken_branch_of_others_is_in_the_way_of_no_run() {
    let (project, journal): (_, Arc<dyn Journal>) = (Project::new(), Arc::new(MemoryJournal::new()));
    let name = RunId::new("kept").unwrap();
    let heads = project.root().join(".git/refs/heads");
    project.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/gone"]);
    let branches = project.repository().branches().unwrap().into_iter().map(|(branch, _)| branch.to_string());
    assert_eq!(branches.collect::<Vec<_>>(), ["main"], "as git lists them");
    std::fs::write(heads.join("empty"), "").unwrap();
    let ended = job(&project, &journal, Ending::Finishes, Keep::Always).with_id(name.clone()).start(()).await.unwrap();
    assert!(ended.outcome.finished().is_some());
    let [left] = <[_; 1]>::try_from(project.workspaces().leftover_runs().await.unwrap()).unwrap();
    assert_eq!(left.branches().len(), 2);
    drop(left);

    // A broken branch of the run's own is named.
    std::fs::write(heads.join("kept/broken"), "").unwrap();
    let error = project.workspaces().leftover_of(&name).await.unwrap_err().to_string();
    assert!(error.contains("refs/heads/kept/broken") && error.contains("delete that reference"), "{error}");
    std::fs::remove_file(heads.join("kept/broken")).unwrap();
    project.workspaces().leftover_of(&name).await.unwrap().unwrap().remove().await.unwrap();
    assert_eq!(project.archived(), ["kept/work"]);
    for broken in ["alias", "empty"] {
        std::fs::remove_file(heads.join(broken)).unwrap();
    }
    assert_eq!(project.left(), [""; 0]);
}
