//! Workspaces: where a node works, and what it must not change.

use crate::support::{Recording, failed, finished, pass, timed};
use askama::Template;
use async_trait::async_trait;
use interlocking::context::Commit;
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::workspaces::Directories;
use interlocking::runtime::{Journal, MemoryJournal, StartError, WorkspaceError, Workspaces};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// One directory, compared by the names and contents of its files.
struct Listing(PathBuf);

#[async_trait]
impl Workspaces for Listing {
    fn locate(&self, name: &str) -> Result<PathBuf, WorkspaceError> {
        match name {
            "main" => Ok(self.0.clone()),
            _ => Err(WorkspaceError::Unknown { known: vec!["main".to_owned()] }),
        }
    }

    async fn changes(&self, name: &str) -> Result<Vec<String>, WorkspaceError> {
        let unusable = |error: std::io::Error| WorkspaceError::Unusable { reason: error.to_string() };
        let mut lines = Vec::new();
        for file in std::fs::read_dir(self.locate(name)?).map_err(unusable)? {
            let path = file.map_err(unusable)?.path();
            let text = std::fs::read_to_string(&path).map_err(unusable)?;
            lines.push(format!("{}: {text}", path.file_name().unwrap_or_default().to_string_lossy()));
        }
        lines.sort();
        Ok(lines)
    }
}

#[derive(Graph)]
#[graph(output = String)]
struct Desk {
    #[node(entry, input = String, goto(look), workspace = "main")]
    work: LogicNode<Work>,
    #[node(input = String, goto(exit), workspace = "main", read_only)]
    look: LogicNode<Look>,
}

logic!(Work for desk::work, |what: String, cx| {
    let workspace = cx.workspace()?;
    assert!(!workspace.read_only);
    std::fs::write(workspace.path.join("work.txt"), &what)?;
    goto!(cx, desk::look, what)
});
logic!(Look for desk::look, |what: String, cx| {
    let workspace = cx.workspace()?;
    assert_eq!((workspace.name.as_str(), workspace.read_only), ("main", true));
    match what.as_str() {
        "meddle" => std::fs::write(workspace.path.join("look.txt"), "I was here")?,
        "undo" => {
            std::fs::write(workspace.path.join("look.txt"), "I was here")?;
            std::fs::remove_file(workspace.path.join("look.txt"))?;
        }
        "tidy" => std::fs::remove_file(workspace.path.join("work.txt"))?,
        "vanish" => std::fs::remove_dir_all(&workspace.path)?,
        _ => {}
    }
    goto!(cx, desk::exit, std::fs::read_to_string(workspace.path.join("work.txt")).unwrap_or_default())
});

fn desk(path: &Path) -> Run<Desk> {
    let graph = Desk { work: LogicNode(Work), look: LogicNode(Look) };
    timed(graph).with_workspaces(Arc::new(Listing(path.to_owned())))
}

