//! Deleting and writing the files of a working tree in which other programs may be at work.
//!
//! Each file is reached through [open directories](crate::filesystem::directory), deleted by its name there, and
//! created anew: nothing is written to what was there before, which may be a pipe, a link, or a hard link to a file
//! elsewhere.

use std::{
    collections::HashSet,
    io::{ErrorKind, Write as _},
    path::Path,
    sync::atomic::AtomicBool,
};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice as _},
    filter::plumbing::{driver::apply::MaybeDelayed, pipeline::convert::ToWorktreeOutcome},
    index::entry::{Mode, Stage, Stat},
    worktree::stack::state::attributes::Source,
};

use crate::{
    filesystem::{
        deletion::delete_named,
        directory::{Directory, Kind, split},
    },
    recovery::step,
    status::{
        attributes::{Filters, Prefer},
        index::has_attributes,
    },
    values::git_error::{Doing as _, GitError},
};

/// Up to this many files are written by one thread. Git starts more threads at the same number.
const FEW_FILES_TO_WRITE: usize = 100;

/// What may be in the way of a file that is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum InTheWay {
    /// Another file or an empty directory, which is replaced. A directory that is not empty is an error.
    File,
    /// Anything, which is deleted.
    Anything,
}

/// Deletes files, then writes files from `index`, whose written entries get the new stat data.
pub(crate) fn change_files(
    git: &gix::Repository,
    root: &Path,
    index: &mut gix::index::File,
    write: &HashSet<BString>,
    delete: &[BString],
) -> Result<(), GitError> {
    let opened = Directory::open(root).doing(|| format!("opening {}", root.display()))?;
    for path in delete {
        delete_file(&opened, path.as_bstr()).doing(|| format!("deleting {path} in {}", root.display()))?;
        step::reached("a file is deleted");
    }
    if write.is_empty() {
        return Ok(());
    }
    write_files(git, root, index, write, InTheWay::File)?;
    step::reached("files are written");
    Ok(())
}

/// Deletes one file and the directories that this leaves empty. The target of a symbolic link is never touched.
fn delete_file(root: &Directory, path: &BStr) -> std::io::Result<()> {
    let Some((directory, name)) = root.parent_of(path)? else { return Ok(()) };
    match directory.metadata(name)? {
        // A directory has taken the file's place (its files are handled one by one), or it is a submodule.
        Some(found) if found.kind == Kind::Directory => drop(directory.remove_directory(name)),
        Some(_) => directory.remove_file(name)?,
        None => {}
    }
    delete_empty_above(root, path)
}

/// Deletes the directories above a path, as long as they are empty.
pub(crate) fn delete_empty_above(root: &Directory, path: &BStr) -> std::io::Result<()> {
    let mut directory = split(path).0;
    while !directory.is_empty() {
        let is_gone = match root.parent_of(directory)? {
            Some((above, name)) => above.remove_directory(name).is_ok(),
            None => true,
        };
        if !is_gone {
            break;
        }
        directory = split(directory).0;
    }
    Ok(())
}

/// Writes all files of `index` into a new directory, which no other program knows yet.
pub(crate) fn write_all_files(
    git: &gix::Repository,
    place: &Path,
    index: &mut gix::index::File,
) -> Result<(), GitError> {
    let doing = || format!("writing files in {}", place.display());
    let is_executable = |entry: &gix::index::Entry| entry.mode == Mode::FILE_EXECUTABLE;
    let has_more = index.entries().iter().any(|entry| is_executable(entry) && has_attributes(entry.path(index)));
    if has_more {
        // gix does not read `.gitattributes` files that are executable.
        let all = index.entries().iter().map(|entry| entry.path(index).to_owned()).collect();
        return write_files(git, place, index, &all, InTheWay::File);
    }
    let mut options = git.checkout_options(Source::IdMapping).doing(doing)?;
    options.destination_is_initially_empty = true;
    if index.entries().len() <= FEW_FILES_TO_WRITE {
        options.thread_limit = Some(1);
    }
    let (files, bytes, never) = (gix::progress::Discard, gix::progress::Discard, AtomicBool::new(false));
    let objects = git.objects.clone().into_arc().doing(doing)?;
    let outcome =
        gix::worktree::state::checkout(index, place, objects, &files, &bytes, &never, options).doing(doing)?;
    problem_in(&outcome).map_or(Ok(()), |problem| Err(GitError::new(doing(), problem)))
}

