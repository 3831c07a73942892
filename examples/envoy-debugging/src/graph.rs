//! The routing table.

use crate::handlers::{CleanUp, Fix, Investigate, Merge};
use crate::prompts::{FixPrompt, InvestigatePrompt};
use crate::site::Site;
use interlocking::envoy::{Library, ProtocolName, StepKey};
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::error::Error;

/// The bug to fix.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bug {
    /// Its symptom.
    pub symptom: String,
}

/// What the logs told.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Findings {
    /// What may be the cause.
    pub hypothesis: String,
    /// What was logged.
    pub logs: Vec<String>,
}

/// The input of the fix.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// What the logs showed.
    pub findings: Findings,
    /// The output of the project's check for the previous fix, once the logs were removed.
    pub feedback: Option<String>,
}

/// What the agent says it did.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Walkthrough {
    /// In its own words.
    pub walkthrough: String,
}

/// A fix that holds without the logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fixed {
    /// The commit that the project's branch is at.
    pub commit: String,
}

/// An agent that follows the `debugging` protocol investigates a bug with logs and fixes it. The mechanical steps of the protocol
/// are nodes: the logs are removed, the project is checked after that, and only then is anything merged.
#[derive(Graph)]
#[graph(output = Fixed)]
pub struct Debugging {
    /// Steps 6 and 6.1: logs.
    #[node(entry, input = Bug, prompt = InvestigatePrompt<'_>, output = Findings, agent = "developer",
        workspace = "worktree", goto(fix))]
    pub(crate) investigate: LLMNode<Investigate>,
    /// Step 7: the fix.
    #[node(input = Task, prompt = FixPrompt<'_>, output = Walkthrough, agent = "developer", workspace = "worktree",
        visits = 3, goto(clean_up))]
    pub(crate) fix: LLMNode<Fix>,
    /// Step 13.1: the removal, and the check that has to come after it.
    #[node(input = Walkthrough, goto(merge, fix))]
    pub(crate) clean_up: LogicNode<CleanUp>,
    /// Step 14.
    #[node(input = Fixed, goto(exit))]
    pub(crate) merge: LogicNode<Merge>,
}

impl Debugging {
    /// The graph, with the protocol in it.
    ///
    /// # Errors
    ///
    /// If the protocol cannot be resolved, or lacks a step that a prompt includes: then no graph is made, and nothing can be run.
    pub fn new(library: &Library, site: &Site) -> Result<Self, Box<dyn Error>> {
        let protocol = library.resolve(&"debugging".parse::<ProtocolName>()?)?;
        let steps = |first: &str, last: &str| -> Result<_, Box<dyn Error>> {
            Ok(protocol.excerpt(first.parse::<StepKey>()?, last.parse()?)?)
        };
        Ok(Self {
            investigate: LLMNode(Investigate { steps: steps("6", "6.1")? }),
            fix: LLMNode(Fix { steps: steps("7", "7")? }),
            clean_up: LogicNode(CleanUp { site: site.clone() }),
            merge: LogicNode(Merge { site: site.clone() }),
        })
    }
}
