//! What a run that is driven and one that is replayed decide alike.

use interlocking_core::failure::{Failure, FailureKind};
use interlocking_core::frontier::{Execution, Limit};
use interlocking_core::net::{Net, NodeIndex};
use interlocking_core::table::NodeKind;

/// Whether a node that runs keeps a message waiting: all do but those that only wait themselves.
pub(crate) fn keeps_waiting(net: &Net, node: NodeIndex) -> bool {
    !matches!(net.row(node).kind, NodeKind::Map | NodeKind::Human)
}

/// Why a node did not run: it was entered more often than its table allows, and no route takes that up.
pub(crate) fn beyond_bounds(net: &Net, execution: Execution, limit: Limit) -> Failure {
    let message = format!("may not be entered again: its table says `{limit}`");
    failure(net, execution, FailureKind::Exhausted(limit), message)
}

/// The failure of an execution.
pub(crate) fn failure(net: &Net, execution: Execution, kind: FailureKind, message: String) -> Failure {
    let Execution { node, visit, attempt } = execution;
    Failure { node: net.name(node).to_owned(), visit, attempt, kind, message, causes: Vec::new() }
}
