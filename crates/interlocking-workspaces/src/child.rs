//! The parent's view of the workspaces of child runs.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use crate::names::Names;
use crate::place::Places;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::By;
use interlocking_runtime::run_context::ChildRun;
use interlocking_worktree::{BranchName, CommitId};
use std::sync::{Arc, PoisonError};

/// A workspace of a child run that has a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildWorkspace {
    /// The child.
    pub run: RunId,
    /// The execution that started the child; for a child that a map has adopted, the execution that adopted it last.
    pub by: By,
    /// The key of the child's item; for a graph node's child, the node's name.
    pub key: String,
    /// The workspace's name.
    pub name: String,
    /// Its branch, which stays until the root run has ended.
    pub branch: BranchName,
    /// The commit that it began at: the workspace's commits are `base..head`.
    pub base: CommitId,
    /// The last commit that the child's run has recorded for it.
    pub head: CommitId,
}

impl ChildWorkspace {
    /// Whether anything was committed there.
    pub fn has_commits(&self) -> bool {
        self.base != self.head
    }
}

/// A run's data about a child.
pub(crate) struct Child {
    pub(crate) names: Arc<Names>,
    pub(crate) by: Option<By>,
    /// Only the places, not the child's state: that holds its parent's, which would be a cycle.
    pub(crate) places: Places,
}

impl GitRun {
    /// The workspaces of the children of a node, from the node's last execution that had children: those that are
    /// `recorded`, and those that only this process knows. Git work.
    pub(crate) fn workspaces_of_children(
        &self,
        node: &str,
        recorded: Vec<ChildRun>,
    ) -> Result<Vec<ChildWorkspace>, GitWorkspacesError> {
        let children = self.0.children.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recorded = |run: &RunId| recorded.iter().any(|child| child.run == *run);
        let unrecorded = children.iter().filter(|child| !is_recorded(&child.names.run));
        let unrecorded = unrecorded.filter_map(|child| Some((child, child.by.as_ref()?)));
        let unrecorded: Vec<_> = unrecorded.filter(|(_, by)| by.node == node).collect();
        let entry = |by: &By| (by.visit, by.attempt);
        let entries = recorded.iter().map(|child| entry(&child.by));
        let last = entries.chain(unrecorded.iter().map(|(_, by)| entry(by))).max();
        let mut found = Vec::new();
        for child in recorded.iter().filter(|child| Some(entry(&child.by)) == last) {
            let names = self.0.names.of_child(child.run.clone(), child.key.clone());
            for (name, committed) in &child.workspaces {
                let committed = (committed.base.parse()?, committed.head.parse()?);
                found.extend(self.workspace_of(&names, &child.by, name, committed)?);
            }
        }
        for (Child { names, places, .. }, by) in unrecorded.into_iter().filter(|(_, by)| Some(entry(by)) == last) {
            let places = places.lock().clone();
            for (name, committed) in places.iter().filter_map(|(name, place)| Some((name, (place.base?, place.at?)))) {
                found.extend(self.workspace_of(names, by, name, committed)?);
            }
        }
        found.sort_by(|one, other| (&one.key, &one.run, &one.name).cmp(&(&other.key, &other.run, &other.name)));
        Ok(found)
    }

    /// A child's workspace, if it has a branch.
    fn workspace_of(
        &self,
        names: &Names,
        by: &By,
        name: &str,
        (base, head): (CommitId, CommitId),
    ) -> Result<Option<ChildWorkspace>, GitWorkspacesError> {
        let branch = names.branch(self.settings(), name)?;
        if self.settings().repository.branch_head(&branch)?.is_none() {
            return Ok(None);
        }
        let (run, key) = (names.run.clone(), names.key.clone().unwrap_or_default());
        Ok(Some(ChildWorkspace { run, by: by.clone(), key, name: name.to_owned(), branch, base, head }))
    }

    /// Removes the files of these workspaces of children; their branches stay. Git work.
    pub(crate) fn retire_workspaces_of_children(
        &self,
        workspaces: &[ChildWorkspace],
    ) -> Result<(), GitWorkspacesError> {
        // Includes workspaces that an earlier process made.
        let directory_of = |ChildWorkspace { run, key, name, .. }: &ChildWorkspace| {
            self.tree_directory().join(&self.0.names.of_child(run.clone(), key.clone()).label).join(name)
        };
        let directories: Vec<_> = workspaces.iter().map(directory_of).collect();
        let result = self.remove_workspaces(&directories);
        for ChildWorkspace { run, name, .. } in workspaces {
            let children = self.0.children.lock().unwrap_or_else(PoisonError::into_inner);
            for child in children.iter().filter(|child| child.names.run == *run) {
                if let Some(place) = child.places.lock().get_mut(name) {
                    place.worktree = None;
                }
            }
        }
        result
    }
}
