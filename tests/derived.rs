//! Graphs that `#[derive(Graph)]` must accept, compiled and run.

#[macro_use]
#[path = "../crates/interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;

#[path = "derived/chain_of_100.rs"]
mod chain_of_100;
#[path = "derived/everything.rs"]
mod everything;
#[path = "derived/from_a_macro.rs"]
mod from_a_macro;
#[path = "derived/in_a_function.rs"]
mod in_a_function;
#[path = "derived/isolation.rs"]
mod isolation;
#[path = "derived/kinds.rs"]
mod kinds;
#[path = "derived/llm.rs"]
mod llm;
#[path = "derived/manifests.rs"]
mod manifests;
#[path = "derived/mended.rs"]
mod mended;
#[path = "derived/names.rs"]
mod names;
#[path = "derived/readme.rs"]
mod readme;
#[path = "derived/sound.rs"]
mod sound;
#[path = "derived/strict.rs"]
pub mod strict;
#[path = "derived/table.rs"]
mod table;
#[path = "derived/visibility.rs"]
pub mod visibility;
