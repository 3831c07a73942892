//! Runs random sound graphs under random delays, failures and crashes, in virtual time, and checks how each run ends.
//!
//! [`simulate`] runs one seed, twice: in fair weather, where nothing goes wrong but nodes, and in foul, where executors are cut
//! off again and again and the journal breaks. What is
//!
//! - **random**, and a function of the seed alone: the graph of the run and that of its children, sound by the check that the
//!   derive makes; how long each execution takes, how it ends and where it goes; what people answer, and when; messages; when
//!   and how executors are interrupted, and somebody asks for the run's end.
//! - **executed**: the runtime, from `Run::start`, `Run::resume` and `Run::retry` to each node kind. Only the journal's storage, the handlers
//!   and the clock are the simulation's.
//! - **required**: an oracle that knows the rules of runs, and neither the frontier nor the replay, follows the records of all
//!   runs one by one. Each must be possible then, with the payloads that follow from what came before, and the last must be an
//!   end that soundness allows: never a run that hangs, that is stuck, or that leaves a token behind. Nodes start the moment
//!   that they can, nothing that is recorded is done again, a run that has failed goes on there when it is retried, and both
//!   weathers come to the same wherever nothing depends on which of two things came first. Nor does it matter whether anybody
//!   hears of a run or records it.
//! - **replayed**: the same seed does the same, line by line. `docs/book/src/simulation.md` has the commands.
//!
//! In reading order:
//!
//! - `tables`: the tables of a seed; `choice`: what each execution does; `dialogue`: what its agent does; `plan`: what goes wrong
//!   around them; `numbers`: what payloads carry.
//! - `graph`, `markers`, `positions`, `token`, `body`: a graph that interprets any table.
//! - `asking`, `agent`, `calls`: how nodes ask the agent, what that remembers, and what is logged of it.
//! - `world`, `journal`, `messages`, `places`: what surrounds it.
//! - `executor`: runs it until it is interrupted; `history`: from its beginning to its end.
//! - `oracle`: what must hold of its records; `checks`: of all else.
//! - `simulation`: one seed; `counts`: what it came upon.
//! - Tests: `seeds`: many seeds; `v3`: those of V3's table; `doctored`: what the checks refuse; `rare`: what few seeds come upon. They are in
//!   the library, so that it is compiled once.

#![expect(clippy::unwrap_used, reason = "shared with tests: what is wrong shall end them")]

mod tables;
mod choice;
mod dialogue;
mod plan;
mod mix;
mod numbers;
mod graph;
mod interpreter;
mod markers;
mod positions;
mod token;
mod body;
mod asked;
mod asking;
mod calls;
mod minds;
mod agent;
mod places;
mod world;
mod journal;
mod messages;
mod executor;
mod spending;
mod history;
mod oracle;
mod checks;
mod simulation;
mod counts;
#[cfg(test)]
#[path = "../../../tests/sample.rs"]
mod sample;
#[cfg(test)]
mod seeds;
#[cfg(test)]
mod v3;
#[cfg(test)]
mod doctored;
#[cfg(test)]
mod rare;

pub use counts::Counts;
pub use simulation::{Played, simulate, simulate_tables};
