//! Where it happens: a small project under git, and a worktree of it for the agent.

use interlocking::prelude::NodeError;
use interlocking::worktree::{BranchName, CommitId, Configuration, Repository, Signature, Worktree};
use std::error::Error;
use std::path::Path;
use std::process::Command;

const FILES: [(&str, &str); 2] =
    [("tide.sh", include_str!("../demo/tide.sh")), ("check.sh", include_str!("../demo/check.sh"))];

/// A small project under git, and a worktree of it for the agent. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Site {
    repository: Repository,
    base: CommitId,
    /// Where the agent works.
    pub worktree: Worktree,
}

impl Site {
    /// Makes both, in an empty directory.
    ///
    /// # Errors
    ///
    /// Where they cannot be written.
    pub fn create(directory: &Path) -> Result<Self, Box<dyn Error>> {
        let repository = Repository::init_with(directory.join("project"), Configuration::RepositoryOnly)?;
        let project = repository.main_worktree()?.ok_or("the new repository has no working tree")?;
        for (name, content) in FILES {
            std::fs::write(project.path().join(name), content)?;
        }
        let base = project.commit_all(&author()?, "Tides")?.ok_or("nothing was committed")?;
        // As the protocol has it: beside the feature's branch, for git holds no branch below another.
        let branch = BranchName::new("main-prompts/implementation-1")?;
        let worktree = repository.create_worktree(directory.join("worktree"), branch, base)?;
        Ok(Self { repository, base, worktree })
    }

    /// Runs the project's check in the worktree; what it says where it fails.
    pub(crate) fn check(&self) -> Result<Result<(), String>, NodeError> {
        let output = Command::new("sh").arg("check.sh").current_dir(self.worktree.path()).output()?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(if output.status.success() { Ok(()) } else { Err(said) })
    }

    /// Commits what is in the worktree.
    pub(crate) fn commit(&self, message: &str) -> Result<String, NodeError> {
        let commit = match self.worktree.commit_all(&author()?, message)? {
            Some(commit) => commit,
            None => self.worktree.head()?,
        };
        Ok(commit.to_string())
    }

    /// Moves the project's branch to a commit of the worktree.
    pub(crate) fn merge(&self, commit: &str) -> Result<(), NodeError> {
        Ok(self.repository.fast_forward(&BranchName::new("main")?, commit.parse()?, self.base)?)
    }
}

fn author() -> Result<Signature, interlocking::worktree::SignatureError> {
    Signature::new("Developer", "developer@example.org")
}
