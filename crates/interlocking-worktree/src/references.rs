//! Moving references, always against an expected old value.

use std::time::{Duration, Instant};

use gix::{
    ObjectId,
    refs::{
        FullName, Target,
        file::{Transaction, transaction::prepare},
        transaction::{LogChange, PreviousValue, RefEdit},
    },
};

use crate::{
    git_error::{Doing as _, GitError},
    signature::with_ref,
};

/// Long enough for a burst of commits by other threads.
const PATIENCE: Duration = Duration::from_secs(10);

/// One reference to be moved.
pub(crate) struct Move<'a> {
    /// In full, or `HEAD`, which moves the branch it is on.
    pub(crate) name: &'a str,
    /// None: it must not exist.
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
    /// Locks the reference and compares its value. Nobody can move it until the result is committed or dropped.
    pub(crate) fn prepare<'git>(&self, git: &'git gix::Repository) -> Result<PreparedMove<'git>, MoveError> {
        let doing = || format!("moving {} in {}", self.name, git.git_dir().display());
        let expected = match self.expected {
            Some(id) => PreviousValue::MustExistAndMatch(Target::Object(id)),
            None => PreviousValue::MustNotExist,
        };
        let log = LogChange { message: self.reason.lines().next().unwrap_or_default().into(), ..LogChange::default() };
        let edit = RefEdit::update_with_log(full_name(self.name)?, self.to, expected, log).with_deref(true);
        let patience = gix::lock::acquire::Fail::AfterDurationWithBackoff(PATIENCE);
        patiently(|| match git.refs.transaction().prepare([edit.clone()], patience, patience) {
            Ok(transaction) => Ok(PreparedMove { transaction, name: self.name.to_owned() }),
            Err(error) => Err(failed(git, self.name, self.expected, error, doing)),
        })
    }

    /// Creates the reference, which must not exist.
    ///
    /// gix takes a reference that has the new value already for success; whoever takes that for its own creation
    /// deletes somebody else's branch when it cleans up. So the old value is looked at.
    pub(crate) fn create(&self, git: &gix::Repository, by: &gix::actor::Signature) -> Result<(), MoveError> {
        debug_assert!(self.expected.is_none(), "a reference to be created has no old value");
        let edits = self.prepare(git)?.commit(by)?;
        match edits.iter().find_map(|edit| edit.change.previous_value()) {
            None => Ok(()),
            Some(previous) => Err(MoveError::Moved { found: previous.try_id().map(ToOwned::to_owned) }),
        }
    }
}

/// A locked reference with the expected old value.
pub(crate) struct PreparedMove<'git> {
    transaction: Transaction<'git, 'git>,
    name: String,
}

impl PreparedMove<'_> {
    pub(crate) fn commit(self, by: &gix::actor::Signature) -> Result<Vec<RefEdit>, GitError> {
        with_ref(by, |by| self.transaction.commit(by)).doing(|| format!("moving {}", self.name))
    }
}

impl From<GitError> for MoveError {
    fn from(error: GitError) -> Self {
        Self::Git(error)
    }
}

/// Deletes a reference that has the expected value.
pub(crate) fn delete(
    git: &gix::Repository,
    name: &str,
    expected: ObjectId,
    by: &gix::actor::Signature,
) -> Result<(), MoveError> {
    let edit = RefEdit::delete(full_name(name)?, PreviousValue::MustExistAndMatch(Target::Object(expected)));
    let mut is_again = false;
    patiently(|| match with_ref(by, |by| git.edit_references_as([edit.clone()], Some(by))) {
        Ok(_) => Ok(()),
        Err(error) => match failed(git, name, Some(expected), error, || format!("deleting {name}")) {
            // It had the expected value a moment ago, so what failed then was what comes after deleting it.
            MoveError::Moved { found: None } if is_again => Ok(()),
            error => {
                is_again = true;
                Err(error)
            }
        },
    })
}

/// Tries again after a failure that is not about the reference's value. The git program rewrites and removes
/// `packed-refs` at any time, and whoever reads or rewrites that file then fails although nothing is wrong.
fn patiently<T>(mut attempt: impl FnMut() -> Result<T, MoveError>) -> Result<T, MoveError> {
    const ATTEMPTS: u32 = 5;
    let begin = Instant::now();
    let mut count = 1;
    loop {
        match attempt() {
            // What took long was waiting for a lock, and has been waited for long enough.
            Err(MoveError::Git(_)) if count < ATTEMPTS && begin.elapsed() < PATIENCE / 10 => {
                std::thread::sleep(Duration::from_millis(20) * count);
                count += 1;
            }
            result => return result,
        }
    }
}

/// Tells a reference with another value from every other failure.
///
/// That something was not found does not mean the reference: it may be a directory or a log that another process
/// removed. So it is read again.
fn failed(
    git: &gix::Repository,
    name: &str,
    expected: Option<ObjectId>,
    error: gix::Error,
    doing: impl Fn() -> String,
) -> MoveError {
    if let Some(found) = found_instead(&error) {
        return MoveError::Moved { found };
    }
    if expected.is_some() && error.is_not_found() && matches!(read(git, name), Ok(None)) {
        return MoveError::Moved { found: None };
    }
    MoveError::Git(Err::<(), _>(error).doing(doing).expect_err("it is an error"))
}

/// The commit a reference is at, if it exists.
pub(crate) fn read(git: &gix::Repository, name: &str) -> Result<Option<ObjectId>, GitError> {
    let doing = || format!("reading {name}");
    match git.try_find_reference(name).doing(doing)? {
        None => Ok(None),
        Some(mut reference) => Ok(Some(reference.peel_to_id().doing(doing)?.detach())),
    }
}

pub(crate) fn full_name(name: &str) -> Result<FullName, GitError> {
    FullName::try_from(name).map_err(|error| GitError::new(format!("naming {name}"), error.to_string()))
}

/// The value that was there instead of the expected one, if that was the failure.
fn found_instead(error: &gix::Error) -> Option<Option<ObjectId>> {
    let target = error
        .downcast_any_ref::<prepare::ReferenceOutOfDate>()
        .map(|error| &error.actual)
        .or_else(|| error.downcast_any_ref::<prepare::MustNotExist>().map(|error| &error.actual))?;
    Some(target.try_id().map(ToOwned::to_owned))
}
