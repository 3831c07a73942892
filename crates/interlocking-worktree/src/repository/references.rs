//! Moving references, always compared with an expected old value.

use std::time::{Duration, Instant};

use gix::{
    ObjectId,
    refs::{FullName, Target},
};

use crate::{
    repository::reference_file::ReferenceFile,
    untrusted::{
        Limits,
        file::{self, Kind},
    },
    values::{
        git_error::{Doing as _, GitError},
        name::BranchName,
    },
};

/// An attempt that took longer than this was waiting for a lock, and is not repeated.
const PATIENCE: Duration = Duration::from_secs(1);

/// Which reference is meant.
#[derive(Clone, Copy)]
pub(crate) enum Named<'a> {
    /// A reference that is not symbolic, by its full name.
    Reference(&'a str),
    /// HEAD, and the branch that it must be on; none if it must be detached.
    Head(Option<&'a BranchName>),
}

/// A move of one reference.
pub(crate) struct Move<'a> {
    pub(crate) name: Named<'a>,
    /// None if the reference must not exist.
    pub(crate) expected: Option<ObjectId>,
    pub(crate) to: ObjectId,
    /// For the reflog.
    pub(crate) reason: String,
}

pub(crate) enum MoveError {
    /// It does not have the expected value.
    Moved {
        found: Option<ObjectId>,
    },
    Git(GitError),
}

impl Move<'_> {
    /// Locks the reference and compares its value. No other process can move it until the result is committed or
    /// dropped.
    pub(crate) fn prepare<'git>(&self, git: &'git gix::Repository) -> Result<PreparedMove<'git>, MoveError> {
        let name = match self.name {
            Named::Reference(name) => name,
            Named::Head(_) => "HEAD",
        };
        let file = with_retries(|| {
            let file = ReferenceFile::lock(git, name)?;
            if file.value == self.expected { Ok(file) } else { Err(MoveError::Moved { found: file.value }) }
        })?;
        let doing = || format!("moving {name}");
        if let Named::Head(branch) = self.name {
            let expected = branch.map_or("HEAD".to_owned(), BranchName::full_name);
            if file.name != expected {
                let at = |name: &str| if name == "HEAD" { "detached".to_owned() } else { format!("on {name}") };
                let cause = format!("it was {} and is {} now", at(&expected), at(&file.name));
                return Err(GitError::new(doing(), cause).into());
            }
        }
        if file.is_symbolic {
            let cause = format!("{} is a symbolic reference: name the one that it leads to", file.name);
            return Err(GitError::new(doing(), cause).into());
        }
        Ok(PreparedMove { file, to: self.to, reason: self.reason.clone() })
    }

    /// Creates the reference. It must not exist, not even with the same value: a caller that took an existing branch
    /// for its own creation would delete another's branch when it cleans up.
    pub(crate) fn create(&self, git: &gix::Repository, by: &gix::actor::Signature) -> Result<(), MoveError> {
        debug_assert!(self.expected.is_none(), "a reference to be created has no old value");
        Ok(self.prepare(git)?.commit(by)?)
    }
}

/// A locked reference with the expected old value.
pub(crate) struct PreparedMove<'git> {
    file: ReferenceFile<'git>,
    to: ObjectId,
    reason: String,
}

impl PreparedMove<'_> {
    pub(crate) fn commit(self, by: &gix::actor::Signature) -> Result<(), GitError> {
        self.file.set(self.to, by, &self.reason)
    }
}

impl From<GitError> for MoveError {
    fn from(error: GitError) -> Self {
        Self::Git(error)
    }
}

/// Deletes a reference that has the expected value. The target of a symbolic reference is untouched.
pub(crate) fn delete(git: &gix::Repository, name: &str, expected: ObjectId) -> Result<(), MoveError> {
    let file = with_retries(|| Ok(ReferenceFile::lock(git, name)?))?;
    if file.value != Some(expected) {
        return Err(MoveError::Moved { found: file.value });
    }
    Ok(file.delete()?)
}

/// Retries after a failure that is not about the reference's value. The git program rewrites and removes `packed-refs`
/// at any time, and reading or rewriting the file at that moment fails although nothing is wrong.
fn with_retries<T>(mut attempt: impl FnMut() -> Result<T, MoveError>) -> Result<T, MoveError> {
    const ATTEMPTS: u32 = 5;
    let begin = Instant::now();
    let mut count = 1;
    loop {
        match attempt() {
            Err(MoveError::Git(_)) if count < ATTEMPTS && begin.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(20) * count);
                count += 1;
            }
            result => return result,
        }
    }
}

/// The value of a reference, if it exists. `name` is a full name.
///
/// If there is no such reference, gix would look in four more directories, as it does for short names. Plainly readable
/// branches are therefore read here; everything else is left to gix.
pub(crate) fn find(git: &gix::Repository, name: &str) -> Result<Option<Target>, GitError> {
    let doing = || format!("reading {name}");
    let full = full_name(name)?;
    file::check(&git.common_dir().join("packed-refs"), Kind::PackedReferences(Limits::of(git)))?;
    let is_plain = git.refs.namespace.is_none() && !git.refs.precompose_unicode;
    if is_plain && name.starts_with("refs/heads/") {
        let loose = git.common_dir().join(name);
        match file::read(&loose, Kind::Reference) {
            // The packed reference is read after the loose one: git deletes the loose file once the reference is
            // packed.
            Ok(None) if !loose.is_dir() => {
                let packed = git.refs.cached_packed_buffer().doing(doing)?;
                let found = packed.as_ref().map(|packed| packed.try_find(full.as_ref())).transpose().doing(doing)?;
                return Ok(found.flatten().map(|found| Target::Object(found.target())));
            }
            Ok(Some(text)) => {
                let id = text.bytes.strip_suffix(b"\n").and_then(|id| ObjectId::from_hex(id).ok());
                if let Some(id) = id {
                    return Ok(Some(Target::Object(id)));
                }
            }
            _ => {}
        }
    }
    // A symbolic link is followed: users make a reference a link on purpose. What is not a regular file at its end is
    // refused.
    let loose = if name == "HEAD" { git.git_dir() } else { git.common_dir() }.join(name);
    if let Some(found) = std::fs::metadata(&loose).ok().filter(|found| !found.is_dir()) {
        if !found.is_file() {
            file::read(&loose, Kind::Reference)?;
        }
        // gix reads the whole file, so its length is checked first.
        file::check_size(&loose, Kind::Reference, found.len())
            .map_err(|refused| GitError::refused(doing(), refused))?;
    }
    Ok(git.refs.try_find(full.as_ref()).doing(doing)?.map(|found| found.target))
}

/// The commit that a reference points to, if it exists.
pub(crate) fn read(git: &gix::Repository, name: &str) -> Result<Option<ObjectId>, GitError> {
    let doing = || format!("reading {name}");
    if find(git, name)?.is_none() {
        return Ok(None);
    }
    match git.try_find_reference(name).doing(doing)? {
        None => Ok(None),
        Some(mut reference) => Ok(Some(reference.peel_to_id().doing(doing)?.detach())),
    }
}

pub(crate) fn full_name(name: &str) -> Result<FullName, GitError> {
    FullName::try_from(name).map_err(|error| GitError::new(format!("naming {name}"), error.to_string()))
}
