//! Resetting the files of a working tree to those of an index, whatever is there.

use std::{collections::HashSet, path::Path, sync::atomic::AtomicBool};

use gix::{
    bstr::{BStr, BString},
    filter::plumbing::{driver::apply::MaybeDelayed, pipeline::convert::ToWorktreeOutcome},
    index::entry::{Flags, Mode, Stage, Stat},
};

use crate::{
    checkout::files::{InTheWay, write_files},
    filesystem::{
        clean_up::{KeepRules, empty_except},
        deletion::mounted_below,
        directory::{Directory, EntryMetadata, Kind},
    },
    recovery::step,
    status::{attributes::Filters, examine::is_same},
    values::{
        git_error::{Doing as _, GitError},
        path::RepositoryPath,
    },
};

/// Deletes files that `new` does not have, ignored or not, except at the paths of `spared`, and writes the files that
/// are missing or differ. Files with the right contents stay; if `old` has their current stat data, their line endings
/// may differ.
pub(crate) fn discard(
    git: &gix::Repository,
    root: &Path,
    old: &gix::index::File,
    new: &mut gix::index::File,
    spared: &[RepositoryPath],
) -> Result<(), GitError> {
    let doing = || format!("discarding what is in {}", root.display());
    if let Some(mount) = mounted_below(root) {
        let cause = format!("{} is another file system, mounted there: unmount it first", mount.display());
        return Err(GitError::new(doing(), cause));
    }
    let mut refreshed: Vec<Option<Stat>> = vec![None; new.entries().len()];
    let mut comparison = Comparison::of(git, old, new)?;
    let mut judge = |directory: &Directory, name: &BStr, number: usize| {
        let same = comparison.stat_if_same(directory, name, new, number).map_err(std::io::Error::other)?;
        refreshed[number] = same;
        Ok(same.is_some())
    };
    let rules = KeepRules { noted: new, judge: &mut judge, spared, has_link: true, model: None };
    let kept = empty_except(root, rules).doing(doing)?;
    step::reached("what is to go is gone");
    let mut write: HashSet<BString> = HashSet::new();
    for (number, (entry, path)) in new.entries_mut_with_paths().enumerate() {
        match refreshed[number].filter(|_| kept[number]) {
            Some(stat) => entry.stat = stat,
            None if entry.flags.contains(Flags::SKIP_WORKTREE) => {}
            None => drop(write.insert(path.to_owned())),
        }
    }
    write_files(git, root, new, &write, InTheWay::Anything)?;
    step::reached("files are written");
    Ok(())
}

/// The state for comparing files with an index.
struct Comparison<'a> {
    git: &'a gix::Repository,
    old: &'a gix::index::File,
    has_links: bool,
    has_modes: bool,
    filters: Filters<'a>,
}

impl<'a> Comparison<'a> {
    fn of(git: &'a gix::Repository, old: &'a gix::index::File, new: &mut gix::index::File) -> Result<Self, GitError> {
        let doing = || "reading the configuration".to_owned();
        let system = git.filesystem_options().doing(doing)?;
        let filters = Filters::of_index(git, new)?.for_comparison();
        Ok(Self { git, old, has_links: system.symlink, has_modes: system.executable_bit, filters })
    }

    /// The stat data of a file if it may stay.
    fn stat_if_same(
        &mut self,
        directory: &Directory,
        name: &BStr,
        new: &gix::index::State,
        number: usize,
    ) -> Result<Option<Stat>, GitError> {
        let entry = new.entry(number);
        let path = entry.path(new);
        let doing = || format!("comparing {path}");
        let Some(found) = directory.metadata(name).doing(doing)? else { return Ok(None) };
        if entry.mode == Mode::COMMIT {
            // A submodule's files are not looked at.
            return Ok((found.kind == Kind::Directory).then(Stat::default));
        }
        if !self.is_of_kind(entry, &found) {
            return Ok(None);
        }
        // Times and size alone do not prove anything: a process that can write the index can make a changed file seem
        // unchanged.
        let is_noted = self
            .old
            .entry_by_path_and_stage(path, Stage::Unconflicted)
            .is_some_and(|noted| (noted.id, noted.mode) == (entry.id, entry.mode) && noted.stat == found.stat);
        let stays = if is_noted && found.kind == Kind::File && entry.mode != Mode::SYMLINK {
            // As git does, which may leave line endings from another commit's attributes.
            is_same(self.git, new, entry, directory, name, &mut self.filters)?
        } else {
            self.is_as_written(directory, name, entry, path, &found)?
        };
        Ok(stays.then_some(found.stat))
    }

    fn is_of_kind(&self, entry: &gix::index::Entry, found: &EntryMetadata) -> bool {
        let is_file = found.kind == Kind::File && !found.has_other_names && found.is_usual;
        match entry.mode {
            Mode::SYMLINK if self.has_links => found.kind == Kind::Link,
            Mode::FILE | Mode::FILE_EXECUTABLE if self.has_modes => {
                is_file && found.is_executable == (entry.mode == Mode::FILE_EXECUTABLE)
            }
            _ => is_file,
        }
    }

    /// Whether a checkout would write the same contents.
    fn is_as_written(
        &mut self,
        directory: &Directory,
        name: &BStr,
        entry: &gix::index::Entry,
        path: &BStr,
        found: &EntryMetadata,
    ) -> Result<bool, GitError> {
        let doing = || format!("comparing {path}");
        if found.kind == Kind::Link {
            let target = directory.read_link(name).doing(doing)?;
            return Ok(self.git.find_blob(entry.id).doing(doing)?.data == target);
        }
        if entry.mode == Mode::SYMLINK || self.filters.is_verbatim(path)? {
            let size = self.git.find_header(entry.id).doing(doing)?.size();
            if found.size != size {
                return Ok(false);
            }
            let Some((mut file, _)) = directory.file(name).doing(doing)? else { return Ok(false) };
            let (kind, mut progress) = (gix::objs::Kind::Blob, gix::progress::Discard);
            let never = AtomicBool::new(false);
            let id = gix::objs::compute_stream_hash(entry.id.kind(), kind, &mut file, size, &mut progress, &never);
            return Ok(id.is_ok_and(|id| id == entry.id));
        }
        let version = self.git.find_blob(entry.id).doing(doing)?;
        match self.filters.smudge(&version.data, path).doing(doing)? {
            ToWorktreeOutcome::Unchanged(contents) | ToWorktreeOutcome::Buffer(contents) => {
                let size = contents.len() as u64;
                Ok(found.size == size
                    && directory.read(name, size).is_ok_and(|read| read.is_some_and(|read| read == contents)))
            }
            // The output of a filter program is always written anew.
            ToWorktreeOutcome::Process(MaybeDelayed::Immediate(_) | MaybeDelayed::Delayed(_)) => Ok(false),
        }
    }
}
