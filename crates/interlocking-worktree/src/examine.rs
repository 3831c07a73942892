//! The comparison behind a [survey](crate::survey).
//!
//! gix compares with six threads and more, whatever the size: for ten files the threads cost more than the work, above all
//! on a machine whose cores are busy with a build. And it looks at each file at length; here only those are left to it
//! that are not [plainly the same](crate::untouched).

use std::sync::atomic::AtomicBool;

use gix::{
    ObjectId,
    bstr::BStr,
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

use crate::untouched::untouched;

/// From how many tracked files on a second thread is worth its cost.
const MANY_FILES: usize = 1_000;

/// What [`gix::Repository::status`] finds, and the new times of unchanged files besides, which that keeps to itself.
pub(crate) fn compare(
    git: &gix::Repository,
    index: &gix::index::File,
    head_tree: ObjectId,
    untracked: Option<gix::dirwalk::Options>,
) -> gix::Result<Vec<Item>> {
    let beside = |git: &gix::Repository| -> gix::Result<Vec<Item>> {
        let mut items = staged(git, index, head_tree)?;
        if let Some(options) = untracked {
            let everything = None::<&BStr>;
            git.dirwalk(index, everything, &AtomicBool::new(false), options, &mut Untracked(&mut items))?;
        }
        Ok(items)
    };
    if index.entries().len() < MANY_FILES {
        let mut items = beside(git)?;
        items.extend(unstaged(git, index)?);
        return Ok(items);
    }
    let shared = git.clone().into_sync();
    std::thread::scope(|scope| {
        let beside = scope.spawn(move || beside(&shared.to_thread_local()));
        let unstaged = unstaged(git, index)?;
        let stopped = |_| gix::Error::from_error(gix::error::message("the comparison has panicked"));
        let mut items = beside.join().map_err(stopped)??;
        items.extend(unstaged);
        Ok(items)
    })
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

/// The working tree against the index.
fn unstaged(git: &gix::Repository, index: &gix::index::File) -> gix::Result<Vec<Item>> {
    let not_interrupted = AtomicBool::new(false);
    let root = git.workdir().ok_or_else(|| gix::Error::from_error(gix::error::message("there is no working tree")))?;
    let stat = git.stat_options()?;
    let is_untouched = untouched(root, index, stat);
    let numbers: Vec<usize> = (0..is_untouched.len()).filter(|number| !is_untouched[*number]).collect();
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let mut touched = gix::index::State::clone(index);
    touched.remove_entries(|number, _, _| is_untouched[number]);

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
