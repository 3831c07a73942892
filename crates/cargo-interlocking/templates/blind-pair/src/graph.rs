//! The graph's routing table, and the types of the values that it carries. If the input of an agent's node has a template, the
//! rendered template is the prompt.

use crate::handlers::{Author, Merge, Share};
use askama::Template;
use interlocking::prelude::*;
use interlocking::worktree::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The output is the commit that has landed.
#[derive(Graph, Default)]
#[graph(output = CommitId)]
pub struct BlindPair {
    #[node(entry, input = String, fork(program, check))]
    pub share: ForkNode<Share>,
    #[node(input = Order, output = Done, workspace = "program", blind_to(check), goto(merge))]
    pub program: LLMNode<Author>,
    #[node(input = Order, output = Done, workspace = "check", blind_to(program), goto(merge))]
    pub check: LLMNode<Author>,
    #[node(join(program: CommitId, check: CommitId), workspace = "merge", goto(exit))]
    pub merge: JoinNode<Merge>,
}

#[derive(Serialize, Deserialize, Template)]
#[template(path = "order.txt")]
pub struct Order {
    pub part: String,
    pub file: String,
    pub task: String,
}

/// What an agent says of its work.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// The first line of the commit's message.
    pub subject: String,
}
