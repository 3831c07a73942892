//! Compares the tables of this folder with those of the derive. Each package that has graphs includes this file in its
//! tests and calls `held!(Graph);` beside each graph. The soundness evidence reads the folder and mutates every table.

use interlocking::graph::Graph;
use interlocking::table::Table;

/// A test that the soundness evidence has the tables of these graphs. It cannot be used for a graph that is declared in a
/// function: there, call [`is_held`].
macro_rules! held {
    ($($graph:path),+) => {
        #[test]
        fn the_evidence_has_the_table() {
            $($crate::held::is_held::<$graph>(module_path!());)+
        }
    };
}

/// Compares the table of `G` with `<package>/<module>.<graph>.json`; with `UPDATE_EXPECT=1` writes the file.
pub(crate) fn is_held<G: Graph>(module: &str) {
    let table = G::net().table();
    let name = format!("{}.{}", module.replace("::", "."), table.graph);
    let file = format!("./{}/{name}.json", env!("CARGO_PKG_NAME"));
    expect_test::expect_file![file].assert_eq(&json(table));
}

/// The table as JSON with a line for each node, so that a difference shows the node.
fn json(table: &Table) -> String {
    let Table { graph, output, nodes } = table;
    let (graph, output) = (serde_json::json!(graph), serde_json::json!(output));
    let rows = nodes.iter().map(|node| serde_json::to_string(node).expect("a row is JSON"));
    let rows = rows.collect::<Vec<_>>().join(",\n");
    format!("{{\"graph\":{graph},\"output\":{output},\"nodes\":[\n{rows}\n]}}\n")
}
