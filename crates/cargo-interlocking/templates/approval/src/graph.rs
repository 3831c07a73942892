//! The graph's routing table, and the types of the values that it carries. If the input of an agent's node has a template, the
//! rendered template is the prompt.

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

/// The input of the node `write`, and of a run.
#[derive(Serialize, Deserialize, Template)]
#[template(path = "write.txt")]
pub struct Assignment {
    pub about: String,
    /// The change for which the person asked after reading the last letter.
    pub wish: Option<String>,
}

/// What a run ends with.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Letter {
    pub text: String,
}

/// The question to the person.
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
