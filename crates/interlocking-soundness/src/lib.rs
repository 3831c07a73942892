//! Decides whether a graph of [Interlocking](https://docs.rs/interlocking) is sound: whether every run of it comes to an
//! end, with nothing left behind.
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
//! What each rule means to the author of a graph is in `docs/book/src/soundness.md` in the repository; tables and verdicts as JSON are
//! in `docs/book/src/table-format.md`, and `examples/soundness.rs` is a command that turns one into the other.
//!
//! In reading order:
//!
//! - `verdict`: what is found: the rules, and the way to where one is broken.
//! - `model`: what a run can come to; `model::moves`: what a node execution does to it; `model::ahead`: which budgets still matter.
//! - `search`: the search through that, with `known` and `effort`; `check`: the searches that make a verdict.
//! - `together`, `stubborn`, `goal`: why most of it need not be searched.
//! - `writers`: who may change one workspace at once.
//! - `late`: forks with many combinations, whose branches choose late.
//! - `cycles`: cycles without a budget, which need no search.
//! - `trace`, `remedy` with `way_back`: the way in words, and what to do.
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

pub use agent_calls::{agent_calls, own_agent_calls, starts};
#[doc(hidden)]
pub use check::decide;
pub use check::{DEFAULT_LIMIT, check, check_within};
pub use interlocking_core::agent_calls::AgentCalls;
pub use verdict::{Rule, Step, Verdict, Violation};
