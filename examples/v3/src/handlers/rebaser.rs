//! Rebaser: the parent's branch has moved, and this node's branch follows. Nothing else of this node runs meanwhile, except its
//! children, and none of them is merged.

use super::Rebaser;
use super::claims::{forbidden, interface_changes, uncommitted};
use super::endings::undecided;
use super::merge_queue::{give_turn_back, hold_off_children};
use super::places::{Heads, changed_sources, heads, is_test, node_info};
use super::rebase::{Moved, onto, restore};
use crate::graph::v3;
use crate::prompts::RebaserPrompt;
use crate::types::rebase::{ParentMoved, RebaseAdapted, RebaseClean, RebaseConflict, RebaserExit, RebaserInput};
use crate::types::scaffold::Clarification;
use crate::types::shared::{ImpactLevel, MergeEvent};
use crate::types::spec::Spec;
use crate::types::tdd::{TestsFeedback, WriteTestsInput};
use crate::workbench::Verdict;
use interlocking::agents::AgentError;
use interlocking::prelude::*;
use interlocking::rust_source::{Rebased, rewritten_by_rebase};
use interlocking::workspaces::{FilePath, changed_paths, is_ancestor, text_at};
use interlocking::worktree::{CommitId, Repository};
use std::collections::HashSet;

impl EventHandler<v3::rebaser> for Rebaser {
    async fn handle(&self, moved: ParentMoved, cx: &mut Cx<'_, v3::rebaser>) -> Route<v3::rebaser> {
        let event = moved.merge_event.clone();
        cx.update_memory(move |memory| {
            memory.heard.push(event.clone());
            memory.ahead.push(event.clone());
        });
        if cx.has_mail().await? {
            // Later messages are waiting: the branch is moved once, onto the last merge.
            return cx.resume();
        }
        hold_off_children(cx).await?;
        let ahead = cx.memory().ahead;
        cx.update_memory(|memory| memory.ahead.clear());
        let (_, target) = cx.target().await?;
        // The parent's branch may have been reset since.
        let to = match is_ancestor(cx.repository()?, moved.new_parent_head, target).await? {
            true => moved.new_parent_head,
            false => target,
        };
        let from = heads(cx).await?;
        if is_ancestor(cx.repository()?, to, from.head).await?
            && is_ancestor(cx.repository()?, from.skeleton, from.head).await?
        {
            return cx.resume();
        }
        let id = cx.entry()?.spec.id.clone();
        cx.note(format!("moves {id} onto what {} has merged", authors(&ahead)));
        let (now, gave_way) = match onto(cx, from, to).await? {
            Moved::To { heads, gave_way } => (heads, gave_way),
            Moved::Refused { file, why } => return conflict(file, &ahead, why, cx),
        };
        let failing = self.newly_failing(from.head, now.head, cx).await?;
        if gave_way.is_empty() && failing.is_empty() {
            cx.label(&RebaserExit::RebaseClean(RebaseClean { new_base: to }));
            tell_children(&ahead, now.head, cx).await?;
            return cx.resume();
        }
        let taken = cx.input_of::<v3::fork>().ok().filter(|_| !cx.memory().awaits_fork);
        let fork = match taken {
            // An agent adapts what is implemented, and the tests are written on the scaffold.
            Some(fork) if self.0.build(&cx.fresh_checkout(now.skeleton).await?).await?.passed() => fork,
            // The node that makes the scaffold again sees both sides.
            _ => {
                restore(cx, from).await?;
                let file = gave_way.into_iter().next().unwrap_or_default();
                let failing =
                    if failing.is_empty() { String::new() } else { format!("; failing: {}", failing.join(", ")) };
                return conflict(file, &ahead, format!("the scaffold does not fit what is there now{failing}"), cx);
            }
        };
        let input = RebaserInput {
            node: node_info(cx, &id).await?,
            parent_branch: moved.parent_branch.clone(),
            new_parent_head: to,
            merge_event: moved.merge_event.clone(),
        };
        let impact = ahead.iter().map(|event| event.impact_level).fold(ImpactLevel::Trivial, ImpactLevel::max);
        let before = ahead.split_last().map_or(&[][..], |(_, before)| before);
        let interface_file = &fork.work.interface_file;
        let prompt = RebaserPrompt {
            input: &input,
            before,
            impact,
            gave_way: gave_way.clone(),
            failing_tests: failing,
            interface_file,
        };
        let session = SessionOp::ForkFrom { parent: fork.session, slug: Slug::new("rebaser")? };
        let reply = match cx.converse(prompt, session).await {
            Ok(reply) => reply,
            Err(error) => {
                let stuck = undecided(*error.downcast::<AgentError>()?, cx.attempt())?;
                restore(cx, from).await?;
                return goto!(cx, v3::exit, stuck);
            }
        };
        cx.label(&reply.output);
        let known = cx.worktree().await?.head();
        let (new_base, adaptations) = match reply.output {
            RebaserExit::RebaseConflict(RebaseConflict {
                conflict_file,
                our_change,
                their_change,
                why_unresolvable,
            }) => {
                restore(cx, from).await?;
                let conflict_file = conflict_file.to_string();
                return ask_scaffold(
                    Clarification::RebaseConflict { conflict_file, our_change, their_change, why_unresolvable },
                    cx,
                );
            }
            RebaserExit::RebaseClean(RebaseClean { new_base }) => (new_base, None),
            RebaserExit::RebaseAdapted(RebaseAdapted { new_base, adaptations }) => (new_base, Some(adaptations)),
        };
        if new_base != to {
            cx.note(format!("the agent says that the branch stands on {new_base}, and it stands on {to}"));
        }
        if let Some(why) = self.not_mechanical((from, now, &gave_way), cx).await? {
            restore(cx, from).await?;
            return ask_scaffold(
                Clarification::RebaseConflict {
                    conflict_file: fork.spec.target_path.to_string(),
                    our_change: "what was adapted is more than mechanical.".to_owned(),
                    their_change: format!("{} was merged.", authors(&ahead)),
                    why_unresolvable: why,
                },
                cx,
            );
        }
        let head = cx.worktree().await?.head();
        tell_children(&ahead, head, cx).await?;
        if adaptations.is_none() && head == known {
            return cx.resume();
        }
        give_turn_back(cx);
        let has_tests = now.tests != now.skeleton;
        let tests = WriteTestsInput {
            spec: fork.spec,
            scaffold: (&fork.work).into(),
            feedback: has_tests.then(TestsFeedback::default),
            adaptations: adaptations.unwrap_or_default(),
            merge_rejection: cx.memory().rejection,
            judgement: cx.memory().refusal,
            violations: Vec::new(),
        };
        goto!(cx, v3::write_tests, tests)
    }
}