/// Writes the files of `write` from `index`, whose entries get the new stat data.
pub(crate) fn write_files(
    git: &gix::Repository,
    root: &Path,
    index: &mut gix::index::File,
    write: &HashSet<BString>,
    in_the_way: InTheWay,
) -> Result<(), GitError> {
    if write.is_empty() {
        return Ok(());
    }
    let doing = || format!("writing files in {}", root.display());
    // In the index's order, so that each directory is opened once.
    let mut numbers = Vec::with_capacity(write.len());
    for (number, entry) in index.entries().iter().enumerate() {
        if entry.stage() == Stage::Unconflicted && write.contains(entry.path(index)) {
            numbers.push(number);
        }
    }
    let root = Directory::open(root).doing(doing)?;
    let paths = numbers.iter().map(|number| index.entry(*number).path(index));
    let filters = Filters::of_both(git, index, &root, paths, Prefer::Index)?;
    let mut writer = Writer::of(git, root, filters, in_the_way)?;
    for number in numbers {
        let entry = index.entry(number);
        let path = entry.path(index);
        let stat = writer.write(path, (entry.id, entry.mode)).map_err(|error| {
            let what = format!("{}: {}", doing(), error.doing());
            GitError::new(what, error.cause())
        })?;
        index.entries_mut()[number].stat = stat;
    }
    Ok(())
}

/// Writes files.
struct Writer<'git> {
    git: &'git gix::Repository,
    root: Directory,
    filters: Filters<'git>,
    in_the_way: InTheWay,
    has_links: bool,
    has_modes: bool,
    /// The directory of the file that was written last.
    opened: Option<(BString, Directory)>,
}

impl<'git> Writer<'git> {
    fn of(
        git: &'git gix::Repository,
        root: Directory,
        filters: Filters<'git>,
        in_the_way: InTheWay,
    ) -> Result<Self, GitError> {
        let system = git.filesystem_options().doing(|| "reading the configuration".to_owned())?;
        let (has_links, has_modes) = (system.symlink, system.executable_bit);
        Ok(Self { git, root, filters, in_the_way, has_links, has_modes, opened: None })
    }

    fn write(&mut self, path: &BStr, (id, mode): (ObjectId, Mode)) -> Result<Stat, GitError> {
        let doing = || path.to_string();
        let (above, name) = split(path);
        if self.opened.as_ref().is_none_or(|(path, _)| *path != above) {
            let directory = self.make_directories(above).doing(doing)?;
            self.opened = Some((above.to_owned(), directory));
        }
        let Some((_, directory)) = &self.opened else { return Err(GitError::new(doing(), "it is in no directory")) };
        if mode == Mode::COMMIT {
            // A submodule's files are not written; only its directory is made.
            make_directory(directory, name, self.in_the_way).doing(doing)?;
            return Ok(Stat::default());
        }
        make_room(directory, name, self.in_the_way).doing(doing)?;
        let version = self.git.find_blob(id).doing(doing)?;
        if mode == Mode::SYMLINK && self.has_links {
            directory.create_link(&version.data, name).doing(doing)?;
            let found = directory.metadata(name).doing(doing)?;
            return found.map(|found| found.stat).ok_or_else(|| GitError::new(doing(), "it is gone again"));
        }
        let is_executable = mode == Mode::FILE_EXECUTABLE && self.has_modes;
        let create = || directory.create_file(name, is_executable).doing(doing);
        let file = if mode == Mode::SYMLINK {
            let mut file = create()?;
            file.write_all(&version.data).doing(doing)?;
            file
        } else {
            // A filter that fails leaves no file.
            match self.filters.smudge(&version.data, path).doing(doing)? {
                ToWorktreeOutcome::Unchanged(contents) | ToWorktreeOutcome::Buffer(contents) => {
                    let mut file = create()?;
                    file.write_all(contents).doing(doing)?;
                    file
                }
                ToWorktreeOutcome::Process(MaybeDelayed::Immediate(mut contents)) => {
                    let mut file = create()?;
                    std::io::copy(&mut contents, &mut file).doing(doing)?;
                    file
                }
                ToWorktreeOutcome::Process(MaybeDelayed::Delayed(_)) => {
                    return Err(GitError::new(doing(), "its filter did not process it"));
                }
            }
        };
        let metadata = gix::index::fs::Metadata::from_file(&file).doing(doing)?;
        Stat::from_fs(&metadata).map_err(std::io::Error::other).doing(doing)
    }

