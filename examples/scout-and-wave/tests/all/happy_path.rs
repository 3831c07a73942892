//! The main way, from the task to the last wave.

use crate::small::{passing, project, script, second_turns, turns, two_waves};
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::prelude::*;
use scout_and_wave::document::Impl;
use scout_and_wave::graph::SawResult;
use scout_and_wave::protocol::state::State;
use serde_json::json;

/// SAW-20, SAW-21, SAW-22, SAW-25, SAW-26, SAW-31, SAW-32: the run stops for a person, and then goes through two
/// waves of two agents each.
#[tokio::test]
async fn two_waves_land_one_after_the_other() {
    let project = project().await;
    let mut plan = two_waves();
    let later = [("C", "four"), ("D", "five")].map(|(agent, line)| json!({ "agent": agent, "lines": [line] }));
    plan["append_only"][0]["additions"].as_array_mut().unwrap().extend(later);
    let all: Vec<_> = turns().into_iter().chain(second_turns()).collect();
    let test = TestRun::new(&project, script(&plan, &all)).with_gate(&passing());
    // It waits: no agent was launched, and the plan has landed.
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    assert_eq!(test.started(), ["command", "scout", "suit", "review"]);
    assert_eq!(test.states(), ["SCOUTING", "REVIEWED"]);
    let planned = project.git(&["rev-parse", "main"]);
    let text = project.file("main", DOCUMENT);
    assert_eq!(project.git(&["diff", "--name-only", "main~", "main"]), format!("{DOCUMENT}\n"));
    // SAW-55: the verdict comes before any prompt.
    assert!(text.find("verdict: SUITABLE").unwrap() < text.find("- Prompt").unwrap());
    assert!(test.project.git(&["worktree", "list"]).lines().all(|line| !line.contains("wave")));

    let ended = test.approve().await;
    let Outcome::Finished(SawResult::Complete { waves: 2, commit }) = ended else { panic!("{ended:?}") };
    assert_eq!(test.unplayed(), 0);
    assert_eq!(project.git(&["rev-parse", "main"]).trim(), commit.to_string());
    let wave = ["WAVE_EXECUTING", "WAVE_MERGING", "WAVE_VERIFIED"];
    let states =
        [&["SCOUTING", "REVIEWED", "WAVE_PENDING"][..], &wave, &["WAVE_PENDING"], &wave, &["COMPLETE"]].concat();
    assert_eq!(test.states(), states);

    // The agents' files are there.
    for (file, agent) in
        [("a.txt", "A of wave 1"), ("b.txt", "B of wave 1"), ("c.txt", "C of wave 2"), ("d.txt", "D of wave 2")]
    {
        assert_eq!(project.file("main", file), format!("by agent {agent}\n"));
    }
    assert_eq!(project.file("main", "list.txt"), "one\ntwo\nthree\nfour\nfive\n");

    // SAW-109: each wave landed in one step, with merge commits of both branches.
    let moves = project.git(&["reflog", "main", "--format=%s"]);
    assert_eq!(moves.lines().count(), 4, "begin, plan, and two waves:\n{moves}");
    let first_parents = project.git(&["log", "--first-parent", "--format=%s", &format!("{}..main", planned.trim())]);
    assert_eq!(
        first_parents.lines().collect::<Vec<_>>(),
        [
            "docs: wave 2 is verified",
            "Add the lines of wave 2",
            "Merge wave2-agent-d",
            "Merge wave2-agent-c",
            "docs: reports of wave 2",
            "docs: wave 1 is verified",
            "Add the lines of wave 1",
            "Merge wave1-agent-b",
            "Merge wave1-agent-a",
            "docs: reports of wave 1",
        ]
    );
    // SAW-29: the append-only files after the merge, with added lines only.
    let lines = project.git(&["diff", "--numstat", "main~2", "main~"]);
    assert_eq!(lines, "2\t0\tlist.txt\n");

    // SAW-16: the document has every report, and the state of the run.
    let read = Impl::read(DOCUMENT, &project.file("main", DOCUMENT)).unwrap();
    let reported: Vec<_> = read.reports.iter().map(|reported| reported.agent.as_str()).collect();
    assert_eq!(reported, ["A", "B", "C", "D"]);
    assert_eq!((read.status.state, read.status.waves_verified), (State::Complete, 2));
    assert_eq!(read.status.contracts, Some(read.contracts_hash));
    // The plan is unchanged, byte for byte, except for the status.
    let after = project.file("main", DOCUMENT);
    let without_status = |text: &str| {
        let (before, rest) = text.split_once("## Status").unwrap();
        let (_, rest) = rest.split_once("## Waves").unwrap();
        format!("{before}{rest}")
    };
    assert!(without_status(&after).starts_with(&without_status(&text)));
    // SAW-71, CON-76: the commits that agents have made and reported are merged.
    for reported in &read.reports {
        let commit = String::from(reported.report.commit.clone());
        assert!(
            project
                .repository()
                .is_ancestor(commit.parse().unwrap(), project.repository().resolve("main").unwrap())
                .unwrap()
        );
    }
    // Nothing is left.
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(project.git(&["branch", "--format=%(refname:short)"]), "main\n");
}
