//! The intent log: notes of the operations under way, for recovery after a crash.
//!
//! Before an operation changes anything, it writes to `.git/interlocking/notes` what it is about to do. The note's file
//! is locked as long as its process lives: the operating system releases the lock when the process ends, however it
//! ends. So a note that can be locked belongs to a dead process. Process ids, which are reused and mean nothing in
//! another container, need not be checked.

use std::{
    fs::File,
    io::Write as _,
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
    repository::registration_lock::{private_directory, tidy_if_free},
    untrusted::file::create_new,
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
    is_left: bool,
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
                Ok(()) => return Ok(Self { path, file, held: 0, is_left: false }),
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

    /// Leaves the note to the next operation, as if this process were dead: what it announced could not be undone.
    pub(crate) fn leave(mut self) {
        self.is_left = true;
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
        if self.is_left {
            // If this fails, closing the file unlocks it.
            let _ = self.file.unlock();
            return;
        }
        let _ = own_paths::remove_file(&self.path);
        tidy_if_free(common_directory_of(&self.path));
    }
}

/// The canonical path of the common directory, which stays valid when the worktree of `git` is removed.
pub(crate) fn canonical_common_directory(git: &gix::Repository) -> Result<PathBuf, GitError> {
    let common = git.common_dir();
    std::fs::canonicalize(common).doing(|| format!("resolving {}", common.display()))
}

pub(super) fn directory_of(common_directory: &Path) -> PathBuf {
    private_directory(common_directory).join("notes")
}

/// The common directory that a note is in.
pub(super) fn common_directory_of(note: &Path) -> &Path {
    note.ancestors().nth(3).unwrap_or(note)
}

pub(super) fn held(note: &Path, number: usize) -> PathBuf {
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
pub(super) fn encode(intent: &Intent) -> Vec<u8> {
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
pub(super) fn decode(text: &[u8]) -> Vec<Intent> {
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
pub(super) mod tests {
    use super::*;

    pub(crate) fn intents() -> Vec<Intent> {
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
}
