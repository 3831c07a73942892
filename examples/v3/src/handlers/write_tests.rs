//! TDD, writing tests: they have to fail.

use super::WriteTests;
use super::claims::{committed, discard, merge_commits, messages};
use super::endings::{still_wrong, undecided};
use super::places::TESTS;
use crate::checks::Violation;
use crate::graph::{Tests, v3};
use crate::memory::{TddMem, Thread, session_of};
use crate::prompts::WriteTestsPrompt;
use crate::types::scaffold::Clarification;
use crate::types::shared::PlannedTest;
use crate::types::tdd::{InvalidScaffold, TestsReadyPayload, WriteTestsExit, WriteTestsInput};
use interlocking::agents::AgentError;
use interlocking::prelude::*;
use interlocking::rust_source::test_functions;
use interlocking::toolchain::red_check;
use interlocking::workspaces::{changed_paths, in_repository};
use std::collections::BTreeSet;

impl LLMHandler<v3::write_tests> for WriteTests {
    async fn before<'a>(
        &'a self,
        input: &'a WriteTestsInput,
        cx: &mut Cx<'_, v3::write_tests>,
    ) -> Ask<WriteTestsPrompt<'a>> {
        discard(&mut cx.worktree().await?).await?;
        if input.feedback.is_none() {
            // The tests of an earlier scaffold are gone.
            cx.update_memory(|memory| {
                memory.covered_criteria.clear();
                memory.pending_tests.clear();
                memory.written_tests.clear();
                memory.feedback = None;
            });
        }
        let memory = cx.memory();
        let parent = cx.input_of::<v3::fork>()?.session;
        let thread = memory.thread.as_ref().map(|thread| (&thread.session, thread.place.as_str()));
        let session = session_of(thread, TESTS, Some(&parent), "tests")?;
        Ok((WriteTestsPrompt { input, memory }, session))
    }

    async fn after(
        &self,
        input: WriteTestsInput,
        reply: Reply<WriteTestsExit>,
        cx: &mut Cx<'_, v3::write_tests>,
    ) -> Route<v3::write_tests> {
        let thread = Thread { session: reply.session, place: TESTS.to_owned() };
        let conversation = format!("{} tdd", input.spec.id);
        cx.update_memory(move |memory| {
            memory.thread = Some(thread.clone());
            memory.conversation_id.get_or_insert_with(|| conversation.clone());
        });
        cx.label(&reply.output);
        let ready = match reply.output {
            WriteTestsExit::InvalidScaffold(InvalidScaffold { missing_type, expected_location }) => {
                discard(&mut cx.worktree().await?).await?;
                let why = Clarification::InvalidScaffold { missing_type, expected_location };
                return goto!(cx, v3::scaffold, cx.input_of::<v3::scaffold>()?.asked_again(why));
            }
            WriteTestsExit::TestsReady(ready) => ready,
        };
        let wanted = wanted(&input, &cx.memory());
        let violations = self.violations(&input, &wanted, &ready, cx).await?;
        if violations.is_empty() {
            let WriteTestsInput { merge_rejection, judgement, .. } = input.clone();
            cx.update_memory(move |memory| {
                add(&mut memory.pending_tests, &wanted);
                add(&mut memory.written_tests, &wanted);
                memory.judgement.clone_from(&judgement);
            });
            let critiques = cx.memory().feedback_on(&input).map(|feedback| feedback.critiques.clone());
            let critiques = critiques.unwrap_or_default();
            return goto!(cx, v3::barrier_tests, Tests { ready, critiques, merge_rejection });
        }
        if cx.is_final_attempt() {
            return goto!(cx, v3::exit, still_wrong("write_tests", &violations, cx.attempt()));
        }
        goto!(cx, self, WriteTestsInput { violations: messages(&violations), ..input })
    }

    async fn unanswered(
        &self,
        _: WriteTestsInput,
        error: AgentError,
        cx: &mut Cx<'_, v3::write_tests>,
    ) -> Route<v3::write_tests> {
        goto!(cx, v3::exit, undecided(error, cx.attempt())?)
    }
}

/// The tests to be written in this phase.
fn wanted(input: &WriteTestsInput, memory: &TddMem) -> Vec<PlannedTest> {
    let Some(feedback) = memory.feedback_on(input) else { return input.scaffold.test_plan.clone() };
    let is_new = |test: &&PlannedTest| !memory.written_tests.contains(test);
    feedback.additional_tests.iter().filter(is_new).cloned().collect()
}

/// Adds tests to a list that does not have them yet.
fn add(list: &mut Vec<PlannedTest>, tests: &[PlannedTest]) {
    for test in tests {
        if !list.contains(test) {
            list.push(test.clone());
        }
    }
}

