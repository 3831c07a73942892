//! The graph's routing table, and the types of the values that it carries. If the input of an agent's node has a template, the
//! rendered template is the prompt.

use crate::handlers::{Collect, Judge, Share};
use askama::Template;
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Graph, Default)]
#[graph(output = Answer)]
pub struct BestOfThree {
    #[node(entry, input = String, fork(brief, careful, bold))]
    pub share: ForkNode<Share>,
    #[node(input = Question, output = Answer, goto(collect))]
    pub brief: LLMNode,
    #[node(input = Question, output = Answer, goto(collect))]
    pub careful: LLMNode,
    #[node(input = Question, output = Answer, goto(collect))]
    pub bold: LLMNode,
    #[node(join(brief: Answer, careful: Answer, bold: Answer), goto(judge))]
    pub collect: JoinNode<Collect>,
    #[node(input = Candidates, output = Verdict, goto(exit))]
    pub judge: LLMNode<Judge>,
}

#[derive(Serialize, Deserialize, Template)]
#[template(path = "answer.txt")]
pub struct Question {
    pub manner: String,
    pub question: String,
}

/// What a run ends with.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    pub text: String,
}

#[derive(Serialize, Deserialize, Template)]
#[template(path = "judge.txt")]
pub struct Candidates {
    pub question: String,
    pub answers: Vec<Answer>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The number of the best answer, from 1.
    pub best: usize,
}
