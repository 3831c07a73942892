//! An agent writes a letter, which is sent once a person has approved it.

use askama::Template;
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The graph of every run of the service.
#[derive(Graph, Default)]
#[graph(output = Letter)]
pub struct Correspondence {
    #[node(entry, input = Assignment, output = Letter, goto(approve), visits = 5)]
    write: LLMNode,
    #[node(input = Letter, question = Letter, answer = Approval, goto(write, exit))]
    approve: HumanNode<Approve>,
}

/// The entry value of a run.
#[derive(Debug, Serialize, Deserialize, Template)]
#[template(
    source = "Write a letter about {{ about }}.{% if let Some(wish) = wish %} What is wanted: {{ wish }}{% endif %}",
    ext = "txt"
)]
pub struct Assignment {
    /// The subject.
    pub about: String,
    /// What the person who read the last letter wants changed.
    #[serde(default)]
    pub wish: Option<String>,
}

/// What a run ends with, and what its person is asked to read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Letter {
    /// All of it.
    pub text: String,
}

/// What a person answers.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// Whether the letter may go out.
    pub approved: bool,
    /// What is to be otherwise, if not.
    #[serde(default)]
    pub wish: Option<String>,
}

/// Routes a person's answer.
#[derive(Default)]
struct Approve;

impl HumanHandler<correspondence::approve> for Approve {
    async fn ask(&self, letter: &Letter, _: &mut Cx<'_, correspondence::approve>) -> Result<Letter, NodeError> {
        Ok(letter.clone())
    }

    async fn answered(
        &self,
        letter: Letter,
        answer: Approval,
        cx: &mut Cx<'_, correspondence::approve>,
    ) -> Route<correspondence::approve> {
        if answer.approved {
            return goto!(cx, correspondence::exit, letter);
        }
        let about = cx.entry()?.about.clone();
        goto!(cx, correspondence::write, Assignment { about, wish: answer.wish })
    }
}
