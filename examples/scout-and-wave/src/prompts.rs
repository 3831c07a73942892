//! The prompts of agents, and the first version of the document: templates over borrowed data. The sentences are ours.

use crate::document::Field;
use crate::graph::Assignment;
use crate::protocol::agent::{AgentLetter, Post};
use crate::protocol::bootstrap::Architecture;
use crate::protocol::plan::{Contract, Plan, PlannedAgent};
use crate::protocol::state::State;
use crate::quick::QuickAssignment;
use crate::request::Brief;
use askama::Template;

/// Asks the scout for a plan (SAW-97).
#[derive(Debug, Template)]
#[template(path = "scout.md", escape = "none")]
pub struct ScoutPrompt<'a> {
    /// The task.
    pub brief: &'a Brief,
    /// The commands of the project's toolchain that agents may run.
    pub commands: Vec<String>,
}

/// Asks the scout of an empty project for a design (SAW-103).
#[derive(Debug, Template)]
#[template(path = "architect.md", escape = "none")]
pub struct ArchitectPrompt<'a> {
    /// The task.
    pub brief: &'a Brief,
    /// The commands of the project's toolchain that agents may run.
    pub commands: Vec<String>,
}

/// Sends an agent of quick mode to work: files, task, verification (SAW-102).
#[derive(Debug, Template)]
#[template(path = "quick.md", escape = "none")]
pub struct QuickPrompt<'a> {
    /// The agent, and its assignment.
    pub assignment: &'a QuickAssignment,
    /// The commands that it runs before it changes anything.
    pub preflight: Preflight,
}

/// Sends an agent to work: where it has to be, and then its section of the document as it is written there (SAW-42, SAW-98).
#[derive(Debug, Template)]
#[template(path = "agent.md", escape = "none")]
pub struct AgentLaunch<'a> {
    /// The agent, and its section.
    pub assignment: &'a Assignment,
    /// The commands that it runs before it changes anything.
    pub preflight: Preflight,
}

/// Shell commands that fail if an agent is in the wrong place (SAW-41, SAW-57); they first change to the right one. They contain
/// nothing, such as `$(…)`, for which an agent's program would ask permission.
#[derive(Clone, Debug, PartialEq, Eq, Template)]
#[template(path = "preflight.sh", escape = "none")]
pub struct Preflight {
    /// The path of the worktree, quoted for a shell.
    path: String,
    /// Its branch.
    branch: String,
}

impl Preflight {
    /// The commands for an agent in that worktree, on that branch.
    pub fn new(path: &std::path::Path, branch: &str) -> Self {
        // The path as git prints it.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let path = path.to_string_lossy().replace('\'', r"'\''");
        Self { path: format!("'{path}'"), branch: branch.to_owned() }
    }
}

/// The document of a plan that is suitable.
#[derive(Debug, Template)]
#[template(path = "impl.md", escape = "none")]
pub(crate) struct ImplDocument<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) architecture: Option<&'a Architecture>,
    pub(crate) suitability: String,
    pub(crate) status: String,
    pub(crate) waves: String,
    pub(crate) contracts: String,
    pub(crate) prompts: String,
}

/// The document of a plan that is not suitable.
#[derive(Debug, Template)]
#[template(path = "not_suitable.md", escape = "none")]
pub(crate) struct NotSuitableDocument<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) suitability: String,
}

/// The data of an agent's prompt (SAW-66).
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
    worktree: String,
    branch: String,
    is_alone: bool,
    provides: Vec<&'a Contract>,
    calls: Vec<&'a Contract>,
}

impl<'a> PromptFields<'a> {
    /// The text of a field.
    pub(crate) fn field(&self, field: Field) -> Result<String, askama::Error> {
        let Self { plan, agent, post } = *self;
        let letter: &AgentLetter = &agent.agent;
        let provides = plan.contracts.iter().filter(|contract| contract.provided_by.as_ref() == Some(letter)).collect();
        let calls = plan.contracts.iter().filter(|contract| contract.called_by.contains(letter)).collect();
        let is_alone = plan.agents_in(post.wave) == 1;
        let (worktree, branch) = (post.worktree(is_alone), post.label());
        let text = PromptField { field, agent, worktree, branch, is_alone, provides, calls }.render()?;
        Ok(text.trim().to_owned())
    }
}

/// A skill that teaches an agent to drive the program for a person: commands, answers, and what happens in between (SAW-99 to
/// SAW-101).
#[derive(Debug, Template)]
#[template(path = "skill.md", escape = "none")]
pub struct Skill<'a> {
    /// The program's name.
    program: &'a str,
    states: [State; 14],
}

impl<'a> Skill<'a> {
    /// The skill for a program of that name.
    pub fn of_program(program: &'a str) -> Self {
        Self { program, states: State::ALL }
    }
}
