//! The three purposes of a run: a verdict, a document, or the waves of an existing document.

use crate::project::Project;
use crate::small::{passing, plan, project, script, second_turns, turns, two_waves};
use crate::stopped::edit;
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::prelude::*;
use interlocking::toolchain::{CommandLine, Toolchain};
use interlocking::workspaces::FilePath;
use scout_and_wave::document::Impl;
use scout_and_wave::graph::{ReviewAnswer, SawResult};
use scout_and_wave::protocol::state::State;
use scout_and_wave::protocol::suitability::Verdict;
use scout_and_wave::request::Request;
use serde_json::json;

const TASK: &str = "Two files";

fn document() -> FilePath {
    FilePath::new(DOCUMENT).unwrap()
}

fn scout() -> Request {
    Request::Scout { task: TASK.to_owned(), document: document() }
}

fn wave() -> Request {
    Request::Wave { document: document() }
}

/// All references, the commit of the checked-out branch, and the uncommitted files of the working tree.
fn everything(project: &Project) -> [String; 4] {
    let refs = project.git(&["for-each-ref"]);
    let worktrees = project.git(&["worktree", "list", "--porcelain"]);
    [refs, worktrees, project.git(&["status", "--porcelain", "--ignored"]), project.git(&["reflog", "--all"])]
}

/// SAW-19: a verdict, positive or negative, and nothing is written: no file, commit, branch or reference.
#[tokio::test]
async fn a_check_gives_a_verdict_and_writes_nothing() {
    for (investigations, verdict) in [(json!([]), Verdict::Suitable), (json!(["why"]), Verdict::NotSuitable)] {
        let project = project().await;
        let mut plan = plan();
        plan["investigations"] = investigations;
        let test = TestRun::new(&project, script(&plan, &turns()));
        let before = everything(&project);
        let ended = test.begin(Request::Check { task: TASK.to_owned() }).await;
        let Outcome::Finished(SawResult::Checked { suitability }) = ended else { panic!("{ended:?}") };
        assert_eq!(suitability.verdict, verdict);
        assert_eq!(everything(&project), before);
        assert_eq!(test.started(), ["command", "check"]);
        assert_eq!(test.states(), ["CHECKING", "IDLE"]);
    }
}

/// SAW-20, SAW-21: `scout` ends with the document, which is not approved yet; SAW-22, SAW-23, CON-99: `wave`, in another run with
/// a journal of its own, asks for approval, and goes on with the document.
#[tokio::test]
async fn a_wave_goes_on_with_a_document_once_it_is_approved() {
    let project = project().await;
    let ended = TestRun::new(&project, script(&plan(), &[])).begin(scout()).await;
    let Outcome::Finished(SawResult::Reviewed { document, suitability }) = ended else { panic!("{ended:?}") };
    assert_eq!((document.as_str(), suitability.verdict), (DOCUMENT, Verdict::Suitable));
    let read = Impl::read(DOCUMENT, &project.file("main", DOCUMENT)).unwrap();
    assert_eq!(read.status.state, State::Reviewed);
    // A person may change it in between; only the document shows that.
    edit(&project, "lines: [three]", "lines: [3]");

    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&passing());
    assert!(matches!(test.begin(wave()).await, Outcome::Waiting { .. }));
    assert_eq!(test.started(), ["command", "pending", "review"]);
    assert_eq!(test.states(), [""; 0]);
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    let states = ["WAVE_PENDING", "WAVE_EXECUTING", "WAVE_MERGING", "WAVE_VERIFIED", "COMPLETE"];
    assert_eq!(test.states(), states);
    assert_eq!(project.file("main", "list.txt"), "one\ntwo\n3\n");

    // No wave is left.
    let test = TestRun::new(&project, script(&plan(), &[]));
    let Outcome::Failed(failure) = test.begin(wave()).await else { panic!() };
    let said = format!("every wave of `{DOCUMENT}` is verified: there is nothing left to begin");
    assert_eq!((failure.node.as_str(), failure.message), ("command", said));
}

