//! Reports compared with the facts, and the prediction of conflicts.

use crate::reports::{post, report};
use interlocking::worktree::CommitId;
use scout_and_wave::protocol::agent::{AgentLetter, Place};
use scout_and_wave::protocol::ownership::AgentFiles;
use scout_and_wave::protocol::prediction::{Discrepancy, Facts, predict, reconcile};
use scout_and_wave::protocol::report::{CompletionReport, OutOfScope, ReportedCommit};
use std::collections::BTreeSet;

fn commit(digit: &str) -> CommitId {
    digit.repeat(40).parse().unwrap()
}

fn paths(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

fn facts() -> Facts {
    let touched = paths(&["src/count.rs", "tests/count.rs"]);
    Facts { base: commit("0"), head: commit("1"), touched, uncommitted: BTreeSet::new() }
}

fn found(report: &CompletionReport, facts: &Facts) -> Vec<(bool, String)> {
    let file = |path: &str| path.to_owned().try_into().unwrap();
    let files = AgentFiles {
        agent: post().agent,
        changes: vec![file("src/words.rs")],
        creates: vec![file("src/count.rs"), file("tests/count.rs")],
        needs: vec![],
    };
    let orchestrators = paths(&["docs/IMPL.md", "src/lib.rs"]);
    let place = Place { worktree: post().worktree(false), branch: post().label() };
    let found = reconcile(&files, &place, report, facts, &orchestrators);
    found.iter().map(|found| (found.stops_the_merge(), Discrepancy::to_string(found))).collect()
}

fn touched(more: &str) -> Facts {
    let mut facts = facts();
    facts.touched.insert(more.to_owned());
    facts
}

#[test]
fn a_true_report_has_no_discrepancy() {
    assert_eq!(found(&report(), &facts()), []);
    let short = CompletionReport { commit: ReportedCommit::Hash("1".repeat(7)), ..report() };
    assert_eq!(found(&short, &facts()), []);
}

/// SAW-72, SAW-114: an agent's own files that it touched and does not report, or reports and did not touch,
/// are noted.
#[test]
fn lists_are_held_against_the_difference() {
    let undeclared = "it touched `src/words.rs` and does not report it".to_owned();
    assert_eq!(found(&report(), &touched("src/words.rs")), [(false, undeclared)]);
    let report = CompletionReport { files_changed: vec!["src/words.rs".to_owned().try_into().unwrap()], ..report() };
    let untouched = "it reports `src/words.rs`, and did not touch it".to_owned();
    assert_eq!(found(&report, &facts()), [(false, untouched)]);
}

/// SAW-13, CON-109: touching another's file is allowed with a reason, and stops the merge without one.
#[test]
fn what_is_out_of_scope_wants_a_reason() {
    let without = "it touched `src/other.rs`, which is not its own, and does not report why".to_owned();
    assert_eq!(found(&report(), &touched("src/other.rs")), [(true, without.clone())]);
    let with = |reason: &str| {
        let file = "src/other.rs".to_owned().try_into().unwrap();
        let dep = OutOfScope { file, change: "a name".to_owned(), reason: reason.to_owned() };
        CompletionReport { out_of_scope_deps: vec![dep], ..report() }
    };
    let reason = "it touched `src/other.rs`, which is not its own: it did not compile".to_owned();
    assert_eq!(found(&with("it did not compile"), &touched("src/other.rs")), [(false, reason)]);
    assert_eq!(found(&with(" "), &touched("src/other.rs")), [(true, without)]);
}

/// SAW-16, SAW-83, SAW-85: only the orchestrator writes the document, and lines into append-only files.
#[test]
fn what_is_the_orchestrators_is_nobody_elses() {
    let said = "I4 is broken: agent A touched `docs/IMPL.md`, which the orchestrator alone writes; so later work \
                relies on information that is out of date"
        .to_owned();
    assert_eq!(found(&report(), &touched("docs/IMPL.md")), [(true, said)]);
    let [(stops, said)] = &found(&report(), &touched("src/lib.rs"))[..] else { panic!() };
    assert!(stops & said.starts_with("I4 is broken: agent A touched `src/lib.rs`"), "{said}");
}

/// SAW-17, SAW-84, SAW-85, CON-110.
#[test]
fn what_is_not_committed_stops_the_merge() {
    let said = "I5 is broken: agent A did not commit `src/count.rs`; so there is nothing on the branch to merge, and files have \
                to be copied by hand"
        .to_owned();
    let not_committed = Facts { uncommitted: paths(&["src/count.rs"]), ..facts() };
    assert_eq!(found(&report(), &not_committed), [(true, said)]);
    let honest = CompletionReport { commit: ReportedCommit::Uncommitted, ..report() };
    let [(true, said)] = &found(&honest, &facts())[..] else { panic!() };
    assert!(said.starts_with("I5 is broken: agent A reports that it did not commit; "), "{said}");
}

/// SAW-71: the reported commit is the branch's.
#[test]
fn another_commit_stops_the_merge() {
    for wrong in ["2".repeat(40), "1".repeat(6), String::new()] {
        let report = CompletionReport { commit: ReportedCommit::Hash(wrong.clone()), ..report() };
        let said = format!("it reports the commit {wrong}, and `wave1-agent-a` is at {}", commit("1"));
        assert_eq!(found(&report, &facts()), [(true, said)]);
    }
}

/// SAW-108: an agent whose branch has no commit worked somewhere else.
#[test]
fn a_branch_without_a_commit_stops_the_merge() {
    let nothing = Facts { head: commit("0"), touched: BTreeSet::new(), ..facts() };
    let report = CompletionReport { commit: ReportedCommit::Hash("0".repeat(40)), files_created: vec![], ..report() };
    let said =
        "there is no commit on `wave1-agent-a` beyond where it began: the agent worked somewhere else, or not at all";
    assert_eq!(found(&report, &nothing), [(true, said.to_owned())]);
}

/// SAW-70, CON-152: the worktree's label is that of the agent's wave and letter.
#[test]
fn another_worktree_stops_the_merge() {
    let report = CompletionReport { worktree: "/tmp/elsewhere".to_owned(), ..report() };
    let said = "it reports the worktree `/tmp/elsewhere`, and was given `.claude/worktrees/wave1-agent-a`".to_owned();
    assert_eq!(found(&report, &facts()), [(true, said)]);
}

/// SAW-49, CON-111: the files that agents report and those that they touched are combined, and a file in two
/// lists is a conflict.
#[test]
fn a_file_in_two_lists_is_a_conflict() {
    let letters: [AgentLetter; 3] = ["A", "B", "C"].map(|letter| letter.parse().unwrap());
    let silent = CompletionReport { files_created: vec![], ..report() };
    let says =
        |file: &str| CompletionReport { files_changed: vec![file.to_owned().try_into().unwrap()], ..silent.clone() };
    let did = |file: &str| Facts { touched: paths(&[file]), ..facts() };
    let nothing = Facts { touched: BTreeSet::new(), ..facts() };
    let conflicts = |wave: [(&CompletionReport, &Facts); 3]| {
        let wave = letters.iter().zip(wave).map(|(letter, (report, facts))| (letter, report, facts));
        predict(wave).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(conflicts([(&says("a"), &did("a")), (&silent, &did("b")), (&silent, &nothing)]), [""; 0]);
    let expected = [
        "I1 is broken: `a` is in the lists of agents A and C; so the merge conflicts, or one agent's work undoes another's",
    ];
    for third in [(&says("a"), &nothing), (&silent, &did("a"))] {
        assert_eq!(conflicts([(&silent, &did("a")), (&silent, &did("b")), third]), expected);
        assert_eq!(conflicts([(&says("a"), &nothing), (&silent, &did("b")), third]), expected);
    }
    let uncommitted = Facts { uncommitted: paths(&["a"]), ..nothing.clone() };
    assert_eq!(conflicts([(&silent, &uncommitted), (&silent, &nothing), (&says("a"), &nothing)]), expected);
}
