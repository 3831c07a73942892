//! What agents are asked, and the document as it is first written: templates over borrowed data. The sentences are ours.

use crate::document::Field;
use crate::graph::{Assignment, Request};
use crate::protocol::agent::{AgentLetter, Post};
use crate::protocol::plan::{Contract, Plan, PlannedAgent};
use askama::Template;

/// Asks the scout for a plan (SAW-97).
#[derive(Debug, Template)]
#[template(path = "scout.md", escape = "none")]
pub struct ScoutPrompt<'a> {
    /// What is wanted.
    pub request: &'a Request,
}

/// Sends an agent to work: where it has to be, and then its section of the document as it is written there (SAW-42, SAW-98).
#[derive(Debug, Template)]
#[template(path = "agent.md", escape = "none")]
pub struct AgentLaunch<'a> {
    /// Which agent, and its section.
    pub assignment: &'a Assignment,
    /// What it runs before it touches anything.
    pub preflight: Preflight,
}

/// Shell commands that fail where an agent is in the wrong place (SAW-41, SAW-57): it is sent to the right one first.
#[derive(Clone, Debug, PartialEq, Eq, Template)]
#[template(path = "preflight.sh", escape = "none")]
pub struct Preflight {
    /// Where the worktree is, quoted for a shell.
    path: String,
    /// Its branch.
    branch: String,
}

impl Preflight {
    /// For an agent in that place.
    pub fn new(path: &std::path::Path, post: &Post) -> Self {
        let path = path.to_string_lossy().replace('\'', r"'\''");
        Self { path: format!("'{path}'"), branch: post.label() }
    }
}

/// The document of a plan that is suitable.
#[derive(Debug, Template)]
#[template(path = "impl.md", escape = "none")]
pub(crate) struct ImplDocument<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) suitability: String,
    pub(crate) status: String,
    pub(crate) waves: String,
    pub(crate) contracts: String,
    pub(crate) prompts: String,
}

/// The document of one that is not.
#[derive(Debug, Template)]
#[template(path = "not_suitable.md", escape = "none")]
pub(crate) struct NotSuitableDocument<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) suitability: String,
}

/// What an agent's prompt is stamped from (SAW-66).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PromptFields<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) agent: &'a PlannedAgent,
    pub(crate) post: &'a Post,
}

/// One field of a prompt.
#[derive(Debug, Template)]
#[template(path = "prompt_field.md", escape = "none")]
struct PromptField<'a> {
    field: Field,
    agent: &'a PlannedAgent,
    post: &'a Post,
    provides: Vec<&'a Contract>,
    calls: Vec<&'a Contract>,
}

impl<'a> PromptFields<'a> {
    /// What a field says.
    pub(crate) fn field(&self, field: Field) -> Result<String, askama::Error> {
        let Self { plan, agent, post } = *self;
        let letter: &AgentLetter = &agent.agent;
        let provides = plan.contracts.iter().filter(|contract| contract.provided_by.as_ref() == Some(letter)).collect();
        let calls = plan.contracts.iter().filter(|contract| contract.called_by.contains(letter)).collect();
        let text = PromptField { field, agent, post, provides, calls }.render()?;
        Ok(text.trim().to_owned())
    }
}
