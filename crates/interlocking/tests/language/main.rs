//! Every feature of the graph language, executed: one module for each feature.

#![expect(clippy::unwrap_used, reason = "a test: what is wrong shall end it")]

#[macro_use]
#[path = "../../../interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;
#[macro_use]
#[path = "../all/support.rs"]
#[expect(dead_code, reason = "the executor's tests need more of it")]
mod support;

#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod adds_to;
mod anew;
mod cut;
mod edges;
mod exclusive;
mod graph;
mod labels;
mod prelude;
mod quorum_join;
mod quorum_map;
mod redirect;
mod replies;
mod routes;
mod sections;
mod transient;