    fn make_directories(&self, path: &BStr) -> std::io::Result<Directory> {
        let mut directory = self.root.below(BStr::new(""))?;
        for name in path.split(|byte| *byte == b'/').filter(|_| !path.is_empty()) {
            let above = directory.ok_or(ErrorKind::NotFound)?;
            directory = match above.directory(name)? {
                Some(inside) => Some(inside),
                None => Some(make_directory(&above, name.as_bstr(), self.in_the_way)?),
            };
        }
        directory.ok_or_else(|| ErrorKind::NotFound.into())
    }
}

/// How often another program may take a name again while a directory is being made.
const ATTEMPTS: usize = 10;

fn make_directory(directory: &Directory, name: &BStr, in_the_way: InTheWay) -> std::io::Result<Directory> {
    for _ in 0..ATTEMPTS {
        if let Some(made) = directory.make_directory(name)? {
            return Ok(made);
        }
        if in_the_way == InTheWay::File {
            break;
        }
        remove_if_there(directory, name)?;
    }
    Err(std::io::Error::new(
        ErrorKind::AlreadyExists,
        format!("something else is there instead of the directory {name}"),
    ))
}

/// Removes what is in the way of a file that is to be made.
fn make_room(directory: &Directory, name: &BStr, in_the_way: InTheWay) -> std::io::Result<()> {
    match directory.metadata(name)? {
        None => Ok(()),
        Some(found) if found.kind != Kind::Directory => remove_if_there(directory, name),
        Some(_) if in_the_way == InTheWay::Anything => delete_named(directory, name, Path::new("")),
        Some(_) => directory.remove_directory(name).map_err(|error| match error.kind() {
            ErrorKind::DirectoryNotEmpty => std::io::Error::new(error.kind(), "a directory is there that is not empty"),
            _ => error,
        }),
    }
}

fn remove_if_there(directory: &Directory, name: &BStr) -> std::io::Result<()> {
    match directory.remove_file(name) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// The problem of a checkout: it can succeed and still have left out files.
pub(crate) fn problem_in(outcome: &gix::worktree::state::checkout::Outcome) -> Option<String> {
    if let Some(failed) = outcome.errors.first() {
        return Some(format!("{}: {}", failed.path, failed.error));
    }
    if let Some(collision) = outcome.collisions.first() {
        return Some(format!("{}: something else is there", collision.path));
    }
    let unprocessed = outcome.delayed_paths_unprocessed.first()?;
    Some(format!("{unprocessed}: a filter did not process it"))
}

#[cfg(test)]
mod tests {
    use gix::worktree::state::checkout::{Collision, Outcome};

    use super::problem_in;

    #[test]
    fn files_that_a_checkout_left_out_are_its_problem() {
        let path = || "a.txt".into();
        let collision = Collision { path: path(), error_kind: std::io::ErrorKind::AlreadyExists };
        for (outcome, problem) in [
            (Outcome::default(), None),
            (Outcome { collisions: vec![collision], ..Outcome::default() }, Some("a.txt: something else is there")),
            (
                Outcome { delayed_paths_unprocessed: vec![path()], ..Outcome::default() },
                Some("a.txt: a filter did not process it"),
            ),
        ] {
            assert_eq!(problem_in(&outcome).as_deref(), problem);
        }
    }
}
