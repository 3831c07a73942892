//! Where each node works: which place begins where. `GitWorkspaces` makes them, finds them again, and takes them away.
//!
//! | place | branch | begins at | used by |
//! |---|---|---|---|
//! | `skeleton` | `RUN/skeleton` | `main` | types, types fix, skeleton |
//! | `types-review` | none, detached | the types commit, where the types agents' handlers put it | the type adversary, read-only |
//! | `tests`, a clone | `RUN/tests` | the skeleton commit | tests, red check |
//! | `impl`, a clone | `RUN/impl` | the skeleton commit | implementation |
//! | `merge` | `RUN/merge` | the skeleton commit | merge, conflict, validate, fix |
//! | `mutation-review` | none, detached | where `merge` stands | the mutation adversary, read-only |
//!
//! The two blind sides have a repository each with the skeleton commit and nothing else, so that git there shows nothing of
//! the other. What is committed in a clone is brought back to the user's repository at once, to a branch of the same name.
//!
//! Nothing is built or tested in any of them, but in a fresh checkout of the commit that is judged.
//!
//! **Invariant:** `main` moves once, forward, at the very end of a run that succeeded, and only if it still is where the
//! run started.

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
/// [`SignatureError`]: who commits is nobody.
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

/// The same of a run that began, or begins, at a commit.
#[must_use]
pub fn beginning_at(workspaces: GitWorkspaces, base: CommitId) -> GitWorkspaces {
    let base = || Base::Commit(base);
    workspaces.with_base(SKELETON, base()).with_base(TYPES_REVIEW, base())
}
