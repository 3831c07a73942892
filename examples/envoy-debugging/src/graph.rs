//! The routing table.

use crate::handlers::{CleanUp, Fix, Investigate, Merge};
use crate::prompts::{FixPrompt, InvestigatePrompt};
use crate::site::Site;
use interlocking::envoy::{Library, ProtocolName, StepKey};
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::error::Error;

/// What is wrong.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bug {
    /// What is seen.
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

/// What the fix is to follow from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// What the logs told.
    pub findings: Findings,
    /// What the project's check said of the fix before this one, once the logs were gone.
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

/// A bug is investigated with logs and fixed by an agent that follows the `debugging` protocol. What the protocol leaves to
/// a machine, a machine does: the logs are removed, the project is checked after that, and only then is anything merged.
#[derive(Graph)]
#[graph(output = Fixed)]
pub struct Debugging {
    /// Steps 6 to 6.2: logs.
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
    /// Where the protocol cannot be resolved, or lacks a step that a prompt includes: then there is no graph, and so nothing
    /// that could be run.
    pub fn new(library: &Library, site: &Site) -> Result<Self, Box<dyn Error>> {
        let protocol = library.resolve(&"debugging".parse::<ProtocolName>()?)?;
        let steps = |first: &str, last: &str| -> Result<_, Box<dyn Error>> {
            Ok(protocol.excerpt(first.parse::<StepKey>()?, last.parse()?)?)
        };
        Ok(Self {
            investigate: LLMNode(Investigate { steps: steps("6", "6.2")? }),
            fix: LLMNode(Fix { steps: steps("7", "7")? }),
            clean_up: LogicNode(CleanUp { site: site.clone() }),
            merge: LogicNode(Merge { site: site.clone() }),
        })
    }
}
