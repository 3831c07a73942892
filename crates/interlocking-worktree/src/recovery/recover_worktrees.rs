//! Recovery after a process was killed while it made or removed a worktree.

use std::path::Path;

use gix::bstr::ByteSlice as _;

use crate::{
    filesystem::{deletion::delete_tree, own_paths},
    recovery::{
        abandoned_notes::{abandoned_notes, has_notes},
        intent_log::Intent,
        recover_locks::recover_locks_in,
        step,
    },
    repository::registration_lock::RegistrationGuard,
    repository::{
        Repository,
        references::{self, MoveError},
        registration_lock::private_directory,
    },
    untrusted::{
        Refused,
        file::{self, Kind},
        git_directory,
    },
    values::{
        git_error::{Doing as _, GitError},
        id::CommitId,
        signature::Signature,
    },
    worktrees::{
        remove::{is_trash, move_to_trash_unnoted},
        worktree::check_link,
    },
};

impl Repository {
    pub(crate) fn lock_registration(&self) -> Result<RegistrationGuard<'_>, GitError> {
        let guard = self.registration().lock()?;
        // Usually there is nothing to recover: one check for both.
        if has_notes(self.common_directory())? {
            self.recover_locks()?;
            self.recover_worktrees()?;
        }
        Ok(guard)
    }

    /// Releases what killed processes have left locked. Usually this only reads one directory.
    pub(crate) fn recover_locks(&self) -> Result<(), GitError> {
        recover_locks_in(&self.git(), self.common_directory())
    }

    /// Recovers what killed processes have left: half-made and half-removed worktrees, locks, files that were being
    /// changed. Every operation does so before it begins; this is for callers that want to be sure that it is done.
    ///
    /// # Errors
    ///
    /// Something could not be read or written. It stays noted, and the next operation tries again.
    pub fn recover(&self) -> Result<(), GitError> {
        self.lock_registration().map(drop)
    }

    /// Undoes unfinished creations and completes unfinished removals. The caller holds the registration lock.
    pub(crate) fn recover_worktrees(&self) -> Result<(), GitError> {
        let is_wanted = |intent: &Intent| matches!(intent, Intent::Create { .. } | Intent::Remove { .. });
        let list = self.common_directory().join("worktrees");
        for note in abandoned_notes(self.common_directory(), is_wanted)? {
            let note = note?;
            for intent in &note.intents {
                match intent {
                    // A note can be forged: only entries in this repository's own list are touched.
                    Intent::Create { git_directory, .. } | Intent::Remove { git_directory, .. }
                        if git_directory.parent() != Some(&list) => {}
                    Intent::Create { place, git_directory, branch, from } => {
                        self.undo_creation(place, git_directory, branch.as_deref(), CommitId::from_git(*from))?;
                    }
                    Intent::Remove { path, away, git_directory, unregistered } => {
                        end_removal(path, away, git_directory, unregistered)?;
                    }
                    Intent::Lock { .. } | Intent::Files { .. } | Intent::Moving { .. } => {}
                }
            }
            note.recovered();
        }
        Ok(())
    }

    fn undo_creation(
        &self,
        place: &Path,
        git_directory: &Path,
        branch: Option<&str>,
        from: CommitId,
    ) -> Result<(), GitError> {
        let is_listed = names_place(git_directory, place);
        let is_half_made =
            line_of(&git_directory.join("locked")).is_some_and(|reason| reason.trim() == b"initializing");
        if is_listed && !is_half_made {
            // The worktree was complete; only the note had not been removed.
            return Ok(());
        }
        if is_listed {
            let is_linked = check_link(place, git_directory).is_ok();
            for directory in move_to_trash_unnoted(is_linked.then_some(place), git_directory)? {
                delete_tree(&directory).doing(|| format!("deleting {}", directory.display()))?;
            }
        } else if is_begun(git_directory) {
            delete_tree(git_directory).doing(|| format!("deleting {}", git_directory.display()))?;
            // As git does, remove the list when it is empty.
            let _ = git_directory.parent().map(own_paths::remove_dir);
        }
        if is_first_link(place, git_directory) {
            // Before the entry exists, the directory holds only the link.
            let _ = own_paths::remove_file(place.join(".git"));
            let _ = own_paths::remove_dir(place);
        }
        step::reached("a creation is taken away");
        self.sweep_drafts()?;
        if let Some(branch) = branch
            && self.is_untouched(branch)?
        {
            match references::delete(&self.git(), branch, from.git()) {
                Ok(()) | Err(MoveError::Moved { .. }) => {}
                Err(MoveError::Git(error)) => return Err(error),
            }
        }
        Ok(())
    }

    /// Deletes entries that were not moved into the list. They are written under the lock that the caller holds.
    fn sweep_drafts(&self) -> Result<(), GitError> {
        let directory = private_directory(self.common_directory());
        let doing = || format!("sweeping {}", directory.display());
        for entry in own_paths::read_dir(&directory).doing(doing)? {
            let path = entry.doing(doing)?.path();
            if path.extension().is_some_and(|extension| extension == "entry") {
                delete_tree(&path).doing(doing)?;
            }
        }
        Ok(())
    }

    /// Whether no other program has moved the branch, according to its reflog.
    fn is_untouched(&self, branch: &str) -> Result<bool, GitError> {
        let log = self.common_directory().join("logs").join(branch);
        let text = match file::read(&log, Kind::Link) {
            Ok(None) => return Ok(true),
            Ok(Some(text)) => text.bytes,
            // Longer than one line of this crate, so another program wrote to it.
            Err(error) if matches!(error.reason(), Some(Refused::Oversized { .. })) => return Ok(false),
            Err(error) => return Err(error),
        };
        let mut by = Vec::new();
        let runtime = Signature::runtime();
        by.extend_from_slice(format!("{} <{}>", runtime.name, runtime.email).as_bytes());
        Ok(text.lines().count() <= 1 && text.lines().all(|line| line.contains_str(&by)))
    }
}

