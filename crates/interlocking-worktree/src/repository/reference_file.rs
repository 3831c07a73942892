//! References, changed as files: one lock, one line of the reflog, one rename.
//!
//! gix can move references too, but after a crash its lock files do not tell whether the process that made them is
//! dead. [This crate's do](crate::recovery::lock_file). Reading, packed references included, is left to gix.

use std::{
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use gix::{
    ObjectId,
    bstr::ByteSlice as _,
    refs::{Target, store::WriteReflog},
};

use crate::{
    filesystem::{own_paths, with_directory::with_directory},
    recovery::{
        intent_log::{Note, canonical_common_directory},
        lock_file::{LockError, LockFile},
        recover_locks::recover_locks,
        step,
    },
    repository::references::find,
    untrusted::{
        Limits,
        file::{self, Kind},
    },
    values::git_error::{Doing as _, GitError},
};

/// Long enough to wait out a burst of commits by other threads.
const PATIENCE: Duration = Duration::from_secs(10);

/// A locked reference, with the value it had when it was locked.
pub(crate) struct ReferenceFile<'git> {
    git: &'git gix::Repository,
    common_directory: PathBuf,
    /// The full name; for a HEAD that is on a branch, the branch's.
    pub(crate) name: String,
    /// Whether it points to another reference.
    pub(crate) is_symbolic: bool,
    lock: LockFile,
    /// The lock of HEAD, if HEAD was the name given and points to a branch: its log is written too.
    head: Option<LockFile>,
    pub(crate) value: Option<ObjectId>,
    // Dropped after the locks.
    note: Note,
}

impl<'git> ReferenceFile<'git> {
    /// Locks the reference and reads it. `name` is a full name, or `HEAD`.
    pub(crate) fn lock(git: &'git gix::Repository, name: &str) -> Result<Self, GitError> {
        let common_directory = canonical_common_directory(git)?;
        let mut note = Note::write(&common_directory, &[])?;
        let (leaf, _) = referent_of(git, name)?;
        let git_directory = if git.git_dir() == git.common_dir() {
            common_directory.clone()
        } else {
            std::fs::canonicalize(git.git_dir()).doing(|| format!("locking {name}"))?
        };
        let base = if leaf == "HEAD" { &git_directory } else { &common_directory };
        let lock = take(git, &mut note, &base.join(&leaf))?;
        let head = match name == "HEAD" && leaf != "HEAD" {
            true => Some(take(git, &mut note, &git_directory.join("HEAD"))?),
            false => None,
        };
        // Under the lock of HEAD, no other process can make it point elsewhere.
        let (now, held) = referent_of(git, name)?;
        if now != leaf {
            return Err(GitError::new(format!("locking {name}"), format!("it led to {leaf} and leads to {now} now")));
        }
        let is_symbolic = matches!(held, Some(Target::Symbolic(_)));
        let (_, value) = follow(git, &leaf)?;
        Ok(Self { git, common_directory, name: leaf, is_symbolic, lock, head, value, note })
    }

    /// Gives the reference a new value.
    pub(crate) fn set(mut self, to: ObjectId, by: &gix::actor::Signature, reason: &str) -> Result<(), GitError> {
        let doing = || format!("moving {}", self.name);
        self.lock.write_all(format!("{to}\n").as_bytes()).doing(doing)?;
        step::reached("a reference is staged");
        if self.value != Some(to) {
            let log = Log { git: self.git, value: self.value, to, by, reason };
            let base = self.base();
            log.append(&base, &self.name).doing(doing)?;
            if self.head.is_some() {
                log.append(self.git.git_dir(), "HEAD").doing(doing)?;
            }
        }
        step::reached("a reference is logged");
        let file = self.lock.resource().to_owned();
        if file.is_dir() {
            // Empty directories that deleted branches have left.
            let _ = gix::tempfile::remove_dir::empty_depth_first(file);
        }
        self.lock.commit().doing(|| format!("moving {}", self.name))?;
        step::reached("a reference is moved");
        Ok(())
    }

    /// Deletes the reference and its log. The target of a symbolic reference is untouched.
    pub(crate) fn delete(mut self) -> Result<(), GitError> {
        let doing = || format!("deleting {}", self.name);
        // The packed value first: it would reappear once the loose file is deleted.
        let packed = self.common_directory.join("packed-refs");
        let is_packed = |text: &[u8]| text.lines().any(|line| is_of(line, &self.name));
        let kind = Kind::PackedReferences(Limits::of(self.git));
        match file::read(&packed, kind)? {
            None => {}
            Some(text) if !is_packed(&text.bytes) => {}
            Some(_) => {
                let mut lock = take(self.git, &mut self.note, &packed)?;
                let text = file::read(&packed, kind)?.map(|text| text.bytes).unwrap_or_default();
                lock.write_all(&without(&text, &self.name)).doing(doing)?;
                step::reached("packed references are staged");
                lock.commit().doing(doing)?;
            }
        }
        let base = self.base();
        for file in [base.join("logs").join(&self.name), base.join(&self.name)] {
            match own_paths::remove_file(&file) {
                Err(error) if !own_paths::is_absent(&error) => return Err(error).doing(doing),
                _ => step::reached("a part of a reference is deleted"),
            }
        }
        let Self { lock, head, note, common_directory, name, .. } = self;
        drop((lock, head));
        drop(note);
        for root in [common_directory.join("logs"), common_directory] {
            remove_empty_parents(&root, &name);
        }
        Ok(())
    }

