//! Imports commits that were made in a clone. They may be forged in any way.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
    path::PathBuf,
};

use gix::{
    ObjectId,
    bstr::ByteSlice as _,
    objs::{CommitRef, Kind, TreeRef, Write as _, WriteTo as _},
};

use crate::{
    checkout::reset::tree_of,
    clones::{clone::objects_of_tree, export::ClonedCommits},
    repository::{
        Repository,
        create_branch::clashing,
        references::{Move, MoveError, Named},
    },
    untrusted,
    values::{
        git_error::{Doing as _, GitError},
        id::{CommitId, at},
        name::BranchName,
        signature::Signature,
    },
};

/// Commits of a clone could not be imported. No reference has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// This repository does not have the clone's base.
    #[error("the base {base} is not a commit of this repository")]
    NoSuchBase {
        /// The base.
        base: CommitId,
    },
    /// A commit is not based on the base: it has no parent, or a parent that is neither the base nor new.
    #[error("{commit} does not descend from {base} alone: rebase it onto that")]
    NotDescending {
        /// The commit.
        commit: CommitId,
        /// The base.
        base: CommitId,
    },
    /// An object's contents do not match its id.
    #[error("the object {id} of the clone is forged: its contents have the id {found}")]
    Forged {
        /// The id it was found under.
        id: String,
        /// The id its contents have.
        found: String,
    },
    /// Git would not make such an object.
    #[error("the {kind} {id} of the clone is malformed: {problem}")]
    Malformed {
        /// A commit or a tree.
        kind: &'static str,
        /// Its id.
        id: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An object refers to an object that is neither new nor in the base.
    #[error("{from} of the clone refers to {id}, which neither it nor its base has")]
    Missing {
        /// The object that refers to it.
        from: String,
        /// The missing object.
        id: String,
    },
    /// The branch is not where the caller expected it.
    #[error("{branch} moved: expected {}, found {}; look at it again", at(*expected, "absent"), at(*found, "gone"))]
    Moved {
        /// The branch.
        branch: BranchName,
        /// Where the caller expected it; none if it should not exist.
        expected: Option<CommitId>,
        /// Where it is; none if it does not exist.
        found: Option<CommitId>,
    },
    /// One name is a directory of the other: `agent` and `agent/one` cannot exist together.
    #[error(
        "the branch {branch} cannot exist beside {existing}: fetch into a branch whose name is not below the other"
    )]
    Clash {
        /// The branch asked for.
        branch: BranchName,
        /// The existing branch.
        existing: BranchName,
    },
    /// The commits do not descend from the branch, which would lose commits.
    #[error("{branch} is at {from}, which is not behind {to}: fetch into another branch")]
    NotFastForward {
        /// The branch.
        branch: BranchName,
        /// Where it is.
        from: CommitId,
        /// Where it was to go.
        to: CommitId,
    },
    /// A worktree has the branch checked out, whose files would not be updated.
    #[error("{branch} is checked out in {}: fetch into another branch", place.display())]
    CheckedOut {
        /// The branch.
        branch: BranchName,
        /// The worktree.
        place: PathBuf,
    },
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// The modes of files, executable files, symbolic links, directories and submodules, as git writes them.
const MODES: [u16; 5] = [0o100_644, 0o100_755, 0o120_000, 0o40_000, 0o160_000];

