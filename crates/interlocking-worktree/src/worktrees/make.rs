//! Making a worktree in steps. A process that finds the note of an interrupted creation can undo each step.
//!
//! The order is: note, branch, directory, entry in git's list (marked as half made, as git does it), files, index,
//! removal of the mark. Removing the mark completes the worktree. Before that, a failure or a crash leads to everything
//! being undone, by this process or by another.

use std::{io::ErrorKind, path::Path};

use gix::{ObjectId, bstr::ByteSlice as _};

use crate::{
    checkout::{files::write_all_files, index_between::between},
    filesystem::own_paths,
    pool::{item::Claim, rewrite::rewrite_files, written_files},
    recovery::{
        intent_log::{Intent, Note},
        recover_locks::open_private,
        step,
    },
    repository::{
        Repository,
        create_branch::create_branch,
        current_configuration::{has_filters, is_shared},
        references,
    },
    status::index,
    untrusted::{file, program},
    values::{git_error::Doing as _, id::CommitId, name::BranchName, signature::Signature},
    worktrees::{
        new_worktree::{CreateError, NewHead},
        register::{self, Entry},
        remove::move_to_trash,
        worktree::Worktree,
    },
};

/// Where a new worktree's files come from.
pub(crate) enum FileSource {
    /// They are all written.
    Fresh,
    /// They are all written, and their stat data is noted, so that they can be reused.
    Noted,
    /// They are the files of a retired worktree, of which only those that differ are written.
    Retired(Box<Claim>),
}

impl Repository {
    /// Makes a worktree with the commit's tree at a place that [`resolve`](crate::worktrees::new_worktree::resolve)
    /// returned.
    pub(crate) fn make(
        &self,
        git: &gix::Repository,
        place: &Path,
        head: &NewHead,
        (from, tree): (CommitId, ObjectId),
        source: FileSource,
    ) -> Result<Worktree, CreateError> {
        let doing = || format!("creating a worktree at {}", place.display());
        let by = Signature::runtime();
        let mut index = match &source {
            FileSource::Fresh | FileSource::Noted => git.index_from_tree(&tree).doing(doing)?,
            FileSource::Retired(claim) => {
                let index = between(git, &claim.noted.index, claim.noted.tree, tree)?.index;
                gix::index::File::from_state(index, git.index_path())
            }
        };

        let registration = self.lock_registration()?;
        let name = register::free_name(self.common_directory(), place)?;
        let git_directory = self.common_directory().join("worktrees").join(&name);
        let made_branch = head.new_branch().map(BranchName::full_name);
        let note = self.begin_creation(git, place, &git_directory, head, from)?;
        let undo = |files: bool| {
            if files {
                let _ = move_to_trash(place, &git_directory);
            }
            if let Some(branch) = &made_branch {
                // Created above, and deleted only if it has not moved since.
                let _ = references::delete(git, branch, from.git());
            }
        };

        let was_there = place.exists();
        let full_name = head.branch().map(BranchName::full_name);
        let retired = match &source {
            FileSource::Retired(claim) => Some(claim.files()),
            FileSource::Fresh | FileSource::Noted => None,
        };
        let files = retired.as_deref().unwrap_or(place);
        let entry = Entry { place, files, branch: full_name.as_deref(), commit: from.git(), by: &by };
        let registered = if retired.is_some() { make_parents(place) } else { make_directory(place) }.doing(doing);
        if let Err(error) = registered.and_then(|()| register::register(git, &git_directory, &entry)) {
            let _ = own_paths::remove_file(files.join(".git"));
            let _ = if was_there || retired.is_some() { Ok(()) } else { own_paths::remove_dir(place) };
            undo(false);
            return Err(error.into());
        }
        // Moved only after registration: the entry tells a process that recovers whose directory this is.
        let moved = retired.map_or(Ok(()), |files| own_paths::rename(files, place).doing(doing));
        // Other threads and processes can register worktrees while the files are written.
        drop(registration);

        let configured = || {
            // If the configuration depends on the worktree, the new worktree's own is read, and filters run in it.
            let is_common = |git: &gix::Repository| is_shared(git) && !has_filters(git);
            if !is_common(git) {
                return open_private(git, &git_directory);
            }
            let git = self.git_as_configured()?;
            if is_common(&git) { Ok(git) } else { open_private(&git, &git_directory) }
        };
        let made = moved.and_then(|()| configured()).and_then(|mut configured| {
            step::reached("a directory is in its place");
            program::check(&configured, place)?;
            let form = if matches!(source, FileSource::Fresh) { None } else { written_files::form(&configured)? };
            match &source {
                FileSource::Fresh | FileSource::Noted => write_all_files(&configured, place, &mut index)?,
                FileSource::Retired(claim) => {
                    self.recent_objects().attach(&mut configured);
                    rewrite_files(&configured, place, &claim.noted, claim.model(), form.as_ref(), &mut index, None)?;
                }
            }
            step::reached("new files are written");
            let bytes = index::to_bytes(&index, Some(tree)).doing(doing)?;
            file::write_anew(git_directory.join("index"), bytes).doing(doing)?;
            if let Some(form) = form {
                let noted = written_files::directory_of(self.common_directory(), &name);
                written_files::save(&noted, &index, tree, form.as_bstr())?;
            }
            Ok(())
        });
        let made = made.and_then(|()| {
            step::reached("a new worktree's files are written");
            register::finish(&git_directory)
        });
        if let Err(error) = made {
            let Ok(_guard) = self.lock_registration() else {
                note.leave();
                return Err(error.into());
            };
            undo(true);
            if was_there {
                let _ = own_paths::create_dir(place);
            }
            return Err(error.into());
        }
        step::reached("a worktree is made");
        Ok(Worktree::linked(self.clone(), name, place.to_owned(), head.branch().cloned()))
    }

    /// Checks that a worktree can be made, writes the note, and makes the branch. The caller holds the registration
    /// lock.
    pub(crate) fn begin_creation(
        &self,
        git: &gix::Repository,
        place: &Path,
        git_directory: &Path,
        head: &NewHead,
        from: CommitId,
    ) -> Result<Note, CreateError> {
        self.check_place(place)?;
        if let NewHead::Existing(branch) = head {
            self.check_free(branch, from)?;
        }
        if let Some(branch) = head.new_branch()
            && let Some(at) = self.branch_head(branch)?
        {
            // Checked before the note is written: a process that recovers takes the branch in the note for one that
            // this creation made.
            return Err(CreateError::BranchExists { branch: branch.clone(), at });
        }
        let note = Note::write(self.common_directory(), &[intent(place, git_directory, head, from)])?;
        step::reached("a creation is announced");
        if let Some(branch) = head.new_branch() {
            create_branch(git, branch, from)?;
            step::reached("a branch is made");
        }
        Ok(note)
    }
}

pub(crate) fn intent(place: &Path, git_directory: &Path, head: &NewHead, from: CommitId) -> Intent {
    Intent::Create {
        place: place.to_owned(),
        git_directory: git_directory.to_owned(),
        branch: head.new_branch().map(BranchName::full_name),
        from: from.git(),
    }
}

fn make_parents(place: &Path) -> std::io::Result<()> {
    place.parent().map_or(Ok(()), own_paths::create_dir_all)
}

fn make_directory(place: &Path) -> std::io::Result<()> {
    make_parents(place)?;
    match own_paths::create_dir(place) {
        // It is empty: that was checked.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => made?,
    }
    step::reached("a directory is made");
    Ok(())
}
