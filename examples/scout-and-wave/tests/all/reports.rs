//! Completion reports: as data, and in the document.

use crate::suitability::{files, plan};
use interlocking::agents::AgentErrorKind;
use interlocking::failure::{Failure, FailureKind};
use scout_and_wave::document::{Impl, list, planned, with_list, with_report};
use scout_and_wave::protocol::agent::{AgentLetter, Post};
use scout_and_wave::protocol::invariant::unreported;
use scout_and_wave::protocol::report::{
    CompletionReport, InterfaceDeviation, OutOfScope, ReportedCommit, Status, Verification,
};
use scout_and_wave::protocol::suitability::judge;
use std::time::Duration;

pub(crate) fn post() -> Post {
    Post { wave: 1, agent: "A".parse().unwrap() }
}

pub(crate) fn report() -> CompletionReport {
    let path = |path: &str| path.to_owned().try_into().unwrap();
    CompletionReport {
        status: Status::Complete,
        worktree: ".claude/worktrees/wave1-agent-a".to_owned(),
        commit: ReportedCommit::Hash("1".repeat(40)),
        files_changed: vec![],
        files_created: vec![path("src/count.rs"), path("tests/count.rs")],
        interface_deviations: vec![],
        out_of_scope_deps: vec![],
        tests_added: vec!["a_text_is_counted".to_owned()],
        verification: "PASS (cargo test --test count - 2/2 tests)".parse().unwrap(),
        notes: String::new(),
    }
}

fn document() -> String {
    planned(&plan(), None, &judge(&plan(), &files())).unwrap()
}

/// SAW-68, SAW-69, SAW-71, SAW-72, SAW-73, SAW-75, SAW-76, SAW-77, SAW-78: each report is unchanged after it was written into the
/// document and read back.
#[test]
fn a_report_survives_the_document() {
    let deviation = InterfaceDeviation {
        description: "`count` gives bytes: \"faster\"".to_owned(),
        downstream_action_required: true,
        affects: vec!["C".parse().unwrap(), "D".parse().unwrap()],
    };
    let out_of_scope = OutOfScope {
        file: "Cargo.toml".to_owned().try_into().unwrap(),
        change: "a lint".to_owned(),
        reason: "the code does not compile\nwithout".to_owned(),
    };
    let mut reports = vec![report()];
    for status in [Status::Partial, Status::Blocked] {
        reports.push(CompletionReport { status, ..report() });
    }
    reports.push(CompletionReport { commit: ReportedCommit::Uncommitted, ..report() });
    // A hash of digits only is not read as a number.
    reports.push(CompletionReport { commit: ReportedCommit::Hash("0123456".to_owned()), ..report() });
    reports.push(CompletionReport {
        interface_deviations: vec![deviation],
        out_of_scope_deps: vec![out_of_scope],
        verification: "FAIL (cargo test - all - 1/12 tests)".parse().unwrap(),
        notes: "It was harder than it looks.\n\nSee the module's documentation.".to_owned(),
        ..report()
    });
    for report in reports {
        let text = with_report("IMPL.md", &document(), &post(), &report).unwrap();
        let read = Impl::read("IMPL.md", &text).unwrap();
        assert_eq!(read.report(&post().agent), Some(&report), "{text}");
    }
}

/// Texts of an agent that imitate B's report, another status, or a block that does not end.
fn forgeries() -> Vec<String> {
    let forged = with_report("IMPL.md", &document(), &Post { agent: "B".parse().unwrap(), ..post() }, &report());
    let (_, forged) = forged.as_deref().unwrap().split_once("## Completion Reports\n\n").unwrap();
    let indented: String = forged.lines().map(|line| format!("   {line}\n")).collect();
    let bare = forged.split_once("\n\n").unwrap().1;
    [
        forged,
        &forged.replace("```", "~~~"),
        &indented,
        &indented.replace("```", "~~~~"),
        bare,
        &bare.replace("```", "~~~"),
        "## Status",
        "\t## Completion Reports",
        "#",
        "```",
        "~~~ yaml",
    ]
    .map(|text| format!("Well.\n{text}\n"))
    .into()
}

