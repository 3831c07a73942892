//! Creating worktrees.

use std::{path::Path, sync::atomic::AtomicBool, time::Duration};

use gix::{ObjectId, worktree::add::Head};

use crate::{
    checkout::files::problem_in,
    filesystem::own_paths,
    recovery::{intent_log::Note, step},
    repository::{
        Repository,
        references::{self, full_name},
    },
    untrusted::program,
    values::{
        git_error::{Doing as _, GitError},
        id::CommitId,
        name::BranchName,
    },
    worktrees::new_worktree::{CreateError, NewHead, missing_parents, resolve, tree_at},
    worktrees::{
        make::{FileSource, intent},
        register::{free_name, is_ordinary},
        remove::move_to_trash,
        worktree::Worktree,
    },
};

impl Repository {
    /// Creates the branch at `from` and a worktree at `place` that has it checked out.
    ///
    /// `place` must be outside the repository, and absent or an empty directory; missing parents are created. Its last
    /// part names the worktree in git's list. Threads and processes may create worktrees at the same time.
    ///
    /// # Errors
    ///
    /// See [`CreateError`]; nothing is left behind.
    pub fn create_worktree(
        &self,
        place: impl AsRef<Path>,
        branch: BranchName,
        from: CommitId,
    ) -> Result<Worktree, CreateError> {
        self.create(place.as_ref(), NewHead::Branch(branch), from)
    }

    /// Creates a worktree at `place` with a detached HEAD at `from`: a checkout to read and run things in.
    pub fn create_detached_worktree(&self, place: impl AsRef<Path>, from: CommitId) -> Result<Worktree, CreateError> {
        self.create(place.as_ref(), NewHead::Detached, from)
    }

    /// Creates a worktree at `place` on an existing branch, at the branch's commit.
    ///
    /// # Errors
    ///
    /// [`CreateError::BranchInUse`] if a worktree has it checked out already: the check and the registration are one
    /// step for all threads and processes that use this crate. The git program refuses too, but takes no lock: two git
    /// processes at the same moment can both succeed. Otherwise as [`Repository::create_worktree`].
    pub fn create_worktree_on(&self, place: impl AsRef<Path>, branch: BranchName) -> Result<Worktree, CreateError> {
        let Some(from) = self.branch_head(&branch)? else {
            return Err(CreateError::NoSuchBranch { branch });
        };
        self.create(place.as_ref(), NewHead::Existing(branch), from)
    }

    fn create(&self, place: &Path, head: NewHead, from: CommitId) -> Result<Worktree, CreateError> {
        let git = self.git();
        let tree = tree_at(&git, from)?;
        let place = resolve(place)?;
        let missing_parents = missing_parents(&place);
        let created = self.create_at(&git, &place, &head, (from, tree));
        if created.is_err() {
            for parent in missing_parents.iter().rev() {
                // Only empty directories are removed.
                let _ = own_paths::remove_dir(parent);
            }
        }
        created
    }

    pub(crate) fn create_at(
        &self,
        git: &gix::Repository,
        place: &Path,
        head: &NewHead,
        (from, tree): (CommitId, ObjectId),
    ) -> Result<Worktree, CreateError> {
        if is_ordinary(git) {
            return self.make(git, place, head, (from, tree), FileSource::Fresh);
        }
        program::check(git, place)?;
        let branch = head.branch();
        let doing = || format!("creating a worktree at {}", place.display());
        let git_head = match branch {
            Some(branch) => Head::Attached(full_name(&branch.full_name())?),
            None => Head::Detached(from.git()),
        };
        let registration = self.lock_registration()?;
        let list = self.common_directory().join("worktrees");
        // gix chooses the same name.
        let expected = list.join(free_name(self.common_directory(), place)?);
        let mut note = self.begin_creation(git, place, &expected, head, from)?;
        let undo_branch = || {
            if let Some(branch) = head.new_branch() {
                // Created above, and deleted only if it has not moved since.
                let _ = references::delete(git, &branch.full_name(), from.git());
            }
        };

        let not_interrupted = AtomicBool::new(false);
        let prepared = match register(git, place, &git_head, &not_interrupted).doing(doing) {
            Ok(prepared) => prepared,
            Err(error) => {
                undo_branch();
                return Err(error.into());
            }
        };
        let git_directory = prepared.repo().git_dir().to_owned();
        let name = git_directory
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .ok_or_else(|| GitError::new(doing(), "it has no name"))?;
        if list.join(&name) != expected {
            // The git program, which does not take the lock, has taken the name in the meantime.
            note = Note::write(self.common_directory(), &[intent(place, &list.join(&name), head, from)])?;
        }
        step::reached("an entry is in git's list");
        // Other threads and processes can register worktrees while the files are written.
        drop(registration);
        let checked_out = prepared.checkout(gix::progress::Discard, &not_interrupted).doing(doing);
        let problem = match checked_out {
            Err(error) => Some(error),
            Ok((_, outcome)) => match problem_in(&outcome) {
                None => None,
                Some(problem) => {
                    // gix leaves a worktree in which files are missing.
                    let error = GitError::new(doing(), problem);
                    let Ok(_guard) = self.lock_registration() else {
                        note.leave();
                        return Err(error.into());
                    };
                    let _ = move_to_trash(place, &git_directory);
                    Some(error)
                }
            },
        };
        if let Some(error) = problem {
            undo_branch();
            return Err(error.into());
        }
        step::reached("a worktree is made");
        Ok(Worktree::linked(self.clone(), name, place.to_owned(), branch.cloned()))
    }
}

/// Registers the worktree. Git does not take the registration lock, so an entry that is read here may be half written.
/// Such a failure passes, so it is retried.
fn register(
    git: &gix::Repository,
    place: &Path,
    head: &Head,
    not_interrupted: &AtomicBool,
) -> gix::Result<gix::worktree::add::PrepareCheckout> {
    const ATTEMPTS: u32 = 5;
    let mut attempt = 1;
    loop {
        match git.prepare_add_worktree(place, head.clone(), not_interrupted) {
            Err(error) if attempt < ATTEMPTS && !error.is_conflict() && !error.is_validation() => {
                std::thread::sleep(Duration::from_millis(20) * attempt);
                attempt += 1;
            }
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Configuration, Signature};

    /// Between the check of the branch and the lock of the list, another process may advance the branch.
    #[test]
    fn a_worktree_on_a_branch_that_moved_meanwhile_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let repository = Repository::init_with(place.path().join("project"), Configuration::RepositoryOnly).unwrap();
        let (user, author) = (repository.main_worktree().unwrap().unwrap(), Signature::new("Ada", "a@b").unwrap());
        let commit = |name: &str| {
            std::fs::write(user.path().join(name), name).unwrap();
            user.commit_all(&author, name).unwrap().unwrap()
        };
        let (expected, found) = (commit("one"), commit("two"));
        let branch = BranchName::new("side").unwrap();
        repository.create_branch(&branch, found).unwrap();
        let at = place.path().join("run/side");
        let error = repository.create(&at, NewHead::Existing(branch.clone()), expected).unwrap_err();
        assert_eq!(error, CreateError::BranchMoved { branch: branch.clone(), expected, found });
        assert!(!at.parent().unwrap().exists());
        assert!(repository.create_worktree_on(&at, branch).unwrap().is_clean().unwrap());
    }
}
