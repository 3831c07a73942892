//! A graph that runs itself, also by way of other graphs, must say how deep its children may nest. The derive sees that only
//! where a graph's row names the graph itself; the nets have all children.

use crate::run::start_error::StartError;
use interlocking_core::net::{Net, Nets};

/// Checks that each way from a graph back to itself has a node with a `depth`.
pub(crate) fn check(nets: &Nets) -> Result<(), StartError> {
    let (mut open, mut closed) = (Vec::new(), Vec::new());
    match nets.iter().find_map(|net| unbounded(nets, net, &mut open, &mut closed)) {
        Some(way) => Err(StartError::UnboundedRecursion { way }),
        None => Ok(()),
    }
}

/// The nodes on a way from `net`, or from a graph below it, back to where it begins, without a node that has a `depth`. `open`
/// are the nets on the way to `net`, each with the node that leads on; `closed` those from which there is no such way.
fn unbounded(
    nets: &Nets,
    net: &'static Net,
    open: &mut Vec<(&'static Net, String)>,
    closed: &mut Vec<&'static Net>,
) -> Option<Vec<String>> {
    if let Some(start) = open.iter().position(|(known, _)| std::ptr::eq(*known, net)) {
        return Some(open[start..].iter().map(|(_, node)| node.clone()).collect());
    }
    if closed.iter().any(|known| std::ptr::eq(*known, net)) {
        return None;
    }
    for (index, row) in (0..).zip(&net.table().nodes).filter(|(_, row)| row.depth.is_none()) {
        let Some(child) = nets.child(net, index) else { continue };
        open.push((net, format!("`{}` of `{}`", row.name, net.table().graph)));
        let way = unbounded(nets, child, open, closed);
        open.pop();
        if way.is_some() {
            return way;
        }
    }
    closed.push(net);
    None
}
