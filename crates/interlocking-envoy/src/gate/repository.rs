//! The variants gate in a repository: decisions, and their effects on branches and worktrees.

use crate::gate::decision::{Answer, Decision};
use crate::gate::decisions::{Completion, Decisions, GateReturn, RuleError};
use crate::gate::store::{self, Store, StoreError};
use crate::prompt::Prompt;
use interlocking_worktree::{
    BranchName, Force, GitError, NameError, OpenError, OpenWorktreeError, RemoveError, RenameBranchError, Repository,
    WorktreeEntry,
};
use std::path::{Path, PathBuf};

/// The variants gate of a repository.
#[derive(Clone, Debug)]
pub struct VariantsGate {
    repository: Repository,
}

/// Why a decision could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// There is no repository.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Other decisions exclude this one.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The prompt has no branch.
    #[error("{prompt} has no branch: neither {} is there; start the prompt first", looked_for.join(" nor "))]
    NoBranch {
        /// The prompt.
        prompt: String,
        /// The names that its branch may have.
        looked_for: Vec<String>,
    },
    /// The name of the feature branch is not a valid branch name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A worktree is at the commit of a discarded variant's branch, or rebases the branch, and is on no branch: it may hold work.
    #[error("{branch} is on no worktree, and {} is at its commit or rebases it: end that there, or switch it to the branch or to another commit", place.display())]
    Detached {
        /// The branch.
        branch: BranchName,
        /// The worktree.
        place: PathBuf,
    },
    /// The worktree of a discarded variant cannot be removed.
    #[error(transparent)]
    Remove(#[from] RemoveError),
    /// The worktree of a discarded variant cannot be opened.
    #[error(transparent)]
    Worktree(#[from] OpenWorktreeError),
    /// The branch of a discarded variant cannot be archived.
    #[error(transparent)]
    Rename(#[from] RenameBranchError),
    /// The decisions cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl VariantsGate {
    /// The gate of the repository that contains `place`.
    ///
    /// # Errors
    ///
    /// [`GateError::Open`] if there is no such repository.
    pub fn discover(place: impl AsRef<Path>) -> Result<Self, GateError> {
        Ok(Self { repository: Repository::discover(place)? })
    }

    /// The gate of this repository.
    pub const fn of(repository: Repository) -> Self {
        Self { repository }
    }

    /// The feature branch of the worktree at `place`, derived from the name of the worktree's own branch; `None` if that branch
    /// is not named after a prompt.
    ///
    /// # Errors
    ///
    /// [`GateError::Git`] if the worktrees or the head cannot be read.
    pub fn feature_of(&self, place: &Path) -> Result<Option<String>, GateError> {
        let canonical = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let place = canonical(place);
        let worktrees = self.repository.worktrees()?;
        let here = worktrees.into_iter().filter(|entry| place.starts_with(canonical(&entry.path)));
        // The innermost worktree, as one may lie within another.
        let branch = match here.max_by_key(|entry| entry.path.as_os_str().len()) {
            Some(entry) => entry.branch,
            None => self.repository.head()?.branch,
        };
        Ok(branch.and_then(|branch| Prompt::feature_of(branch.as_str()).map(str::to_owned)))
    }

    /// Records a decision and carries it out. For a discarded variant, the worktree is removed and the branch renamed to
    /// `archive/<branch>`. An alternative is marked and keeps its worktree and branch. A main variant is merged later by the
    /// agent that follows the protocol. For a prompt without variants, `answer` is ignored.
    ///
    /// May be repeated after a failure: steps that are done are skipped. If only the archived branch is there, the variant
    /// counts as discarded, also where no decision about it is stored.
    ///
    /// # Errors
    ///
    /// [`GateError`]. A worktree with uncommitted changes is not removed.
    pub fn record(&self, prompt: &Prompt, answer: &Answer) -> Result<GateReturn, GateError> {
        if prompt.variant.is_none() {
            return Ok(GateReturn::without_variants());
        }
        let store = Store::open(self.repository.common_directory())?;
        let mut decisions = store.load()?;
        let branch = self.branch_of(prompt)?;
        let is_archived = self.repository.branch_head(&branch)?.is_none();
        if !is_archived {
            decisions.forget_discard(prompt);
        }
        let returned = decisions.record(prompt, branch.as_str(), answer)?;
        if returned.variant_solution == Some(Decision::Discard) {
            self.archive(prompt, &branch)?;
        } else if is_archived {
            return Err(RuleError::IsDiscarded { prompt: prompt.to_string(), branch: branch.to_string() }.into());
        }
        store.save(&decisions)?;
        Ok(returned)
    }

    /// All decisions so far.
    ///
    /// # Errors
    ///
    /// [`GateError::Store`] if the decisions cannot be read.
    pub fn decisions(&self) -> Result<Decisions, GateError> {
        Ok(store::read(self.repository.common_directory())?)
    }

    /// What `complete-prompt` reports: the alternatives that were not merged.
    ///
    /// # Errors
    ///
    /// [`GateError::Store`] if the decisions cannot be read.
    pub fn completion(&self, feature_branch: &str, number: u32) -> Result<Completion, GateError> {
        Ok(self.decisions()?.completion(feature_branch, number))
    }

    /// The branch of a prompt's worktree; if there is none, the one that was archived.
    fn branch_of(&self, prompt: &Prompt) -> Result<BranchName, GateError> {
        let looked_for = prompt.worktree_branches();
        let mut names = Vec::new();
        for name in &looked_for {
            let branch = BranchName::new(name)?;
            names.push((branch.clone(), archived(&branch)?));
        }
        // An earlier attempt may have been archived under the one name before the next began under the other.
        for (branch, _) in &names {
            if self.repository.branch_head(branch)?.is_some() {
                return Ok(branch.clone());
            }
        }
        for (branch, archived) in names {
            if self.repository.branch_head(&archived)?.is_some() {
                return Ok(branch);
            }
        }
        Err(GateError::NoBranch { prompt: prompt.to_string(), looked_for: looked_for.to_vec() })
    }

    /// Removes a branch's worktree and archives the branch, unless that is done already.
    fn archive(&self, prompt: &Prompt, branch: &BranchName) -> Result<(), GateError> {
        let Some(head) = self.repository.branch_head(branch)? else { return Ok(()) };
        let name = archived(branch)?;
        let is_below = |name: &BranchName, above: &BranchName| name.as_str().starts_with(&format!("{above}/"));
        let in_the_way = self.repository.branches()?.into_iter().find(|(existing, at)| {
            (*existing == name && *at != head) || is_below(&name, existing) || is_below(existing, &name)
        });
        // Before anything is removed.
        if let Some((existing, _)) = in_the_way {
            let [prompt, branch, existing] = [prompt.to_string(), branch.to_string(), existing.to_string()];
            return Err(RuleError::ArchiveTaken { prompt, branch, existing }.into());
        }
        let worktrees = self.repository.worktrees()?;
        let is_on = |entry: &&WorktreeEntry| entry.branch.as_ref() == Some(branch);
        let may_be_its = |entry: &&WorktreeEntry| {
            entry.branch.is_none() && (entry.head == Some(head) || self.is_rebased_in(entry, branch))
        };
        if let Some(entry) = worktrees.iter().find(is_on) {
            let worktree = self.repository.open_worktree(&entry.path)?;
            self.repository.remove_worktree(&worktree, Force::No)?.delete()?;
        } else if let Some(entry) = worktrees.iter().find(may_be_its) {
            return Err(GateError::Detached { branch: branch.clone(), place: entry.path.clone() });
        }
        Ok(self.repository.rename_branch(branch, &name, head)?)
    }

    /// Whether a rebase of the branch is under way in a worktree.
    fn is_rebased_in(&self, entry: &WorktreeEntry, branch: &BranchName) -> bool {
        let private = self.repository.common_directory().join("worktrees").join(&entry.name);
        ["rebase-merge", "rebase-apply"].iter().any(|operation| {
            let file = private.join(operation).join("head-name");
            // An agent can write it.
            let is_small = std::fs::symlink_metadata(&file).is_ok_and(|found| found.is_file() && found.len() < 4096);
            is_small
                && std::fs::read_to_string(file).is_ok_and(|name| name.trim_end() == format!("refs/heads/{branch}"))
        })
    }
}

/// The name of an archived branch.
fn archived(branch: &BranchName) -> Result<BranchName, NameError> {
    BranchName::new(format!("archive/{branch}"))
}
