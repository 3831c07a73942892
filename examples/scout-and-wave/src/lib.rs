//! Scout-and-Wave as a graph: a scout reads a project and plans, a person approves, and waves of agents work side by side, each in a
//! worktree of its own. Each wave is merged on a staging branch, verified, and lands whole.

pub mod protocol;
pub mod document;
pub mod people;
pub mod request;
pub mod quick;
pub mod prompts;
pub mod workbench;
pub mod handlers;
pub mod graph;
pub mod run;
pub mod demo;
