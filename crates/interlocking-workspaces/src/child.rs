//! Workspaces of child runs, as their parent sees them.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use crate::names::Names;
use crate::place::Places;
use interlocking_core::run_id::RunId;
use interlocking_worktree::{BranchName, CommitId};
use std::sync::{Arc, PoisonError};

/// A workspace of a child run that has a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildWorkspace {
    /// The child.
    pub run: RunId,
    /// The key of its item.
    pub key: String,
    /// The workspace's name.
    pub name: String,
    /// Its branch, which stays until the run that was started has ended.
    pub branch: BranchName,
    /// The commit that the child's run knows it to stand at.
    pub head: CommitId,
}

/// What a run knows of a child.
pub(crate) struct Child {
    pub(crate) names: Arc<Names>,
    /// Without the child's state, which has its parent's.
    pub(crate) places: Places,
}

impl GitRun {
    /// The workspaces of the children whose items have that key. Git work.
    pub(crate) fn workspaces_of_child(&self, key: &str) -> Result<Vec<ChildWorkspace>, GitWorkspacesError> {
        let children = self.0.children.lock().unwrap_or_else(PoisonError::into_inner);
        let of_key = children.iter().filter(|child| child.names.key.as_deref() == Some(key));
        let mut found = Vec::new();
        for Child { names, places } in of_key {
            let stand: Vec<_> =
                places.lock().iter().filter_map(|(name, place)| Some((name.clone(), place.at?))).collect();
            for (name, head) in stand {
                let branch = names.branch(self.settings(), &name)?;
                if self.settings().repository.branch_head(&branch)?.is_some() {
                    found.push(ChildWorkspace { run: names.run.clone(), key: key.to_owned(), name, branch, head });
                }
            }
        }
        Ok(found)
    }
}
