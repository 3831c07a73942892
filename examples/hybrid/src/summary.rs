//! What came of a run: as JSON for the next program, and as text for whoever waited for it.

use hybrid::types::{Check, CheckReport, HybridFailure, HybridResult, VerificationStatus};
use interlocking::agents::{Ledger, Usage};
use interlocking::cli::{harmless, quoted};
use interlocking::run_id::RunId;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// The result of a run with what the protocol itself does not know (HY-238).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Account {
    pub(crate) run: RunId,
    /// Whether the run succeeded and the branch was advanced.
    pub(crate) success: bool,
    /// Whether it has come to no end of its own: it was cancelled, or stopped and can be taken up.
    pub(crate) interrupted: bool,
    pub(crate) seconds: f64,
    /// What all agent calls used up.
    pub(crate) usage: Usage,
    pub(crate) repository: PathBuf,
    pub(crate) main: Branch,
    /// The commits that the branch was advanced by, oldest first.
    pub(crate) commits: Vec<Landed>,
    /// References that keep the work of a run without success, or of rounds that were rejected.
    pub(crate) archived: Vec<String>,
    /// Every agent call.
    pub(crate) calls: Ledger,
    /// None exactly if the run was interrupted.
    pub(crate) result: Option<HybridResult>,
}

/// The branch that was to be advanced.
#[derive(Debug, Serialize)]
pub(crate) struct Branch {
    pub(crate) branch: String,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// A commit that the branch has now.
#[derive(Debug, Serialize)]
pub(crate) struct Landed {
    pub(crate) commit: String,
    pub(crate) subject: String,
}

/// How many lines of what a build printed are shown; the JSON has them all.
const MOST_LINES: usize = 20;

/// The width of the line that names a check.
const LONGEST_LABEL: usize = 39;

impl Account {
    fn failure(&self) -> Option<&HybridFailure> {
        self.result.as_ref()?.failure()
    }

    /// The first line: how it ended.
    pub(crate) fn headline(&self) -> String {
        let branch = &self.main.branch;
        match self.failure() {
            _ if self.interrupted => format!("Cancelled; `{branch}` is where it was."),
            _ if self.success => {
                let (after, commits) = (short(&self.main.after), self.commits.len());
                let plural = if commits == 1 { "" } else { "s" };
                format!("Succeeded: `{branch}` is {commits} commit{plural} further, at {after}.")
            }
            Some(failure) => {
                format!(
                    "Not a success: {}; `{branch}` is where it was.\n{}",
                    reason(failure),
                    harmless(&failure.to_string())
                )
            }
            None => format!("Not a success; `{branch}` is where it was."),
        }
    }

