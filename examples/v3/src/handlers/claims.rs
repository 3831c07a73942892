//! Checks an agent's claims about its commits against its branch.

use crate::checks::Violation;
use interlocking::prelude::NodeError;
use interlocking::workspaces::{Checkout, FilePath, touched_paths};
use interlocking::worktree::CommitId;

/// What an agent has committed.
pub(crate) struct Committed {
    /// The head of its branch before the turn.
    pub(crate) before: CommitId,
    /// The head of its branch.
    pub(crate) tip: CommitId,
    /// What is wrong with the claim.
    pub(crate) violations: Vec<Violation>,
}

/// Adopts an agent's commits, and compares the named commit with the branch's head (V3-42, V3-64, V3-82). With `may_be_none` the
/// agent need not have committed anything.
pub(crate) async fn committed(
    tree: &mut Checkout<'_>,
    claimed: CommitId,
    may_be_none: bool,
) -> Result<Committed, NodeError> {
    let before = tree.head();
    let tip = tree.adopt_commits().await?;
    let mut violations = Vec::new();
    if tip == before && !may_be_none {
        violations.push(Violation::NothingCommitted);
    }
    if claimed != tip {
        violations.push(Violation::NotYourCommit { claimed, found: tip });
    }
    let uncommitted = touched_paths(&tree.diff_since(tip).await?);
    if !uncommitted.is_empty() {
        violations.push(Violation::Uncommitted { paths: uncommitted.into_iter().collect() });
    }
    Ok(Committed { before, tip, violations })
}

/// The interface files of the nodes above that were changed (V3-48).
pub(crate) fn touched_interfaces<'p>(
    changed: impl IntoIterator<Item = &'p String>,
    interfaces: &[FilePath],
) -> Option<Violation> {
    let is_interface = |path: &&String| interfaces.iter().any(|file| file.as_str() == path.as_str());
    let paths: Vec<String> = changed.into_iter().filter(is_interface).cloned().collect();
    (!paths.is_empty()).then_some(Violation::TouchesInterfaces { paths })
}

/// Violations as messages for an agent.
pub(crate) fn messages(violations: &[Violation]) -> Vec<String> {
    violations.iter().map(ToString::to_string).collect()
}