fn names_place(git_directory: &Path, place: &Path) -> bool {
    line_of(&git_directory.join("gitdir")).is_some_and(|link| is_path(&link, git_directory, &place.join(".git")))
}

/// Whether a line is this path, which may be relative to `base`.
fn is_path(line: &[u8], base: &Path, path: &Path) -> bool {
    let Ok(named) = git_directory::path_in(line) else { return false };
    gix::path::normalize(base.join(named).into(), base).is_some_and(|named| named == path)
}

/// Whether gix was killed while it began the entry, which does not name a place yet.
fn is_begun(git_directory: &Path) -> bool {
    let Ok(mut files) = own_paths::read_dir(git_directory) else { return false };
    let is_first = |name: &std::ffi::OsStr| name == "locked" || name == "gitdir";
    files.all(|file| file.is_ok_and(|file| is_first(&file.file_name())))
        && line_of(&git_directory.join("gitdir")).is_none_or(|link| !link.ends_with(b"\n"))
}

/// Whether a directory's `.git` file names the entry, which may not exist.
fn is_linked_to(directory: &Path, git_directory: &Path) -> bool {
    line_of(&directory.join(".git"))
        .is_some_and(|link| link.strip_prefix(b"gitdir: ").is_some_and(|link| is_path(link, directory, git_directory)))
}

/// The contents of a file of one line, if it can be read.
fn line_of(path: &Path) -> Option<Vec<u8>> {
    file::read(path, Kind::Link).ok().flatten().map(|contents| contents.bytes)
}

/// Whether the place holds nothing but the link to an entry that does not exist.
fn is_first_link(place: &Path, git_directory: &Path) -> bool {
    let Ok(mut entries) = own_paths::read_dir(place) else { return false };
    let is_alone = entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == ".git"));
    let names = is_linked_to(place, git_directory);
    // The link is created and then written, so it may be empty or missing.
    let is_empty = std::fs::symlink_metadata(place.join(".git")).map_or(true, |link| link.is_file() && link.len() == 0);
    is_alone && (names || is_empty) && !git_directory.exists()
}

