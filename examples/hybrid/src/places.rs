//! The workspaces of the nodes: where each begins. `GitWorkspaces` makes them, finds them again, and removes them.
//!
//! | place | branch | begins at | used by |
//! |---|---|---|---|
//! | `skeleton` | `RUN/skeleton` | `main` | types, types fix, skeleton |
//! | `types-review` | none, detached | the types commit, to which the types agents' handlers move it | the type adversary, read-only |
//! | `tests`, a clone | `RUN/tests` | the skeleton commit | tests, red check |
//! | `impl`, a clone | `RUN/impl` | the skeleton commit | implementation |
//! | `merge` | `RUN/merge` | the skeleton commit | merge, conflict, validate, fix |
//! | `mutation-review` | none, detached | the head of `merge` | the mutation adversary, read-only |
//!
//! Each of the two blind sides has a repository with the skeleton commit and nothing else, so that git there shows nothing of the
//! other side. Commits in a clone are fetched to the user's repository at once, to a branch of the same name.
//!
//! Nothing is built or tested in any of them; that happens in a fresh checkout of the commit that is judged.
//!
//! **Invariant:** `main` moves once, forward, at the very end of a run that succeeded, and only if it still is where the run
//! started.

use interlocking::workspaces::{Base, GitWorkspaces};
use interlocking::worktree::{BranchName, CommitId, Keep, Repository, Signature, SignatureError};
use std::path::Path;

/// Types and stubs.
pub const SKELETON: &str = "skeleton";
/// The types commit, for the adversary to read.
pub const TYPES_REVIEW: &str = "types-review";
/// The properties, without any implementation.
pub const TESTS: &str = "tests";
/// The implementation, without any properties.
pub const IMPLEMENTATION: &str = "impl";
/// Both, picked onto the skeleton.
pub const MERGE: &str = "merge";
/// The merged code, for the mutation adversary to read.
pub const MUTATION_REVIEW: &str = "mutation-review";

/// The places of runs in a repository, below a directory.
///
/// # Errors
///
/// [`SignatureError`]: the committer's name or address is not valid.
pub fn workspaces(
    repository: &Repository,
    main: &BranchName,
    directory: &Path,
    keep: bool,
) -> Result<GitWorkspaces, SignatureError> {
    let author = Signature::new("Interlocking", "runtime@interlocking.invalid")?;
    let keep = if keep { Keep::Always } else { Keep::Never };
    let workspaces =
        GitWorkspaces::new(repository.clone(), directory).with_author(author).with_target(main.clone()).with_keep(keep);
    let at_the_skeleton = || Base::Workspace(SKELETON.to_owned());
    Ok([TESTS, IMPLEMENTATION, MERGE]
        .into_iter()
        .fold(workspaces, |workspaces, name| workspaces.with_base(name, at_the_skeleton()))
        .with_base(MUTATION_REVIEW, Base::Workspace(MERGE.to_owned())))
}

/// Sets the commit at which a run began, or begins.
#[must_use]
pub fn beginning_at(workspaces: GitWorkspaces, base: CommitId) -> GitWorkspaces {
    let base = || Base::Commit(base);
    workspaces.with_base(SKELETON, base()).with_base(TYPES_REVIEW, base())
}
