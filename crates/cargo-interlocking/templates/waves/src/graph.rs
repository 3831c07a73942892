//! The graphs' routing tables, and the types of the values that they carry. If the input of an agent's node has a template, the
//! rendered template is the prompt.

use crate::handlers::{Planner, Wave, Worker};
use askama::Template;
use interlocking::prelude::*;
use interlocking::worktree::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The output is the commit that has landed.
#[derive(Graph, Default)]
#[graph(output = CommitId)]
pub struct Waves {
    #[node(entry, input = Goal, output = Plan, goto(wave))]
    pub plan: LLMNode<Planner>,
    /// Visited once for each wave. The input is the plan of the remaining waves.
    #[node(input = Plan, map = Work, concurrency = 4, workspace = "merge", goto(wave, exit), visits = 10)]
    pub wave: MapNode<Wave>,
}

/// The child graph, which is run once for each task of a wave. Its output is the commit to merge.
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
    /// The waves. The tasks of one wave do not depend on each other.
    pub waves: Vec<Vec<Task>>,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema, Template)]
#[template(path = "work.txt")]
pub struct Task {
    /// A single word, unique among the tasks.
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
