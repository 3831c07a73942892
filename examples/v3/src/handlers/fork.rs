//! The fork: tests and children begin at once.

use super::Fork;
use crate::graph::v3;
use crate::types::children::{ChildrenInput, Merges};
use crate::types::scaffold::ForkInput;
use crate::types::tdd::WriteTestsInput;
use interlocking::prelude::*;

impl ForkHandler<v3::fork> for Fork {
    async fn fork(&self, input: ForkInput, cx: &mut Cx<'_, v3::fork>) -> Route<v3::fork> {
        cx.update_memory(|memory| memory.awaits_fork = false);
        let tests = WriteTestsInput {
            spec: input.spec.clone(),
            scaffold: (&input.work).into(),
            feedback: None,
            adaptations: Vec::new(),
            merge_rejection: None,
            judgement: None,
            violations: Vec::new(),
        };
        let children = match input.work.children() {
            [] => cx.branch::<v3::barrier_merges>(Merges::default()),
            _ => {
                // What a child had merged before it was sent back is still there.
                let sent_back = cx.input_of::<v3::children>().map(|earlier| earlier.sent_back).unwrap_or_default();
                cx.branch::<v3::children>(ChildrenInput { fork: input, sent_back, is_new: true })
            }
        };
        fork!(cx, (tests, children))
    }
}