    /// Everything below that.
    pub(crate) fn details(&self) -> String {
        let mut text = String::new();
        if let Some(failure) = self.failure() {
            for line in evidence(failure) {
                let _ = writeln!(text, "  {line}");
            }
            let _ = writeln!(text, "What to do: {}", advice(failure));
        }
        if let Some(result) = &self.result {
            text.push_str("\nChecks\n");
            for report in result.lattice().checks() {
                let _ = writeln!(text, "  {}", check_line(report));
            }
        }
        if !self.commits.is_empty() {
            let _ = writeln!(text, "\nCommits on {}", self.main.branch);
            for landed in &self.commits {
                let _ = writeln!(text, "  {} {}", short(&landed.commit), quoted(&landed.subject));
            }
        }
        if !self.success && !self.archived.is_empty() {
            let _ = writeln!(text, "\nWork kept in {}", self.repository.display());
            for reference in &self.archived {
                let _ = writeln!(text, "  {reference}");
            }
        }
        text.push('\n');
        if let Some(result) = &self.result {
            let _ = writeln!(text, "Fix rounds  {}", result.attempts);
            for learning in &result.understanding.learnings {
                let _ = writeln!(text, "            {}", quoted(learning));
            }
            if let Some(coverage) = &result.tests_coverage {
                let (functions, sketches) = (coverage.functions_covered.len(), coverage.sketches_covered.len());
                let _ = writeln!(
                    text,
                    "Coverage    {functions} of {} functions, {} of {} examples, {sketches} of {} sketched properties",
                    functions + coverage.functions_uncovered.len(),
                    coverage.examples_covered,
                    coverage.examples_total,
                    sketches + coverage.sketches_uncovered.len()
                );
                for (number, what) in coverage.not_verified.iter().enumerate() {
                    let title = if number == 0 { "Not seen" } else { "" };
                    let _ = writeln!(text, "{title:<12}{}", quoted(what));
                }
            }
        }
        let _ = writeln!(text, "Cost        {}", self.usage);
        let _ = write!(text, "Time        {:.1} s", self.seconds);
        text
    }
}

fn check_line(report: &CheckReport) -> String {
    let mark = match (report.status, report.blocking) {
        (VerificationStatus::Verified, _) => "✓",
        (VerificationStatus::NotVerified, true) => "✗",
        (VerificationStatus::NotVerified, false) => "–",
    };
    let blocking = if report.blocking { "" } else { " (does not block)" };
    format!("{mark} {:<LONGEST_LABEL$} {}{blocking}", label(report.check), quoted(&report.detail))
}

fn label(check: Check) -> &'static str {
    match check {
        Check::TypeHoles => "the types have no hole that matters",
        Check::SkeletonBuilds => "the skeleton builds",
        Check::TestsFailForTheirAgent => "their agent saw the tests fail on stubs",
        Check::TestsFailOnSkeleton => "the tests fail on stubs, run by us",
        Check::ImplementationBuilds => "the implementation builds",
        Check::MergedTestsPass => "the merged tests pass",
        Check::MutantsCaught => "the tests catch mutants",
        Check::CoverageConfirmed => "the tests exercise what they claim",
        Check::SkeletonIsStubs => "the skeleton's public bodies are stubs",
    }
}

/// The reason's name, as the JSON has it.
fn reason(failure: &HybridFailure) -> String {
    let value = serde_json::to_value(failure).unwrap_or_default();
    let name = value.as_object().and_then(|object| object.keys().next().cloned());
    name.unwrap_or_else(|| value.to_string())
}

/// What the reason rests on, one line each.
fn evidence(failure: &HybridFailure) -> Vec<String> {
    use HybridFailure as F;
    match failure {
        F::TypeFixBudgetExhausted { last_holes, .. } => {
            last_holes.iter().map(|hole| quoted(&format!("{}: {}", hole.severity, hole.description))).collect()
        }
        F::StuckOnPattern { patterns, .. } => patterns
            .iter()
            .map(|pattern| quoted(&format!("{} times: {}", pattern.occurrences, pattern.signature)))
            .collect(),
        F::ChecksUnmet { unmet } => unmet.iter().map(check_line).collect(),
        F::CoverageNotVerified { claims, .. } => claims.iter().map(|claim| quoted(claim)).collect(),
        F::CriticalMutantSurvived { survivors } => {
            survivors.iter().map(|mutant| quoted(&format!("{}: {}", mutant.function, mutant.description))).collect()
        }
        F::TestsRejected { last_feedback, .. } => {
            last_feedback.properties_wrote.iter().map(|property| quoted(property)).collect()
        }
        F::NotVerifiable { refused } => refused.iter().map(|one| quoted(&one.to_string())).collect(),
        F::VerdictForged { tests } => tests.iter().map(|one| quoted(&one.to_string())).collect(),
        F::BarrierBroken { violations } => violations.iter().map(|one| quoted(&one.to_string())).collect(),
        F::MergeConflict { files } => files.iter().map(|file| quoted(file.as_str())).collect(),
        F::NodeFailed { failure } => failure.causes.iter().map(|cause| quoted(cause)).collect(),
        F::BuildFailedAfterFix { diagnostics, .. }
        | F::SkeletonDoesNotBuild { diagnostics }
        | F::ImplementationDoesNotBuild { diagnostics } => end_of(diagnostics),
        F::CoverageEnforcementFailed { .. }
        | F::NotConverging { .. }
        | F::FixBudgetExhausted { .. }
        | F::CoverageClaimMismatch { .. }
        | F::StubNotUndefined { .. }
        | F::ClaimedFunctionNotOnDisk { .. }
        | F::UndeclaredFunctionOnDisk { .. }
        | F::AgentBlocked { .. }
        | F::MainMoved { .. } => Vec::new(),
    }
}

