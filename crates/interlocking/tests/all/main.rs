//! Tests of the executor through the facade: graphs by `#[derive(Graph)]`, run from start to end. One module
//! for each concept.

#![expect(clippy::unwrap_used, reason = "a test: what is wrong shall end it")]

#[macro_use]
#[path = "../../../interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;
#[macro_use]
mod support;

mod agents;
mod asides;
mod attempts;
mod blind_sessions;
mod backoff;
mod barrier;
mod beside;
mod bill;
mod bounds;
mod budgets;
mod cancel;
mod role_bindings;
mod cassette;
mod context;
mod conversations;
mod dropped;
mod envelope;
mod event;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod failure;
mod faltering;
mod family;
mod flow;
mod forgotten;
mod held_back;
mod halted;
mod human;
mod join;
mod isolation;
mod journal;
mod kin;
mod map;
mod memory;
mod nudges;
mod message;
mod moments;
mod on_their_way;
mod own_places;
mod places;
mod region;
mod queued;
mod resume;
mod retry;
mod retry_migrated;
mod adopted;
mod aftermath;
mod route;
mod run_turns;
mod slow;
mod session;
mod start;
mod tdd;
mod timeout;
mod unsound;
mod workspace;
