//! Reusing files: changing the files that were written for one tree into those of another.

use std::{
    collections::HashSet,
    path::Path,
    time::{Duration, SystemTime},
};

use gix::{
    bstr::BString,
    index::entry::{Mode, Stat, stat::Time},
};

use crate::{
    checkout::files::{InTheWay, write_files},
    filesystem::{clean_up::keep_untouched, directory::Directory},
    pool::written_files::{self, Pristine},
    recovery::{
        recover_locks::{Forms, Found},
        step,
    },
    values::git_error::{Doing as _, GitError},
};

/// The coarsest resolution of a file system's timestamps.
const TIMESTAMP_GRANULARITY: Duration = Duration::from_millis(20);

/// Changes the files from `noted` to `index`, whose entries get the new stat data: a two-tree switch. Everything else
/// in `place` is deleted, except `.git` in the root. `model` is a new directory. `noted_at` is the time of the note,
/// unless [`recheck_racy`] has been called since.
pub(crate) fn rewrite_files(
    git: &gix::Repository,
    place: &Path,
    noted: &Pristine,
    model: &Path,
    form: Option<&BString>,
    index: &mut gix::index::File,
    noted_at: Option<SystemTime>,
) -> Result<(), GitError> {
    let doing = || format!("using files again in {}", place.display());
    let is_same_form =
        form == Some(&noted.form) && written_files::attributes(&noted.index) == written_files::attributes(index);
    let noted = &noted.index;
    let mut keep = vec![false; noted.entries().len()];
    let mut pairs = Vec::with_capacity(noted.entries().len());
    let mut next = 0;
    for (position, entry) in index.entries().iter().enumerate() {
        let path = entry.path(index);
        while noted.entries().get(next).is_some_and(|other| other.path(noted) < path) {
            next += 1;
        }
        let before = noted.entries().get(next).filter(|other| other.path(noted) == path);
        let same = before.is_some_and(|other| {
            let is_version = other.id == entry.id && other.mode == entry.mode && entry.mode != Mode::COMMIT;
            is_version && other.stat != Stat::default()
        });
        let number = (same && is_same_form).then_some(next);
        if let Some(number) = number {
            keep[number] = true;
        }
        pairs.push((position, number));
    }
    let mut kept = keep_untouched(place, noted, &keep, model, true).doing(doing)?;
    // If anything is kept, the attributes are the same.
    if let Some(noted_at) = noted_at.filter(|_| kept.contains(&true)) {
        recheck_racy(git, place, noted, &mut kept, noted_at)?;
    }
    step::reached("files that are to go are gone");
    let mut write = HashSet::new();
    for (position, number) in pairs {
        match number.filter(|number| kept[*number]) {
            Some(number) => index.entries_mut()[position].stat = noted.entry(number).stat,
            None => drop(write.insert(index.entry(position).path(index).to_owned())),
        }
    }
    write_files(git, place, index, &write, InTheWay::File)
}

/// A file that was written at about the time of the note may have been changed after it without a visible change of its
/// times (git's "racy" files). Such a file is kept only if its contents are right.
pub(crate) fn recheck_racy(
    git: &gix::Repository,
    files: &Path,
    noted: &gix::index::State,
    kept: &mut [bool],
    noted_at: SystemTime,
) -> Result<(), GitError> {
    let doing = || format!("looking at the files in {}", files.display());
    let since = noted_at.checked_sub(TIMESTAMP_GRANULARITY).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut forms = Forms::of_tree(git, noted)?;
    let opened = Directory::open(files).doing(doing)?;
    for (number, is_kept) in kept.iter_mut().enumerate().filter(|(_, is_kept)| **is_kept) {
        let entry = noted.entry(number);
        if seconds(&entry.stat.ctime) >= since {
            let path = entry.path(noted);
            let form = forms.of(path, (entry.id, entry.mode))?;
            *is_kept = Found::at(&opened, path, form.len()).doing(doing)? == form;
        }
    }
    Ok(())
}

fn seconds(time: &Time) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::new(u64::from(time.secs), time.nsecs)
}
