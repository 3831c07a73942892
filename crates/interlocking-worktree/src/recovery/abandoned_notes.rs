//! Notes of dead processes.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use crate::{
    filesystem::own_paths,
    recovery::{
        intent_log::{Intent, common_directory_of, decode, directory_of, held},
        process_lock::LockedFile,
    },
    repository::registration_lock::tidy_if_free,
    untrusted::file::{Kind, open_with},
    values::git_error::{Doing as _, GitError},
};

/// The directory of notes has at most this many files. An operation has one note, and one file more for each lock.
const MOST_FILES: usize = 10_000;

/// A dead process's note, locked by this one.
#[derive(Debug)]
pub(crate) struct AbandonedNote {
    path: PathBuf,
    /// The locked file, so that no other process recovers at the same time.
    _file: LockedFile,
    pub(crate) intents: Vec<Intent>,
}

impl AbandonedNote {
    /// The `held` file of this number. A lock belongs to the note's process if it is a hard link to this file.
    pub(crate) fn held(&self, number: usize) -> PathBuf {
        held(&self.path, number)
    }

    /// Removes the note and its `held` files after recovery.
    pub(crate) fn recovered(self) {
        for intent in &self.intents {
            if let Intent::Lock { number, .. } = intent {
                let _ = own_paths::remove_file(held(&self.path, *number));
            }
        }
        let _ = own_paths::remove_file(&self.path);
        tidy_if_free(common_directory_of(&self.path));
    }
}

/// Whether there are any notes, of any process.
pub(crate) fn has_notes(common_directory: &Path) -> Result<bool, GitError> {
    let directory = directory_of(common_directory);
    match own_paths::read_dir(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        entries => Ok(entries.doing(|| format!("reading the notes in {}", directory.display()))?.next().is_some()),
    }
}

/// The notes of dead processes with at least one intent that is `wanted`. Usually there are none, and reading one
/// directory shows that. Each is opened and locked when its turn comes: whoever can write to the repository can forge
/// any number.
pub(crate) fn abandoned_notes(
    common_directory: &Path,
    wanted: impl Fn(&Intent) -> bool,
) -> Result<impl Iterator<Item = Result<AbandonedNote, GitError>>, GitError> {
    let directory = directory_of(common_directory);
    let doing = || format!("reading the notes in {}", directory.display());
    let mut paths = Vec::new();
    match own_paths::read_dir(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        entries => {
            for entry in entries.doing(doing)? {
                paths.push(entry.doing(doing)?.path());
                if paths.len() > MOST_FILES {
                    let many = format!("it has more than {MOST_FILES} files: delete it while no process works here");
                    return Err(GitError::new(doing(), many));
                }
            }
        }
    }
    Ok(paths.into_iter().filter_map(move |path| take_abandoned(path, &wanted).transpose()))
}

/// Locks and reads a note, if its process is dead and it is wanted.
fn take_abandoned(path: PathBuf, wanted: impl Fn(&Intent) -> bool) -> Result<Option<AbandonedNote>, GitError> {
    let is_draft = path.extension().is_some_and(|extension| extension == "draft");
    if !is_draft && path.extension().is_none_or(|extension| extension != "note") {
        return Ok(None);
    }
    // None if the operation has ended in the meantime.
    let Some(file) = open_with(&path, Kind::Note, File::options().read(true).write(true))? else { return Ok(None) };
    // Unlocked as soon as it is not needed here, so that a search for other intents can take it.
    let Ok(file) = LockedFile::take(file) else { return Ok(None) };
    if !path.exists() {
        return Ok(None);
    }
    if is_draft {
        let _ = own_paths::remove_file(&path);
        return Ok(None);
    }
    let mut text = Vec::new();
    (&*file).read_to_end(&mut text).doing(|| format!("reading {}", path.display()))?;
    let intents = decode(&text);
    let is_wanted = intents.is_empty() || intents.iter().any(wanted);
    Ok(is_wanted.then_some(AbandonedNote { path, _file: file, intents }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        recovery::intent_log::{Note, encode, tests::intents},
        repository::registration_lock::private_directory,
    };

    #[test]
    fn only_a_dead_process_leaves_a_note_behind() {
        let directory = tempfile::tempdir().unwrap();
        let note = Note::write(directory.path(), &intents()[..1]).unwrap();
        note.add(&intents()[3]).unwrap();
        let left = || abandoned_notes(directory.path(), |_| true).unwrap().map(Result::unwrap);
        assert_eq!(left().count(), 0, "its writer lives");
        // Closing the file releases the lock, as the end of the process does.
        let path = std::fs::read_dir(directory_of(directory.path())).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read(&path).unwrap();
        drop(note);
        assert!(!private_directory(directory.path()).exists());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        let is_moving = |intent: &Intent| matches!(intent, Intent::Moving { .. });
        assert_eq!(abandoned_notes(directory.path(), is_moving).unwrap().count(), 0);
        let note = left().next().unwrap();
        assert_eq!(left().count(), 0, "somebody recovers it already");
        assert_eq!(note.intents, [intents()[0].clone(), intents()[3].clone()]);
        note.recovered();
        assert!(!private_directory(directory.path()).exists());
    }

    #[test]
    fn a_note_that_is_left_is_recovered_by_the_next_operation() {
        let directory = tempfile::tempdir().unwrap();
        Note::write(directory.path(), &intents()[..1]).unwrap().leave();
        let left: Vec<_> = abandoned_notes(directory.path(), |_| true).unwrap().map(Result::unwrap).collect();
        assert_eq!(left.len(), 1);
    }

    #[test]
    fn any_number_of_forged_notes_keeps_one_file_open() {
        let directory = tempfile::tempdir().unwrap();
        let notes = directory_of(directory.path());
        std::fs::create_dir_all(&notes).unwrap();
        let text: Vec<u8> = intents().iter().flat_map(encode).collect();
        for number in 0..5 {
            std::fs::write(notes.join(format!("{number}.note")), &text).unwrap();
        }
        let left = || abandoned_notes(directory.path(), |_| true);
        for note in left().unwrap() {
            let _held = note.unwrap();
            assert_eq!(left().unwrap().count(), 4, "the others are not locked");
        }
        for number in 5..=MOST_FILES {
            std::fs::write(notes.join(format!("{number}.note")), "").unwrap();
        }
        let error = left().err().unwrap().to_string();
        assert!(error.contains("interlocking/notes: it has more than 10000 files: delete it"), "{error}");
    }
}
