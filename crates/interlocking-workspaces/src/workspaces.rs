//! The executor's interface to a run's workspaces, which it knows by the names in the table.

use crate::blocking::spawn_blocking;
use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use crate::settings::Base;
use async_trait::async_trait;
use interlocking_core::table::Isolation;
use interlocking_runtime::isolation::IsolationOffer;
use interlocking_runtime::workspaces::{Moment, RunEnd, RunScope};
use interlocking_runtime::{WorkspaceError, Workspaces};
use interlocking_sandbox::Sandbox;
use interlocking_worktree::{CommitId, Place};
use std::path::PathBuf;
use std::sync::Arc;

#[async_trait]
impl Workspaces for GitRun {
    fn of_run(&self, run: &RunScope<'_>) -> Option<Arc<dyn Workspaces>> {
        (*run.run != self.0.names.run).then(|| Arc::new(self.of_child(run)) as Arc<dyn Workspaces>)
    }

    async fn ready(&self, name: &str) -> Result<Option<String>, WorkspaceError> {
        self.on(name, |run, name| run.make_ready(name)).await?;
        Ok(self.unrecorded(name).map(|commit| commit.to_string()))
    }

    async fn ended(&self, end: RunEnd) -> Result<(), WorkspaceError> {
        // Setups may occupy all blocking threads.
        self.stop_setups();
        let run = self.clone();
        let ending = spawn_blocking(move || run.end(end));
        Ok(ending.await.unwrap_or(Err(GitWorkspacesError::RunEnded))?)
    }

    fn locate(&self, name: &str) -> Result<PathBuf, WorkspaceError> {
        let worktree = self.place(name).worktree.ok_or_else(|| WorkspaceError::Unknown { known: self.known() })?;
        Ok(worktree.path().to_owned())
    }

    async fn changes(&self, name: &str) -> Result<Vec<String>, WorkspaceError> {
        let Some(worktree) = self.place(name).worktree else { return Ok(Vec::new()) };
        let changes = self.inspect(name, move || {
            let head = format!("HEAD is at {}", worktree.head()?);
            let status = worktree.status()?;
            Ok(std::iter::once(head).chain(status.iter().map(ToString::to_string)).collect())
        });
        Ok(changes.await?)
    }

    fn isolation(&self, name: &str) -> IsolationOffer {
        match self.wanted(name).isolation {
            Isolation::Sandbox => match self.sandbox_of(name) {
                Ok(sandbox) => IsolationOffer::sandboxed(&sandbox, Isolation::Clone),
                Err(error) => IsolationOffer { level: Isolation::Clone, lacks: Some(error.to_string()) },
            },
            level => IsolationOffer::of(level),
        }
    }

    fn sandbox(&self, name: &str) -> Result<Option<Sandbox>, WorkspaceError> {
        if self.wanted(name).isolation < Isolation::Sandbox {
            return Ok(None);
        }
        let sandbox = self.sandbox_of(name)?;
        let path = self.temporary_of(name);
        let made = std::fs::create_dir_all(&path);
        made.map_err(|error| GitWorkspacesError::Directory { path, reason: error.to_string() })?;
        Ok(Some(sandbox))
    }

    async fn verify(&self, name: &str, _: Moment) -> Result<Vec<String>, WorkspaceError> {
        let place = self.place(name);
        let (Some(worktree), Some(at)) = (place.worktree, place.at) else { return Ok(Vec::new()) };
        let handed_over = Place::new(self.0.names.run.as_str(), worktree, at);
        // Commits that an agent makes by itself are folded into the node's commit, or adopted, when its node commits.
        let handed_over = match self.wanted(name).is_read_only {
            true => handed_over.read_only(),
            false => handed_over.with_own_commits(),
        };
        // An adviser may still be working in it when the run is over.
        let findings = self.inspect(name, move || Ok(handed_over.verify()?)).await?;
        Ok(findings.iter().map(ToString::to_string).collect())
    }

    async fn commit(&self, name: &str) -> Result<Option<String>, WorkspaceError> {
        // Where this workspace begins is known only when it is made: at the commit that another workspace is at then.
        if matches!(self.base_setting(name), Base::Workspace(_)) {
            return Ok(None);
        }
        let base = self.on(name, |run, name| {
            run.claim()?;
            let base = run.base_of(name)?;
            run.note(name, |place| place.base = Some(base));
            Ok(base)
        });
        Ok(Some(base.await?.to_string()))
    }

    async fn make(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        // The workspace is made when a node needs it.
        self.open(name, commit).await
    }

    async fn open(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        let commit = parsed(commit)?;
        Ok(self.on(name, move |run, name| run.reopen(name, commit, false)).await?)
    }

    async fn restore(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        let commit = parsed(commit)?;
        Ok(self.on(name, move |run, name| run.reopen(name, commit, true)).await?)
    }

    fn recorded(&self, name: &str, commit: &str) -> Option<String> {
        let commit = commit.parse().ok()?;
        let mut counts = None;
        self.note(name, |place| counts = place.recorded(commit));
        counts.map(|commit: CommitId| commit.to_string())
    }

    fn ended_at(&self, name: &str, commit: &str) {
        if let Ok(commit) = commit.parse() {
            self.note(name, |place| place.set_current(commit));
        }
    }

    fn began_at(&self, name: &str, commit: &str) {
        // A text that is not a commit id is reported when the workspace is opened.
        if let Ok(commit) = commit.parse() {
            self.note_base(name, commit);
        }
    }
}

impl GitRun {
    fn sandbox_of(&self, name: &str) -> Result<Sandbox, GitWorkspacesError> {
        self.sandbox_with(name, self.temporary_of(name))
    }

    /// The sandbox of a workspace, with this directory for temporary files.
    pub(crate) fn sandbox_with(&self, name: &str, temporary: PathBuf) -> Result<Sandbox, GitWorkspacesError> {
        let sandbox = Sandbox::for_place(self.directory_of(name)?).temporary_directory(temporary).git();
        Ok(match &self.settings().grants {
            Some(grants) => grants(name, sandbox),
            None => sandbox,
        })
    }

    /// The directory is beside the clone, so that its files are not changes there. No workspace's name begins with a
    /// dot.
    fn temporary_of(&self, name: &str) -> PathBuf {
        self.own_directory().join(format!(".{name}.tmp"))
    }
}

fn parsed(commit: &str) -> Result<CommitId, GitWorkspacesError> {
    Ok(commit.parse()?)
}