impl Rebaser {
    /// The tests that fail at the branch's new head, and did not before (V3-104). A failed build counts as one, and so do tests
    /// without a verdict.
    async fn newly_failing(
        &self,
        before: CommitId,
        now: CommitId,
        cx: &Cx<'_, v3::rebaser>,
    ) -> Result<Vec<String>, NodeError> {
        let now = self.failing(now, cx).await?;
        if now.is_empty() {
            return Ok(now);
        }
        let before = self.failing(before, cx).await?;
        Ok(now.into_iter().filter(|test| !before.contains(test)).collect())
    }

    async fn failing(&self, commit: CommitId, cx: &Cx<'_, v3::rebaser>) -> Result<Vec<String>, NodeError> {
        let checkout = cx.fresh_checkout(commit).await?;
        if !self.0.build(&checkout).await?.passed() {
            return Ok(vec!["(the build)".to_owned()]);
        }
        let verdict: Verdict = self.0.every_test(&checkout, &cx.entry()?.spec.test_path).await?;
        let mut failing = verdict.failing();
        if verdict.none.is_some() || verdict.outcome.timed_out {
            failing.push("(the tests)".to_owned());
        }
        Ok(failing)
    }

    /// Why an agent's adaptation is more than mechanical, or does not work (V3-103).
    async fn not_mechanical(
        &self,
        (from, now, gave_way): (Heads, Heads, &[String]),
        cx: &mut Cx<'_, v3::rebaser>,
    ) -> Result<Option<String>, NodeError> {
        let (repository, spec) = (cx.repository()?, cx.entry()?.spec.clone());
        let work = cx.input_of::<v3::fork>()?.work;
        let mut tree = cx.worktree().await?;
        let claim = tree.adopt_commits().await?;
        let uncommitted = uncommitted(&tree, claim).await?;
        drop(tree);
        if let Some(violation) = uncommitted {
            return Ok(Some(violation.to_string()));
        }
        if let Some(violation) = forbidden(&self.0, (now.head, claim), cx).await?.first() {
            return Ok(Some(violation.to_string()));
        }
        let tests = changed_tests(repository.clone(), (from, now, claim), &spec, &work.contract_suite).await?;
        if !tests.is_empty() {
            return Ok(Some(format!("tests of this node are not what they were: {}", tests.join(", "))));
        }
        let interface = interface_changes(repository.clone(), work.interface_file, (now.skeleton, claim)).await?;
        if let Some(violation) = interface.first() {
            return Ok(Some(violation.to_string()));
        }
        for path in changed_sources(repository.clone(), (from.base, claim), &spec, &work.contract_suite).await? {
            let merged = (!gave_way.iter().any(|other| path.as_str() == other)).then_some(now.head);
            if let Some(why) = rewritten(repository.clone(), &path, (from, merged), (now.base, claim)).await? {
                return Ok(Some(why));
            }
        }
        // Every build may write the lock file.
        let is_checked = |path: &&String| ![".rs", "Cargo.lock"].iter().any(|end| path.ends_with(end));
        let adapted = changed_paths(repository.clone(), now.head, claim).await?;
        for path in adapted.iter().filter(is_checked) {
            if let Some(why) = taken_away(repository.clone(), path, (from.base, now.base, claim)).await? {
                return Ok(Some(why));
            }
        }
        let failing = self.newly_failing(from.head, claim, cx).await?;
        Ok((!failing.is_empty()).then(|| format!("these tests fail: {}", failing.join(", "))))
    }
}

