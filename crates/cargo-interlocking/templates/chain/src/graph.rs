//! The graph's routing table, and the types of the values that it carries. If the input of an agent's node has a template, the
//! rendered template is the prompt.

use crate::handlers::{Editor, Reviewer};
use askama::Template;
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Graph, Default)]
#[graph(output = Draft)]
pub struct Article {
    #[node(entry, input = Topic, output = Outline, goto(draft))]
    pub outline: LLMNode<Editor>,
    #[node(input = Assignment, output = Draft, goto(review))]
    pub draft: LLMNode,
    #[node(input = Draft, output = Review, goto(draft, exit), visits = 3)]
    pub review: LLMNode<Reviewer>,
}

/// The input of a run.
#[derive(Serialize, Deserialize, Template)]
#[template(path = "outline.txt")]
pub struct Topic {
    pub subject: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Outline {
    pub sections: Vec<String>,
}

#[derive(Serialize, Deserialize, Template)]
#[template(path = "draft.txt")]
pub struct Assignment {
    pub subject: String,
    pub sections: Vec<String>,
    /// The reviewer's faults in the previous draft.
    pub faults: Vec<String>,
}

/// What a run ends with.
#[derive(Serialize, Deserialize, JsonSchema, Template)]
#[template(path = "review.txt")]
pub struct Draft {
    pub text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Review {
    pub faults: Vec<String>,
}
