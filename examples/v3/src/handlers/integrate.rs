//! Integration: the contract on what all children have merged.

use super::Integrate;
use super::places::IMPL;
use crate::graph::v3;
use crate::types::children::{ChildFailed, ChildSentBack, ChildrenInput, IntegrateInput, Merges};
use crate::types::lineage::SentBack;
use crate::types::outcome::{Failed, V3Outcome};
use crate::types::scaffold::Clarification;
use interlocking::prelude::*;

impl LogicHandler<v3::integrate> for Integrate {
    async fn run(&self, input: IntegrateInput, cx: &mut Cx<'_, v3::integrate>) -> Route<v3::integrate> {
        let mut merges = Merges { is_split: true, ..Merges::default() };
        for child in &input.children {
            match &child.outcome {
                V3Outcome::Merged(merge) => merges.merged.push(merge.clone()),
                // V3-45: a child's question is passed on to its parent's planner.
                V3Outcome::ClarificationNeeded(needed) => {
                    let why = Clarification::SpecAmbiguity {
                        spec_sentence: needed.spec_sentence.clone(),
                        contradiction_trace: format!("{} cannot begin: {}", child.node_id, needed.ambiguity_reference),
                        question: needed.question.clone(),
                    };
                    return goto!(cx, v3::scaffold, cx.input_of::<v3::scaffold>()?.asked_again(why));
                }
                outcome => {
                    let (node_id, why) = (child.node_id.clone(), outcome.to_string());
                    merges.failed.push(ChildFailed { node_id, why });
                }
            }
        }
        let head = cx.worktree_of(IMPL).await?.head();
        let contract = &input.fork.work.contract_suite;
        let verdict = self.0.suite(&cx.fresh_checkout(head).await?, contract, &[]).await?;
        if verdict.is_free_of_failures() {
            return goto!(cx, v3::barrier_merges, merges);
        }
        let broken = verdict.broken();
        let mut sent_back = input.sent_back;
        let before = sent_back.len();
        let names: Vec<&str> = input.children.iter().map(|child| child.node_id.last_word()).collect();
        for child in &input.children {
            let V3Outcome::Merged(merge) = &child.outcome else { continue };
            let is_named = |test: &&String| names_child(test, child.node_id.last_word(), &names);
            let failing_tests: Vec<String> = broken.iter().filter(is_named).cloned().collect();
            if !failing_tests.is_empty() {
                let why = SentBack { merge_commit: merge.merge_commit, failing_tests, details: verdict.details() };
                sent_back.push(ChildSentBack { node_id: child.node_id.clone(), run: child.run.clone(), why });
            }
        }
        if sent_back.len() == before {
            let reason = format!(
                "the contract {contract} fails on what the children have merged, and no test that fails names a child:\n{}",
                verdict.details()
            );
            return goto!(cx, v3::exit, V3Outcome::Failed(Failed { node: "integrate".to_owned(), reason }));
        }
        goto!(cx, v3::children, ChildrenInput { fork: input.fork, sent_back, is_new: false })
    }
}

/// Whether a test's name contains a child's name as a word: `contract_codec_round_trip`. What is part of a longer child's name is
/// that child's: `contract_url_store_gets` names `url-store`, and not `store`.
fn names_child(test: &str, child: &str, children: &[&str]) -> bool {
    let word = |name: &str| format!("_{}_", name.replace('-', "_"));
    let child = word(child);
    let mut rest = format!("_{}_", test.replace("::", "_"));
    let longer = children.iter().map(|name| word(name)).filter(|name| *name != child && name.contains(&child));
    for longer in longer {
        while rest.contains(&longer) {
            rest = rest.replacen(&longer, "_:_", 1);
        }
    }
    rest.contains(&child)
}
