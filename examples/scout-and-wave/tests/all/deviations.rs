//! Deviations from contracts: later agents are told of them, or do not begin.

use crate::small::{blocks, passing, project, script_telling_later, second_turns, turns, two_waves};
use crate::stopped::edit;
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::prelude::*;
use scout_and_wave::document::Impl;
use scout_and_wave::graph::{BlockedQuestion, SawResult};
use scout_and_wave::protocol::state::BlockReason;
use serde_json::{Value, json};

/// The script of two waves in which agent A reports these deviations, and the agents of the second wave work only if they are
/// told these words.
fn with_deviations(deviations: &Value, words: &str) -> interlocking::agents::Script {
    let [mut first, second] = turns();
    first.report["interface_deviations"] = deviations.clone();
    script_telling_later(&two_waves(), &[first, second], &second_turns(), words)
}

fn deviation(is_required: bool, affects: &[&str]) -> Value {
    json!([{ "description": "greet takes a name", "downstream_action_required": is_required, "affects": affects }])
}

/// SAW-73, SAW-74, SAW-89: the first wave lands; the second does not begin until the document's section of each
/// affected agent was changed, and then the agent is told the changed text. SAW-15, SAW-82, SAW-85: nor does it while
/// the document says that the first is not verified; the error names the invariant and its effect.
#[tokio::test]
async fn a_deviation_stops_the_next_wave() {
    let project = project().await;
    let test =
        TestRun::new(&project, with_deviations(&deviation(true, &["C", "D"]), "Greet by name.")).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let said = |agent: &&str| {
        format!(
            "agent A departed from a contract (greet takes a name), and the section of agent {agent} is as it was before: change it"
        )
    };
    let is_stopped = async |ended: Outcome<SawResult>, by: &[&str]| {
        assert!(matches!(ended, Outcome::Waiting { .. }), "{ended:?}");
        let BlockedQuestion { wave: 2, reason, problems, .. } = test.question().await else { panic!() };
        assert_eq!((reason, problems), (BlockReason::Contract, by.iter().map(said).collect()));
        assert!(!project.git(&["for-each-ref"]).contains("wave2"), "no worktree is made");
    };
    is_stopped(test.approve().await, &["C", "D"]).await;
    assert_eq!(project.file("main", "a.txt"), "by agent A of wave 1\n", "the first wave has landed");
    edit(&project, "waves_verified: 1", "waves_verified: 0");
    let Outcome::Failed(failure) = test.unblock(json!("revised")).await else { panic!() };
    let told = "I3 is broken: wave 2 was to begin, and by the document the next wave is 1; so what failed in one wave surfaces late, in \
                the next";
    assert_eq!(failure.message, told);
    assert!(!project.git(&["for-each-ref"]).contains("wave2"));
    edit(&project, "waves_verified: 0", "waves_verified: 1");
    is_stopped(test.retry().await, &["C", "D"]).await;
    // First nothing was changed, then only the section of one agent.
    is_stopped(test.unblock(json!("revised")).await, &["C", "D"]).await;
    edit(&project, "Write d.txt.", "Write d.txt. Greet by name.");
    is_stopped(test.unblock(json!("revised")).await, &["C"]).await;
    edit(&project, "Write c.txt.", "Write c.txt. Greet by name.");
    let ended = test.unblock(json!("revised")).await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 2, .. })), "{ended:?}");
    assert_eq!(test.unplayed(), 0);
    assert_eq!(Impl::read(DOCUMENT, &project.file("main", DOCUMENT)).unwrap().status.deviations, []);
}

/// SAW-73: a deviation without consequences for later agents stops no wave, and is in the document.
#[tokio::test]
async fn a_deviation_that_needs_nothing_stops_nobody() {
    let project = project().await;
    let test = TestRun::new(&project, with_deviations(&deviation(false, &["C"]), "")).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 2, .. })), "{ended:?}");
    let read = Impl::read(DOCUMENT, &project.file("main", DOCUMENT)).unwrap();
    let deviations = &read.report(&"A".parse().unwrap()).unwrap().interface_deviations;
    assert_eq!(deviations[0].description, "greet takes a name");
}

/// SAW-73: a deviation affects agents of later waves. A deviation that names other agents, or none, is refused.
#[tokio::test]
async fn a_deviation_names_later_agents() {
    let unknown = "wave1-agent-a: it reports a deviation (greet takes a name) that affects agent B, and no later wave has such an agent";
    let nobody = "wave1-agent-a: it reports that later agents have to be told of a deviation (greet takes a name), and does not name them";
    for (affects, said) in [(&["B"][..], unknown), (&[], nobody)] {
        let project = project().await;
        let test = TestRun::new(&project, with_deviations(&deviation(true, affects), "")).with_gate(&passing());
        assert!(matches!(test.start().await, Outcome::Waiting { .. }));
        let (reason, problems) = blocks(&project, &test).await;
        assert_eq!((reason, &problems[..]), (BlockReason::AgentFailure, &[said.to_owned()][..]));
    }
}
