//! A node that is a field of its graph.

use super::node::Node;
use crate::kind::Kind;

/// A node that is a field of its graph.
pub trait Field: Node {
    /// The field's type.
    type Kind: Kind<Self>;
    /// Whether there is such a node: a list of nodes may be filled up with none.
    #[doc(hidden)]
    const EXISTS: bool = true;

    /// The field.
    fn of(graph: &Self::Graph) -> &Self::Kind;
}
