//! A person edits the document while the run waits.

use crate::small::{passing, plan, project, script, turns};
use crate::stopped::edit;
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::prelude::*;
use scout_and_wave::document::Impl;
use scout_and_wave::graph::SawResult;
use scout_and_wave::protocol::state::State;

/// SAW-16, CON-101: in a whole run the orchestrator writes only the status and the reports. Every other byte is the person's:
/// spaces, line ends, headings and blocks, and a last line without an end.
#[tokio::test]
async fn what_a_person_wrote_is_there_when_the_run_ends() {
    let project = project().await;
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    edit(
        &project,
        "## Waves\n",
        "### Thoughts  \r\n\r\n\tMy own.   \n\n```yaml\nnot: [yours\n```\n\n## Waves\n\nWho, and what:\n",
    );
    edit(&project, "## Completion Reports", "## Completion Reports\n\nTo be read twice.\n\n## Mine \n\n- a last word");
    let before = project.file("main", DOCUMENT);
    assert!(
        before.ends_with("\n\n## Mine \n\n- a last word") && before.contains("  \r\n\r\n\tMy own.   \n"),
        "{before:?}"
    );

    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    let after = project.file("main", DOCUMENT);
    let (head, rest) = before.split_once("state: REVIEWED\nwaves_verified: 0\n").unwrap();
    let (middle, mine) = rest.split_once("## Mine").unwrap();
    let written = after.strip_prefix(head).unwrap().strip_suffix(&format!("## Mine{mine}")).unwrap();
    let (status, reports) = written.split_once(middle).unwrap();
    assert!(status.starts_with("state: COMPLETE\nwaves_verified: 1\n") && !status.contains("```"), "{status}");
    assert!(
        reports.starts_with("### Agent A - Completion Report\n\n```yaml\n") && reports.ends_with("```\n\n"),
        "{reports}"
    );
    let read = Impl::read(DOCUMENT, &after).unwrap();
    assert_eq!((read.status.state, read.reports.len()), (State::Complete, 2));
}
