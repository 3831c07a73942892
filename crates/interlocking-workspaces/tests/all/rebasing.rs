//! Rebases that do not fail at a conflict: one side wins, or a handler resolves it.

use crate::project::{Project, author};
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::{Journal, MemoryJournal};
use interlocking::workspaces::GitWorkspacesError;
use interlocking::worktree::{CommitId, RebaseError};
use std::sync::Arc;

/// A task that is rebased onto what a sibling has merged.
#[derive(Graph)]
#[graph(output = CommitId)]
struct Task {
    #[node(entry, input = Way, goto(exit), workspace = "task")]
    work: LogicNode<Work>,
}

held!(Task);

/// What is done at the conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
enum Way {
    /// The sibling wins.
    Prefer,
    /// It is resolved.
    Resolve,
    /// It is given up.
    GiveUp,
    /// Nothing is to be done, after an agent has committed by itself.
    Nothing,
}

struct Work;
impl LogicHandler<task::work> for Work {
    async fn run(&self, way: Way, cx: &mut Cx<'_, task::work>) -> Route<task::work> {
        let repository = cx.repository()?;
        let mut sibling = cx.worktree_of("sibling").await?;
        std::fs::write(sibling.path().join("README.md"), "# The sibling's\n")?;
        let onto = sibling.commit("Sibling").await?.ok_or("nothing new")?;
        let mut task = cx.worktree().await?;
        let start = task.base();
        for (file, text) in [("README.md", "# Mine\n"), ("mine.txt", "mine\n")] {
            std::fs::write(task.path().join(file), text)?;
            task.commit(file).await?.ok_or("nothing new")?;
        }
        let head = task.head();
        match way {
            Way::Nothing => {
                std::fs::write(task.path().join("agent.txt"), "the agent's\n")?;
                let own =
                    repository.open_worktree(task.path())?.commit_all(&author(), "By itself")?.ok_or("nothing new")?;
                let error = task.rebase_until_conflict(start..head, onto).await.unwrap_err();
                assert!(matches!(error, GitWorkspacesError::Rebase(RebaseError::DropsCommits { .. })), "{error}");
                assert_eq!(task.head(), head);
                assert_eq!(task.merge(start, "Nothing").await?, own);
                assert_eq!(task.squash_merge(start, "Nothing").await?, own);
                assert_eq!(task.cherry_pick(start, start).await?, own);
            }
            Way::Prefer => {
                let rebased = task.rebase_preferring_onto(start, onto).await?;
                assert_eq!((rebased.moved.len(), rebased.conflicts.len()), (1, 1));
                assert_eq!(std::fs::read_to_string(task.path().join("README.md"))?, "# The sibling's\n");
            }
            Way::Resolve => {
                let stopped = task.rebase_until_conflict(start..head, onto).await?;
                let [stop] = &stopped.conflicts[..] else { return Err("it fits".into()) };
                assert_eq!((stopped.moved.len(), task.head()), (0, onto));
                std::fs::write(task.path().join("README.md"), "# Both\n")?;
                let resolved = task.commit("Resolved").await?.ok_or("nothing new")?;
                let rest = task.rebase_until_conflict(stop.commit..head, resolved).await?;
                assert_eq!((rest.moved.len(), rest.conflicts.len()), (1, 0));
            }
            Way::GiveUp => {
                let error = task.rebase(start, onto).await.unwrap_err();
                assert!(matches!(error, GitWorkspacesError::Rebase(RebaseError::Conflict { .. })), "{error}");
                assert_eq!(task.head(), head, "the branch is at its old base");
                task.rebase_until_conflict(start..head, onto).await?;
                task.reset(head).await?;
                assert_eq!(std::fs::read_to_string(task.path().join("README.md"))?, "# Mine\n");
            }
        }
        let head = task.head();
        cx.land(head).await?;
        goto!(cx, task::exit, head)
    }
}

/// V3-101, V3-105: the journal also records where the branch is then.
#[tokio::test]
async fn a_conflict_is_a_value() {
    for (way, log) in [
        (Way::Prefer, "mine.txt\nSibling\nBegin\n"),
        (Way::Resolve, "mine.txt\nResolved\nSibling\nBegin\n"),
        (Way::GiveUp, "mine.txt\nREADME.md\nBegin\n"),
    ] {
        assert_lands(way, log).await;
    }
}

/// Operations that make no commit return and record where the branch is, with the commits that an agent has made.
#[tokio::test]
async fn an_agents_own_commits_are_recorded_where_there_is_nothing_to_merge() {
    assert_lands(Way::Nothing, "By itself\nmine.txt\nREADME.md\nBegin\n").await;
}

/// Runs the graph, and checks what has landed, and that the journal has it.
async fn assert_lands(way: Way, log: &str) {
    let (project, journal) = (Project::new(), Arc::new(MemoryJournal::new()));
    let run = Run::new(Task { work: LogicNode(Work) }).with_workspaces(Arc::new(project.workspaces()));
    let landed = run.with_journal(journal.clone()).start(way).await.unwrap().outcome.finished().unwrap();
    assert_eq!(project.git(&["log", "--format=%s", "main"]), log, "{way:?}");
    let known = journal.load(&RunId::DEFAULT).await.unwrap().into_iter().find_map(|record| match record.entry {
        Entry::Outcome(outcome) => outcome.commits.into_iter().rfind(|commit| commit.workspace == "task"),
        _ => None,
    });
    assert_eq!(known.unwrap().id, landed.to_string());
    assert_eq!(project.left(), [""; 0]);
}
