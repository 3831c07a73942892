//! Evidence that the search is right: every verdict is compared with a brute force that applies the rules without
//! reductions, and the brute force is compared with the frontier of the runtime.

#![expect(clippy::unwrap_used, reason = "a test, also outside its test functions")]

mod compare;
mod sweep;
mod replay;
mod hand_made;
mod hard_tables;
mod dependencies;
mod rich;
mod edges;
mod generated;
mod shared;
mod budgeted;
mod gadgets;
mod multiply;
mod maps;
mod routed;
mod graph_nodes;
mod quorum_joins;
mod mutations;
mod sources;
mod derived;
mod calls;
mod frontier_agrees;

#[path = "../../../../tests/sample.rs"]
mod sample;

#[path = "../../../interlocking-core/tests/all/protocols.rs"]
mod protocols;
