//! V3 as a graph: test-driven development as a recursive tree.
//!
//! A node of the tree makes a scaffold of its work, and splits it if it is too much for one. Its children run the same graph, each on a
//! branch of its own; tests are written that fail, and then what makes them pass; that is reviewed, squashed into one commit, judged by the
//! parent, and merged into the parent's branch. Siblings are rebased then. What an agent claims is looked up on disk, in git, or by a
//! command.
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | the routing table | [`graph`] |
//! | what travels | [`types`] |
//! | what nodes remember | [`memory`] |
//! | what agents are asked | [`prompts`] |
//! | what is held against their answers | [`checks`] |
//! | builds, tests, files of commits | [`workbench`] |
//! | what nodes do | [`handlers`] |
//! | a run on a repository | [`run`] |
//! | the demonstration | [`demo`] |

pub mod types;
pub mod memory;
pub mod prompts;
pub mod checks;
pub mod workbench;
pub mod handlers;
pub mod graph;
pub mod run;
pub mod demo;
