//! The intent log: notes of the operations under way, for recovery after a crash.
//!
//! Before an operation changes anything, it writes to `.git/interlocking/notes` what it is about to do. The note's file
//! is locked as long as its process lives: the operating system releases the lock when the process ends, however it
//! ends. So a note that can be locked belongs to a dead process. Process ids, which are reused and mean nothing in
//! another container, need not be checked.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use gix::{
    ObjectId,
    bstr::{BString, ByteSlice as _, ByteVec as _},
};

use crate::{
    filesystem::{own_paths, with_directory::with_directory},
    recovery::process_lock::LockedFile,
    repository::registration_lock::{private_directory, tidy_if_free},
    untrusted::file::{Kind, create_new, open_with},
    values::git_error::{Doing as _, GitError},
};

/// What an operation is about to do. A note holds one or more of these, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Intent {
    /// A worktree is created.
    Create {
        /// Its path.
        place: PathBuf,
        /// Its entry in git's list.
        git_directory: PathBuf,
        /// The full name of the branch that is created for it.
        branch: Option<String>,
        /// The commit it starts at.
        from: ObjectId,
    },
    /// A worktree's directory and entry are renamed to trash names.
    Remove {
        /// The worktree's path.
        path: PathBuf,
        /// The trash path of its files.
        away: PathBuf,
        /// Its entry in git's list.
        git_directory: PathBuf,
        /// The trash path of the entry.
        unregistered: PathBuf,
    },
    /// A file is locked with a lock file as git does. The lock file is a hard link to the note's `held` file with this
    /// number.
    Lock {
        /// The lock file.
        lock: PathBuf,
        /// The number of the `held` file.
        number: usize,
    },
    /// The files of a worktree are changed to those of another tree, under the lock of its index.
    Files {
        /// The worktree's root.
        root: PathBuf,
        /// Its private directory.
        git_directory: PathBuf,
        /// The new tree.
        tree: ObjectId,
    },
    /// The index of `to` is complete in its lock file, and HEAD is about to be moved to `to`.
    Moving {
        /// The private directory of the worktree.
        git_directory: PathBuf,
        /// The commit that HEAD is moved to.
        to: ObjectId,
    },
}

/// A note of this process. Dropping it removes the note: what it announced is done, or undone.
#[derive(Debug)]
pub(crate) struct Note {
    path: PathBuf,
    /// Locked.
    file: File,
    held: usize,
}

/// A dead process's note, locked by this one.
#[derive(Debug)]
pub(crate) struct AbandonedNote {
    path: PathBuf,
    /// The locked file, so that no other process recovers at the same time.
    _file: LockedFile,
    pub(crate) intents: Vec<Intent>,
}

impl Note {
    /// Writes a note.
    pub(crate) fn write(common_directory: &Path, intents: &[Intent]) -> Result<Self, GitError> {
        let directory = directory_of(common_directory);
        let doing = || format!("writing a note in {}", directory.display());
        let mut text = Vec::new();
        for intent in intents {
            text.extend_from_slice(&encode(intent));
        }
        loop {
            let name = unique_name();
            let draft = directory.join(format!("{name}.draft"));
            let open = || create_new(&draft);
            let file = with_directory(&draft, open).doing(doing)?;
            // The file is locked before it gets its name, so that no process finds it unlocked.
            file.lock().doing(doing)?;
            (&file).write_all(&text).doing(doing)?;
            let path = directory.join(format!("{name}.note"));
            match own_paths::rename(&draft, &path) {
                Ok(()) => return Ok(Self { path, file, held: 0 }),
                // Another process deleted it between its creation and its locking.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error).doing(doing),
            }
        }
    }

    /// Adds an intent.
    pub(crate) fn add(&self, intent: &Intent) -> Result<(), GitError> {
        // A single write, so that a killed process has written all of it or nothing.
        (&self.file).write_all(&encode(intent)).doing(|| format!("adding to {}", self.path.display()))
    }

