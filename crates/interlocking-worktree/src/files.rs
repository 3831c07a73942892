//! Deleting and writing the files of a working tree, without ever following a symbolic link out of it.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use gix::{
    bstr::{BStr, BString, ByteSlice as _},
    index::entry::{Flags, Stage},
};

use crate::{
    git_error::{Doing as _, GitError},
    index,
    snapshot::{is_absent, is_below_symbolic_link},
    step,
};

/// Up to how many files one thread writes. Git, too, wants as many before it starts others.
pub(crate) const FEW_FILES_TO_WRITE: usize = 100;

/// Deletes, then writes from `index`, in which the written entries get their new times.
pub(crate) fn change_files(
    git: &gix::Repository,
    root: &Path,
    index: &mut gix::index::File,
    write: &HashSet<BString>,
    delete: &[BString],
    discard: bool,
) -> Result<(), GitError> {
    for path in delete {
        delete_file(root, path.as_bstr(), discard).doing(|| format!("deleting {path} in {}", root.display()))?;
        step::reached("a file is deleted");
    }
    if write.is_empty() {
        return Ok(());
    }
    if discard {
        for path in write {
            make_room(root, path.as_bstr()).doing(|| format!("making room for {path} in {}", root.display()))?;
        }
    }
    for path in write {
        part_from_other_names(root, path.as_bstr())
            .doing(|| format!("making room for {path} in {}", root.display()))?;
    }
    write_files(git, root, index, write)?;
    step::reached("files are written");
    Ok(())
}

/// Files are written over what is there. One that has other names, in the working tree or anywhere else, would be
/// changed under those too, so it goes first.
fn part_from_other_names(root: &Path, path: &BStr) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let file = on_disk(root, path);
        let has_others = |metadata: std::fs::Metadata| metadata.is_file() && metadata.nlink() > 1;
        if std::fs::symlink_metadata(&file).is_ok_and(has_others) && !is_below_symbolic_link(root, path) {
            std::fs::remove_file(&file)?;
        }
    }
    Ok(())
}

/// Deletes one file and the directories that it leaves empty. What a symbolic link leads to is never touched.
fn delete_file(root: &Path, path: &BStr, discard: bool) -> std::io::Result<()> {
    if is_below_symbolic_link(root, path) {
        return Ok(());
    }
    let file = on_disk(root, path);
    match std::fs::symlink_metadata(&file) {
        Ok(metadata) if metadata.is_dir() => {
            if discard && file.join(".git").exists() {
                // A repository inside the worktree.
                std::fs::remove_dir_all(&file)?;
            } else {
                // A directory took the file's place (its files are dealt with one by one), or it is a submodule.
                let _ = std::fs::remove_dir(&file);
            }
        }
        Ok(_) => std::fs::remove_file(&file)?,
        Err(error) if is_absent(&error) => {}
        Err(error) => return Err(error),
    }
    let parents = file.ancestors().skip(1).take_while(|parent| *parent != root);
    for parent in parents {
        if std::fs::remove_dir(parent).is_err() {
            break;
        }
    }
    Ok(())
}

/// Removes a directory where a file must be.
fn make_room(root: &Path, path: &BStr) -> std::io::Result<()> {
    if is_below_symbolic_link(root, path) {
        // The checkout replaces the link with a directory.
        return Ok(());
    }
    let file = on_disk(root, path);
    match std::fs::symlink_metadata(&file) {
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(&file),
        _ => Ok(()),
    }
}

pub(crate) fn write_files(
    git: &gix::Repository,
    root: &Path,
    index: &mut gix::index::File,
    write: &HashSet<BString>,
) -> Result<(), GitError> {
    if write.is_empty() {
        return Ok(());
    }
    let doing = || format!("writing files in {}", root.display());
    let is_written = |path: &BStr| write.contains(path);
    // Those that hold attributes are looked up in what is checked out.
    let mut part = index::part(index, |_, path| is_written(path) || index::has_attributes(path));
    let backing = part.path_backing().to_owned();
    for entry in part.entries_mut() {
        if !is_written(entry.path_in(&backing)) {
            entry.flags.insert(Flags::SKIP_WORKTREE);
        }
    }
    let mut options = git.checkout_options(gix::worktree::stack::state::attributes::Source::IdMapping).doing(doing)?;
    options.destination_is_initially_empty = false;
    options.overwrite_existing = true;
    if write.len() <= FEW_FILES_TO_WRITE {
        options.thread_limit = Some(1);
    }
    let objects = git.objects.clone().into_arc().doing(doing)?;
    let outcome = gix::worktree::state::checkout(
        &mut part,
        root,
        objects,
        &gix::progress::Discard,
        &gix::progress::Discard,
        &AtomicBool::new(false),
        options,
    )
    .doing(doing)?;
    if let Some(problem) = problem_in(&outcome) {
        return Err(GitError::new(doing(), problem));
    }
    for written in part.entries().iter().filter(|entry| is_written(entry.path(&part))) {
        let number = index.entry_index_by_path_and_stage(written.path(&part), Stage::Unconflicted);
        if let Some(number) = number {
            index.entries_mut()[number].stat = written.stat;
        }
    }
    Ok(())
}

/// A checkout can end well and yet have left files out.
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

pub(crate) fn on_disk(root: &Path, path: &BStr) -> PathBuf {
    // Git's paths convert on every system as far as this crate's worktrees hold them.
    gix::path::from_bstr(path).map_or_else(|_| root.join(path.to_str_lossy().as_ref()), |relative| root.join(relative))
}
