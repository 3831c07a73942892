//! Reading commits and the files in them.

use std::ops::Range;

use gix::bstr::ByteSlice as _;

use crate::{
    checkout::reset::tree_of,
    repository::Repository,
    untrusted::git_directory,
    values::{
        git_error::{Doing as _, GitError},
        id::{BlobId, CommitId},
        path::RepositoryPath,
    },
};

/// The data of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitRecord {
    /// Its id.
    pub id: CommitId,
    /// Its parents.
    pub parents: Vec<CommitId>,
    /// The author of the change.
    pub author: Person,
    /// The committer.
    pub committer: Person,
    /// The whole message, with replacement characters where it is not UTF-8.
    pub message: String,
}

/// The author or committer of a commit, and the time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The name.
    pub name: String,
    /// The electronic mail address.
    pub email: String,
    /// Seconds since 1970; 0 if unreadable.
    pub seconds: i64,
}

/// A text does not name a commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{revision:?} names no commit of this repository ({cause})")]
pub struct ResolveError {
    /// The text as given.
    pub revision: String,
    /// The reason.
    pub cause: String,
}

impl CommitRecord {
    /// The first line of the message.
    #[must_use]
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }

    /// The `Token: value` lines at the end of the message, in their order.
    #[must_use]
    pub fn trailers(&self) -> Vec<(String, String)> {
        let message = gix::objs::commit::MessageRef::from_bytes(self.message.as_bytes());
        let Some(body) = message.body() else {
            return Vec::new();
        };
        body.trailers().map(|trailer| (trailer.token.to_string(), trailer.value.to_string())).collect()
    }
}

impl Repository {
    /// The commit that a branch, tag, id or expression such as `main~2` names.
    pub fn resolve(&self, revision: &str) -> Result<CommitId, ResolveError> {
        let failed = |cause: String| ResolveError { revision: revision.to_owned(), cause };
        let git = self.git();
        git_directory::check(self.common_directory(), self.limits())
            .map_err(|error| failed(error.cause().to_owned()))?;
        let doing = || "resolving".to_owned();
        // gix panics during the resolution if the list of shallow commits cannot be read.
        git.shallow_commits().doing(doing).map_err(|error| failed(error.cause().to_owned()))?;
        let id = git.rev_parse_single(revision).doing(doing);
        let object = id.and_then(|id| id.object().doing(doing));
        let commit = object.and_then(|object| object.peel_to_commit().doing(doing));
        match commit {
            Ok(commit) => Ok(CommitId::from_git(commit.id)),
            Err(error) => Err(failed(error.cause().to_owned())),
        }
    }

    /// Whether `older` is `newer` itself or an ancestor of it.
    pub fn is_ancestor(&self, older: CommitId, newer: CommitId) -> Result<bool, GitError> {
        is_ancestor(&self.git(), older, newer)
    }

    /// The best common ancestor of two commits; none if they share no history.
    pub fn merge_base(&self, one: CommitId, other: CommitId) -> Result<Option<CommitId>, GitError> {
        let base = self
            .git()
            .merge_base(one.git(), other.git())
            .doing(|| format!("comparing {one} with {other}"))?
            .map(|base| CommitId::from_git(base.detach()));
        Ok(base)
    }

    /// The commits reachable from `range.end` but not from `range.start`, parents before children.
    pub fn commits(&self, range: Range<CommitId>) -> Result<Vec<CommitRecord>, GitError> {
        // The walk yields its tips even if they are hidden, too.
        if range.start == range.end {
            return Ok(Vec::new());
        }
        let doing = || format!("listing {}..{}", range.start, range.end);
        let git = self.git();
        let shallow = Shallow::of(&git).doing(doing)?;
        let walk =
            gix::traverse::commit::topo::Builder::from_iters(shallow, [range.end.git()], Some([range.start.git()]))
                .build()
                .doing(doing)?;
        let mut commits = Vec::new();
        for info in walk {
            commits.push(read(&git, CommitId::from_git(info.doing(doing)?.id))?);
        }
        commits.reverse();
        Ok(commits)
    }

    /// Reads one commit.
    pub fn commit(&self, id: CommitId) -> Result<CommitRecord, GitError> {
        read(&self.git(), id)
    }

