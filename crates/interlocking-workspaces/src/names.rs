//! The names of a run, its workspaces and their branches, from which another process can find them.

use crate::settings::{Settings, WorkspaceScope};
use interlocking_core::run_id::RunId;
use interlocking_runtime::workspaces::RunScope;
use interlocking_worktree::{BranchName, NameError, NameRule};

/// The names of a run.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) run: RunId,
    /// The root run.
    pub(crate) root: RunId,
    /// The run's part of the names of directories and branches.
    pub(crate) label: String,
    /// The key of the run's item, if it is a child.
    pub(crate) key: Option<String>,
}

impl Names {
    pub(crate) fn of(scope: &RunScope<'_>, parent: Option<&Self>) -> Self {
        let root = parent.map_or(scope.run, |parent| &parent.root).clone();
        Self::in_tree(root, scope.run.clone(), scope.parent.map(|parent| parent.key.to_owned()))
    }

    /// The names of a child of this run.
    pub(crate) fn of_child(&self, run: RunId, key: String) -> Self {
        Self::in_tree(self.root.clone(), run, Some(key))
    }

    fn in_tree(root: RunId, run: RunId, key: Option<String>) -> Self {
        let label = label(&run, key.as_deref());
        Self { run, root, label, key }
    }

    /// The names of a root run.
    pub(crate) fn of_root(run: RunId) -> Self {
        Self { root: run.clone(), label: run.to_string(), run, key: None }
    }

    pub(crate) fn is_child(&self) -> bool {
        self.run != self.root
    }

    /// The name of a workspace's branch.
    pub(crate) fn branch(&self, settings: &Settings, name: &str) -> Result<BranchName, NameError> {
        let own = self.own_branch(name)?;
        let scope = WorkspaceScope { run: &self.run, key: self.key.as_deref(), workspace: name };
        let named = settings.branch_names.as_ref().and_then(|names| names(&scope));
        Ok(named.unwrap_or(own))
    }

    /// The name of a workspace's branch unless the settings name another. A branch's name is a safe path, too.
    pub(crate) fn own_branch(&self, name: &str) -> Result<BranchName, NameError> {
        if name.contains('/') {
            let (what, reason) = ("workspace's name", NameRule::Character('/'));
            return Err(NameError { name: name.to_owned(), what, reason });
        }
        BranchName::new(match self.is_child() {
            true => format!("{}/{}/{name}", self.root, self.label),
            false => format!("{}/{name}", self.root),
        })
    }

    /// The name of a workspace within the tree of runs.
    pub(crate) fn place(&self, name: &str) -> String {
        match self.is_child() {
            true => format!("{}/{name}", self.label),
            false => name.to_owned(),
        }
    }
}

/// A run's part of the names of directories and branches. For a child, it is its item's key, if that is a short word,
/// and the unique end of the run's name.
fn label(run: &RunId, key: Option<&str>) -> String {
    let is_safe = |character: char| character.is_ascii_alphanumeric() || character == '-' || character == '_';
    match (key, run.as_str().rsplit_once('-')) {
        (Some(key), Some((_, end)))
            if end.len() == 16
                && (1..=40).contains(&key.len())
                && key.chars().all(is_safe)
                && !key.starts_with('-') =>
        {
            format!("{key}-{end}")
        }
        _ => run.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspaces_name_is_one_part_of_a_branchs() {
        let names = Names::of_root(RunId::DEFAULT);
        assert_eq!(names.own_branch("work").unwrap().as_str(), "run/work");
        let refused = names.own_branch("work/one").unwrap_err().to_string();
        assert_eq!(refused, r#""work/one" cannot be a workspace's name: it contains '/', which names may not contain"#);
    }
}