    /// The number and the path of the note's next `held` file, to which a lock file is to be a hard link.
    pub(crate) fn next_held(&mut self) -> (usize, PathBuf) {
        let number = self.held;
        self.held += 1;
        (number, held(&self.path, number))
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = own_paths::remove_file(&self.path);
        tidy_if_free(common_directory_of(&self.path));
    }
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
/// directory shows that.
pub(crate) fn abandoned_notes(
    common_directory: &Path,
    wanted: impl Fn(&Intent) -> bool,
) -> Result<Vec<AbandonedNote>, GitError> {
    let directory = directory_of(common_directory);
    let doing = || format!("reading the notes in {}", directory.display());
    let entries = match own_paths::read_dir(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.doing(doing)?,
    };
    let mut left = Vec::new();
    for entry in entries {
        let path = entry.doing(doing)?.path();
        let is_note = path.extension().is_some_and(|extension| extension == "note");
        let is_draft = path.extension().is_some_and(|extension| extension == "draft");
        if !is_note && !is_draft {
            continue;
        }
        // None if the operation has ended in the meantime.
        let Some(file) = open_with(&path, Kind::Note, File::options().read(true).write(true))? else { continue };
        // Unlocked as soon as it is not needed here, so that a search for other intents can take it.
        let Ok(file) = LockedFile::take(file) else { continue };
        if !path.exists() {
            continue;
        }
        if is_draft {
            let _ = own_paths::remove_file(&path);
            continue;
        }
        let mut text = Vec::new();
        (&*file).read_to_end(&mut text).doing(doing)?;
        let intents = decode(&text);
        if intents.is_empty() || intents.iter().any(&wanted) {
            left.push(AbandonedNote { path, _file: file, intents });
        }
    }
    Ok(left)
}

/// The canonical path of the common directory, which stays valid when the worktree of `git` is removed.
pub(crate) fn canonical_common_directory(git: &gix::Repository) -> Result<PathBuf, GitError> {
    let common = git.common_dir();
    std::fs::canonicalize(common).doing(|| format!("resolving {}", common.display()))
}

fn directory_of(common_directory: &Path) -> PathBuf {
    private_directory(common_directory).join("notes")
}

/// The common directory that a note is in.
fn common_directory_of(note: &Path) -> &Path {
    note.ancestors().nth(3).unwrap_or(note)
}

fn held(note: &Path, number: usize) -> PathBuf {
    note.with_extension(format!("held{number}"))
}

/// A unique name, even after process ids have been reused.
pub(crate) fn unique_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{count}-{}", std::process::id(), now.as_nanos())
}

/// One line of text: the kind and the fields, separated by tabs.
fn encode(intent: &Intent) -> Vec<u8> {
    let text = |text: &str| BString::from(text);
    let path = |path: &Path| BString::from(path.as_os_str().as_encoded_bytes());
    let fields = match intent {
        Intent::Create { place, git_directory, branch, from } => vec![
            text("create"),
            path(place),
            path(git_directory),
            text(branch.as_deref().unwrap_or_default()),
            text(&from.to_string()),
        ],
        Intent::Remove { path: from, away, git_directory, unregistered } => {
            vec![text("remove"), path(from), path(away), path(git_directory), path(unregistered)]
        }
        Intent::Lock { lock, number } => vec![text("lock"), path(lock), text(&number.to_string())],
        Intent::Files { root, git_directory, tree } => {
            vec![text("files"), path(root), path(git_directory), text(&tree.to_string())]
        }
        Intent::Moving { git_directory, to } => vec![text("moving"), path(git_directory), text(&to.to_string())],
    };
    let mut line = BString::default();
    for (position, field) in fields.iter().enumerate() {
        if position > 0 {
            line.push_byte(b'\t');
        }
        for byte in field.iter().copied() {
            match byte {
                b'\\' => line.push_str(b"\\\\"),
                b'\t' => line.push_str(b"\\t"),
                b'\n' => line.push_str(b"\\n"),
                byte => line.push_byte(byte),
            }
        }
    }
    line.push_byte(b'\n');
    line.into()
}

