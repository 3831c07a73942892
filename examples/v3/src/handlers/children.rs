//! The children: runs of the same graph, one a child.

use super::RunChildren;
use super::places::{SKELETON, heads, is_merge_of_run, node_info};
use crate::graph::{V3, v3};
use crate::types::children::{ChildEnded, ChildSentBack, ChildrenInput, IntegrateInput};
use crate::types::lineage::{Lineage, ParentContext};
use crate::types::outcome::{Failed, V3Outcome};
use crate::types::scaffold::{InitWork, ScaffoldInput};
use crate::types::spec::ChildSpec;
use interlocking::prelude::*;
use interlocking::workspaces::{FilePath, in_repository, text_at};
use sha2::{Digest, Sha256};
use std::sync::Arc;

impl MapHandler<v3::children> for RunChildren {
    fn graph(&self, cx: &Cx<'_, v3::children>) -> Result<Arc<V3>, NodeError> {
        Ok(cx.own_graph()?)
    }

    async fn items(&self, input: &ChildrenInput, cx: &mut Cx<'_, v3::children>) -> Result<Vec<Item<V3>>, NodeError> {
        let fork = &input.fork;
        let (scaffold, repository) = (cx.worktree_of(SKELETON).await?.head(), cx.repository()?);
        let parent = node_info(cx, &fork.spec.id).await?;
        let above = cx.entry()?.lineage.clone();
        let mut interface_files = above.interface_files;
        let own = fork.work.interface_files();
        let mut interface = String::new();
        for file in &own {
            let text = text_at(repository.clone(), scaffold, file).await?.unwrap_or_default();
            interface.push_str(&format!("// {file}\n{}\n\n", text.trim_end()));
        }
        let interface = interface.trim_end().to_owned();
        interface_files.extend(own);
        let failed = if input.is_new { not_merged(cx).await? } else { Vec::new() };
        let mut items = Vec::new();
        for child in fork.work.children() {
            let back = sent_back(&input.sent_back, child);
            let key = key(child)?;
            let failed = failed.iter().rfind(|(of, _)| *of == key).map(|(_, run)| run);
            // Of the runs of one child only the latest is run again.
            let again = failed.or(back.map(|back| &back.run));
            let assigned_criteria = child.acceptance_criteria.iter().map(|criterion| criterion.id.clone()).collect();
            let entry = ScaffoldInput {
                parent_context: Some(ParentContext { interface: interface.clone(), assigned_criteria }),
                lineage: Lineage {
                    parent: Some(parent.clone()),
                    session: Some(fork.session.clone()),
                    interface_files: interface_files.clone(),
                    tests_of_others: tests_of_others(&fork.work, child, &above.tests_of_others),
                    sent_back: back.map(|back| back.why.clone()),
                },
                ..ScaffoldInput::from(child.to_spec(&fork.spec))
            };
            let item = Item::new(entry).with_key(key);
            items.push(match again {
                Some(run) => item.anew_after(run),
                None => item,
            });
        }
        Ok(items)
    }

    async fn gather(
        &self,
        input: ChildrenInput,
        children: Children<V3>,
        cx: &mut Cx<'_, v3::children>,
    ) -> Route<v3::children> {
        let ended = children.all().await.into_iter().zip(input.fork.work.children()).map(|(child, spec)| {
            let failed = |failure: interlocking::failure::ChildFailure| {
                V3Outcome::Failed(Failed { node: "children".to_owned(), reason: failure.to_string() })
            };
            ChildEnded { node_id: spec.id.clone(), run: child.run, outcome: child.result.unwrap_or_else(failed) }
        });
        let children = ended.collect();
        goto!(cx, v3::integrate, IntegrateInput { fork: input.fork, children, sent_back: input.sent_back })
    }
}

/// The last time that a child was sent back.
fn sent_back<'a>(all: &'a [ChildSentBack], child: &ChildSpec) -> Option<&'a ChildSentBack> {
    all.iter().rfind(|back| back.node_id == child.id)
}

/// The runs of children that have ended on earlier scaffolds without being merged, each with its key. They run again on another
/// one, which may have what they lacked, or the answer to their question. No node may have heard of their outcomes: a scaffold
/// that is made again stops the children that are still at work, and the results of the others with them.
async fn not_merged(cx: &mut Cx<'_, v3::children>) -> Result<Vec<(String, RunId)>, NodeError> {
    let mut ended = cx.children::<v3::children>().await?;
    ended.retain(|child| child.ended.is_some());
    let (repository, at) = (cx.repository()?, heads(cx).await?);
    let commits = in_repository(repository, move |repository| Ok(repository.commits(at.base..at.head)?)).await?;
    ended.retain(|child| !commits.iter().any(|commit| is_merge_of_run(&child.run, &commit.message)));
    let runs = ended.into_iter().map(|child| (child.key, child.run)).collect();
    // A repeated execution does not count those that have ended in the first.
    cx.once("children that were not merged", std::future::ready(Ok(runs))).await
}

/// The tests that a child may not change: those that its parent may not change, its parent's contract, and its siblings' tests.
fn tests_of_others(work: &InitWork, child: &ChildSpec, above: &[FilePath]) -> Vec<FilePath> {
    let siblings = work.children().iter().filter(|sibling| sibling.id != child.id);
    let beside = siblings.map(|sibling| &sibling.test_path);
    above.iter().chain([&work.contract_suite]).chain(beside).cloned().collect()
}

/// The key that makes it the same child in another scaffold: its whole specification (CON-11).
fn key(child: &ChildSpec) -> Result<String, NodeError> {
    let digest = Sha256::digest(serde_json::to_vec(child)?);
    let digits: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}-{digits}", child.id.last_word()))
}
