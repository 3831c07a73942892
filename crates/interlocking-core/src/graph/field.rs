//! A node that is a field of its graph.

use super::node::Node;
use crate::kind::Kind;

/// A node that is a field of its graph.
pub trait Field: Node {
    /// The field's type.
    type Kind: Kind<Self>;
    /// Whether this is a node of the graph: a list of nodes may be padded with entries that are none.
    #[doc(hidden)]
    const EXISTS: bool = true;

    /// The field.
    fn of(graph: &Self::Graph) -> &Self::Kind;
}