#[tokio::test(start_paused = true)]
async fn a_node_works_in_its_workspace() {
    for what in ["well", "undo"] {
        for journal in [true, false] {
            let place = tempfile::tempdir().unwrap();
            let run = if journal { desk(place.path()) } else { desk(place.path()).without_journal() };
            // A file that was there before, changed or not, is not attributed to the node.
            std::fs::write(place.path().join("old.txt"), "old").unwrap();
            assert_eq!(finished(run.start(what.to_owned()).await.unwrap()), what);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_only_node_that_changes_its_workspace_fails() {
    for journal in [true, false] {
        let place = tempfile::tempdir().unwrap();
        let run = if journal { desk(place.path()) } else { desk(place.path()).without_journal() };
        let failure = failed(run.start("meddle".to_owned()).await.unwrap());
        assert_eq!((failure.node.as_str(), &failure.kind), ("look", &FailureKind::Workspace));
        assert_eq!(
            failure.message,
            "workspace `main`: the node may only read this place, but changed it:\nlook.txt: I was here"
        );
    }
}

/// To take back what others have done is a change, too.
#[tokio::test(start_paused = true)]
async fn what_a_read_only_node_removes_is_named() {
    let place = tempfile::tempdir().unwrap();
    let failure = failed(desk(place.path()).start("tidy".to_owned()).await.unwrap());
    assert_eq!(failure.kind, FailureKind::Workspace);
    assert_eq!(
        failure.message,
        "workspace `main`: the node may only read this place, but changed it:\nremoved: work.txt: tidy"
    );
}

/// Whether there was time for the whole walk.
#[derive(Debug, Serialize, Deserialize)]
struct Walked(bool);

impl From<TimedOut> for Walked {
    fn from(_: TimedOut) -> Self {
        Self(false)
    }
}

/// A node that may only read, and has little time.
#[derive(Graph)]
#[graph(output = Walked)]
struct Patrol {
    #[node(entry, input = String, goto(exit), workspace = "main", read_only, timeout = "1s", timed_out(exit))]
    look: LogicNode<Walk>,
}

logic!(Walk for patrol::look, |what: String, cx| {
    if what != "idle" {
        std::fs::write(cx.workspace()?.path.join("look.txt"), "I was here")?;
    }
    assert_ne!(what, "fall");
    pass(5_000).await;
    goto!(cx, patrol::exit, Walked(true))
});

/// However a node that may only read ends, what it has changed is found.
#[tokio::test(start_paused = true)]
async fn a_read_only_node_that_is_interrupted_is_found_out() {
    let changed = "workspace `main`: the node may only read this place, but changed it:\nlook.txt: I was here";
    for (what, first) in [("stall", "took longer than its timeout of 1s"), ("fall", "assertion `left != right` failed")]
    {
        let place = tempfile::tempdir().unwrap();
        let run = timed(Patrol { look: LogicNode(Walk) }).with_workspaces(Arc::new(Listing(place.path().to_owned())));
        let failure = failed(run.start(what.to_owned()).await.unwrap());
        assert_eq!((&failure.kind, failure.message.as_str()), (&FailureKind::Workspace, changed), "{what}");
        assert!(matches!(&failure.causes[..], [cause] if cause.starts_with(first)), "{:?}", failure.causes);
    }
    let place = tempfile::tempdir().unwrap();
    let run = timed(Patrol { look: LogicNode(Walk) }).with_workspaces(Arc::new(Listing(place.path().to_owned())));
    assert!(!finished(run.start("idle".to_owned()).await.unwrap()).0, "it changed nothing");
}

#[tokio::test(start_paused = true)]
async fn a_workspace_that_cannot_be_examined_fails_the_node() {
    let place = tempfile::tempdir().unwrap();
    let failure = failed(desk(place.path()).start("vanish".to_owned()).await.unwrap());
    assert_eq!((failure.node.as_str(), &failure.kind), ("look", &FailureKind::Workspace));
    assert!(failure.message.starts_with("workspace `main`: No such file or directory"), "{}", failure.message);

    // Plain directories cannot tell what changed, so they do not claim that there was no change.
    let place = tempfile::tempdir().unwrap();
    let directories = Directories::new().with("main", place.path());
    let run = desk(place.path()).with_workspaces(Arc::new(directories));
    let failure = failed(run.start("well".to_owned()).await.unwrap());
    assert_eq!((failure.node.as_str(), &failure.kind), ("look", &FailureKind::Workspace));
    assert_eq!(failure.message, "workspace `main`: `main` is a plain directory, whose changes are not tracked");
}

#[tokio::test(start_paused = true)]
async fn a_workspace_that_the_run_does_not_know_is_a_failure_of_configuration() {
    for (known, listed) in
        [(Directories::new(), "none"), (Directories::new().with("spare", "/").with("attic", "/"), "attic, spare")]
    {
        let run = desk(Path::new("/")).with_workspaces(Arc::new(known));
        let failure = failed(run.start("well".to_owned()).await.unwrap());
        assert_eq!((failure.node.as_str(), &failure.kind), ("work", &FailureKind::Configuration));
        assert_eq!(
            failure.message,
            format!("workspace `main` cannot be used: there is no such place; known are: {listed}")
        );
    }
}

#[derive(Template)]
#[template(source = "Look.", ext = "txt")]
struct LookPrompt;

#[derive(Graph)]
#[graph(output = bool)]
struct Audit {
    #[node(entry, input = String, prompt = LookPrompt, output = bool, goto(exit), workspace = "main", read_only)]
    look: LLMNode<Looks>,
}

held!(Desk, Audit, Patrol);

struct Looks;
impl LLMHandler<audit::look> for Looks {
    async fn before<'a>(&'a self, _: &'a String, _: &mut Cx<'_, audit::look>) -> Ask<LookPrompt> {
        Ok((LookPrompt, SessionOp::StartFresh(Slug::new("look")?)))
    }
    async fn after(&self, _: String, reply: Reply<bool>, cx: &mut Cx<'_, audit::look>) -> Route<audit::look> {
        goto!(cx, audit::exit, reply.output)
    }
}

/// Records what was done to the places of a resumed run.
struct Touched(Mutex<Vec<String>>);

#[async_trait]
impl Workspaces for Touched {
    fn locate(&self, _: &str) -> Result<PathBuf, WorkspaceError> {
        Ok(std::env::temp_dir())
    }

    async fn changes(&self, _: &str) -> Result<Vec<String>, WorkspaceError> {
        Ok(Vec::new())
    }

    async fn open(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        self.0.lock().unwrap().push(format!("{name} at {commit}"));
        Ok(())
    }

    async fn restore(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        self.open(name, commit).await
    }
}

/// A run that cannot go on leaves its places unchanged.
#[tokio::test(start_paused = true)]
async fn a_payload_that_cannot_be_read_is_found_before_a_place_is_touched() {
    let place = tempfile::tempdir().unwrap();
    let journal = Arc::new(MemoryJournal::new());
    finished(desk(place.path()).with_journal(journal.clone()).start("well".to_owned()).await.unwrap());
    for (payload, expected) in [("5", vec![]), ("\"well\"", vec!["main at abc"])] {
        let kept = Arc::new(MemoryJournal::new());
        for mut record in journal.records(&RunId::DEFAULT).into_iter().take(2) {
            if let Entry::Outcome(outcome) = &mut record.entry {
                outcome.tokens[0].payload = payload.into();
                outcome.commits.push(Commit { workspace: "main".to_owned(), id: "abc".to_owned() });
            }
            kept.append(record).await.unwrap();
        }
        let touched = Arc::new(Touched(Mutex::default()));
        let resumed = desk(place.path()).with_journal(kept).with_workspaces(touched.clone()).resume().await;
        assert_eq!(matches!(resumed, Err(StartError::Payload { .. })), expected.is_empty(), "{resumed:?}");
        assert_eq!(*touched.0.lock().unwrap(), expected);
    }
}

/// The agent is told that it may only read. If it writes anyway, the run detects that, and the call is still paid
/// for.
#[tokio::test(start_paused = true)]
async fn an_agent_that_writes_where_it_may_only_read_is_found_out() {
    let place = tempfile::tempdir().unwrap();
    let agent = Recording::new(
        "[[turn]]\noutput_json = 'true'\ncost = 0.03\n[[turn.write]]\npath = 'note.md'\ncontent = 'hidden'\n",
    );
    let run = timed(Audit { look: LLMNode(Looks) })
        .with_workspaces(Arc::new(Listing(place.path().to_owned())))
        .with_agent("look", agent.clone());
    let report = run.start(String::new()).await.unwrap();
    assert_eq!(report.usage().cost.to_string(), "$0.03");
    let failure = failed(report);
    assert_eq!(failure.kind, FailureKind::Workspace);
    assert!(failure.message.ends_with("changed it:\nnote.md: hidden"), "{}", failure.message);
    let turns = agent.turns();
    assert!(turns[0].read_only);
    assert_eq!(turns[0].workspace.as_deref(), Some(place.path()));
}
