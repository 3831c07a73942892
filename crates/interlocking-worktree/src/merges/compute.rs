//! Merges, picks and rebases of commits, computed in memory and away from any working tree.
//!
//! The repository that is passed keeps new objects in memory ([`gix::Repository::with_object_memory`]). The caller
//! writes them with [`write_objects`] if all went well, and drops them otherwise. So a conflict leaves nothing behind,
//! not even an unreachable object.

use std::{collections::HashSet, ops::Range};

use gix::{
    ObjectId,
    merge::{blob::builtin_driver::text::Labels, tree::FileFavor},
};

use crate::{
    checkout::reset::tree_of,
    commits::commit::normalize_message,
    merges::{
        conflict::{Conflict, conflicts_of},
        integrate::{CherryPickError, MergeError},
        rebase::CommitConflicts,
        settle::settle,
    },
    repository::history::is_ancestor,
    untrusted,
    values::{
        git_error::{Doing as _, GitError},
        id::CommitId,
        signature::Signature,
    },
};

/// A commit in memory and its tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Computed {
    pub(crate) commit: CommitId,
    pub(crate) tree: ObjectId,
}

/// What a merge keeps of the other side.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// A merge commit, with both as parents.
    History,
    /// One commit with one parent.
    Changes,
}

/// What to do if a commit's change conflicts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnConflict {
    /// Make no commit at all.
    Refuse,
    /// Where both sides have changed the same lines, keep those of the commit that it is applied to.
    PreferOnto,
    /// Stop at the first conflict.
    Stop,
}

/// The result of replaying commits.
#[derive(Default)]
pub(crate) struct Replayed {
    pub(crate) created: Vec<Computed>,
    /// The commits that conflicted.
    pub(crate) conflicts: Vec<CommitConflicts>,
    /// The tree for the working tree if the replay stopped at a conflict: with conflict markers.
    pub(crate) stopped_with: Option<ObjectId>,
}

/// What to do with a commit that is already on top of its new parent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum InPlace {
    /// Keep it, with its id: for a rebase.
    Stays,
    /// Create a new commit: for a cherry-pick.
    Recreated,
}

/// The merge of `other` into `onto`. None if `other` is an ancestor of `onto`, or, with [`Keep::Changes`], changes
/// nothing.
pub(crate) fn merge(
    git: &gix::Repository,
    onto: CommitId,
    other: CommitId,
    committer: &Signature,
    message: &str,
    keep: Keep,
) -> Result<Option<Computed>, MergeError> {
    let message = normalize_message(message)?;
    let doing = || format!("merging {other} into {onto}");
    if is_ancestor(git, other, onto)? {
        return Ok(None);
    }
    let bases = git.merge_bases_many(onto.git(), &[other.git()]).doing(doing)?;
    if bases.is_empty() {
        return Err(MergeError::Unrelated { ours: onto, theirs: other });
    }
    let name = other.short();
    let labels = Labels { ancestor: None, current: Some("HEAD".into()), other: Some(name.as_str().into()) };
    untrusted::index::check_for_gix(git)?;
    check_trees(git, [onto, other], bases.iter().map(|base| base.detach()).collect())?;
    let options = git.tree_merge_options().doing(doing)?;
    let mut outcome = git.merge_commits(onto.git(), other.git(), labels, options.into()).doing(doing)?.tree_merge;
    settle(git, &mut outcome)?;
    let conflicts = conflicts_of(git, &mut outcome)?;
    if !conflicts.is_empty() {
        return Err(MergeError::Conflict { commit: other, conflicts });
    }
    let tree = outcome.tree.write().doing(doing)?.detach();
    if keep == Keep::Changes && tree == tree_of(git, onto)? {
        return Ok(None);
    }
    let parents = match keep {
        Keep::History => vec![onto.git(), other.git()],
        Keep::Changes => vec![onto.git()],
    };
    let committer = committer.git();
    let commit = gix::objs::Commit {
        tree,
        parents: parents.into_iter().collect(),
        author: committer.clone(),
        committer,
        encoding: None,
        message: message.as_str().into(),
        extra_headers: Vec::new(),
    };
    let commit = CommitId::from_git(git.write_object(&commit).doing(doing)?.detach());
    Ok(Some(Computed { commit, tree }))
}

/// Applies `commits` (oldest first) on top of `onto` and returns the new commits, without those that became empty.
pub(crate) fn replay(
    git: &gix::Repository,
    onto: CommitId,
    commits: &[CommitId],
    committer: &Signature,
    in_place: InPlace,
    on_conflict: OnConflict,
) -> Result<Replayed, CherryPickError> {
    untrusted::index::check_for_gix(git)?;
    let committer = committer.git();
    let mut tip = Computed { commit: onto, tree: tree_of(git, onto)? };
    let mut replayed = Replayed::default();
    for &commit in commits {
        if in_place == InPlace::Stays && parent_of(git, commit)? == Some(tip.commit) {
            tip = Computed { commit, tree: tree_of(git, commit)? };
            replayed.created.push(tip);
            continue;
        }
        let (mut tree, conflicts) = apply(git, commit, tip.tree, None)?;
        if !conflicts.is_empty() {
            match on_conflict {
                OnConflict::Refuse => return Err(CherryPickError::Conflict { commit, conflicts }),
                OnConflict::PreferOnto => {
                    let (preferred, conflicts) = apply(git, commit, tip.tree, Some(FileFavor::Ours))?;
                    if !conflicts.is_empty() {
                        return Err(CherryPickError::Conflict { commit, conflicts });
                    }
                    tree = preferred;
                }
                OnConflict::Stop => replayed.stopped_with = Some(tree),
            }
            replayed.conflicts.push(CommitConflicts { commit, conflicts });
            if replayed.stopped_with.is_some() {
                break;
            }
        }
        // The change is there already, so the commit is dropped. A commit that was empty from the start comments on
        // others, and is kept.
        if tree == tip.tree && !is_empty(git, commit)? {
            continue;
        }
        tip = Computed { commit: rewrite(git, commit, tree, tip.commit, &committer)?, tree };
        replayed.created.push(tip);
    }
    Ok(replayed)
}

