//! Holds the tables of this folder to what the derive writes. Each package that has graphs includes this file in its tests
//! and says `held!(Graph);` beside each; the evidence for the check for soundness reads the folder and changes every table.

use interlocking::graph::Graph;

/// A test that the tables of these graphs are in the evidence for the check for soundness. Not where the graph is a
/// function's own: there, [`is_held`] does it.
macro_rules! held {
    ($($graph:path),+) => {
        #[test]
        fn the_evidence_has_the_table() {
            $($crate::held::is_held::<$graph>(module_path!());)+
        }
    };
}

/// Compares the table of `G` with `<package>/<module>.<graph>.json`; with `UPDATE_EXPECT=1` writes it.
pub(crate) fn is_held<G: Graph>(module: &str) {
    let table = G::net().table();
    let json = serde_json::to_string_pretty(table).expect("a table is JSON");
    let name = format!("{}.{}", module.replace("::", "."), table.graph);
    let file = format!("./{}/{name}.json", env!("CARGO_PKG_NAME"));
    expect_test::expect_file![file].assert_eq(&format!("{json}\n"));
}
