//! Clones: repositories of their own that hold one commit.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    time::SystemTime,
};

use gix::{ObjectId, objs::Kind};

use crate::{
    checkout::{files::write_all_files, reset::tree_of},
    clones::settings::{MARK, is_clone},
    clones::{pack::PackWriter, settings::CloneSettings, unfinished::UnfinishedClone},
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
    /// The place is not possible: it is occupied, or inside the repository or one of its worktrees.
    #[error(transparent)]
    Place(CreateError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A clone could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenCloneError {
    /// The directory was not made by [`Repository::create_clone`].
    #[error("{} is not a clone that was made here", path.display())]
    NotAClone {
        /// The place.
        path: PathBuf,
    },
    /// The clone is not as it was when it was created.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Something could not be read.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// The record of the files that this process wrote into a clone.
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
    /// Creates a separate repository at `place`, on a new branch in it, at `base`.
    ///
    /// It holds copies of the objects of `base`, and the files, and nothing else of this repository: no other commit,
    /// no reference, no remote, no path of this repository. `base` has the same id in both repositories, but no parent
    /// in the clone (which is shallow), so that commits on top of it can be fetched back:
    /// [`Repository::fetch_from_clone`]. From this repository's own configuration the clone gets the settings of how
    /// files are written, and filters; it gets the ignore rules too.
    ///
    /// A program in the clone can read what the system user can read, this repository included, unless it is confined
    /// by other means. The branch is not created in this repository, and git does not list the place as a worktree.
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
        Ok(self.create_recyclable_clone(place, branch, base)?.0)
    }

    /// Like [`Repository::create_clone`], and returns the record of the written files, from which [another
    /// clone](Repository::recycle_clone) can be made once this one is no longer needed. No record if files cannot
    /// be reused.
    ///
    /// # Errors
    ///
    /// As [`Repository::create_clone`].
    pub fn create_recyclable_clone(
        &self,
        place: impl AsRef<Path>,
        branch: &BranchName,
        base: CommitId,
    ) -> Result<(Worktree, Option<WrittenFiles>), CreateCloneError> {
        self.create_clone_from(place.as_ref(), branch, base, None)
    }

    /// Makes a clone in the place of one that is no longer needed, for which this process has the record of what it has
    /// `written`. Files that have not been touched since are reused. Everything else is deleted, including `.git`,
    /// whatever it is. The result is the same as of [`Repository::create_clone`].
    ///
    /// Whether a file was touched is decided by its inode number, size, owner and times: see
    /// `docs/book/src/worktrees.md`. A program that still runs there, with open files or directories, can change files
    /// later.
    ///
    /// # Errors
    ///
    /// See [`CreateCloneError`]. Whatever is left at the place should be deleted.
    pub fn recycle_clone(
        &self,
        place: impl AsRef<Path>,
        branch: &BranchName,
        base: CommitId,
        written: WrittenFiles,
    ) -> Result<(Worktree, Option<WrittenFiles>), CreateCloneError> {
        self.create_clone_from(place.as_ref(), branch, base, Some(written))
    }

    /// Makes a clone at a free place, or in place of the clone whose files are `left`.
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
                // Only empty directories are removed.
                let _ = own_paths::remove_dir(parent);
            }
        }
        made
    }

    /// Opens a clone that [`Repository::create_clone`] of this repository made at `place`, on the branch that it should
    /// be on: for a process that continues after another has ended.
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
        git_directory::check_clone(&path, self.limits())?;
        let repository = self.open_own(&path, CloneSettings::of(&self.git_of_main_worktree()?)?)?;
        let worktree = Worktree::clone_at(repository, path, branch.clone());
        worktree.open()?;
        Ok(worktree)
    }

    /// Makes the clone in a directory beside the place and renames it at the end, so that a crash leaves no half-made
    /// clone.
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
            Some(_) => UnfinishedClone::reusing(place, parent)?,
            None => UnfinishedClone::begin(parent)?,
        };
        // Read anew, as for a linked worktree.
        let settings = CloneSettings::of(&self.git_of_main_worktree()?)?;
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
    // Ignore rules and attributes that are not part of the tree.
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

/// Copies a commit with its tree into one pack. Returns whether the commit has parents.
fn copy_objects(git: &gix::Repository, base: CommitId, directory: &Path) -> Result<bool, GitError> {
    let doing = || format!("copying the objects of {base}");
    let (trees, blobs) = objects_of_tree(git, tree_of(git, base)?)?;
    // Git names a pack by its contents, but any unique name works.
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
                // A process that can write to the object store can replace an object's contents, and readers do not
                // check the hash.
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

/// The trees (including the root) and blobs of a tree, each once and in the order of traversal. A submodule's commit is
/// not an object of this repository.
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

/// Writes the files that are not `left` already, and the index. `model` is a directory with the permissions of a new
/// one.
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