/// The names of the tests that a commit must have: the planned ones, those that earlier reviews have asked for, and `wanted`.
fn required(input: &WriteTestsInput, written: Vec<PlannedTest>, wanted: &[PlannedTest]) -> Vec<String> {
    let mut all = written;
    add(&mut all, &input.scaffold.test_plan);
    add(&mut all, wanted);
    let names: BTreeSet<String> = all.into_iter().map(|test| test.planned_test_name).collect();
    names.into_iter().collect()
}

impl WriteTests {
    /// The violations of tests. If there are any, the agent's commits are reset.
    async fn violations(
        &self,
        input: &WriteTestsInput,
        wanted: &[PlannedTest],
        ready: &TestsReadyPayload,
        cx: &mut Cx<'_, v3::write_tests>,
    ) -> Result<Vec<Violation>, NodeError> {
        let repository = cx.repository()?;
        let mut tree = cx.worktree().await?;
        let claim = committed(&mut tree, ready.tests_commit, wanted.is_empty()).await?;
        let mut violations = claim.violations;
        let range = claim.before..claim.tip;
        let count = in_repository(repository.clone(), move |repository| Ok(repository.commits(range)?.len()));
        let count = count.await?;
        if count > 1 {
            violations.push(Violation::SeveralCommits { count });
        }
        violations.extend(merge_commits(repository.clone(), (claim.before, claim.tip)).await?);
        let allowed = &input.spec.test_path;
        let touched = changed_paths(repository.clone(), claim.before, claim.tip).await?;
        if ready.test_files.is_empty() {
            violations.push(Violation::NamesNoFile { path: allowed.clone() });
        }
        let named = ready.test_files.iter().map(|file| file.as_str().to_owned());
        let others = touched.into_iter().chain(named).filter(|path| path != allowed.as_str());
        let others: Vec<String> = others.collect();
        if !others.is_empty() {
            violations.push(Violation::NotATestFile { paths: others, allowed: allowed.clone() });
        }
        // A plan may name any file as a file of tests.
        violations.extend(self.0.build_violations(repository, claim.before, claim.tip).await?);
        let criteria = input.spec.criteria();
        let unknown = ready.pending_criteria.iter().filter(|criterion| !criteria.contains(criterion.as_str()));
        violations.extend(unknown.map(|criterion| Violation::NoSuchCriterion {
            place: "`pendingCriteria`".to_owned(),
            criterion: criterion.clone(),
        }));
        if violations.is_empty() && claim.tip != claim.before {
            let names = required(input, cx.memory().written_tests, wanted);
            violations = self.red_violations(input, names, claim.tip, cx).await?;
        }
        if !violations.is_empty() {
            cx.worktree().await?.reset(claim.before).await?;
        }
        Ok(violations)
    }

    /// Checks that each of these tests is there, and fails without an implementation (V3-65). In a node that was sent back some
    /// former work is there, and its tests pass: then one new test has to fail.
    async fn red_violations(
        &self,
        input: &WriteTestsInput,
        names: Vec<String>,
        commit: interlocking::worktree::CommitId,
        cx: &Cx<'_, v3::write_tests>,
    ) -> Result<Vec<Violation>, NodeError> {
        let checkout = cx.fresh_checkout(commit).await?;
        let path = &input.spec.test_path;
        if path.is_rust() {
            let text = match checkout.text(path.in_repository()).await? {
                Ok(text) => text.unwrap_or_default(),
                Err(error) => return Ok(vec![Violation::NoVerdict { reason: error.to_string() }]),
            };
            let there = match test_functions(path.as_str(), &text) {
                Ok(there) => there,
                Err(error) => return Ok(vec![Violation::NoVerdict { reason: error.to_string() }]),
            };
            let is_there = |name: &String| there.iter().any(|test| test.name.rsplit("::").next() == Some(name));
            let missing = names.iter().filter(|name| !is_there(name));
            let missing: Vec<_> =
                missing.map(|name| Violation::NoSuchTest { test: name.clone(), path: path.clone() }).collect();
            if !missing.is_empty() {
                return Ok(missing);
            }
        }
        let verdict = self.0.suite(&checkout, path, &names).await?;
        if let Some(reason) = verdict.none {
            return Ok(vec![Violation::NoVerdict { reason }]);
        }
        let red = red_check(&verdict.outcome, names.iter().map(String::as_str));
        if red.is_red() || cx.entry()?.lineage.sent_back.is_some() && !red.proof.is_empty() {
            return Ok(Vec::new());
        }
        let mut violations = Vec::new();
        if !red.passed.is_empty() {
            violations.push(Violation::Green { tests: red.passed });
        }
        let otherwise =
            red.failed_otherwise.iter().map(|failed| format!("{}: {}", failed.property_name, failed.message));
        let absent = red.absent.iter().map(|name| format!("{name}: it was not run"));
        let said: Vec<String> = otherwise.chain(absent).collect();
        if !said.is_empty() {
            violations.push(Violation::NoVerdict { reason: said.join("\n") });
        }
        Ok(violations)
    }
}
