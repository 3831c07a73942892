//! The three protocols as tables. Their exhausted routes go to `exit` and cancel everything.

use interlocking_core::table::Table;

/// Tests and implementation, written without sight of each other, then merged, validated and
/// attacked.
pub(crate) fn hybrid() -> Table {
    table(include_str!("../../../interlocking-soundness/examples/tables/hybrid.json"))
}

/// A tree of graphs: each writes its tests, lets its children implement the parts, and merges these.
pub(crate) fn v3() -> Table {
    table(include_str!("../../../interlocking-soundness/examples/tables/v3.json"))
}

/// Scouts and architects plan; waves of agents carry the plan out; people approve at gates.
pub(crate) fn scout_and_wave() -> Table {
    table(include_str!("../../../interlocking-soundness/examples/tables/scout-and-wave.json"))
}

fn table(json: &str) -> Table {
    serde_json::from_str(json).unwrap()
}