/// The commits of a range along first parents, oldest first.
pub(crate) fn first_parent_range(
    git: &gix::Repository,
    range: &Range<CommitId>,
) -> Result<Vec<CommitId>, CherryPickError> {
    let mut commits = Vec::new();
    let mut current = range.end;
    while current != range.start {
        let doing = || format!("reading the commit {current}");
        let commit = git.find_commit(current.git()).doing(doing)?;
        let mut parents = commit.parent_ids();
        let Some(parent) = parents.next() else {
            return Err(CherryPickError::NotARange { base: range.start, tip: range.end });
        };
        if parents.next().is_some() {
            return Err(CherryPickError::MergeCommit { commit: current });
        }
        commits.push(current);
        current = CommitId::from_git(parent.detach());
    }
    commits.reverse();
    Ok(commits)
}

/// The tree that results from applying a commit's change to `ours`, with conflict markers. If both sides have changed
/// the same lines, the favored side is taken.
pub(crate) fn apply(
    git: &gix::Repository,
    commit: CommitId,
    ours: ObjectId,
    favor: Option<FileFavor>,
) -> Result<(ObjectId, Vec<Conflict>), GitError> {
    let doing = || format!("picking {commit}");
    let picked = git.find_commit(commit.git()).doing(doing)?;
    let parent = picked.parent_ids().next().ok_or_else(|| GitError::new(doing(), "it has no parent"))?;
    let base = tree_of(git, CommitId::from_git(parent.detach()))?;
    let theirs = tree_of(git, commit)?;
    let subject = picked.message().doing(doing)?.summary().to_string();
    let other = format!("{} ({subject})", commit.short());
    let ancestor = format!("parent of {other}");
    let labels = Labels {
        ancestor: Some(ancestor.as_str().into()),
        current: Some("HEAD".into()),
        other: Some(other.as_str().into()),
    };
    let options = git.tree_merge_options().doing(doing)?.with_file_favor(favor);
    let mut outcome = git.merge_trees(base, ours, theirs, labels, options).doing(doing)?;
    settle(git, &mut outcome)?;
    let conflicts = conflicts_of(git, &mut outcome)?;
    Ok((outcome.tree.write().doing(doing)?.detach(), conflicts))
}

/// Writes the in-memory objects of `git` into the object database.
pub(crate) fn write_objects(git: &gix::Repository, database: &gix::Repository) -> Result<(), GitError> {
    use gix::objs::Write as _;
    let Some(objects) = git.objects.reset_object_memory() else {
        return Ok(());
    };
    for (id, (kind, data)) in objects.iter() {
        let written = database.objects.write_buf(*kind, data);
        written.doing(|| format!("writing the object {id}"))?;
    }
    Ok(())
}

/// Checks the trees of all commits that a merge reads. If there are several merge bases, they are merged first, with
/// merge bases of their own.
fn check_trees(git: &gix::Repository, sides: [CommitId; 2], bases: Vec<ObjectId>) -> Result<(), GitError> {
    for side in sides {
        tree_of(git, side)?;
    }
    let (mut groups, mut seen) = (vec![bases], HashSet::new());
    while let Some(bases) = groups.pop() {
        for (position, base) in bases.iter().enumerate() {
            tree_of(git, CommitId::from_git(*base))?;
            for other in bases.iter().skip(position + 1).filter(|other| seen.insert((*base, **other))) {
                let doing = || format!("comparing {base} with {other}");
                let below = git.merge_bases_many(*base, &[*other]).doing(doing)?;
                groups.push(below.iter().map(|base| base.detach()).collect());
            }
        }
    }
    Ok(())
}

fn parent_of(git: &gix::Repository, commit: CommitId) -> Result<Option<CommitId>, GitError> {
    let doing = || format!("reading the commit {commit}");
    let commit = git.find_commit(commit.git()).doing(doing)?;
    Ok(commit.parent_ids().next().map(|parent| CommitId::from_git(parent.detach())))
}

/// Whether a commit has its parent's tree.
fn is_empty(git: &gix::Repository, commit: CommitId) -> Result<bool, GitError> {
    match parent_of(git, commit)? {
        Some(parent) => Ok(tree_of(git, parent)? == tree_of(git, commit)?),
        None => Ok(false),
    }
}

/// A commit with the same author, message and encoding, and another tree and parent.
fn rewrite(
    git: &gix::Repository,
    commit: CommitId,
    tree: ObjectId,
    parent: CommitId,
    committer: &gix::actor::Signature,
) -> Result<CommitId, GitError> {
    let doing = || format!("picking {commit}");
    let picked = git.find_commit(commit.git()).doing(doing)?;
    let picked = picked.decode().doing(doing)?;
    let author = picked.author().doing(doing)?.to_owned().doing(doing)?;
    let new = gix::objs::Commit {
        tree,
        parents: [parent.git()].into_iter().collect(),
        author,
        committer: committer.clone(),
        encoding: picked.encoding.map(ToOwned::to_owned),
        message: picked.message.to_owned(),
        extra_headers: Vec::new(),
    };
    Ok(CommitId::from_git(git.write_object(&new).doing(doing)?.detach()))
}
