//! Impl: makes the tests pass.

use super::Implement;
use super::claims::{committed, discard, forbidden, interface_changes, messages};
use super::endings::{own_loop, undecided};
use super::places::{IMPL, heads, implemented, is_test};
use crate::checks::Violation;
use crate::graph::v3;
use crate::memory::{AttemptRecord, session_of};
use crate::prompts::ImplPrompt;
use crate::types::implementation::{
    BlockedDependency, ImplExit, ImplInput, ImplResult, ImplStuck, RequestRetry, SpecAmbiguity,
};
use crate::types::outcome::{Stuck, V3Outcome};
use crate::types::scaffold::Clarification;
use crate::types::tdd::ReviewInput;
use crate::workbench::Workbench;
use interlocking::agents::AgentError;
use interlocking::prelude::*;
use interlocking::workspaces::{Checkout, GitWorkspacesError, changed_paths};
use interlocking::worktree::{CommitError, CommitId};

impl LLMHandler<v3::implement> for Implement {
    async fn before<'a>(&'a self, input: &'a ImplInput, cx: &mut Cx<'_, v3::implement>) -> Ask<ImplPrompt<'a>> {
        let memory = cx.memory();
        let parent = cx.input_of::<v3::fork>()?.session;
        let thread = memory.session_id.as_ref().map(|session| (session, IMPL));
        let session = session_of(thread, IMPL, Some(&parent), "impl")?;
        Ok((ImplPrompt { input, memory, attempt: cx.attempt(), is_final: cx.is_final_attempt() }, session))
    }

    async fn after(
        &self,
        input: ImplInput,
        reply: Reply<ImplExit>,
        cx: &mut Cx<'_, v3::implement>,
    ) -> Route<v3::implement> {
        let (session, conversation) = (reply.session, format!("{} impl", input.spec.id));
        cx.update_memory(move |memory| {
            memory.session_id = Some(session.clone());
            memory.conversation_id.get_or_insert_with(|| conversation.clone());
        });
        cx.label(&reply.output);
        match reply.output {
            ImplExit::TestsPassed(result) => self.passed(input, result, cx).await,
            ImplExit::RequestRetry(retry) => {
                let mut tree = cx.worktree().await?;
                let before = tree.head();
                let not_kept = keep_unfinished(&mut tree, &input).await?;
                let tip = tree.head();
                let refused = refused(&self.0, &input, (before, tip), cx).await?;
                let made_progress = tip != before && refused.is_empty();
                let violations = Vec::from_iter(not_kept.into_iter().chain(refused));
                again(input, retry, made_progress, messages(&violations), cx)
            }
            ImplExit::BlockedDependency(BlockedDependency { missing_symbol, expected_import_path }) => {
                ask_scaffold(Clarification::BlockedDependency { missing_symbol, expected_import_path }, cx).await
            }
            ImplExit::SpecAmbiguity(SpecAmbiguity { spec_sentence, contradiction_trace, question }) => {
                ask_scaffold(Clarification::SpecAmbiguity { spec_sentence, contradiction_trace, question }, cx).await
            }
            ImplExit::Stuck(ImplStuck { diagnosis, recommendation, .. }) => {
                let stuck = Stuck { diagnosis, recommendation, attempts: cx.attempt(), spent_loop: None };
                goto!(cx, v3::exit, V3Outcome::Stuck(stuck))
            }
        }
    }

    async fn unanswered(
        &self,
        _: ImplInput,
        error: AgentError,
        cx: &mut Cx<'_, v3::implement>,
    ) -> Route<v3::implement> {
        goto!(cx, v3::exit, undecided(error, cx.attempt())?)
    }
}

impl Implement {
    /// Routes an implementation whose agent claims that its tests pass: to the review, if they do.
    async fn passed(
        &self,
        input: ImplInput,
        result: ImplResult,
        cx: &mut Cx<'_, v3::implement>,
    ) -> Route<v3::implement> {
        let (passed, violations) = self.violations(&input, &result, cx).await?;
        if violations.is_empty() {
            cx.update_memory(move |memory| {
                memory.passed_tests.clone_from(&passed);
                memory.next = None;
            });
            let (_, diff) = implemented(cx).await?;
            let ImplInput { spec, scaffold, .. } = input;
            let review = ReviewInput { spec, scaffold, impl_result: result, diff, judgement: None };
            return goto!(cx, v3::review, review);
        }
        let failing_tests = violations.iter().flat_map(|violation| match violation {
            Violation::Red { tests, .. } => tests.clone(),
            _ => Vec::new(),
        });
        let retry = RequestRetry {
            failing_tests: failing_tests.collect(),
            diagnosis: "`TestsPassed` does not hold.".to_owned(),
            strategy_from: "what was committed".to_owned(),
            strategy_to: "what holds when it is looked at".to_owned(),
        };
        again(input, retry, false, messages(&violations), cx)
    }