impl Repository {
    /// Checks every object of `commits`, writes the objects here, and sets `branch` to the newest commit: from
    /// `expected`, which must be an ancestor of it, or as a new branch if `expected` is none. Returns that commit.
    ///
    /// Each object's id is computed again, each commit must be based on the base and nothing else, each tree must be
    /// one that git would make, and all objects that they refer to must be new or in the base.
    ///
    /// # Errors
    ///
    /// See [`ImportError`]; no reference has changed. Objects are written only if nothing but the branch was wrong.
    pub fn import(
        &self,
        commits: &ClonedCommits,
        branch: &BranchName,
        expected: Option<CommitId>,
    ) -> Result<CommitId, ImportError> {
        self.import_objects(commits)?;
        let git = self.git();
        // No worktree may check out the branch in the meantime.
        let _registration = self.lock_registration()?;
        if let Some(place) = self.place_on(branch)? {
            return Err(ImportError::CheckedOut { branch: branch.clone(), place });
        }
        if expected.is_none()
            && let Some(existing) = clashing(&git, branch)?
        {
            return Err(ImportError::Clash { branch: branch.clone(), existing });
        }
        if let Some(from) = expected
            && !self.is_ancestor(from, commits.tip)?
        {
            return Err(ImportError::NotFastForward { branch: branch.clone(), from, to: commits.tip });
        }
        let name = branch.full_name();
        let reason = format!("fetch: {} from a clone", commits.tip);
        let moved = Move {
            name: Named::Reference(&name),
            expected: expected.map(CommitId::git),
            to: commits.tip.git(),
            reason,
        };
        let by = Signature::runtime();
        let set = match expected {
            None => moved.create(&git, &by),
            Some(_) => moved.prepare(&git).and_then(|prepared| Ok(prepared.commit(&by).map(drop)?)),
        };
        set.map_err(|error| match error {
            MoveError::Moved { found } => {
                ImportError::Moved { branch: branch.clone(), expected, found: found.map(CommitId::from_git) }
            }
            MoveError::Git(error) => error.into(),
        })?;
        Ok(commits.tip)
    }

    /// Like [`import`](Self::import) without a branch: checks and writes every object, and returns the newest commit.
    /// As long as no reference keeps that commit, git may collect it as garbage.
    ///
    /// # Errors
    ///
    /// See [`ImportError`]; nothing is written.
    pub fn import_objects(&self, commits: &ClonedCommits) -> Result<CommitId, ImportError> {
        self.check(&self.git(), commits)?;
        self.check_trees(commits)?;
        let on_disk = self.git();
        // The newest commit last: where it is, the others are, also after a process was killed here.
        let (newest, others): (Vec<_>, Vec<_>) = commits.objects.iter().partition(|(id, _)| **id == commits.tip.git());
        for (id, (kind, data)) in others.into_iter().chain(newest) {
            on_disk.objects.write_buf(*kind, data).doing(|| format!("writing the object {id}"))?;
        }
        Ok(commits.tip)
    }

    /// Checks the trees as a whole: their depth and number of files.
    fn check_trees(&self, commits: &ClonedCommits) -> Result<(), GitError> {
        let git = self.git().with_object_memory();
        let is_wanted = |kind: &Kind| matches!(kind, Kind::Tree | Kind::Commit);
        for (id, (kind, data)) in commits.objects.iter().filter(|(_, (kind, _))| is_wanted(kind)) {
            git.objects.write_buf(*kind, data).doing(|| format!("looking at the object {id}"))?;
        }
        let new = commits.objects.iter().filter(|(_, (kind, _))| *kind == Kind::Commit);
        new.map(|(id, _)| *id).try_for_each(|id| tree_of(&git, CommitId::from_git(id)).map(drop))
    }

    fn check(&self, git: &gix::Repository, commits: &ClonedCommits) -> Result<(), ImportError> {
        let base = commits.base;
        if git.find_commit(base.git()).is_err() {
            return Err(ImportError::NoSuchBase { base });
        }
        let (trees, blobs) = objects_of_tree(git, tree_of(git, base)?)?;
        let mut in_base: HashMap<ObjectId, Kind> = HashMap::from([(base.git(), Kind::Commit)]);
        in_base.extend(trees.into_iter().map(|id| (id, Kind::Tree)));
        in_base.extend(blobs.into_iter().map(|id| (id, Kind::Blob)));
        if commits.tip != base && !commits.objects.contains_key(&commits.tip.git()) {
            return Err(ImportError::Missing { from: "the branch".to_owned(), id: commits.tip.to_string() });
        }
        for (id, (kind, data)) in commits.objects.iter() {
            let found = gix::objs::compute_hash(git.object_hash(), *kind, data).doing(|| format!("hashing {id}"))?;
            if found != *id {
                return Err(ImportError::Forged { id: id.to_string(), found: found.to_string() });
            }
            let malformed = |problem: String| ImportError::Malformed {
                kind: if *kind == Kind::Commit { "commit" } else { "tree" },
                id: id.to_string(),
                problem,
            };
            match kind {
                Kind::Commit => check_commit(data).map_err(malformed)?,
                Kind::Tree => check_tree(data).map_err(malformed)?,
                Kind::Blob | Kind::Tag => {}
            }
            let references = referenced(*kind, data).map_err(malformed)?;
            if *kind == Kind::Commit {
                let parents = || references.iter().filter(|(kind, _)| *kind == Kind::Commit);
                let is_known = |parent: &ObjectId| *parent == base.git() || commits.objects.contains_key(parent);
                if parents().next().is_none() || !parents().all(|(_, parent)| is_known(parent)) {
                    return Err(ImportError::NotDescending { commit: CommitId::from_git(*id), base });
                }
            }
            for (kind, referenced) in references {
                let new = commits.objects.get(&referenced).map(|(kind, _)| *kind);
                if new.or_else(|| in_base.get(&referenced).copied()) != Some(kind) {
                    return Err(ImportError::Missing { from: id.to_string(), id: referenced.to_string() });
                }
            }
        }
        Ok(())
    }
}

