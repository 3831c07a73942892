//! Clones: places that are repositories of their own, with nothing in them but one commit.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    time::SystemTime,
};

use gix::{ObjectId, objs::Kind};

use crate::{
    checkout::{files::write_all_files, reset::tree_of},
    clones::settings::{MARK, is_clone},
    clones::{pack::PackWriter, settings::CloneSettings, unfinished::Making},
    filesystem::own_paths,
    pool::{
        rewrite::rewrite_files,
        written_files::{self, Pristine},
    },
    repository::{Repository, registration_lock::private_directory},
    status::index,
    untrusted::{
        Limits,
        file::{self, Kind as FileKind},
        git_directory, program,
    },
    values::{
        git_error::{Doing as _, GitError},
        id::CommitId,
        name::BranchName,
        worktree_error::WorktreeError,
    },
    worktrees::{
        new_worktree::{CreateError, missing_parents, resolve},
        worktree::Worktree,
    },
};

/// A clone could not be created. Nothing is left behind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateCloneError {
    /// There is no such commit here.
    #[error("{commit} is not a commit of this repository")]
    NoSuchCommit {
        /// The commit asked for.
        commit: CommitId,
    },
    /// The place cannot be one: it is occupied, or inside the repository or one of its worktrees.
    #[error(transparent)]
    Place(CreateError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A clone could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenCloneError {
    /// What is there was not made by [`Repository::create_clone`].
    #[error("{} is not a clone that was made here", path.display())]
    NotAClone {
        /// The place.
        path: PathBuf,
    },
    /// It is not what it was.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Something could not be read.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// What was written into a clone, as the process knows that has made it.
pub struct WrittenFiles {
    noted: Pristine,
    at: SystemTime,
}

impl std::fmt::Debug for WrittenFiles {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("WrittenFiles").field("tree", &self.noted.tree).finish_non_exhaustive()
    }
}

impl Repository {
    /// Creates a repository of its own at `place`, on a new branch there, at `base`.
    ///
    /// It holds the objects of `base` and its files, copied, and nothing else of this repository: no other commit, no
    /// reference, no remote, no way to find this one. `base` has the id that it has here and no parent there (it is
    /// shallow), so that what is committed on top can come back: [`Repository::fetch_from_clone`]. Of this
    /// repository's own configuration it has what says how files are written, and filters; its ignore rules too.
    ///
    /// Who works there can read what the system user can read, this repository included, unless kept from it by other
    /// means. The branch is not created here, and git does not list the place as a worktree.
    ///
    /// # Errors
    ///
    /// See [`CreateCloneError`]; nothing is left behind.
    pub fn create_clone(
        &self,
        place: impl AsRef<Path>,
        branch: &BranchName,
        base: CommitId,
    ) -> Result<Worktree, CreateCloneError> {
        Ok(self.create_noted_clone(place, branch, base)?.0)
    }

    /// [`Repository::create_clone`], and what was written there, from which [another](Repository::create_clone_again) can be made once
    /// nobody needs it any more. None where no file is used again.
    ///
    /// # Errors
    ///
    /// As [`Repository::create_clone`].
    pub fn create_noted_clone(
        &self,
        place: impl AsRef<Path>,
        branch: &BranchName,
        base: CommitId,
    ) -> Result<(Worktree, Option<WrittenFiles>), CreateCloneError> {
        self.create_clone_from(place.as_ref(), branch, base, None)
    }

    /// Makes another clone in the place of one that nobody needs any more, of which this process knows what it has `written` there: files
    /// that nobody has touched since are used again, and everything else is deleted, its `.git` whatever it is. The clone is one that
    /// [`Repository::create_clone`] might have made.
    ///
    /// Whether a file was touched is told by its number, size, owner and times: see `docs/book/src/worktrees.md`. A program that still runs
    /// there, with files or directories open, can change them later.
    ///
    /// # Errors
    ///
    /// See [`CreateCloneError`]. What is left at the place is to be deleted.
    pub fn create_clone_again(
        &self,
        place: impl AsRef<Path>,
        branch: &BranchName,
        base: CommitId,
        written: WrittenFiles,
    ) -> Result<(Worktree, Option<WrittenFiles>), CreateCloneError> {
        self.create_clone_from(place.as_ref(), branch, base, Some(written))
    }

    /// Makes a clone at a place that is free, or at that of the one whose files are `left`.
    fn create_clone_from(
        &self,
        place: &Path,
        branch: &BranchName,
        base: CommitId,
        left: Option<WrittenFiles>,
    ) -> Result<(Worktree, Option<WrittenFiles>), CreateCloneError> {
        let git = self.git();
        if git.find_commit(base.git()).is_err() {
            return Err(CreateCloneError::NoSuchCommit { commit: base });
        }
        let place = resolve(place).map_err(place_error)?;
        {
            let _registration = self.lock_registration()?;
            let checked = if left.is_some() { self.check_outside(&place) } else { self.check_place(&place) };
            checked.map_err(place_error)?;
        }
        let missing_parents = missing_parents(&place);
        let made = self.make_clone(&git, &place, branch, base, left);
        if made.is_err() {
            for parent in missing_parents.iter().rev() {
                // Only what is empty goes.
                let _ = own_paths::remove_dir(parent);
            }
        }
        made
    }

    /// Opens a clone that [`Repository::create_clone`] of this repository made at `place`, on the branch it should be
    /// on: for a process that goes on after another's end.
    ///
    /// # Errors
    ///
    /// See [`OpenCloneError`].
    pub fn open_clone(&self, place: impl AsRef<Path>, branch: &BranchName) -> Result<Worktree, OpenCloneError> {
        let path = place.as_ref();
        let doing = || format!("opening the clone at {}", path.display());
        if !is_clone(path) {
            return Err(OpenCloneError::NotAClone { path: path.to_owned() });
        }
        let path = std::fs::canonicalize(path).doing(doing)?;
        git_directory::look_at_clone(&path, self.limits())?;
        let repository = self.open_own(&path, CloneSettings::of(&self.git_of_main_worktree()?))?;
        let worktree = Worktree::clone_at(repository, path, branch.clone());
        worktree.open()?;
        Ok(worktree)
    }

    /// Everything is made beside the place and renamed to it at the end: a crash leaves no half of a clone.
    fn make_clone(
        &self,
        git: &gix::Repository,
        place: &Path,
        branch: &BranchName,
        base: CommitId,
        left: Option<WrittenFiles>,
    ) -> Result<(Worktree, Option<WrittenFiles>), CreateCloneError> {
        let doing = || format!("creating a clone at {}", place.display());
        let parent = place.parent().ok_or_else(|| GitError::new(doing(), "it has no parent"))?;
        let making = match left {
            Some(_) => Making::over(place, parent)?,
            None => Making::begin(parent)?,
        };
        // Read afresh, as a linked worktree reads it.
        let settings = CloneSettings::of(&self.git_of_main_worktree()?);
        fill(git, self.common_directory(), making.root(), branch, base, &settings)?;
        let cloned = self.open_own(making.root(), settings.clone())?.git();
        let written = check_out(&cloned, making.root(), base, left, parent)?;
        making.put_in_place(place).doing(doing)?;
        Ok((Worktree::clone_at(self.open_own(place, settings)?, place.to_owned(), branch.clone()), written))
    }
}

fn place_error(error: CreateError) -> CreateCloneError {
    match error {
        CreateError::Git(error) => error.into(),
        error => CreateCloneError::Place(error),
    }
}

/// Writes the git directory.
fn fill(
    git: &gix::Repository,
    common_directory: &Path,
    root: &Path,
    branch: &BranchName,
    base: CommitId,
    settings: &CloneSettings,
) -> Result<(), GitError> {
    let own = root.join(".git");
    let doing = || format!("writing {}", own.display());
    for directory in ["objects/pack", "objects/info", "refs/heads", "refs/tags", "info"] {
        own_paths::create_dir_all(own.join(directory)).doing(doing)?;
    }
    let has_parents = copy_objects(git, base, &own.join("objects/pack"))?;
    if has_parents {
        file::write_anew(own.join("shallow"), format!("{base}\n")).doing(doing)?;
    }
    // Ignore rules and attributes that are not in the tree.
    for name in ["info/exclude", "info/attributes"] {
        if let Some(contents) = file::read(&common_directory.join(name), FileKind::Rules(Limits::of(git)))? {
            file::write_anew(own.join(name), contents.bytes).doing(doing)?;
        }
    }
    file::write_anew(own.join("config"), settings.to_file()?).doing(doing)?;
    let reference = own.join(branch.full_name());
    if let Some(directory) = reference.parent() {
        own_paths::create_dir_all(directory).doing(doing)?;
    }
    file::write_anew(reference, format!("{base}\n")).doing(doing)?;
    file::write_anew(own.join("HEAD"), format!("ref: {}\n", branch.full_name())).doing(doing)?;
    file::write_anew(private_directory(&own).join(MARK), format!("{base}\n")).doing(doing)
}

/// Copies a commit with its tree into one pack. Whether the commit has parents.
fn copy_objects(git: &gix::Repository, base: CommitId, directory: &Path) -> Result<bool, GitError> {
    let doing = || format!("copying the objects of {base}");
    let (trees, blobs) = objects_of_tree(git, tree_of(git, base)?)?;
    // Git names a pack by its contents; any name will do that no other pack there has.
    let name = format!("pack-{base}");
    let mut pack = PackWriter::create(&directory.join(format!("{name}.pack")), 1 + trees.len() + blobs.len())?;
    let commit = git.find_commit(base.git()).doing(doing)?;
    let found = gix::objs::compute_hash(git.object_hash(), Kind::Commit, &commit.data).doing(doing)?;
    if found != base.git() {
        return Err(GitError::new(doing(), format!("the commit {base} is forged: its contents have the id {found}")));
    }
    pack.add(base.git(), Kind::Commit, &commit.data)?;
    let mut buffer = Vec::new();
    for (kind, id) in trees.iter().map(|id| (Kind::Tree, id)).chain(blobs.iter().map(|id| (Kind::Blob, id))) {
        use gix::prelude::Find as _;
        let object = git.objects.try_find(id, &mut buffer).doing(doing)?;
        match object {
            Some(object) if object.kind == kind => {
                // Whoever shares the store can put other contents in an object's place, and its readers do not look.
                let found = gix::objs::compute_hash(git.object_hash(), kind, object.data).doing(doing)?;
                if found != *id {
                    return Err(GitError::new(
                        doing(),
                        format!("the {kind} {id} is forged: its contents have the id {found}"),
                    ));
                }
                pack.add(*id, kind, object.data)?;
            }
            _ => return Err(GitError::new(doing(), format!("the {kind} {id} is missing"))),
        }
    }
    pack.finish(&directory.join(format!("{name}.idx")))?;
    Ok(commit.parent_ids().next().is_some())
}

/// The trees and the files of a tree, itself included, each once and in the order they are met. What a submodule
/// names is none of this repository's objects.
pub(crate) fn objects_of_tree(
    git: &gix::Repository,
    root: ObjectId,
) -> Result<(Vec<ObjectId>, Vec<ObjectId>), GitError> {
    let (mut trees, mut blobs, mut seen) = (vec![root], Vec::new(), HashSet::from([root]));
    let mut next = 0;
    while let Some(&id) = trees.get(next) {
        next += 1;
        let doing = || format!("reading the tree {id}");
        let tree = git.find_tree(id).doing(doing)?;
        for entry in tree.iter() {
            let entry = entry.doing(doing)?;
            let id = entry.object_id();
            if entry.mode().is_commit() || !seen.insert(id) {
                continue;
            }
            if entry.mode().is_tree() { &mut trees } else { &mut blobs }.push(id);
        }
    }
    Ok((trees, blobs))
}

/// Writes the files, as far as they are not `left`, and the index. `model` is a directory as a new one is.
fn check_out(
    git: &gix::Repository,
    root: &Path,
    base: CommitId,
    left: Option<WrittenFiles>,
    model: &Path,
) -> Result<Option<WrittenFiles>, GitError> {
    let doing = || format!("checking out {base} at {}", root.display());
    program::check(git, root)?;
    let (tree, form) = (tree_of(git, base)?, written_files::form(git)?);
    let mut index = git.index_from_tree(&tree).doing(doing)?;
    match left {
        None => write_all_files(git, root, &mut index)?,
        Some(WrittenFiles { noted, at }) => {
            rewrite_files(git, root, &noted, model, form.as_ref(), &mut index, Some(at))?;
        }
    }
    let at = SystemTime::now();
    file::write_anew(git.index_path(), index::to_bytes(&index, Some(tree)).doing(doing)?).doing(doing)?;
    let (index, _) = index.into_parts();
    Ok(form.map(|form| WrittenFiles { noted: Pristine { index, tree, form }, at }))
}
