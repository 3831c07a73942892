//! The tables, and the data that travels along their edges. A type with a template is the prompt of the node that takes it.

use crate::handlers::{Planner, Wave, Worker};
use askama::Template;
use interlocking::prelude::*;
use interlocking::worktree::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A run ends with the commit that has landed.
#[derive(Graph, Default)]
#[graph(output = CommitId)]
pub struct Waves {
    #[node(entry, input = Goal, output = Plan, goto(wave))]
    pub plan: LLMNode<Planner>,
    /// Once for each wave, with those that are left.
    #[node(input = Plan, map = Work, concurrency = 4, workspace = "merge", goto(wave, exit), visits = 10)]
    pub wave: MapNode<Wave>,
}

/// What is done for each task of a wave; a run ends with what is to be merged.
#[derive(Graph, Default)]
#[graph(output = CommitId)]
pub struct Work {
    #[node(entry, input = Task, output = Done, workspace = "task", goto(exit))]
    pub work: LLMNode<Worker>,
}

#[derive(Serialize, Deserialize, Template)]
#[template(path = "plan.txt")]
pub struct Goal {
    pub text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The waves, each of tasks that need nothing of each other.
    pub waves: Vec<Vec<Task>>,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema, Template)]
#[template(path = "work.txt")]
pub struct Task {
    /// A word that no other task is called.
    pub name: String,
    pub what: String,
    /// The files that the task may write, as paths below the repository.
    pub files: Vec<String>,
}

/// What an agent says of its work.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// The first line of the commit's message.
    pub subject: String,
}
