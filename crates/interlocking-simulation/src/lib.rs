//! Runs random sound graphs under random delays, failures and crashes, in virtual time, and checks how each run ends.
//!
//! [`simulate`] runs one seed twice: in fair weather, where only nodes fail, and in foul weather, where executors are
//! interrupted again and again and the journal breaks. Parts of a simulation are
//!
//! - **random**, and a function of the seed alone: the graph of the run and the graph of its children, sound by the
//!   check that the derive makes; how long each execution takes, how it ends and where it goes; what people answer, and
//!   when; messages; when and how executors are interrupted, and when the run is cancelled.
//! - **executed**: the real runtime, from `Run::start`, `Run::resume` and `Run::retry` to each node kind. Only the
//!   journal's storage, the handlers and the clock are simulated. Not executed: the search for programs that a killed
//!   process has left, as the journal says that it does not outlive its process; and what happens when the journal
//!   fails to read, to take a letter or to give a claim, as only its writing of records breaks.
//! - **required**: an oracle that knows the rules of runs, but uses neither the frontier nor the replay, follows the
//!   records of all runs one by one. Each record must be possible at its position, with the payloads that follow from
//!   earlier records, and the last must be an end that soundness allows: a run must not hang, be stuck, or leave a
//!   token behind. Nodes start as soon as they can, nothing that is recorded is done again, and a failed run continues
//!   from the failure when it is retried. Both weathers have the same result wherever nothing depends on the order of
//!   concurrent steps. The result also does not depend on whether a run is recorded or its events have a sink.
//! - **replayed**: the same seed produces the same trace, line by line. `docs/book/src/simulation.md` has the commands.
//!
//! In reading order:
//!
//! - `tables`: the tables of a seed; `choice`: what each execution does; `dialogue`: what its agent does; `plan`: the
//!   faults around a run; `numbers`: the payloads.
//! - `graph`, `markers`, `positions`, `token`, `body`: a graph that interprets any table.
//! - `asking`, `agent`, `agent_memory`, `calls`: how nodes ask the agent, what the agent remembers, and what is logged
//!   of it.
//! - `world`, `journal`, `messages`, `places`: the environment of a run.
//! - `executor`: executes a run until it is interrupted; `history`: a run from its start to its end.
//! - `oracle`: the checks of a run's records; `checks`: all other checks.
//! - `simulation`: one seed; `counts`: how often each kind of event happened in it.
//! - Tests: `seeds`: many seeds; `v3`: seeds with V3's table; `doctored`: changes that the checks must refuse; `rare`:
//!   situations that few seeds reach. They are in the library, so that it is compiled once.

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
mod agent_memory;
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
