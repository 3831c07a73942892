//! The routing table: the protocol on one page. What the nodes do is in [`handlers`](crate::handlers).
//!
//! The protocol has five roles, each an agent of its own: `scaffold`, `tdd` (three nodes), `impl`, `merger` and `rebaser`.
//!
//! A handler goes only to the targets in its node's row, with the payload that the target takes:
//!
//! ```
//! use interlocking::prelude::*;
//! use ::v3::{graph::v3, types::merge::MergerInput};
//!
//! struct Eager;
//!
//! impl LogicHandler<v3::merge_queue> for Eager {
//!     async fn run(&self, input: MergerInput, cx: &mut Cx<'_, v3::merge_queue>) -> Route<v3::merge_queue> {
//!         goto!(cx, v3::merger, input)
//!     }
//! }
//! ```
//!
//! It does not compile with another payload (V3-123):
//!
//! ```compile_fail,E0308
//! # use interlocking::prelude::*;
//! # use ::v3::{graph::v3, types::merge::MergerInput};
//! # struct Eager;
//! # impl LogicHandler<v3::merge_queue> for Eager {
//! #     async fn run(&self, input: MergerInput, cx: &mut Cx<'_, v3::merge_queue>) -> Route<v3::merge_queue> {
//! goto!(cx, v3::merger, input.contract_suite)
//! #     }
//! # }
//! ```
//!
//! Nor does a route that the table does not have (V3-124):
//!
//! ```compile_fail,E0277
//! # use interlocking::prelude::*;
//! # use ::v3::{graph::v3, types::merge::MergerInput};
//! # struct Eager;
//! # impl LogicHandler<v3::merge_queue> for Eager {
//! #     async fn run(&self, input: MergerInput, cx: &mut Cx<'_, v3::merge_queue>) -> Route<v3::merge_queue> {
//! goto!(cx, v3::implement, cx.input_of::<v3::implement>()?)
//! #     }
//! # }
//! ```

use crate::handlers::{
    Barrier, Fork, Implement, Integrate, Judge, MergeQueue, Merger, Rebaser, Review, RunChildren, Scaffold, WriteTests,
};
use crate::memory::{ImplMem, Integration, TddMem};
use crate::prompts::{
    ImplPrompt, JudgePrompt, MergerPrompt, RebaserPrompt, ReviewPrompt, ScaffoldPrompt, WriteTestsPrompt,
};
use crate::types::children::{ChildrenInput, IntegrateInput, Merges};
use crate::types::implementation::{ImplExit, ImplInput};
use crate::types::merge::{MergeRejected, MergerExit, MergerInput};
use crate::types::outcome::V3Outcome;
use crate::types::rebase::{ParentMoved, RebaserExit};
use crate::types::scaffold::{ForkInput, ScaffoldExit, ScaffoldInput};
use crate::types::shared::Critique;
use crate::types::tdd::{JudgeInput, ReviewExit, ReviewInput, TestsReadyPayload, WriteTestsExit, WriteTestsInput};
use crate::workbench::Workbench;
use interlocking::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The tests, and what a review had found wrong before they were written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tests {
    /// The tests.
    pub ready: TestsReadyPayload,
    /// What a review had found wrong (CON-07).
    pub critiques: Vec<Critique>,
    /// Why the last candidate was rejected, if a rebase came before its implementer heard it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_rejection: Option<MergeRejected>,
}