    /// The contents of a file in a commit, or the target of a symbolic link; none if there is no file or link at that
    /// path.
    pub fn read_file(&self, commit: CommitId, path: &RepositoryPath) -> Result<Option<Vec<u8>>, GitError> {
        let doing = || format!("reading {path} in {commit}");
        let git = self.git();
        let tree = git.find_tree(tree_of(&git, commit)?).doing(doing)?;
        let entry = tree.lookup_entry(path.as_bytes().split(|byte| *byte == b'/')).doing(doing)?;
        match entry {
            Some(entry) if entry.mode().is_blob_or_symlink() => {
                Ok(Some(git.find_blob(entry.object_id()).doing(doing)?.data.clone()))
            }
            _ => Ok(None),
        }
    }

    /// The contents of a blob, such as one side of a conflict.
    pub fn read_blob(&self, blob: BlobId) -> Result<Vec<u8>, GitError> {
        let git = self.git();
        let blob = git.find_blob(blob.git()).doing(|| format!("reading {blob}"))?;
        Ok(blob.data.clone())
    }

    /// The paths of all files of a commit, ordered.
    pub fn files(&self, commit: CommitId) -> Result<Vec<RepositoryPath>, GitError> {
        let git = self.git();
        let tree = tree_of(&git, commit)?;
        let index = git.index_from_tree(&tree).doing(|| format!("listing the files of {commit}"))?;
        let paths = index.entries().iter().map(|entry| entry.path(&index));
        Ok(paths.map(RepositoryPath::from_git).collect())
    }
}

/// The objects of a repository that may be shallow: commits at the boundary are given without their parents, which are
/// missing.
struct Shallow<'git> {
    objects: &'git gix::OdbHandle,
    last: Vec<gix::ObjectId>,
}

impl<'git> Shallow<'git> {
    fn of(git: &'git gix::Repository) -> gix::Result<Self> {
        let last = git.shallow_commits()?.map(|commits| commits.iter().copied().collect()).unwrap_or_default();
        Ok(Self { objects: &git.objects, last })
    }
}

impl gix::objs::Find for Shallow<'_> {
    fn try_find<'a>(&self, id: &gix::oid, buffer: &'a mut Vec<u8>) -> gix::Result<Option<gix::objs::Data<'a>>> {
        if !self.last.iter().any(|last| *last == id) {
            return self.objects.try_find(id, buffer);
        }
        let mut whole = Vec::new();
        let Some(found) = self.objects.try_find(id, &mut whole)? else { return Ok(None) };
        let (kind, hash) = (found.kind, found.object_hash);
        buffer.clear();
        let mut is_header = true;
        for line in found.data.split_inclusive(|byte| *byte == b'\n') {
            is_header &= line != b"\n";
            if !(is_header && line.starts_with(b"parent ")) {
                buffer.extend_from_slice(line);
            }
        }
        Ok(Some(gix::objs::Data { kind, object_hash: hash, data: buffer }))
    }
}

/// Whether `older` is `newer` or an ancestor of it.
pub(crate) fn is_ancestor(git: &gix::Repository, older: CommitId, newer: CommitId) -> Result<bool, GitError> {
    if older == newer {
        return Ok(true);
    }
    let bases =
        git.merge_bases_many(older.git(), &[newer.git()]).doing(|| format!("comparing {older} with {newer}"))?;
    Ok(bases.iter().any(|base| base.detach() == older.git()))
}

fn read(git: &gix::Repository, id: CommitId) -> Result<CommitRecord, GitError> {
    let doing = || format!("reading the commit {id}");
    let commit = git.find_commit(id.git()).doing(doing)?;
    let commit = commit.decode().doing(doing)?;
    let person = |signature: gix::actor::SignatureRef<'_>| Person {
        name: signature.name.trim().to_str_lossy().into_owned(),
        email: signature.email.trim().to_str_lossy().into_owned(),
        seconds: signature.time().map(|time| time.seconds).unwrap_or_default(),
    };
    Ok(CommitRecord {
        id,
        parents: commit.parents().map(CommitId::from_git).collect(),
        author: person(commit.author().doing(doing)?),
        committer: person(commit.committer().doing(doing)?),
        message: commit.message.to_str_lossy().into_owned(),
    })
}
