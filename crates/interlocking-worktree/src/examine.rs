//! The comparison behind a [survey](crate::survey).
//!
//! gix compares with six threads and more, whatever the size: for ten files the threads cost more than the work, above all
//! on a machine whose cores are busy with a build. And it looks at each file at length; here only those are left to it
//! that are not [plainly the same](crate::untouched).

use std::{path::Path, sync::atomic::AtomicBool};

use gix::{
    ObjectId,
    bstr::{BStr, BString},
    dir::{entry::Status, walk},
    status::{
        Item, Submodule,
        index_worktree::{self, BuiltinSubmoduleStatus},
        plumbing::{
            index_as_worktree,
            index_as_worktree::{Context, EntryStatus, Options, VisitEntry, traits::FastEq},
        },
        tree_index::TrackRenames,
    },
    worktree::stack::state::attributes::Source,
};

use crate::{index, untouched::look};

/// From how many tracked files on more threads are worth their cost.
const MANY_FILES: usize = 1_000;

/// Up to how many names that are not tracked gix is asked about them alone, and not about every name.
const FEW_NAMES: usize = 32;

/// What [`gix::Repository::status`] finds, and the new times of unchanged files besides, which that keeps to itself.
pub(crate) fn compare(
    git: &gix::Repository,
    index: &gix::index::File,
    head_tree: ObjectId,
    untracked: Option<gix::dirwalk::Options>,
) -> gix::Result<Vec<Item>> {
    let root = git.workdir().ok_or_else(|| gix::Error::from_error(gix::error::message("there is no working tree")))?;
    let stat = git.stat_options()?;
    let look = |range| look(root, index, range, stat, untracked.is_some());
    let count = index.entries().len();
    let is_staged_as_head = index::tree_of(index)? == Some(head_tree);
    let (mut items, seen) = if count < MANY_FILES {
        let items = if is_staged_as_head { Vec::new() } else { staged(git, index, head_tree)? };
        (items, look(0..count))
    } else {
        let shared = (!is_staged_as_head).then(|| git.clone().into_sync());
        std::thread::scope(|scope| {
            let first = scope.spawn(|| look(0..count / 2));
            let items = shared.map(|git| scope.spawn(move || staged(&git.to_thread_local(), index, head_tree)));
            let second = look(count / 2..count);
            let items = items.map_or(Ok(Ok(Vec::new())), |items| items.join()).map_err(stopped)??;
            let mut seen = first.join().map_err(stopped)?;
            seen.untouched.extend(second.untouched);
            seen.unknown.extend(second.unknown);
            seen.is_odd |= second.is_odd;
            gix::Result::Ok((items, seen))
        })?
    };
    if let Some(options) = untracked {
        let (mut unknown, is_odd) = (seen.unknown, seen.is_odd);
        unknown.sort();
        unknown.dedup();
        let mut walk = |names: Vec<BString>| {
            git.dirwalk(index, names, &AtomicBool::new(false), options, &mut Untracked(&mut items)).map(drop)
        };
        if is_odd || unknown.len() > FEW_NAMES || folds_names(git) {
            walk(Vec::new())?;
        } else if !unknown.is_empty() {
            walk(unknown.iter().map(|path| [b":(top,literal)", path.as_slice()].concat().into()).collect())?;
        }
    }
    items.extend(unstaged(git, index, root, stat, &seen.untouched)?);
    Ok(items)
}

/// Whether a name on disk may be another one in the index.
fn folds_names(git: &gix::Repository) -> bool {
    let configuration = git.config_snapshot();
    ["core.ignoreCase", "core.precomposeUnicode"].iter().any(|name| configuration.boolean(*name) == Some(true))
}

fn stopped(_: Box<dyn std::any::Any + Send>) -> gix::Error {
    gix::Error::from_error(gix::error::message("the comparison has panicked"))
}

/// The index against the tree of HEAD.
fn staged(git: &gix::Repository, index: &gix::index::State, head_tree: ObjectId) -> gix::Result<Vec<Item>> {
    let mut items = Vec::new();
    git.tree_index_status(&head_tree, index, None, TrackRenames::Disabled, |change, _, _| {
        items.push(Item::TreeIndex(change.into_owned()));
        Ok(std::ops::ControlFlow::Continue(()))
    })?;
    Ok(items)
}

/// The working tree against the index, but for what was seen to be untouched.
fn unstaged(
    git: &gix::Repository,
    index: &gix::index::File,
    root: &Path,
    stat: gix::index::entry::stat::Options,
    is_untouched: &[bool],
) -> gix::Result<Vec<Item>> {
    let not_interrupted = AtomicBool::new(false);
    let numbers: Vec<usize> = (0..is_untouched.len()).filter(|number| !is_untouched[*number]).collect();
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let touched = index::part(index, |number, _| !is_untouched[number]);
    // It is asked for no other entries.
    let index = &index::part(index, |_, path| index::has_attributes(path));

    let mut items = Vec::new();
    let attributes = git.attributes_only(index, Source::WorktreeThenIdMapping)?.detach();
    let (filter, stack) = gix::filter::Pipeline::new(git, attributes)?.into_parts();
    let everything = None::<&BStr>;
    let (pathspec, _) = git.pathspec(false, everything, true, index, Source::WorktreeThenIdMapping)?.into_parts();
    let options = Options {
        fs: git.filesystem_options()?,
        thread_limit: if numbers.len() < MANY_FILES { Some(1) } else { None },
        stat,
        ..Options::default()
    };
    index_as_worktree(
        &touched,
        root,
        &mut Tracked { items: &mut items, numbers: &numbers },
        FastEq,
        BuiltinSubmoduleStatus::new(git.clone().into_sync(), Submodule::default())?,
        git.objects.clone().into_arc().map_err(gix::Error::from_error)?,
        &mut gix::progress::Discard,
        Context { pathspec, stack, filter, should_interrupt: &not_interrupted },
        options,
    )?;
    Ok(items)
}

struct Tracked<'items> {
    items: &'items mut Vec<Item>,
    /// Those in the whole index, by those in the one compared.
    numbers: &'items [usize],
}

impl<'index> VisitEntry<'index> for Tracked<'_> {
    type ContentChange = ();
    type SubmoduleStatus = gix::submodule::Status;

    fn visit_entry(
        &mut self,
        _: &'index [gix::index::Entry],
        entry: &'index gix::index::Entry,
        entry_index: usize,
        path: &'index BStr,
        status: EntryStatus<(), gix::submodule::Status>,
    ) {
        let (entry, rela_path, entry_index) = (entry.clone(), path.to_owned(), self.numbers[entry_index]);
        self.items.push(index_worktree::Item::Modification { entry, entry_index, rela_path, status }.into());
    }
}

struct Untracked<'items>(&'items mut Vec<Item>);

impl walk::Delegate for Untracked<'_> {
    fn emit(&mut self, entry: gix::dir::EntryRef<'_>, collapsed_directory_status: Option<Status>) -> walk::Action {
        let entry = entry.to_owned();
        self.0.push(index_worktree::Item::DirectoryContents { entry, collapsed_directory_status }.into());
        std::ops::ControlFlow::Continue(())
    }
}
