//! The comparison behind a [survey](crate::survey), on the calling thread alone.
//!
//! gix compares with six threads and more, whatever the size: right for ten thousand files, and for ten the threads cost
//! more than the work, above all on a machine whose cores are busy with a build.

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

/// Up to how many tracked files one thread is the fastest. Git, too, wants as many before it takes a second one.
pub(crate) const FEW_FILES: usize = 500;

/// What [`gix::Repository::status`] finds, and the new times of unchanged files besides, which that keeps to itself.
pub(crate) fn on_this_thread(
    git: &gix::Repository,
    index: &gix::index::State,
    head_tree: ObjectId,
    untracked: Option<gix::dirwalk::Options>,
) -> gix::Result<Vec<Item>> {
    let mut items = Vec::new();
    git.tree_index_status(&head_tree, index, None, TrackRenames::Disabled, |change, _, _| {
        items.push(Item::TreeIndex(change.into_owned()));
        Ok(std::ops::ControlFlow::Continue(()))
    })?;

    let not_interrupted = AtomicBool::new(false);
    let root = git.workdir().ok_or_else(|| gix::Error::from_error(gix::error::message("there is no working tree")))?;
    let attributes = git.attributes_only(index, Source::WorktreeThenIdMapping)?.detach();
    let (filter, stack) = gix::filter::Pipeline::new(git, attributes)?.into_parts();
    let everything = || None::<&BStr>;
    let (pathspec, _) = git.pathspec(false, everything(), true, index, Source::WorktreeThenIdMapping)?.into_parts();
    let options = Options {
        fs: git.filesystem_options()?,
        thread_limit: Some(1),
        stat: git.stat_options()?,
        ..Options::default()
    };
    index_as_worktree(
        index,
        root,
        &mut Tracked(&mut items),
        FastEq,
        BuiltinSubmoduleStatus::new(git.clone().into_sync(), Submodule::default())?,
        git.objects.clone().into_arc().map_err(gix::Error::from_error)?,
        &mut gix::progress::Discard,
        Context { pathspec, stack, filter, should_interrupt: &not_interrupted },
        options,
    )?;

    if let Some(options) = untracked {
        git.dirwalk(index, everything(), &not_interrupted, options, &mut Untracked(&mut items))?;
    }
    Ok(items)
}

struct Tracked<'items>(&'items mut Vec<Item>);

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
        let (entry, rela_path) = (entry.clone(), path.to_owned());
        self.0.push(index_worktree::Item::Modification { entry, entry_index, rela_path, status }.into());
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
