//! Integration tests of the crate, in one binary. Every file here is a module below (`every_file_is_here` checks it).

#[macro_use]
#[path = "../../../interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;

#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod edges;
mod event_agents;
mod every_kind;
mod graph_nodes;
mod indirect;
mod labels;
mod maps;
mod misses;
mod namesakes;
mod newsroom;
mod quorum_joins;
mod real_time;
mod repeated_messages;
mod routes;