/// The objects that an object refers to, with their kinds: a commit's tree and parents, and a tree's entries without
/// submodules.
pub(crate) fn referenced(kind: Kind, data: &[u8]) -> Result<Vec<(Kind, ObjectId)>, String> {
    let hash = gix::hash::Kind::Sha1;
    match kind {
        Kind::Commit => {
            let commit = CommitRef::from_bytes(data, hash).map_err(|error| error.to_string())?;
            let parents = commit.parents().map(|parent| (Kind::Commit, parent));
            Ok(std::iter::once((Kind::Tree, commit.tree())).chain(parents).collect())
        }
        Kind::Tree => {
            let tree = TreeRef::from_bytes(data, hash).map_err(|error| error.to_string())?;
            let entries = tree.entries.iter().filter(|entry| !entry.mode.is_commit());
            Ok(entries
                .map(|entry| (if entry.mode.is_tree() { Kind::Tree } else { Kind::Blob }, entry.oid.to_owned()))
                .collect())
        }
        Kind::Blob | Kind::Tag => Ok(Vec::new()),
    }
}

/// Checks that a commit is as git writes it: encoding it again gives the same bytes.
fn check_commit(data: &[u8]) -> Result<(), String> {
    let commit = CommitRef::from_bytes(data, gix::hash::Kind::Sha1).map_err(|error| error.to_string())?;
    for signature in [commit.author(), commit.committer()] {
        let signature = signature.map_err(|error| error.to_string())?;
        signature.time().map_err(|error| error.to_string())?;
    }
    if data.contains(&0) {
        return Err("it has a NUL byte".to_owned());
    }
    let mut again = Vec::with_capacity(data.len());
    commit.write_to(&mut again).map_err(|error| error.to_string())?;
    if again == data { Ok(()) } else { Err("it is not written as git writes it".to_owned()) }
}

/// Checks that a tree has valid file names, each once, in git's order, with git's modes.
fn check_tree(data: &[u8]) -> Result<(), String> {
    let tree = TreeRef::from_bytes(data, gix::hash::Kind::Sha1).map_err(|error| error.to_string())?;
    let mut names = HashSet::new();
    for entry in &tree.entries {
        untrusted::path::check_name(entry.filename, entry.mode.is_link())
            .map_err(|error| format!("{}: {error}", entry.filename.to_str_lossy()))?;
        if !MODES.contains(&entry.mode.value()) {
            return Err(format!("{} has the mode {:o}", entry.filename.to_str_lossy(), entry.mode.value()));
        }
        if !names.insert(entry.filename) {
            return Err(format!("{} is in it twice", entry.filename.to_str_lossy()));
        }
    }
    if tree.entries.windows(2).any(|pair| pair[0].cmp(&pair[1]) != Ordering::Less) {
        return Err("its entries are not in order".to_owned());
    }
    let mut again = Vec::with_capacity(data.len());
    tree.write_to(&mut again).map_err(|error| error.to_string())?;
    if again == data { Ok(()) } else { Err("it is not written as git writes it".to_owned()) }
}
