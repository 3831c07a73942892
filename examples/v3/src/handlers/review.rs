//! TDD, reviewing: the agent judges only what cannot be checked mechanically.

use super::Review;
use super::endings::undecided;
use super::places::{IMPL, changed_sources, heads, implemented, node_info};
use crate::checks::Violation;
use crate::checks::source::{Versions, code_violations, dependency_violations, interface_violations};
use crate::graph::v3;
use crate::memory::{Thread, session_of};
use crate::prompts::ReviewPrompt;
use crate::types::merge::MergerInput;
use crate::types::outcome::V3Outcome;
use crate::types::shared::{Critique, NodeInfo};
use crate::types::spec::Spec;
use crate::types::tdd::{MoreTests, ReviewExit, ReviewInput, TddApproval, TestsFeedback, WriteTestsInput};
use interlocking::agents::AgentError;
use interlocking::prelude::*;
use interlocking::toolchain::{TestOutcome, TestVerdict};
use interlocking::workspaces::{FilePath, text_at};
use std::collections::BTreeSet;
use std::path::Path;

impl LLMHandler<v3::review> for Review {
    async fn before<'a>(&'a self, input: &'a ReviewInput, cx: &mut Cx<'_, v3::review>) -> Ask<ReviewPrompt<'a>> {
        let memory = cx.memory();
        let parent = cx.input_of::<v3::fork>()?.session;
        let thread = memory.thread.as_ref().map(|thread| (&thread.session, thread.place.as_str()));
        let session = session_of(thread, IMPL, Some(&parent), "review")?;
        let judgement = input.judgement.clone().or(memory.judgement);
        // A rebase may have come since the implementation was handed over.
        let (commit, diff) = implemented(cx).await?;
        Ok((ReviewPrompt { input, commit, diff, judgement }, session))
    }

    async fn after(
        &self,
        input: ReviewInput,
        reply: Reply<ReviewExit>,
        cx: &mut Cx<'_, v3::review>,
    ) -> Route<v3::review> {
        let thread = Thread { session: reply.session, place: IMPL.to_owned() };
        cx.update_memory(move |memory| {
            memory.thread = Some(thread.clone());
            memory.feedback = None;
            memory.judgement = None;
        });
        cx.label(&reply.output);
        let approval = match reply.output {
            ReviewExit::Approved(approval) => approval,
            ReviewExit::MoreTests(more) => return more_tests(input, more, cx),
            ReviewExit::Reject(reject) => return goto!(cx, v3::exit, V3Outcome::Rejected(reject)),
        };
        // CON-24: an approval that leaves out a criterion does not count.
        let missing = missing_criteria(&input.spec, &approval);
        if !missing.is_empty() {
            let plan = input.scaffold.test_plan.iter();
            let additional_tests = plan.filter(|test| missing.contains(&test.criterion_id)).cloned().collect();
            let critiques = missing.iter().map(|criterion| Critique {
                file: input.spec.test_path.clone(),
                line: 0,
                issue: format!("The criterion `{criterion}` has no test that covers it."),
                required_fix: "Write one.".to_owned(),
            });
            let more = MoreTests { critiques: critiques.collect(), additional_tests };
            return more_tests(input, more, cx);
        }
        let violations = self.violations(&input, &approval, cx).await?;
        if !violations.is_empty() {
            let critiques = violations.iter().map(|violation| Critique {
                file: input.spec.target_path.clone(),
                line: 0,
                issue: violation.to_string(),
                required_fix: "Put that right, and commit.".to_owned(),
            });
            let more = MoreTests { critiques: critiques.collect(), additional_tests: Vec::new() };
            return more_tests(input, more, cx);
        }
        let covered: BTreeSet<String> =
            approval.coverage_report.criteria_with_tests.iter().map(|(criterion, _)| criterion.clone()).collect();
        cx.update_memory(move |memory| {
            memory.covered_criteria.extend(covered.iter().cloned());
            memory.pending_tests.retain(|test| !covered.contains(&test.criterion_id));
        });
        let child_node = node_info(cx, &input.spec.id).await?;
        let (target, _) = cx.target().await?;
        let parent = cx.entry()?.lineage.parent.clone();
        // The root's parent is the user's branch.
        let parent_node =
            parent.unwrap_or_else(|| NodeInfo { node_id: "the user".to_owned(), branch: target.to_string() });
        let contract_suite = input.scaffold.contract_suite;
        goto!(cx, v3::merge_queue, MergerInput { parent_node, child_node, tdd_approval: approval, contract_suite })
    }

    async fn unanswered(&self, _: ReviewInput, error: AgentError, cx: &mut Cx<'_, v3::review>) -> Route<v3::review> {
        goto!(cx, v3::exit, undecided(error, cx.attempt())?)
    }
}