/// The node's tests that an agent has changed, and its contract and its file of tests if the rebase has changed them: it is checked
/// by them, so only the planner and the test author may change them.
async fn changed_tests(
    repository: Repository,
    (from, now, claim): (Heads, Heads, CommitId),
    spec: &Spec,
    contract_suite: &FilePath,
) -> Result<Vec<String>, NodeError> {
    let mut changed = changed_paths(repository.clone(), now.head, claim).await?;
    changed.retain(|path| is_test(path, spec, contract_suite));
    for path in [contract_suite, &spec.test_path] {
        let before = text_at(repository.clone(), from.head, path).await?;
        if before.is_some() && text_at(repository.clone(), claim, path).await? != before {
            changed.insert(path.as_str().to_owned());
        }
    }
    Ok(changed.into_iter().collect())
}

/// The function in a file that was rewritten, or why that cannot be seen. `merged` is the commit that has the file as the rebase
/// has put it together, if no line of it gave way; the last commits are the new base and head.
async fn rewritten(
    repository: Repository,
    path: &FilePath,
    (from, merged): (Heads, Option<CommitId>),
    (base, claim): (CommitId, CommitId),
) -> Result<Option<String>, NodeError> {
    let read = async |commit| Ok::<_, NodeError>(text_at(repository.clone(), commit, path).await?.unwrap_or_default());
    let merged = match merged {
        Some(merged) => Some(read(merged).await?),
        None => None,
    };
    let rebased = Rebased {
        old_base: &read(from.base).await?,
        old_tip: &read(from.head).await?,
        new_base: &read(base).await?,
        merged: merged.as_deref(),
        new_tip: &read(claim).await?,
    };
    Ok(match rewritten_by_rebase(path.as_str(), rebased) {
        Ok(rewritten) => rewritten.first().map(ToString::to_string),
        Err(error) => Some(error.to_string()),
    })
}

/// The first line of what was merged into a file since the old base that an agent has taken away (V3-101).
async fn taken_away(
    repository: Repository,
    path: &str,
    (old, new, claim): (CommitId, CommitId, CommitId),
) -> Result<Option<String>, NodeError> {
    // No agent's commit has a path that cannot be used.
    let path = FilePath::new(path)?;
    let read = async |commit| Ok::<_, NodeError>(text_at(repository.clone(), commit, &path).await?.unwrap_or_default());
    let (old, new, claim) = (read(old).await?, read(new).await?, read(claim).await?);
    let has: HashSet<&str> = old.lines().chain(claim.lines()).collect();
    let gone = new.lines().find(|line| !has.contains(line));
    Ok(gone.map(|line| format!("{path} does not have what was merged: {line}")))
}

fn conflict(file: String, ahead: &[MergeEvent], why: String, cx: &mut Cx<'_, v3::rebaser>) -> Route<v3::rebaser> {
    let authors = authors(ahead);
    let (ours, theirs) = match file.is_empty() {
        true => ("no line of this branch clashes.", format!("{authors} was merged.")),
        false => ("this branch changes it.", format!("{authors} was merged, which changes it too.")),
    };
    let found = Clarification::RebaseConflict {
        conflict_file: file,
        our_change: ours.to_owned(),
        their_change: theirs,
        why_unresolvable: why,
    };
    ask_scaffold(found, cx)
}

/// The authors of the merges.
fn authors(events: &[MergeEvent]) -> String {
    events.iter().map(|event| event.author.as_str()).collect::<Vec<_>>().join(" and ")
}

/// Asks the planner about a conflict. If something else waits for it already, it hears both (V3-158).
fn ask_scaffold(conflict: Clarification, cx: &mut Cx<'_, v3::rebaser>) -> Route<v3::rebaser> {
    give_turn_back(cx);
    let remembered = conflict.clone();
    cx.update_memory(move |memory| memory.conflicts.push(remembered.clone()));
    goto!(cx, v3::scaffold, cx.input_of::<v3::scaffold>()?.asked_again(conflict))
}

/// Notifies this node's own children that their parent's branch has moved (CON-147).
async fn tell_children(ahead: &[MergeEvent], head: CommitId, cx: &mut Cx<'_, v3::rebaser>) -> Result<(), NodeError> {
    let running: Vec<_> =
        cx.children::<v3::children>().await?.into_iter().filter(|child| child.ended.is_none()).collect();
    if running.is_empty() {
        return Ok(());
    }
    let id = cx.entry()?.spec.id.clone();
    let own = node_info(cx, &id).await?;
    for child in running {
        for event in ahead {
            let passed_on =
                ParentMoved { parent_branch: own.branch.clone(), new_parent_head: head, merge_event: event.clone() };
            cx.send::<v3::rebaser>(&child.run, &passed_on)?;
        }
    }
    Ok(())
}
