//! The division of work, and what it prevents, with a gate that really runs.

use crate::project::Project;
use crate::small::{Turn, blocks, passing, plan, project, script, second_turns, turn, turns, two_waves};
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::agents::Script;
use interlocking::cli::repository::EmbeddedFile;
use interlocking::graph::Graph as _;
use interlocking::prelude::*;
use scout_and_wave::graph::{SawResult, ScoutAndWave};
use scout_and_wave::protocol::state::BlockReason;
use serde_json::json;

/// A language with two words: each `call` needs a `def` in some file.
const CHECK: &str = "cat *.txt | sed -n 's/^call //p' | while read -r name; do grep -qxF \"def $name\" *.txt || { echo \"nobody has $name\"; exit 1; }; done\n";

/// A wave in which agents A and B write these lines into their files, with a second wave after it; its gate checks the calls.
async fn wave_of(first: &str, second: &str) -> (Project, Script) {
    let files = [
        EmbeddedFile { path: "README.md", contents: "# Two words\n" },
        EmbeddedFile { path: "check.sh", contents: CHECK },
        EmbeddedFile { path: "list.txt", contents: "one\n" },
    ];
    let mut plan = two_waves();
    plan["gate"] = json!([["sh", "check.sh"]]);
    plan["contracts"][0]["signature"] = json!("greet()");
    let wrote = [("a.txt", first), ("b.txt", second)]
        .map(|(file, line)| -> &'static str { Box::leak(format!("echo '{line}' > {file}").into_boxed_str()) });
    let of_first = turns()
        .into_iter()
        .zip(wrote)
        .map(|(turn, wrote)| Turn { actions: vec![vec!["sh", "-c", wrote], vec!["commit"]], ..turn });
    let all: Vec<_> = of_first.chain(second_turns()).collect();
    (Project::of(&files).await, script(&plan, &all))
}

/// SAW-81, SAW-87, SAW-88: an agent calls what no contract has, or implements another interface than its contract's and does not
/// report that. The gate at the end of the same wave finds it: nothing of the wave is on `main`, and no agent of the next wave is
/// launched.
#[tokio::test]
async fn interfaces_that_drift_apart_are_found_at_the_end_of_their_wave() {
    let drifts = [("def greet()", "call farewell()", "farewell()"), ("def greet(name)", "call greet()", "greet()")];
    for (first, second, missing) in drifts {
        let (project, script) = wave_of(first, second).await;
        let test = TestRun::new(&project, script);
        assert!(matches!(test.start().await, Outcome::Waiting { .. }));
        let (reason, problems) = blocks(&project, &test).await;
        assert_eq!(reason, BlockReason::Verification);
        assert!(
            problems[0].starts_with("`sh check.sh` fails:") && problems[0].contains(&format!("nobody has {missing}")),
            "{problems:?}"
        );
        assert_eq!(test.started().iter().filter(|node| *node == "pending").count(), 1);
        assert!(!project.git(&["for-each-ref"]).contains("wave2"));
    }
    let (project, script) = wave_of("def greet()", "call greet()").await;
    let test = TestRun::new(&project, script);
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 2, .. })), "{ended:?}");
}

/// SAW-01: worktrees, launches, reports, merges, gates and states are nodes without an agent, and their commits are the
/// orchestrator's.
#[tokio::test]
async fn the_orchestrator_does_all_but_the_work() {
    let project = project().await;
    let recorder = passing();
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&recorder);
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    let trace = [
        "command",
        "scout",
        "suit",
        "review",
        "review",
        "pending",
        "agents",
        "wait_for_worktrees",
        "wait_for_worktrees",
        "implement",
        "implement",
        "predict",
        "merge",
        "append",
        "verify",
        "verified",
    ];
    // SAW-30: what is merged is verified.
    assert_eq!(test.started(), trace);
    let rows = &ScoutAndWave::net().table().nodes;
    for node in ["command", "suit", "pending", "predict", "merge", "append", "verify", "verified"] {
        let row = rows.iter().find(|row| row.name == node).unwrap();
        assert_eq!((row.kind, &row.agent), (interlocking::table::NodeKind::Logic, &None), "{node}");
    }
    let authors = project.git(&["log", "--first-parent", "--format=%an: %s", "main~1"]);
    let orchestrators = authors.lines().filter(|line| line.starts_with("Orchestrator: ")).count();
    assert_eq!(orchestrators, authors.lines().count() - 1, "all but the beginning: {authors}");
    // CON-76: agents commit their work themselves.
    let works = project.git(&["log", "--format=%an", "--grep", "^work$", "main"]);
    assert!(works.lines().count() == 2 && works.lines().all(|author| author != "Orchestrator"), "{works}");
}

/// SAW-03, SAW-48: an agent is told its files, the exact contract and a gate for these files only, runs that gate, and its report
/// is in the document. The gate of the wave is that of the whole project.
#[tokio::test]
async fn an_agent_is_told_what_it_owns_and_reports() {
    let project = project().await;
    let mut plan = plan();
    for (agent, file) in plan["waves"][0]["agents"].as_array_mut().unwrap().iter_mut().zip(["a.txt", "b.txt"]) {
        agent["verification"] = json!([["test", "-s", file]]);
    }
    let mut text = format!("[[turn]]\nagent = \"scout\"\noutput_json = '''{plan}'''\n");
    for (letter, file) in [("A", "a.txt"), ("B", "b.txt")] {
        let Turn { post, mut report, .. } = turn(letter, file);
        report["verification"] = json!(format!("PASS (test -s {file} - 1/1 tests)"));
        let told = json!([
            format!("You are {post}\n"),
            format!("\n- `{file}` (created)"),
            "fn greet()",
            format!("`test -s {file}`")
        ]);
        text += &format!(
            "[[turn]]\nagent = \"agent\"\ncontains = {told}\noutput_json = '''{report}'''\n\
             [[turn.write]]\npath = \"{file}\"\ncontent = \"done\\n\"\n[[turn.run]]\ncommand = [\"test\", \"-s\", \"{file}\"]\n\
             [[turn.commit]]\nmessage = \"work\"\n"
        );
    }
    let gate = passing();
    let test = TestRun::new(&project, Script::parse("a test's script", &text).unwrap()).with_gate(&gate);
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let planned = project.file("main", DOCUMENT);
    for letter in ["A", "B"] {
        let (_, section) = planned.split_once(&format!("### Agent {letter} - Prompt\n")).unwrap();
        let (_, field) = section.split_once("#### 6. Verification gate\n").unwrap();
        let (field, _) = field.split_once("####").unwrap();
        let own = format!("- `test -s {}.txt`", letter.to_lowercase());
        assert_eq!(field.lines().filter(|line| line.starts_with("- ")).collect::<Vec<_>>(), [own]);
    }
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    assert_eq!(test.unplayed(), 0);
    let unscoped: Vec<_> = gate.calls().iter().map(|call| call.command.to_string()).collect();
    assert_eq!(unscoped, ["build all", "test all"]);
    let text = project.file("main", DOCUMENT);
    for (letter, file) in [("A", "a.txt"), ("B", "b.txt")] {
        let (_, report) = text.split_once(&format!("### Agent {letter} - Completion Report\n")).unwrap();
        assert!(report.contains(&format!("verification: PASS (test -s {file} - 1/1 tests)")), "{text}");
    }
}