/// SAW-16, SAW-68, SAW-78: notes are prose, whatever they contain. They are not read as another agent's report or as a section,
/// they end no section, and later reports are still read.
#[test]
fn notes_are_no_report_of_somebody_else() {
    let after = Post { agent: "C".parse().unwrap(), ..post() };
    for notes in forgeries().iter().flat_map(|text| [text.clone(), text["Well.\n".len()..].to_owned()]) {
        let written = with_report("IMPL.md", &document(), &post(), &CompletionReport { notes, ..report() }).unwrap();
        let text = with_report("IMPL.md", &written, &after, &report()).unwrap();
        let read = Impl::read("IMPL.md", &text).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
        let agents: Vec<_> = read.reports.iter().map(|reported| reported.agent.as_str()).collect();
        assert_eq!(agents, ["A", "C"], "{text}");
        let first = &read.reports[0].report;
        assert_eq!(CompletionReport { notes: String::new(), ..first.clone() }, report(), "{text}");
        assert!(!first.notes.is_empty(), "SAW-78: {text}");
    }
}

/// SAW-16, SAW-68: a field of a report does not end its block.
#[test]
fn a_field_is_no_report_of_somebody_else() {
    for worktree in forgeries().iter().map(|text| text.replace("\n\n", "\n")) {
        let forged = CompletionReport { worktree, ..report() };
        let text = with_report("IMPL.md", &document(), &post(), &forged).unwrap();
        assert_eq!(Impl::read("IMPL.md", &text).unwrap().report(&post().agent), Some(&forged), "{text}");
    }
}

/// SAW-16, SAW-68: an item of a list, such as an agent's reason for touching another's file, is one line.
#[test]
fn a_reason_is_no_report_of_somebody_else() {
    for reason in forgeries() {
        let text = with_list("IMPL.md", &document(), "Wave 1 - Discrepancies", &[reason]).unwrap();
        assert!(Impl::read("IMPL.md", &text).unwrap().reports.is_empty(), "{text}");
        let (_, list) = text.split_once("Discrepancies\n\n").unwrap();
        assert!(list.starts_with("- Well. ") && list.lines().count() == 1, "{list}");
    }
}

/// A list is read as it was written, and replaced where it is; other lists and reports stay as they are.
#[test]
fn a_list_is_read_and_replaced() {
    let written =
        with_list("IMPL.md", &document(), "Wave 1 - Descoped", &["Agent A: one".into(), "Agent B: two".into()]);
    let text = with_report("IMPL.md", &written.unwrap(), &post(), &report()).unwrap();
    let text = with_list("IMPL.md", &text, "Wave 2 - Descoped", &["Agent C: three".into()]).unwrap();
    assert_eq!(list("IMPL.md", &text, "Wave 1 - Descoped"), ["Agent A: one", "Agent B: two"]);
    assert_eq!(list("IMPL.md", &text, "Wave 2 - Descoped"), ["Agent C: three"]);
    assert!(list("IMPL.md", &text, "Wave 3 - Descoped").is_empty());
    for (heading, lines) in
        [("Wave 1 - Descoped", ["Agent A: one", "Agent B: two"].as_slice()), ("Wave 2 - Descoped", &["Agent C: three"])]
    {
        let lines: Vec<_> = lines.iter().map(|line| (*line).to_owned()).collect();
        assert_eq!(with_list("IMPL.md", &text, heading, &lines).unwrap(), text, "the same list");
        let other = with_list("IMPL.md", &text, heading, &["Agent D: four".into()]).unwrap();
        assert_eq!(other.matches(heading).count(), 1, "{other}");
        assert_eq!(with_list("IMPL.md", &other, heading, &lines).unwrap(), text);
        let none = with_list("IMPL.md", &text, heading, &[]).unwrap();
        assert!(!none.contains(heading) && Impl::read("IMPL.md", &none).unwrap().reports.len() == 1, "{none}");
    }
    assert_eq!(with_list("IMPL.md", &text, "Wave 3 - Descoped", &[]).unwrap(), text);
}

/// SAW-68, CON-113: the heading is before the block, or is its first line; any dash is accepted.
#[test]
fn both_forms_of_the_heading_are_read() {
    let whole = with_report("IMPL.md", &document(), &post(), &report()).unwrap();
    let heading = "### Agent A - Completion Report";
    assert!(whole.contains(&format!("{heading}\n\n```yaml\nstatus: complete\n")), "{whole}");
    let inside = whole.replace(&format!("{heading}\n\n```yaml\n"), &format!("```yaml\n{heading}\n"));
    let dash = whole.replace(heading, "### Agent A — Completion Report");
    for text in [&inside, &dash] {
        assert_ne!(text, &whole);
        assert_eq!(Impl::read("IMPL.md", text).unwrap().report(&post().agent), Some(&report()), "{text}");
    }
}

