//! Orchestrators that are killed, and resumed from the journal, the document and git.

use crate::recovered::{comes_to_the_same_without_its_journal, count};
use crate::small::{passing, plan, project, script_again, turns};
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::prelude::*;
use scout_and_wave::document::Impl;
use scout_and_wave::graph::{ReviewAnswer, SawResult};
use scout_and_wave::protocol::state::State;
use std::collections::BTreeSet;

/// SAW-46, SAW-47, SAW-105: killed after any node, or after any branch that a node has merged, the run reaches the same result:
/// every agent works in its previous worktree, every branch is merged once, and the target advances once. SAW-110, CON-105: so does
/// another run, if the journal is lost. Once the reports are in the document, no agent works again then; merged branches are skipped.
#[tokio::test]
async fn a_run_that_is_killed_anywhere_comes_to_the_same() {
    let (mut killed, mut without_agents) = (0, 0);
    for moment in 1.. {
        let project = project().await;
        let places = project.place().join("places");
        let noted: &'static str = Box::leak(format!("pwd >> '{}'", places.display()).into_boxed_str());
        let turns = turns().map(|mut turn| {
            turn.actions.insert(0, vec!["sh", "-c", noted]);
            turn
        });
        let test = TestRun::new(&project, script_again(&plan(), &turns)).with_gate(&passing());
        assert!(matches!(test.start().await, Outcome::Waiting { .. }));
        test.answer(&ReviewAnswer::Approve { acknowledge_caveats: false }).await;
        let (ended, left) = match test.resume_until(moment) {
            Some(ended) => (ended, None),
            None => {
                killed += 1;
                let left = project.saved();
                (test.resume().await, Some(left))
            }
        };
        assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{moment}: {ended:?}");
        let subjects = project.git(&["log", "--first-parent", "--format=%s", "main"]);
        let expected = [
            "docs: wave 1 is verified",
            "Add the lines of wave 1",
            "Merge wave1-agent-b",
            "Merge wave1-agent-a",
            "docs: reports of wave 1",
            "docs: plan Two files",
            "Begin",
        ];
        assert_eq!(subjects.lines().collect::<Vec<_>>(), expected, "{moment}");
        assert_eq!(project.git(&["reflog", "main", "--format=%s"]).lines().count(), 3, "{moment}");
        let places = std::fs::read_to_string(places).unwrap();
        assert_eq!(places.lines().collect::<BTreeSet<_>>().len(), 2, "{moment}: {places}");
        assert_eq!(project.file("main", "list.txt"), "one\ntwo\nthree\n");
        let read = Impl::read(DOCUMENT, &project.file("main", DOCUMENT)).unwrap();
        assert_eq!((read.status.state, read.reports.len()), (State::Complete, 2), "{moment}");
        assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1, "{moment}");
        assert_eq!(project.git(&["branch", "--format=%(refname:short)"]), "main\n", "{moment}");
        let Some(left) = left else { break };
        drop(test);
        project.restore(&left);
        let started = comes_to_the_same_without_its_journal(&project, moment).await;
        without_agents += usize::from(count(&started, "implement") == 0);
    }
    // Each node from the review on, states, and both merges.
    assert!(killed >= 16, "{killed}");
    // From the writing of the reports until the wave has landed.
    assert!(without_agents >= 8, "{without_agents}");
}

/// SAW-105: killed when the plan has landed and that is not recorded. The next process goes on with the document, which is its own.
#[tokio::test]
async fn a_run_that_is_killed_once_its_plan_has_landed_goes_on_with_it() {
    let project = project().await;
    let test = TestRun::new(&project, script_again(&plan(), &turns())).with_gate(&passing());
    assert!(test.start_until_noted("REVIEWED").is_none());
    assert_eq!(project.git(&["log", "-1", "--format=%s", "main"]), "docs: plan Two files\n");
    let planned = project.git(&["rev-parse", "main"]);
    let ended = test.resume().await;
    assert!(matches!(ended, Outcome::Waiting { .. }), "{ended:?}");
    assert_eq!(project.git(&["rev-parse", "main"]), planned);
    assert_eq!(test.started().iter().filter(|node| *node == "suit").count(), 2, "the first was killed in it");
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
}