/// SAW-23: if the document's first wave is verified, approval is not asked for again.
#[tokio::test]
async fn a_wave_goes_on_after_the_last_verified_one() {
    let project = project().await;
    let all: Vec<_> = turns().into_iter().chain(second_turns()).collect();
    let script = || script(&two_waves(), &all);
    let first = TestRun::new(&project, script()).with_gate(&passing());
    assert!(matches!(first.start().await, Outcome::Waiting { .. }));
    first.answer(&ReviewAnswer::Approve { acknowledge_caveats: false }).await;
    // The process ends when the first wave has landed, and its journal is lost.
    assert!(first.resume_until_after("verified").is_none());
    assert_eq!(Impl::read(DOCUMENT, &project.file("main", DOCUMENT)).unwrap().status.waves_verified, 1);
    let again = TestRun::of_another_run(&project, script(), "r2").with_gate(&passing());
    let ended = again.begin(wave()).await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 2, .. })), "{ended:?}");
    assert_eq!(again.states()[..2], ["WAVE_PENDING", "WAVE_EXECUTING"]);
    assert!(!again.started().contains(&"review".to_owned()));
    assert_eq!(again.started().iter().filter(|node| *node == "agents").count(), 1, "{:?}", again.started());
    assert_eq!(project.file("main", "d.txt"), "by agent D of wave 2\n");
}

/// A missing document is reported, with a remedy.
#[tokio::test]
async fn a_wave_wants_a_document() {
    let project = project().await;
    let Outcome::Failed(failure) = TestRun::new(&project, script(&plan(), &[])).begin(wave()).await else { panic!() };
    let said = format!("there is no document `{DOCUMENT}` on `main`: `scout` writes one, and `--name` says which");
    assert_eq!(failure.message, said);
}

/// A person sends the plan back: the scout is told the reason, and its document is overwritten.
#[tokio::test]
async fn a_plan_is_made_anew() {
    let project = project().await;
    let mut better = plan();
    better["title"] = json!("Two better files");
    let text = format!(
        "[[turn]]\nagent = \"scout\"\ncontains = [\"- Shorter, please.\"]\noutput_json = '''{better}'''\n\
         [[turn]]\nagent = \"scout\"\noutput_json = '''{}'''\n",
        plan()
    );
    let script = interlocking::agents::Script::parse("a test's script", &text).unwrap();
    let test = TestRun::new(&project, script);
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    test.answer(&ReviewAnswer::Replan { remarks: "Shorter, please.".to_owned() }).await;
    assert!(matches!(test.resume().await, Outcome::Waiting { .. }));
    assert_eq!(test.started(), ["command", "scout", "suit", "review", "review", "scout", "suit", "review"]);
    assert_eq!(test.states(), ["SCOUTING", "REVIEWED", "SCOUTING", "REVIEWED"]);
    assert!(project.file("main", DOCUMENT).starts_with("# IMPL: Two better files\n"));
    assert_eq!(project.git(&["log", "--format=%s", "main"]).lines().count(), 3);
}

/// TC-23: the user's own commands are the gate, whatever the plan says, and even if it has none.
#[tokio::test]
async fn a_configured_gate_counts_whatever_a_plan_says() {
    let toolchain = Toolchain {
        build_command: CommandLine::new("mine", &["build"]),
        test_command: CommandLine::new("mine", &["test"]),
        ..Toolchain::default()
    };
    let project = project().await;
    TestRun::new(&project, script(&plan(), &[])).begin(scout()).await;
    let recorder = passing();
    let test = TestRun::of_another_run(&project, script(&plan(), &turns()), "r2").with_gate(&recorder);
    let test = test.with_toolchain(toolchain.clone());
    assert!(matches!(test.begin(wave()).await, Outcome::Waiting { .. }));
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { .. })), "{ended:?}");
    let calls: Vec<_> = recorder.calls().iter().map(|call| call.command.to_string()).collect();
    assert_eq!(calls, ["mine build", "mine test"]);

    let mut plan = plan();
    plan["gate"] = json!([]);
    for (toolchain, verdict) in [(Some(toolchain), Verdict::Suitable), (None, Verdict::NotSuitable)] {
        let project = crate::small::project().await;
        let test = TestRun::new(&project, script(&plan, &[]));
        let test = match toolchain {
            Some(toolchain) => test.with_toolchain(toolchain),
            None => test,
        };
        let ended = test.begin(Request::Check { task: TASK.to_owned() }).await;
        let Outcome::Finished(SawResult::Checked { suitability }) = ended else { panic!("{ended:?}") };
        assert_eq!(suitability.verdict, verdict);
    }
}