/// The criteria that an approval leaves out, whether or not it lists them.
pub(crate) fn missing_criteria(spec: &Spec, approval: &TddApproval) -> BTreeSet<String> {
    let report = &approval.coverage_report;
    let covered: BTreeSet<&str> = report.criteria_with_tests.iter().map(|(criterion, _)| criterion.as_str()).collect();
    let left_out = spec.criteria().into_iter().filter(|criterion| !covered.contains(criterion)).map(str::to_owned);
    left_out.chain(report.criteria_missing.iter().cloned()).collect()
}

/// The pairs of an approval whose test has not passed (CON-24).
fn not_passed(approval: &TddApproval, outcome: &TestOutcome, path: &FilePath) -> Vec<Violation> {
    let named = approval.coverage_report.criteria_with_tests.iter();
    let not_passed = named.filter(|(_, test)| !matches!(outcome.verdict_of(test), TestVerdict::Passed));
    let violation = |(criterion, test): &(String, String)| Violation::NamesNoPassedTest {
        criterion: criterion.clone(),
        test: test.clone(),
        path: path.clone(),
    };
    not_passed.map(violation).collect()
}

fn more_tests(input: ReviewInput, more: MoreTests, cx: &mut Cx<'_, v3::review>) -> Route<v3::review> {
    let MoreTests { critiques, additional_tests } = more;
    let ReviewInput { spec, scaffold, .. } = input;
    let feedback = Some(TestsFeedback { critiques, additional_tests });
    let remembered = feedback.clone();
    cx.update_memory(move |memory| memory.feedback.clone_from(&remembered));
    let tests = WriteTestsInput {
        spec,
        scaffold,
        feedback,
        adaptations: Vec::new(),
        merge_rejection: None,
        judgement: None,
        violations: Vec::new(),
    };
    goto!(cx, v3::write_tests, tests)
}

impl Review {
    /// Where a file's package may have its manifest; nowhere if no crate is denied.
    fn manifests_above(&self, file: &FilePath) -> Result<Vec<FilePath>, NodeError> {
        let above = Path::new(file.as_str()).ancestors().skip(1).filter(|_| !self.0.denied.crates.is_empty());
        let manifests = above.map(|directory| FilePath::new(directory.join("Cargo.toml").to_string_lossy()));
        Ok(manifests.collect::<Result<_, _>>()?)
    }

    /// What rules out an approval, whatever the agent says (V3-61, V3-62).
    async fn violations(
        &self,
        input: &ReviewInput,
        approval: &TddApproval,
        cx: &mut Cx<'_, v3::review>,
    ) -> Result<Vec<Violation>, NodeError> {
        let (repository, at) = (cx.repository()?, heads(cx).await?);
        let (spec, contract) = (&input.spec, &input.scaffold.contract_suite);
        let mut violations = Vec::new();
        let markers = self.0.markers()?;
        let mut manifests = BTreeSet::new();
        for path in changed_sources(repository.clone(), (at.base, at.head), spec, contract).await? {
            let mut denied = self.0.denied.clone();
            for manifest in self.manifests_above(&path)? {
                let Some(now) = text_at(repository.clone(), at.head, &manifest).await? else { continue };
                // The names under which the package has denied crates. A manifest that is not TOML is a violation.
                denied = denied.clone().with_names_in(manifest.as_str(), &now).unwrap_or(denied);
                if manifests.insert(manifest.as_str().to_owned()) {
                    let before = text_at(repository.clone(), at.base, &manifest).await?;
                    let manifest = Versions { path: manifest, before, now: Some(now) };
                    violations.extend(dependency_violations(&manifest, &self.0.denied));
                }
            }
            let before = text_at(repository.clone(), at.skeleton, &path).await?;
            let now = text_at(repository.clone(), at.head, &path).await?;
            let file = Versions { path, before, now };
            violations.extend(code_violations(&file, &markers, &denied));
            if file.path == input.scaffold.interface_file {
                violations.extend(interface_violations(&file));
            }
        }
        let checkout = cx.fresh_checkout(at.head).await?;
        let built = self.0.build(&checkout).await?;
        if !built.passed() {
            violations.push(Violation::DoesNotBuild { diagnostics: built.diagnostics().to_owned() });
            return Ok(violations);
        }
        let verdict = self.0.suite(&checkout, &spec.test_path, &[]).await?;
        if !verdict.is_green() {
            violations.push(Violation::Red { tests: verdict.failing(), details: verdict.details() });
        } else if self.0.names_tests() {
            violations.extend(not_passed(approval, &verdict.outcome, &spec.test_path));
        }
        Ok(violations)
    }
}