/// One node of the tree: it splits its work, runs children for the parts, writes tests that fail and code that makes them pass,
/// and merges that into its parent's branch. Its children run the same graph.
#[derive(Graph)]
#[graph(output = V3Outcome)]
pub struct V3 {
    /// Makes the signatures and the contract, plans the tests, and splits the work if it is too much for one.
    #[node(entry, input = ScaffoldInput, prompt = ScaffoldPrompt<'_>, output = ScaffoldExit, workspace = "impl",
        goto(fork, exit), goto(scaffold), attempts = 5, exhausted(exit), memory(integration: Integration))]
    pub scaffold: LLMNode<Scaffold>,

    /// Starts the children and the tests at once; the barrier waits for both.
    #[node(input = ForkInput, fork(write_tests, children | barrier.merges), memory(integration: Integration))]
    pub fork: ForkNode<Fork>,

    /// The children: runs of this graph, each on a branch of its own, which they merge into this node's.
    #[node(input = ChildrenInput, map = V3, depth = 4, adopt, workspace = "impl", goto(integrate))]
    pub children: MapNode<RunChildren>,

    /// Runs the contract on what all children have merged.
    #[node(input = IntegrateInput, goto(barrier.merges),
        goto(children, times = 5, exhausted(exit, cancels(*))),
        goto(scaffold, times = 5, exhausted(exit, cancels(*)), cancels(write_tests, barrier)), goto(exit, cancels(*)))]
    pub integrate: LogicNode<Integrate>,

    /// Writes tests that fail on the scaffold.
    #[node(input = WriteTestsInput, prompt = WriteTestsPrompt<'_>, output = WriteTestsExit, agent = "tdd", workspace = "tests",
        goto(barrier.tests),
        goto(scaffold, times = 5, exhausted(exit, cancels(*)), cancels(children, integrate, barrier)),
        goto(write_tests), attempts = 5, exhausted(exit, cancels(*)), goto(exit, cancels(*)), memory(tdd: TddMem))]
    pub write_tests: LLMNode<WriteTests>,

    /// Waits for the tests and for all children, whose merges it keeps, and puts the tests on the branch.
    #[node(join(tests: Tests from(write_tests), merges: Merges from(integrate, fork) latched), workspace = "impl",
        goto(implement), goto(scaffold, times = 5, exhausted(exit, cancels(*)), cancels(barrier)), goto(exit, cancels(*)),
        memory(impl_mem: ImplMem))]
    pub barrier: JoinNode<Barrier>,

    /// Makes the tests pass.
    #[node(input = ImplInput, prompt = ImplPrompt<'_>, output = ImplExit, agent = "impl", workspace = "impl",
        goto(review, exit), goto(implement), attempts = 5, exhausted(exit),
        goto(scaffold, times = 5, exhausted(exit, cancels(*)), cancels(barrier)), memory(impl_mem: ImplMem))]
    pub implement: LLMNode<Implement>,

    /// Reviews the implementation.
    #[node(input = ReviewInput, prompt = ReviewPrompt<'_>, output = ReviewExit, agent = "tdd", workspace = "impl", read_only,
        goto(merge_queue, exit), goto(write_tests, times = 5, exhausted(exit, cancels(*))), memory(tdd: TddMem))]
    pub review: LLMNode<Review>,

    /// Waits until no sibling is merging, and this node's work is based on what they have merged. This node then keeps its turn
    /// until it is merged, or sent back.
    #[node(input = MergerInput, goto(merger), goto(merge_queue), attempts = 16, memory(integration: Integration))]
    pub merge_queue: LogicNode<MergeQueue>,

    /// Makes one commit of the work on the parent's branch, in a workspace of its own, and runs build, contract and all tests
    /// there.
    #[node(input = MergerInput, prompt = MergerPrompt<'_>, output = MergerExit, workspace = "candidate",
        goto(judge, exit), goto(implement, times = 5, exhausted(exit, cancels(*))), memory(integration: Integration))]
    pub merger: LLMNode<Merger>,

    /// Judges that commit for the parent before it lands, with the knowledge of the parent's scaffold session.
    #[node(input = JudgeInput, prompt = JudgePrompt<'_>, output = ReviewExit, agent = "tdd", workspace = "candidate", read_only,
        goto(exit), goto(review, times = 5, exhausted(exit, cancels(*))), goto(merger, times = 16, exhausted(exit, cancels(*))),
        memory(integration: Integration))]
    pub judge: LLMNode<Judge>,

    /// Handles a move of the parent's branch: rebases this node's work onto it, while nothing else of this node runs. A question
    /// that waits for the scaffold stays: then nothing else holds a token, and the way to the scaffold changes nothing.
    #[node(on(ParentMoved), prompt = RebaserPrompt<'_>, output = RebaserExit, workspace = "impl", resume,
        goto(scaffold, times = 5, exhausted(exit, cancels(*)),
            cancels(fork, children, integrate, write_tests, barrier, implement, review, merge_queue, merger, judge)),
        goto(write_tests, times = 16, exhausted(exit, cancels(*)),
            cancels(write_tests, barrier.tests, implement, review, merge_queue, judge, merger)),
        goto(exit, cancels(*)), memory(integration: Integration))]
    pub rebaser: EventNode<Rebaser>,
}

impl V3 {
    /// The graph with handlers that work on `workbench`.
    pub fn new(workbench: &Arc<Workbench>) -> Self {
        let bench = || workbench.clone();
        Self {
            scaffold: LLMNode(Scaffold(bench())),
            fork: ForkNode(Fork),
            children: MapNode(RunChildren),
            integrate: LogicNode(Integrate(bench())),
            write_tests: LLMNode(WriteTests(bench())),
            barrier: JoinNode(Barrier),
            implement: LLMNode(Implement(bench())),
            review: LLMNode(Review(bench())),
            merge_queue: LogicNode(MergeQueue),
            merger: LLMNode(Merger(bench())),
            judge: LLMNode(Judge),
            rebaser: EventNode(Rebaser(bench())),
        }
    }
}
