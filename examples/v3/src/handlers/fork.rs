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
            _ => cx.branch::<v3::children>(ChildrenInput { fork: input, sent_back: Vec::new() }),
        };
        fork!(cx, (tests, children))
    }
}
