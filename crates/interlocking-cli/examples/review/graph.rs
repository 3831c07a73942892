//! An agent drafts, a person decides, and what was approved is published.

use askama::Template;
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the person is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reading {
    /// The text.
    pub(crate) draft: String,
}

/// What the person says.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Verdict {
    /// Whether the text may be published as it is.
    pub(crate) approved: bool,
    /// What the writer should know, if not.
    #[serde(default)]
    pub(crate) remark: Option<String>,
}

/// The writer's task.
#[derive(Serialize, Deserialize, Template)]
#[template(source = "Write about {{ self.0 }}.", ext = "txt")]
pub(crate) struct Topic(pub(crate) String);

/// Text by an agent, read by a person.
#[derive(Graph, Default)]
#[graph(output = String)]
pub(crate) struct Review {
    /// Writes.
    #[node(entry, input = Topic, output = String, goto(read), visits = 3)]
    draft: LLMNode<Draft>,
    /// Asks a person.
    #[node(input = Reading, question = Reading, answer = Verdict, goto(publish, draft), visits = 3)]
    read: HumanNode<Read>,
    /// Hands over.
    #[node(input = String, goto(exit))]
    publish: LogicNode<Publish>,
}

#[derive(Default)]
pub(crate) struct Draft;
impl ReplyHandler<review::draft> for Draft {
    async fn after(&self, _: Topic, reply: Reply<String>, cx: &mut Cx<'_, review::draft>) -> Route<review::draft> {
        goto!(cx, review::read, Reading { draft: reply.output })
    }
}

#[derive(Default)]
pub(crate) struct Read;
impl HumanHandler<review::read> for Read {
    async fn ask(&self, input: &Reading, _: &mut Cx<'_, review::read>) -> Result<Reading, NodeError> {
        Ok(input.clone())
    }

    async fn answered(&self, input: Reading, answer: Verdict, cx: &mut Cx<'_, review::read>) -> Route<review::read> {
        match answer {
            Verdict { approved: true, .. } => goto!(cx, review::publish, input.draft),
            Verdict { remark, .. } => {
                goto!(cx, review::draft, Topic(format!("{}; {}", cx.entry()?.0, remark.unwrap_or_default())))
            }
        }
    }
}

#[derive(Default)]
pub(crate) struct Publish;
impl LogicHandler<review::publish> for Publish {
    async fn run(&self, text: String, cx: &mut Cx<'_, review::publish>) -> Route<review::publish> {
        goto!(cx, review::exit, text)
    }
}