fn end_removal(path: &Path, away: &Path, git_directory: &Path, unregistered: &Path) -> Result<(), GitError> {
    // Check that both paths are where a removal moves them, and that the directory is the worktree's.
    let common = git_directory.parent().and_then(Path::parent);
    if !is_trash(away) || away.parent() != path.parent() || !is_trash(unregistered) || unregistered.parent() != common {
        return Ok(());
    }
    let is_listed = git_directory.symlink_metadata().is_ok();
    if is_listed && away.symlink_metadata().is_ok() && !is_linked_to(away, git_directory) {
        return Ok(());
    }
    let has_begun = away.symlink_metadata().is_ok() || unregistered.symlink_metadata().is_ok();
    if !has_begun {
        return Ok(());
    }
    // The directory was moved with its link, or did not exist.
    let is_entry_of_it = path.symlink_metadata().is_err() || is_linked_to(away, git_directory);
    if is_entry_of_it && names_place(git_directory, path) {
        own_paths::rename(git_directory, unregistered).doing(|| format!("renaming {}", git_directory.display()))?;
        step::reached("a removal is ended");
    }
    for directory in [away, unregistered] {
        delete_tree(directory).doing(|| format!("deleting {}", directory.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BranchName, Configuration, recovery::intent_log::Note};

    /// What gix leaves if it is killed while it makes a worktree, with relative links or without.
    #[test]
    fn what_gix_had_begun_is_undone() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let repository = Repository::init_with(root.join("project"), Configuration::RepositoryOnly).unwrap();
        let user = repository.main_worktree().unwrap().unwrap();
        std::fs::write(user.path().join("a"), "a").unwrap();
        let from = user.commit_all(&crate::Signature::new("Ada", "a@b").unwrap(), "a").unwrap().unwrap();
        let branch = BranchName::new("one").unwrap();
        let (place, list) = (root.join("run/one"), repository.common_directory().join("worktrees"));
        let entry = list.join("one");
        let absolute = (format!("{}\n", place.join(".git").display()), format!("gitdir: {}\n", entry.display()));
        let relative =
            ("../../../../run/one/.git\n".to_owned(), "gitdir: ../../project/.git/worktrees/one\n".to_owned());
        for (files, (to_place, to_entry)) in (0..=4).flat_map(|files| [(files, &absolute), (files, &relative)]) {
            std::fs::create_dir_all(&entry).unwrap();
            std::fs::create_dir_all(&place).unwrap();
            for (path, contents) in [
                (entry.join("locked"), "initializing\n"),
                (entry.join("gitdir"), to_place),
                (entry.join("commondir"), "../..\n"),
                (place.join(".git"), to_entry),
            ]
            .into_iter()
            .take(files)
            {
                std::fs::write(path, contents).unwrap();
            }
            repository.create_branch(&branch, from).unwrap();
            let create = Intent::Create {
                place: place.clone(),
                git_directory: entry.clone(),
                branch: Some(branch.full_name()),
                from: from.git(),
            };
            Note::write(repository.common_directory(), &[create]).unwrap().leave();
            repository.recover().unwrap();
            assert!(!place.exists() && !list.exists(), "after {files} files, {to_place}");
            assert_eq!(repository.branch_head(&branch).unwrap(), None, "after {files} files, {to_place}");
        }
    }

    #[test]
    fn an_entry_of_another_place_stays() {
        let directory = tempfile::tempdir().unwrap();
        let entry = directory.path().join("project/.git/worktrees/one");
        std::fs::create_dir_all(&entry).unwrap();
        for (link, is_named) in [("/run/one/.git\n", true), ("../../../../run/one/.git\n", false), ("\n", false)] {
            std::fs::write(entry.join("gitdir"), link).unwrap();
            assert_eq!(names_place(&entry, Path::new("/run/one")), is_named, "{link}");
            assert!(!is_begun(&entry), "{link}");
        }
    }
}
