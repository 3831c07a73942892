//! Payloads: a specification, and for each node its input and the possible answers of its agent.
//!
//! In JSON, names of fields are in camel case, and a variant of an agent's answer is an object with one field of its name.

pub mod node_id;
pub mod spec;
pub mod shared;
pub mod lineage;
pub mod scaffold;
pub mod tdd;
pub mod implementation;
pub mod merge;
pub mod rebase;
pub mod children;
pub mod outcome;
