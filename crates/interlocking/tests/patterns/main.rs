//! The 43 control-flow patterns of Russell, ter Hofstede, van der Aalst and Mulyar (BPM-06-22). Each pattern that a graph
//! can express is run, and each that it cannot is refused. `docs/book/src/patterns.md` has the verdicts.

#![expect(clippy::unwrap_used, reason = "a test: what is wrong shall end it")]

#[macro_use]
#[path = "../../../interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;
#[macro_use]
#[path = "../all/support.rs"]
#[expect(dead_code, reason = "the executor's tests need more of it")]
mod support;
#[macro_use]
mod trace;

mod basic;
mod branching;
mod cancellation;
mod discriminator;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod instances;
mod iteration;
mod page;
mod partial;
mod refused;
mod registry;
mod state;
mod trigger;
