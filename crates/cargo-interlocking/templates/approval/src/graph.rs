//! The table, and the data that travels along its edges. A type with a template is the prompt of the node that takes it.

use crate::handlers::Approval;
use askama::Template;
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Graph, Default)]
#[graph(output = Letter)]
pub struct Correspondence {
    #[node(entry, input = Assignment, output = Letter, goto(approve), visits = 5)]
    pub write: LLMNode,
    #[node(input = Letter, question = Question, answer = Answer, goto(write, exit))]
    pub approve: HumanNode<Approval>,
}

/// What a run starts with.
#[derive(Serialize, Deserialize, Template)]
#[template(path = "write.txt")]
pub struct Assignment {
    pub about: String,
    /// What the person who read it last wants otherwise.
    pub wish: Option<String>,
}

/// What a run ends with.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Letter {
    pub text: String,
}

/// What the person is asked.
#[derive(Serialize, Deserialize)]
pub struct Question {
    pub may_this_go_out: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    pub approved: bool,
    /// What is to be otherwise, if it is not approved.
    pub wish: Option<String>,
}
