//! V3 as a graph: test-driven development as a recursive tree.
//!
//! A node of the tree makes a scaffold of its work, and splits the work if it is too much for one node. Its children run the same
//! graph, each on a branch of its own. Agents write tests that fail, then code that makes them pass. The result is reviewed,
//! squashed into one commit, judged by the parent, and merged into the parent's branch. Then siblings are rebased. Agents' claims
//! are checked on disk, in git, or by a command.
//!
//! # Map
//!
//! | what | where |
//! |---|---|
//! | the routing table | [`graph`] |
//! | payloads | [`types`] |
//! | memories of nodes | [`memory`] |
//! | prompts | [`prompts`] |
//! | checks of agents' answers | [`checks`] |
//! | builds, tests, files of commits | [`workbench`] |
//! | handlers | [`handlers`] |
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
