//! The Hybrid protocol as a graph: tests and implementation are written blind to each other, attacked, then verified.

pub mod types;

pub mod spec;

pub mod commit_message;
pub mod language;
pub mod paths;
pub mod requirements;
pub mod source;
pub mod prompts;
pub mod verdicts;

pub mod places;
pub mod workbench;
pub mod resolved;
pub mod conflict_markers;
pub mod mutants;
pub mod handlers;
pub mod graph;
pub mod witness;
pub mod past;
pub mod run;

pub mod demo;
pub mod stage;
