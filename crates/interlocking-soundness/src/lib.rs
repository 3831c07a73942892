//! Decides whether a graph of [Interlocking](https://docs.rs/interlocking) is sound: whether every run of it ends, and
//! leaves no token behind.
//!
//! ```
//! use interlocking_core::net::Net;
//! use interlocking_core::table::{NodeKind, NodeRow, Table};
//! use interlocking_soundness::{Rule, Verdict, check};
//!
//! let logic = |name: &str| NodeRow::new(name, NodeKind::Logic);
//! let table = Table::new("Release", "Report")
//!     .with(logic("plan").entry().fork(&["code", "docs"], &[]))
//!     .with(logic("code").goto("gate.code", &[]))
//!     .with(logic("docs").goto("gate.docs", &[]).goto("exit", &["*"]))
//!     .with(
//!         NodeRow::new("gate", NodeKind::Join)
//!             .slot("code", "Code", &["code"], false)
//!             .slot("docs", "Docs", &["docs"], false)
//!             .goto("code", &[])
//!             .goto("exit", &[])
//!             .visits(3),
//!     );
//! let Verdict::Unsound { violations } = check(&Net::new(table)?) else { panic!("a join is starved") };
//! assert_eq!(violations[0].to_string(), "join `gate` can wait for ever
//! help: entry → plan → {code, docs} → gate → code → gate, which still needs `docs`
//! help: let `gate` continue on both: `fork(code, docs)`");
//! # Ok::<(), interlocking_core::net::NetError>(())
//! ```
//!
//! In the repository, `docs/book/src/soundness.md` explains each rule to authors of graphs, and
//! `docs/book/src/table-format.md` describes tables and verdicts as JSON. `examples/soundness.rs` is a command that
//! reads a table and prints its verdict.
//!
//! In reading order:
//!
//! - `verdict`: the result: the rules, and the path to where a rule is broken.
//! - `model`: the states that a run can reach; `model::moves`: the effect of a node execution on a state;
//!   `model::ahead`: which budgets still matter.
//! - `search`: the search through these states, with `known` and `effort`; `check`: the searches that make up a
//!   verdict.
//! - `together`, `stubborn`, `goal`: the reductions, which leave out most states.
//! - `writers`: the nodes that may change one workspace at the same time.
//! - `late`: forks with many combinations, whose branches choose their targets late.
//! - `cycles`: cycles without a budget, which need no search.
//! - `trace`, `remedy` with `way_back`: the path in words, and the suggested change.
//! - `agent_calls`: how many agent calls a run can make at worst, with `linear` and `witness`.

mod verdict;
mod model;
mod search;
mod known;
mod effort;
mod check;
mod together;
mod writers;
mod stubborn;
mod goal;
mod late;
mod cycles;
mod trace;
mod remedy;
mod way_back;
mod agent_calls;
mod linear;
mod witness;
#[cfg(test)]
mod documentation;

pub use agent_calls::{agent_calls, own_agent_calls, starts};
#[doc(hidden)]
pub use check::decide;
pub use check::{DEFAULT_LIMIT, check, check_within};
pub use interlocking_core::agent_calls::AgentCalls;
pub use verdict::{Rule, Step, Verdict, Violation};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
