//! The end of a run as lines for people.

use hybrid::types::{
    Action, Check, CheckReport, HybridFailure, HybridResult, MutationAdversary, VerificationStatus, WorkItem,
};
use interlocking::cli::repository::Account;
use interlocking::cli::{Style, quoted, sanitized};
use std::fmt::Write;

/// How many lines of a build's output are shown; the JSON has them all.
const MOST_LINES: usize = 20;

/// The width of the line that names a check.
const LONGEST_LABEL: usize = 39;

/// The account as lines: how it ended, and why.
pub(crate) fn lines(account: &Account<HybridResult>) -> Vec<(Style, String)> {
    let style = if account.success { Style::Good } else { Style::Bad };
    let (headline, details) = (headline(account), details(account));
    vec![(Style::Plain, String::new()), (style, headline), (Style::Plain, details)]
}

fn failure(account: &Account<HybridResult>) -> Option<&HybridFailure> {
    account.result.as_ref()?.failure()
}

/// The first line: how it ended.
fn headline(account: &Account<HybridResult>) -> String {
    let advance = account.advance();
    match failure(account) {
        _ if account.interrupted => format!("Cancelled; {advance}."),
        _ if account.success => format!("Succeeded: {advance}."),
        Some(failure) => {
            format!("Not a success: {}; {advance}.\n{}", reason(failure), sanitized(&failure.to_string()))
        }
        None => format!("Not a success; {advance}."),
    }
}

/// Everything below that.
fn details(account: &Account<HybridResult>) -> String {
    let mut text = String::new();
    if let Some(failure) = failure(account) {
        for line in evidence(failure) {
            let _ = writeln!(text, "  {line}");
        }
        let _ = writeln!(text, "What to do: {}", advice(failure));
    }
    if let Some(result) = &account.result {
        text.push_str("\nChecks\n");
        for report in result.lattice().checks() {
            let _ = writeln!(text, "  {}", check_line(report));
        }
    }
    let _ = writeln!(text, "{}", account.work());
    if let Some(result) = &account.result {
        result_lines(result, &mut text);
    }
    text + &account.cost()
}

/// The protocol's findings besides the checks.
fn result_lines(result: &HybridResult, text: &mut String) {
    mutant_lines(&result.mutation_adversary, text);
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
        if let Some(told_by) = &coverage.told_by {
            let _ = writeln!(text, "Calls by    {}", quoted(told_by));
        }
        let not_seen: Vec<String> = coverage.not_verified.iter().map(|what| quoted(what)).collect();
        titled("Not seen", &not_seen, text);
    }
    work_lines(&result.work_items, text);
    unchecked_lines(result, text);
}

/// Which changes of the code the tests let through.
fn mutant_lines(mutants: &MutationAdversary, text: &mut String) {
    let MutationAdversary::Ran(found) = mutants else { return };
    let mut lines = Vec::new();
    lines.extend(found.survivors.iter().map(|mutant| {
        quoted(&format!("survives: {}, {}: {}", mutant.function, mutant.mutation_type, mutant.description))
    }));
    lines.extend(found.refuted.iter().map(|mutant| {
        quoted(&format!("does not survive: {}: {}: {}", mutant.function, mutant.description, mutant.reason))
    }));
    if let Some(mechanical) = &found.mechanical {
        lines.extend(mechanical.survivors.iter().map(|mutant| quoted(&format!("survives, made by us: {mutant}"))));
    }
    titled("Mutants", &lines, text);
}

/// What is left to do.
fn work_lines(items: &[WorkItem], text: &mut String) {
    let lines: Vec<String> = items
        .iter()
        .map(|item| {
            let suggested = item.suggested_property.as_ref();
            let suggested = suggested.map(|property| format!(" Suggested: {}: {}", property.name, property.invariant));
            quoted(&format!("{}, {}: {}{}", to_do(item.action), item.about, item.detail, suggested.unwrap_or_default()))
        })
        .collect();
    titled("To do", &lines, text);
}

/// Lines with a title before the first.
fn titled(title: &str, lines: &[String], text: &mut String) {
    for (number, line) in lines.iter().enumerate() {
        let title = if number == 0 { title } else { "" };
        let _ = writeln!(text, "{title:<12}{line}");
    }
}

fn to_do(action: Action) -> &'static str {
    match action {
        Action::RedesignType => "redesign the type",
        Action::HideInside => "hide what is inside",
        Action::MakeTotal => "answer every input",
        Action::SplitType => "make two types",
        Action::AddBoundaryProperty => "add a boundary property",
        Action::AddProperty => "add a property",
        Action::LookAtMutant => "look at a mutant",
        Action::CoverFunction => "test the function",
        Action::WriteSketch => "write the property",
        Action::ExpandExamples => "assert more examples",
    }
}

/// The unchecked assumptions of a success.
fn unchecked_lines(result: &HybridResult, text: &mut String) {
    for (number, what) in result.unchecked.iter().enumerate() {
        let title = if number == 0 { "Unchecked" } else { "" };
        let _ = writeln!(text, "{title:<12}{what}");
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

/// The failure's name, as in the JSON.
fn reason(failure: &HybridFailure) -> String {
    let value = serde_json::to_value(failure).unwrap_or_default();
    let name = value.as_object().and_then(|object| object.keys().next().cloned());
    name.unwrap_or_else(|| value.to_string())
}

/// The evidence for the failure, one line each.
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
        F::MergeConflict { files, .. } => files.iter().map(|file| quoted(file.as_str())).collect(),
        F::FunctionsNotImplemented { functions } => functions.iter().map(|name| quoted(name)).collect(),
        F::ConflictMarkers { files } => files.iter().map(|file| quoted(file)).collect(),
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
            "add the suggested properties below to the acceptance criteria and run again, or set `strictness.mutationBlocking = false`."
        }
        F::ChecksUnmet { .. } => "run again; what was built is in the archive.",
        F::CoverageNotVerified { .. } => {
            "look at the tests in the archive; say in the acceptance criteria how they are to be written, and run again."
        }
        F::CriticalMutantSurvived { .. } => {
            "add the suggested properties below to the acceptance criteria and run again."
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
            "both sides wrote to the same lines: name only files in `sharedPaths` that both need, or let `resolveConflicts` be true."
        }
        F::FunctionsNotImplemented { .. } => {
            "no property calls them; name in the acceptance criteria what they must do, and run again."
        }
        F::ConflictMarkers { .. } => "run again; what was built is in the archive.",
        F::MainMoved { .. } => "run again on top of what is there now.",
        F::NodeFailed { .. } => "remove the cause and run again; the branch has not moved.",
    }
}

/// The last lines of a build's output.
fn end_of(diagnostics: &str) -> Vec<String> {
    let lines: Vec<&str> = diagnostics.lines().filter(|line| !line.trim().is_empty()).collect();
    let dropped = lines.len().saturating_sub(MOST_LINES);
    let omitted = (dropped > 0).then(|| format!("… {dropped} lines before"));
    omitted.into_iter().chain(lines[dropped..].iter().map(|line| sanitized(line))).collect()
}
