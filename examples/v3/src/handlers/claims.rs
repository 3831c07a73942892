//! What an agent says of its commits, held against its branch.

use crate::checks::Violation;
use interlocking::prelude::NodeError;
use interlocking::workspaces::{Checkout, FilePath, touched_paths};
use interlocking::worktree::CommitId;

/// What an agent has committed.
pub(crate) struct Committed {
    /// Where its branch stood before.
    pub(crate) before: CommitId,
    /// Where it stands.
    pub(crate) tip: CommitId,
    /// What is wrong with what it says.
    pub(crate) violations: Vec<Violation>,
}

/// Takes over what an agent has committed, and holds the commit that it names against that (V3-42, V3-64, V3-82). `may_be_none` where it need
/// not have committed anything.
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

/// Violations as an agent is told them.
pub(crate) fn told(violations: &[Violation]) -> Vec<String> {
    violations.iter().map(ToString::to_string).collect()
}