/// What a person can do about it.
fn advice(failure: &HybridFailure) -> &'static str {
    use HybridFailure as F;
    match failure {
        F::TypeFixBudgetExhausted { .. } => {
            "write into the specification how the types must rule out what is listed above, or design them yourself."
        }
        F::CoverageEnforcementFailed { .. } => {
            "run again; if a property cannot be tested, say so in the acceptance criteria, or set \
             `strictness.requireCoverage = false`."
        }
        F::StuckOnPattern { .. } | F::NotConverging { .. } | F::FixBudgetExhausted { .. } => {
            "read `understanding` in the JSON: either the contract asks for two things that exclude each other, or a \
             criterion is too vague to be implemented."
        }
        F::BuildFailedAfterFix { .. } | F::ImplementationDoesNotBuild { .. } | F::SkeletonDoesNotBuild { .. } => {
            "look at what the build printed; --keep leaves the worktrees to look at."
        }
        F::ChecksUnmet { unmet } if unmet.iter().any(|report| report.check == Check::MutantsCaught) => {
            "set `strictness.mutationBlocking = false`: this graph has nobody who looks for mutants."
        }
        F::ChecksUnmet { .. } => "run again; what was built is in the archive.",
        F::CoverageNotVerified { .. } => {
            "look at the tests in the archive; say in the acceptance criteria how they are to be written, and run again."
        }
        F::CriticalMutantSurvived { .. } => {
            "add the suggested properties (`suggestedProp` in the JSON) to the acceptance criteria and run again."
        }
        F::CoverageClaimMismatch { .. } | F::TestsRejected { .. } => {
            "run again; if it stays so, make the acceptance criteria concrete enough to be tested from outside."
        }
        F::StubNotUndefined { .. } => {
            "run again; if your project marks stubs in another way, name it in `toolchain.stubMarkers`."
        }
        F::ClaimedFunctionNotOnDisk { .. } | F::UndeclaredFunctionOnDisk { .. } => {
            "run again; the types agent's report and the file it wrote must name the same functions."
        }
        F::AgentBlocked { .. } => "give the agent what it asks for, or change the specification, and run again.",
        F::BarrierBroken { .. } => {
            "nothing was merged; run again, and if it stays so, check `implPath` and `testPath` of the specification."
        }
        F::NotVerifiable { .. } => {
            "run again; where the task needs one of these, name it in `toolchain.allow`: a verdict on code with it can be \
             talked round."
        }
        F::VerdictForged { .. } => {
            "do not use this code: it is written to pass its tests without being run by them. Run again with another agent."
        }
        F::MergeConflict { .. } => {
            "both sides wrote to the same lines; check that `implPath` and `testPath` are all they need."
        }
        F::MainMoved { .. } => "run again on top of what is there now.",
        F::NodeFailed { .. } => "remove the cause and run again; the branch has not moved.",
    }
}

/// The last lines of what a build printed.
fn end_of(diagnostics: &str) -> Vec<String> {
    let lines: Vec<&str> = diagnostics.lines().filter(|line| !line.trim().is_empty()).collect();
    let dropped = lines.len().saturating_sub(MOST_LINES);
    let omitted = (dropped > 0).then(|| format!("… {dropped} lines before"));
    omitted.into_iter().chain(lines[dropped..].iter().map(|line| harmless(line))).collect()
}

fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}
