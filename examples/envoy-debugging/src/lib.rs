//! A graph whose agent follows a protocol: `debugging`, as `envoy protocol debugging` prints it.
//!
//! The prompts include the steps that their node is about, so the agent reads them as a person would; the mechanical steps of the
//! protocol are nodes of their own. A project's own `.claude/protocols/debugging.yaml` replaces the built-in protocol. If it
//! cannot be resolved, no graph is made.
//!
//! Read `graph` first, then `handlers`, `prompts` and `site`.

mod graph;
mod prompts;
mod handlers;
mod site;
#[cfg(test)]
mod routes;

pub use graph::{Bug, Debugging, Findings, Fixed, Task, Walkthrough};
pub use site::Site;

use interlocking::agents::{Script, ScriptedAgent};
use interlocking::envoy::Library;
use interlocking::prelude::*;
use interlocking::runtime::workspaces::Directories;
use std::error::Error;
use std::sync::Arc;

/// The bug of the demonstration.
pub fn bug() -> Bug {
    Bug { symptom: "tide.sh is wrong after six hours".to_owned() }
}

/// A run of the graph in which a scripted agent plays the developer.
///
/// # Errors
///
/// If the protocol cannot be resolved.
pub fn demonstration(
    library: &Library,
    site: &Site,
    agent: Arc<ScriptedAgent>,
) -> Result<Run<Debugging>, Box<dyn Error>> {
    let workspaces = Directories::new().with("worktree", site.worktree.path());
    let graph = Debugging::new(library, site)?;
    Ok(Run::new(graph).with_agent("developer", agent).with_workspaces(Arc::new(workspaces)))
}

/// The agent of the demonstration.
///
/// # Errors
///
/// If its script cannot be read, which would be a mistake in this crate.
pub fn developer() -> Result<Arc<ScriptedAgent>, Box<dyn Error>> {
    let script = Script::parse("demo/script.toml", include_str!("../demo/script.toml"))?;
    Ok(Arc::new(ScriptedAgent::new(script)))
}
