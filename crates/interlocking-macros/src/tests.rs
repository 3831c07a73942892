//! What the derive writes: how much, and in what shape.

use syn::DeriveInput;

fn chain(length: usize) -> DeriveInput {
    let node = |n: usize| {
        let entry = if n == 0 { "entry, " } else { "" };
        let next = if n + 1 == length { "exit".to_owned() } else { format!("node{}", n + 1) };
        format!("#[node({entry}input = Draft, goto({next}))] node{n}: LogicNode<Step>,\n")
    };
    let nodes: String = (0..length).map(node).collect();
    syn::parse_str(&format!("#[graph(output = Article)] pub struct Chain {{ {nodes} }}")).unwrap()
}

/// Every byte is compiled in the user's crate.
#[test]
fn a_node_costs_at_most_850_bytes_of_code() {
    let written = super::derive(&chain(100)).to_string();
    let per_node = written.len() / 100;
    assert!(per_node <= 850, "{per_node} bytes a node");
}