    /// The tests that pass, and the violations of an implementation. Commits with forbidden changes are reset.
    async fn violations(
        &self,
        input: &ImplInput,
        result: &ImplResult,
        cx: &mut Cx<'_, v3::implement>,
    ) -> Result<(Vec<String>, Vec<Violation>), NodeError> {
        let mut tree = cx.worktree().await?;
        let claim = committed(&mut tree, result.commit_hash, true).await?;
        let mut violations = claim.violations;
        let is_left = |violation: &mut Violation| matches!(violation, Violation::Uncommitted { .. });
        let left = violations.extract_if(.., is_left).next();
        let not_kept = if left.is_some() { keep_unfinished(&mut tree, input).await? } else { None };
        let tip = tree.head();
        drop(tree);
        let refused = refused(&self.0, input, (claim.before, tip), cx).await?;
        let left = left.filter(|_| not_kept != Some(Violation::Aborted));
        violations.extend(
            left.and_then(|left| if refused.is_empty() { committed_for(left, not_kept.as_ref()) } else { Some(left) }),
        );
        violations.extend(not_kept.into_iter().chain(refused));
        if !violations.is_empty() {
            return Ok((Vec::new(), violations));
        }
        let verdict = self.0.suite(&cx.fresh_checkout(claim.tip).await?, &input.spec.test_path, &[]).await?;
        if !verdict.is_green() {
            violations.push(Violation::Red { tests: verdict.failing(), details: verdict.details() });
        }
        Ok((verdict.outcome.passed, violations))
    }
}

/// Commits unfinished work for the next attempt, because the branch may be rebased meanwhile. What cannot be committed is
/// returned: git repositories in the workspace, or an unfinished merge, which is aborted; the agent's own commits stay.
async fn keep_unfinished(tree: &mut Checkout<'_>, input: &ImplInput) -> Result<Option<Violation>, NodeError> {
    match tree.commit_beside_repositories(format!("{}: unfinished", input.spec.id)).await {
        Ok(nested) => {
            let paths: Vec<String> = nested.iter().map(|path| path.to_text().into_owned()).collect();
            Ok((!paths.is_empty()).then_some(Violation::NestedRepositories { paths }))
        }
        Err(GitWorkspacesError::Commit(CommitError::Unmerged { .. } | CommitError::OperationInProgress { .. })) => {
            tree.adopt_commits().await?;
            discard(tree).await?;
            Ok(Some(Violation::Aborted))
        }
        Err(error) => Err(error.into()),
    }
}

/// What is said of files that the agent has not committed, and that are committed now, except repositories.
fn committed_for(left: Violation, not_kept: Option<&Violation>) -> Option<Violation> {
    let Violation::Uncommitted { mut paths } = left else { return None };
    if let Some(Violation::NestedRepositories { paths: nested }) = not_kept {
        paths.retain(|path| !nested.contains(path));
    }
    (!paths.is_empty()).then_some(Violation::CommittedForYou { paths })
}

/// The forbidden changes of an attempt, to tests, interfaces and the build (V3-80), whatever the agent answers. If there are any,
/// its commits are reset.
async fn refused(
    bench: &Workbench,
    input: &ImplInput,
    (before, tip): (CommitId, CommitId),
    cx: &mut Cx<'_, v3::implement>,
) -> Result<Vec<Violation>, NodeError> {
    let repository = cx.repository()?;
    let touched = changed_paths(repository.clone(), before, tip).await?;
    let tests = touched.iter().filter(|path| is_test(path, &input.spec, &input.scaffold.contract_suite));
    let tests: Vec<String> = tests.cloned().collect();
    let mut refused = Vec::new();
    if !tests.is_empty() {
        refused.push(Violation::TouchesTests { paths: tests });
    }
    refused.extend(forbidden(bench, (before, tip), cx).await?);
    let skeleton = heads(cx).await?.skeleton;
    refused.extend(interface_changes(repository, input.scaffold.interface_file.clone(), (skeleton, tip)).await?);
    if !refused.is_empty() {
        cx.worktree().await?.reset(before).await?;
        refused.push(Violation::TakenBack);
    }
    Ok(refused)
}

/// Another attempt, if the table allows one (V3-130, V3-132).
fn again(
    input: ImplInput,
    retry: RequestRetry,
    made_progress: bool,
    violations: Vec<String>,
    cx: &mut Cx<'_, v3::implement>,
) -> Route<v3::implement> {
    let outcome = if made_progress { "partial" } else { "failed" };
    let why = violations.iter().map(String::as_str).chain([retry.diagnosis.as_str()]);
    let outcome = format!("{outcome}: {}", why.collect::<Vec<_>>().join(" "));
    let record = AttemptRecord { strategy: retry.strategy_from.clone(), outcome: outcome.clone() };
    cx.update_memory(move |memory| memory.attempt_history.push(record.clone()));
    if cx.is_final_attempt() {
        let stuck = Stuck {
            diagnosis: outcome,
            recommendation: format!("what it would try next: {}", retry.strategy_to),
            attempts: cx.attempt(),
            spent_loop: Some(own_loop("implement")),
        };
        return goto!(cx, v3::exit, V3Outcome::Stuck(stuck));
    }
    let next = ImplInput { attempt_count: cx.attempt() + 1, retry_feedback: Some(retry), violations, ..input };
    let remembered = next.clone();
    cx.update_memory(move |memory| memory.next = Some(remembered.clone()));
    goto!(cx, self, next)
}

async fn ask_scaffold(clarification: Clarification, cx: &mut Cx<'_, v3::implement>) -> Route<v3::implement> {
    discard(&mut cx.worktree().await?).await?;
    cx.update_memory(|memory| memory.next = None);
    goto!(cx, v3::scaffold, cx.input_of::<v3::scaffold>()?.asked_again(clarification))
}