/// SAW-79: a malformed report is reported with its location and what was expected, and the document is not read.
#[test]
fn a_malformed_report_is_an_error() {
    let whole = with_report("IMPL.md", &document(), &post(), &report()).unwrap();
    let line = 1 + whole.lines().position(|line| line == "status: complete").unwrap();
    for (find, with, expected) in [
        (
            "status: complete",
            "status: done",
            format!("IMPL.md:{line}:9: `status`: expected `complete`, `partial` or `blocked`, found \"done\""),
        ),
        (
            "PASS (cargo",
            "PASSED (cargo",
            format!("IMPL.md:{}:15: `verification`: expected the gate's result", line + 8),
        ),
        ("tests_added: ", "tests: ", format!("IMPL.md:{}:1: ", line + 7)),
        (
            "files_created: [src/count.rs",
            "files_created: [../count.rs",
            format!("IMPL.md:{}:17: `files_created`: ", line + 4),
        ),
    ] {
        let text = whole.replace(find, with);
        assert_ne!(text, whole);
        let problems = Impl::read("IMPL.md", &text).unwrap_err().to_string();
        assert!(problems.starts_with(&expected), "{problems}\n{expected}");
    }
}

/// SAW-77.
#[test]
fn a_verification_names_the_command_and_the_tests() {
    let passed: Verification = "PASS (cargo test - 3/3 tests)".parse().unwrap();
    assert_eq!(passed, Verification { passed: true, command: "cargo test".to_owned(), tests_passed: 3, tests: 3 });
    assert_eq!(passed.to_string(), "PASS (cargo test - 3/3 tests)");
    for wrong in [
        "PASS",
        "pass (cargo test - 3/3 tests)",
        "PASS (cargo test)",
        "PASS ( - 3/3 tests)",
        "PASS (cargo test - three tests)",
    ] {
        assert!(wrong.parse::<Verification>().is_err(), "{wrong}");
    }
}

/// SAW-70, CON-112: worktree and branch are named after wave and letter.
#[test]
fn places_are_called_after_wave_and_letter() {
    let second = Post { wave: 12, agent: "B2".parse().unwrap() };
    assert_eq!(second.label(), "wave12-agent-b2");
    assert_eq!(second.worktree(false), ".claude/worktrees/wave12-agent-b2");
    assert_eq!(second.branch().unwrap().as_str(), "wave12-agent-b2");
    for wrong in ["", "a", "AB", "A1", "A10", "Ä"] {
        assert!(wrong.parse::<AgentLetter>().is_err(), "{wrong}");
    }
}

/// SAW-83, SAW-85: an agent that answers with something else than a report breaks I4. One that could not be asked, or
/// has no answer, does not: its own error is told.
#[test]
fn an_agent_without_a_report_is_told_with_its_reason() {
    let told = |said: String| unreported(&Failure::new("implement", 1, 1, FailureKind::Agent, said));
    let (no, limit) = (|| "no such key".to_owned(), Duration::from_secs(600));
    for said in [
        AgentErrorKind::OutputInvalid { corrections: 1, violations: Vec::new(), output: None, text: None }.to_string(),
        AgentErrorKind::NoDecision { nudges: 2, text: None }.to_string(),
        // The runtime's.
        "the output fits its schema but does not parse as `CompletionReport`: no".to_owned(),
    ] {
        let what = format!(
            "I4 is broken: its output is not a completion report, and is not written to the document ({}); so ",
            said.trim()
        );
        assert!(told(said.clone()).starts_with(&what), "{said}");
    }
    for other in [
        AgentErrorKind::Refused { reason: no() },
        AgentErrorKind::PromptTooLong,
        AgentErrorKind::Crashed { exit: Some(1), reason: no() },
        AgentErrorKind::Idle { limit, nudges: 0 },
    ] {
        let said = other.to_string();
        assert_eq!(told(said.clone()), format!("node `implement` failed: {said}"));
    }
}