/// The readable lines of a note. A line without its end was being written when the process was killed: what it
/// announces had not begun.
fn decode(text: &[u8]) -> Vec<Intent> {
    let lines = text.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    lines.filter_map(decode_line).collect()
}

fn decode_line(line: &[u8]) -> Option<Intent> {
    let fields: Vec<BString> = line.split(|byte| *byte == b'\t').map(unescape).collect();
    let path = |number: usize| {
        let path = gix::path::from_bstr(fields.get(number)?.as_bstr()).ok()?;
        Some(path.into_owned())
    };
    let text = |number: usize| fields.get(number).and_then(|field| field.to_str().ok());
    let id = |number: usize| ObjectId::from_hex(fields.get(number)?).ok();
    Some(match text(0)? {
        "create" => Intent::Create {
            place: path(1)?,
            git_directory: path(2)?,
            branch: Some(text(3)?).filter(|branch| !branch.is_empty()).map(ToOwned::to_owned),
            from: id(4)?,
        },
        "remove" => Intent::Remove { path: path(1)?, away: path(2)?, git_directory: path(3)?, unregistered: path(4)? },
        "lock" => Intent::Lock { lock: path(1)?, number: text(2)?.parse().ok()? },
        "files" => Intent::Files { root: path(1)?, git_directory: path(2)?, tree: id(3)? },
        "moving" => Intent::Moving { git_directory: path(1)?, to: id(2)? },
        _ => return None,
    })
}

fn unescape(field: &[u8]) -> BString {
    let mut plain = BString::default();
    let mut bytes = field.iter();
    while let Some(byte) = bytes.next() {
        plain.push_byte(match byte {
            b'\\' => match bytes.next() {
                Some(b't') => b'\t',
                Some(b'n') => b'\n',
                _ => b'\\',
            },
            byte => *byte,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intents() -> Vec<Intent> {
        let id = ObjectId::empty_tree(gix::hash::Kind::Sha1);
        let path = PathBuf::from("/a\tb\\n\nc");
        vec![
            Intent::Create {
                place: path.clone(),
                git_directory: "/g".into(),
                branch: Some("refs/heads/x".to_owned()),
                from: id,
            },
            Intent::Create { place: path.clone(), git_directory: "/g".into(), branch: None, from: id },
            Intent::Remove {
                path: path.clone(),
                away: "/b".into(),
                git_directory: "/c".into(),
                unregistered: "/d".into(),
            },
            Intent::Lock { lock: path.clone(), number: 3 },
            Intent::Files { root: path, git_directory: "/g".into(), tree: id },
            Intent::Moving { git_directory: "/g".into(), to: id },
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        let text: Vec<u8> = intents().iter().flat_map(encode).collect();
        assert_eq!(decode(&text), intents());
        // Killed while the last line was being written.
        let last = intents().len() - 1;
        assert_eq!(decode(&text[..text.len() - 1]), intents()[..last]);
    }

    #[test]
    fn only_a_dead_process_leaves_a_note_behind() {
        let directory = tempfile::tempdir().unwrap();
        let note = Note::write(directory.path(), &intents()[..1]).unwrap();
        note.add(&intents()[3]).unwrap();
        assert_eq!(abandoned_notes(directory.path(), |_| true).unwrap().len(), 0, "its writer lives");
        // Closing the file releases the lock, as the end of the process does.
        let path = note.path.clone();
        let text = std::fs::read(&path).unwrap();
        drop(note);
        assert!(!private_directory(directory.path()).exists());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        assert_eq!(
            abandoned_notes(directory.path(), |intent| matches!(intent, Intent::Moving { .. })).unwrap().len(),
            0
        );
        let mut left = abandoned_notes(directory.path(), |_| true).unwrap();
        assert_eq!(left.len(), 1);
        assert_eq!(abandoned_notes(directory.path(), |_| true).unwrap().len(), 0, "somebody recovers it already");
        let left = left.remove(0);
        assert_eq!(left.intents, [intents()[0].clone(), intents()[3].clone()]);
        left.recovered();
        assert!(!private_directory(directory.path()).exists());
    }
}