    fn base(&self) -> PathBuf {
        if self.name == "HEAD" { self.git.git_dir().to_owned() } else { self.common_directory.clone() }
    }
}

/// The reference that a name means, and its value: for HEAD, the branch that it points to.
fn referent_of(git: &gix::Repository, name: &str) -> Result<(String, Option<Target>), GitError> {
    match find(git, name)? {
        Some(Target::Symbolic(branch)) if name == "HEAD" => {
            let branch = branch.as_bstr().to_string();
            let held = find(git, &branch)?;
            Ok((branch, held))
        }
        held => Ok((name.to_owned(), held)),
    }
}

/// Follows symbolic references: the final name, and its value.
pub(crate) fn follow(git: &gix::Repository, name: &str) -> Result<(String, Option<ObjectId>), GitError> {
    let doing = || format!("reading {name}");
    let mut leaf = name.to_owned();
    for _ in 0..5 {
        match find(git, &leaf)? {
            Some(Target::Symbolic(next)) => leaf = next.as_bstr().to_string(),
            Some(Target::Object(value)) => return Ok((leaf, Some(value))),
            None => return Ok((leaf, None)),
        }
    }
    Err(GitError::new(doing(), "it leads from one to the next without end"))
}

fn take(git: &gix::Repository, note: &mut Note, file: &Path) -> Result<LockFile, GitError> {
    const ATTEMPTS: u32 = 5;
    let doing = || format!("locking {}", file.display());
    let mut attempt = 1;
    loop {
        match LockFile::acquire(note, file, PATIENCE, || drop(recover_locks(git))) {
            Ok(lock) => return Ok(lock),
            // A process that deletes a reference also deletes the directories that this leaves empty.
            Err(LockError::Failed(error)) if error.kind() == ErrorKind::NotFound && attempt < ATTEMPTS => {
                attempt += 1;
                if let Some(parent) = file.parent() {
                    own_paths::create_dir_all(parent).doing(doing)?;
                }
            }
            Err(LockError::Failed(error)) => return Err(error).doing(doing),
            Err(LockError::Busy) => {
                let cause = format!(
                    "it has been locked for {} s: delete {}.lock if no git program runs",
                    PATIENCE.as_secs(),
                    file.display()
                );
                return Err(GitError::new(doing(), cause));
            }
        }
    }
}

/// A line of the reflog.
struct Log<'a> {
    git: &'a gix::Repository,
    value: Option<ObjectId>,
    to: ObjectId,
    by: &'a gix::actor::Signature,
    reason: &'a str,
}

impl Log<'_> {
    fn append(&self, base: &Path, name: &str) -> std::io::Result<()> {
        let is_kept = ["refs/heads/", "refs/remotes/", "refs/notes/"].iter().any(|prefix| name.starts_with(prefix));
        let is_begun = match self.git.refs.write_reflog {
            WriteReflog::Disable => return Ok(()),
            WriteReflog::Normal => is_kept || name == "HEAD",
            WriteReflog::Always => true,
        };
        let file = base.join("logs").join(name);
        let open = || file::open_to_append(&file, is_begun);
        let opened = match if is_begun { with_directory(&file, open) } else { open() } {
            Err(error) if error.kind() == ErrorKind::IsADirectory => {
                let _ = gix::tempfile::remove_dir::empty_depth_first(file.clone());
                open()
            }
            opened => opened,
        };
        let mut opened = match opened {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        let before = self.value.unwrap_or_else(|| self.to.kind().null());
        let mut line = format!("{before} {} ", self.to).into_bytes();
        self.by.write_to(&mut line)?;
        let reason = self.reason.lines().next().unwrap_or_default();
        if !reason.is_empty() {
            line.push(b'\t');
            line.extend_from_slice(reason.as_bytes());
        }
        line.push(b'\n');
        // In one write, so that no line is half written.
        opened.write_all(&line)
    }
}

fn is_of(line: &[u8], name: &str) -> bool {
    line.split_once_str(" ").is_some_and(|(_, found)| found == name.as_bytes())
}

/// The text of `packed-refs` without one reference and without the line of its peeled target.
fn without(text: &[u8], name: &str) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    let mut is_left_out = false;
    for line in text.lines_with_terminator() {
        is_left_out = is_of(line.trim_end(), name) || is_left_out && line.starts_with(b"^");
        if !is_left_out {
            kept.extend_from_slice(line);
        }
    }
    kept
}

/// Removes the empty directories between `root/refs/heads` and the reference. Other references may be in them.
fn remove_empty_parents(root: &Path, name: &str) {
    let keep = name.split('/').take(2).collect::<PathBuf>();
    let file = Path::new(name);
    for parent in file.ancestors().skip(1).take_while(|parent| *parent != keep && !parent.as_os_str().is_empty()) {
        if own_paths::remove_dir(root.join(parent)).is_err() {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packed_reference_is_left_out_with_its_target() {
        let text =
            b"# pack-refs with: peeled fully-peeled sorted \naa refs/heads/x\nbb refs/tags/v1\n^cc\ndd refs/tags/v10\n";
        assert_eq!(
            without(text, "refs/tags/v1").to_str_lossy(),
            "# pack-refs with: peeled fully-peeled sorted \naa refs/heads/x\ndd refs/tags/v10\n"
        );
        assert_eq!(without(text, "refs/tags/none"), text);
    }
}
