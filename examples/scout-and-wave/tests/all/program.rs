//! The program: it waits for a person, another process goes on, and the result describes the run's outcome.

use crate::project::{Project, git};
use crate::small::{plan, project, text, turn, turns};
use crate::solo::{alone, solo_before_others, solo_plan};
use crate::without_confinement::without_confinement;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn program(place: &Path, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_scout-and-wave"));
    let Output { status, stdout, stderr } = program.args(arguments).current_dir(place).output().unwrap();
    let stdout = String::from_utf8(stdout).unwrap();
    let said = if stdout.is_empty() { Value::Null } else { serde_json::from_str(&stdout).unwrap() };
    (status.code(), said, String::from_utf8(stderr).unwrap())
}

#[test]
fn the_program_says_all_of_itself() {
    let program = |words: &[&str]| Command::new(env!("CARGO_BIN_EXE_scout-and-wave")).args(words).output().unwrap();
    crate::help_is_whole::help_is_whole(|words| String::from_utf8(program(words).stdout).unwrap());
}

/// SAW-22: without approval no agent is launched, in any process; a refusal ends the run.
#[test]
fn the_program_waits_for_a_person() {
    let place = tempfile::tempdir().unwrap();
    let work = place.path().join("work");
    let run = ["run", "--run-id", "r1", "--keep", "--accept-weaker-isolation", "--work-dir", work.to_str().unwrap()];
    let (exit, _, said) = program(place.path(), &run);
    assert_eq!(exit, Some(3), "{said}");
    assert!(
        said.contains("`scout-and-wave answer r1 JSON` answers, then `scout-and-wave resume r1` takes it up"),
        "{said}"
    );
    let repository = work.join("r1/repository");
    assert_eq!(git(&repository, &["log", "--format=%s", "main"]), "docs: plan Text statistics\nA crate to build on\n");

    let (exit, _, said) = program(place.path(), &["resume", "r1", "--accept-weaker-isolation"]);
    assert_eq!(exit, Some(3), "{said}");
    let (exit, _, said) = program(place.path(), &["answer", "r1", r#"{"decline": {"reason": "not now"}}"#]);
    assert_eq!(exit, Some(0), "{said}");
    let (exit, account, said) = program(place.path(), &["resume", "r1", "--accept-weaker-isolation"]);
    // The exit code is 1, as nothing was built: `run && deploy` deploys nothing.
    assert_eq!((exit, &account["success"]), (Some(1), &json!(false)), "{said}");
    assert_eq!(account["result"], serde_json::json!({"state": "DECLINED", "reason": "not now"}));
    // The plan has landed, and nothing else.
    let commits: Vec<_> =
        account["commits"].as_array().unwrap().iter().map(|commit| commit["subject"].as_str().unwrap()).collect();
    assert_eq!(commits, ["docs: plan Text statistics"]);
    assert!(!git(&repository, &["for-each-ref"]).contains("wave"));
}

/// No agent is called where what agents write cannot be confined, unless the user accepts that; a run that is over tells its end
/// all the same.
#[tokio::test]
async fn a_system_that_cannot_confine_is_refused_before_any_agent_is_called() {
    let place = Place::new(&text(&plan(), &[], "")).await;
    let check = ["check", "Two files", "--run-id", "c1"];
    let accepts = ["--accept-weaker-isolation"];
    without_confinement(&mut || {
        let (exit, _, said) = place.start(&check);
        assert!(exit == Some(2) && said.contains("this system cannot keep the code under test from"), "{said}");
        let (exit, _, said) = place.call(&["show", "c1", "--journal", "../journal"]);
        assert_eq!(exit, Some(2), "there is no run: {said}");
        let (exit, _, said) = place.start(&[&check[..], &accepts].concat());
        assert!(exit == Some(0) && said.contains("Accepted: this system cannot keep"), "{said}");
        let (exit, _, said) = place.call(&["resume", "c1", "--journal", "../journal"]);
        assert!(exit == Some(0) && !said.contains("this system cannot keep"), "{said}");
    });
}

/// A user's repository, a journal, and scripted agents.
struct Place {
    project: Project,
    script: PathBuf,
}

impl Place {
    async fn new(script: &str) -> Self {
        let project = project().await;
        let path = project.place().join("agents.toml");
        std::fs::write(&path, script).unwrap();
        Self { project, script: path }
    }

    /// A command that begins a run, started in the repository.
    fn begin(&self, command: &[&str]) -> (Option<i32>, Value, String) {
        self.start(&[command, &["--accept-weaker-isolation"]].concat())
    }

    /// The same with all the isolation that is demanded.
    fn start(&self, command: &[&str]) -> (Option<i32>, Value, String) {
        self.call(&[command, &["--script", self.script.to_str().unwrap(), "--journal", "../journal"]].concat())
    }

    fn call(&self, arguments: &[&str]) -> (Option<i32>, Value, String) {
        program(&self.project.root(), arguments)
    }

    /// Approves a run whose gate passes, as far as it goes, and gives the exit code.
    fn is_approved(&self, run: &str) -> Option<i32> {
        self.is_approved_with(run, self.gate())
    }

    /// The same with another gate.
    fn is_approved_with(&self, run: &str, gate: &str) -> Option<i32> {
        let (exit, _, said) =
            self.begin(&["run", "--task", "Two files", "--name", "two", "--run-id", run, "--toolchain", gate]);
        assert_eq!(exit, Some(3), "{said}");
        let (exit, _, said) = self.call(&["answer", run, r#"{"approve": {}}"#, "--journal", "../journal"]);
        assert_eq!(exit, Some(0), "{said}");
        self.call(&["resume", run, "--accept-weaker-isolation", "--journal", "../journal"]).0
    }

    /// A toolchain with which everything passes.
    fn gate(&self) -> &'static str {
        let path = self.project.place().join("toolchain.yaml");
        std::fs::write(path, "buildCommand: [\"true\"]\ntestCommand: [\"true\"]\n").unwrap();
        "../toolchain.yaml"
    }

    /// A toolchain with which everything fails.
    fn failing_gate(&self) -> &'static str {
        let path = self.project.place().join("failing.yaml");
        std::fs::write(path, "buildCommand: [\"false\"]\ntestCommand: [\"false\"]\n").unwrap();
        "../failing.yaml"
    }

    /// The output of `status`.
    fn status(&self, run: &str) -> (String, Value) {
        let mut status = Command::new(env!("CARGO_BIN_EXE_scout-and-wave"));
        let text = status.args(["status", run, "--journal", "../journal"]).current_dir(self.project.root());
        let text = String::from_utf8(text.output().unwrap().stdout).unwrap();
        (text, self.call(&["status", run, "--json", "--journal", "../journal"]).1)
    }
}

/// SAW-19: `check` ends with a verdict, positive or negative, and the repository is unchanged.
#[tokio::test]
async fn a_check_says_whether_a_task_is_suitable() {
    let mut unsuitable = plan();
    unsuitable["estimates"]["sequential"] = 1.into();
    for (plan, verdict) in [(plan(), "SUITABLE"), (unsuitable, "NOT SUITABLE")] {
        let place = Place::new(&text(&plan, &[], "")).await;
        let before = place.project.git(&["for-each-ref"]);
        let (exit, account, said) = place.begin(&["check", "Two files", "--run-id", "c1"]);
        assert_eq!(exit, Some(0), "{said}");
        let result = &account["result"];
        assert_eq!((&result["state"], &result["suitability"]["verdict"]), (&json!("CHECKED"), &json!(verdict)));
        assert_eq!(account["commits"], json!([]));
        assert_eq!(place.project.git(&["for-each-ref"]), before);
        assert_eq!(place.project.git(&["status", "--porcelain", "--ignored"]), "");
        assert!(place.status("c1").0.starts_with("c1  IDLE  finished\n"), "{}", place.status("c1").0);
    }
}

/// SAW-20, SAW-22, SAW-23, SAW-32: `scout` writes the document, `wave` asks for approval and goes on with it; `status` gives the
/// state of each run, by the protocol's names, and `answer` and `resume` go on.
#[tokio::test]
async fn a_plan_and_its_waves_are_runs_of_their_own() {
    let place = Place::new(&text(&plan(), &turns(), "")).await;
    let toolchain = ["--toolchain", place.gate()];
    let begin = |command: &[&str]| place.begin(&[command, &toolchain].concat());
    let (exit, account, said) = begin(&["scout", "Two files", "--name", "two", "--run-id", "s1"]);
    assert_eq!((exit, &account["result"]["state"]), (Some(0), &json!("REVIEWED")), "{said}");
    assert!(place.status("s1").0.starts_with("s1  REVIEWED  finished\n"));

    let (exit, _, said) = begin(&["wave", "--name", "two", "--run-id", "w1"]);
    assert_eq!(exit, Some(3), "{said}");
    let (text, status) = place.status("w1");
    assert!(
        text.starts_with(
            "w1  IDLE  waiting\nat      review\nwaits   for a person, at review\n        document: docs/IMPL-two.md\n"
        ),
        "{text}"
    );
    assert!(text.contains("\n          - {\"approve\": {}}: the waves begin\n"), "{text}");
    assert_eq!((&status["waits_for"][0]["node"], &status["agents"]), (&json!("review"), &json!([])));
    let journal = ["--journal", "../journal"];
    let (exit, _, said) = place.call(&[&["answer", "w1", r#"{"approve": {}}"#][..], &journal].concat());
    assert_eq!(exit, Some(0), "{said}");
    let (exit, account, said) = place.call(&[&["resume", "w1", "--accept-weaker-isolation"][..], &journal].concat());
    assert_eq!((exit, &account["result"]["state"]), (Some(0), &json!("COMPLETE")), "{said}");
    let (text, status) = place.status("w1");
    let agents = "agent   wave1-agent-a  finished\nagent   wave1-agent-b  finished\n";
    assert_eq!(text, format!("w1  COMPLETE  finished\nwave    1\n{agents}"));
    assert_eq!(
        (&status["state"], &status["stands"], &status["wave"]),
        (&json!("COMPLETE"), &json!("finished"), &json!(1))
    );
    // TC-23: the gate is the user's, and is in the document.
    let document = place.project.file("main", "docs/IMPL-two.md");
    assert!(document.contains("gate:\n  - [\"true\"]\n"), "{document}");
}

/// SAW-105: the journal is lost. Another run goes on with the document and with what the first run has left in git, wherever its
/// worktrees are: an agent that was done does not work again.
#[tokio::test]
async fn a_run_goes_on_without_its_journal() {
    let mut first = turn("A", "a.txt");
    first.report["status"] = json!("partial");
    let place = Place::new(&text(&plan(), &[first, turn("B", "b.txt")], "")).await;
    assert_eq!(place.is_approved("r1"), Some(3));
    let begins = "r1  BLOCKED (AgentFailure)  waiting\nat      blocked_agent\nwave    1\nagent   wave1-agent-a  finished\n\
                  agent   wave1-agent-b  finished\nwaits   for a person, at blocked_agent\n        problems:\n          - wave1-agent-a reports `partial`: \n";
    assert!(place.status("r1").0.starts_with(begins), "{}", place.status("r1").0);
    let recover =
        |run: &str| place.begin(&["recover", "r1", "--name", "two", "--run-id", run, "--toolchain", place.gate()]);
    let (exit, _, said) = recover("r2");
    assert_eq!(exit, Some(2), "{said}");
    assert!(
        said.contains("the journal of the run `r1` is there") && said.contains("scout-and-wave resume r1"),
        "{said}"
    );

    std::fs::remove_dir_all(place.project.place().join("journal")).unwrap();
    std::fs::write(&place.script, text(&plan(), &[turn("A", "a.txt")], "")).unwrap();
    let (exit, account, said) = recover("r2");
    assert_eq!((exit, &account["result"]["state"]), (Some(0), &json!("COMPLETE")), "{said}");
    for (file, content) in [("a.txt", "by agent A of wave 1\n"), ("b.txt", "by agent B of wave 1\n")] {
        assert_eq!(place.project.file("main", file), content);
    }
    assert_eq!(place.project.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(place.project.git(&["branch", "--format=%(refname:short)"]), "main\n");
    let (exit, _, said) = recover("r3");
    assert_eq!(exit, Some(2), "{said}");
    assert!(said.contains("the run `r1` has left no worktree in this repository"), "{said}");
}

/// The status also lists an agent that is alone in its wave.
#[tokio::test]
async fn a_status_has_the_agent_of_a_solo_wave() {
    let mut first = alone("A", "a.txt");
    first.report["status"] = json!("partial");
    let place = Place::new(&text(&solo_plan(), &[first], "")).await;
    assert_eq!(place.is_approved("r1"), Some(3));
    let (text, status) = place.status("r1");
    assert!(text.contains("\nwave    1\nagent   wave1-agent-a  finished\nwaits "), "{text}");
    assert_eq!(status["agents"], json!([{ "name": "wave1-agent-a", "stands": "finished" }]));
}

/// Agents of a wave that is launched wait for their runs, although the agent of the wave before, which had none, has finished.
#[tokio::test]
async fn a_status_has_agents_that_have_not_begun() {
    let place = Place::new(&text(&solo_before_others(), &[alone("A", "a.txt")], "")).await;
    assert_eq!(place.is_approved("r1"), Some(3), "the script has no turn for agents of the second wave");
    let fork = ["fork", "r1", "--before", "agents", "--run-id", "r2", "--json", "--journal", "../journal"];
    let (exit, _, said) = place.call(&fork);
    assert_eq!(exit, Some(0), "{said}");
    let (text, _) = place.status("r2");
    assert!(text.contains("\nwave    2\nagent   wave2-agent-b  waiting\nagent   wave2-agent-c  waiting\n"), "{text}");
}

/// Agents whose work another run has done have none of their own in this run, and have finished.
#[tokio::test]
async fn a_status_has_the_agents_of_a_recovered_wave() {
    let place = Place::new(&text(&plan(), &turns(), "")).await;
    assert_eq!(place.is_approved_with("r1", place.failing_gate()), Some(3));
    std::fs::remove_dir_all(place.project.place().join("journal")).unwrap();
    let recover = ["recover", "r1", "--name", "two", "--run-id", "r2", "--toolchain", place.failing_gate()];
    let (exit, _, said) = place.begin(&recover);
    assert_eq!(exit, Some(3), "{said}");
    let (text, _) = place.status("r2");
    let agents = "\nwave    1\nagent   wave1-agent-a  finished\nagent   wave1-agent-b  finished\nwaits ";
    assert!(text.starts_with("r2  BLOCKED (Verification)  waiting\n") && text.contains(agents), "{text}");

    // What it has made beside the lost run's work is removed, and that work stays for another recovery.
    let (exit, _, said) = place.call(&["cancel", "r2", "--journal", "../journal"]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(!place.project.git(&["worktree", "list"]).contains("/r2/"));
    let branches = place.project.git(&["branch", "--format=%(refname:short)"]);
    assert_eq!(branches, "main\nr1/staging\nwave1-agent-a\nwave1-agent-b\n");
}

/// SAW-93: if quick mode refuses, the program fails, and says what to do instead.
#[tokio::test]
async fn quick_mode_fails_where_the_full_protocol_is_needed() {
    let place = Place::new("").await;
    let plan = place.project.place().join("plan.yaml");
    let declared = "gate: [[\"true\"]]\nagents:\n  - { files: [a.txt], task: Write it., verification: [] }\n";
    std::fs::write(&plan, declared).unwrap();
    let (exit, account, said) = place.begin(&["quick", "../plan.yaml"]);
    assert_eq!(exit, Some(1), "{said}");
    assert_eq!((&account["success"], &account["result"]["reason"]), (&json!(false), &json!("REFUSED")));
    assert!(account["result"]["problems"][1].as_str().unwrap().contains("use the full protocol"), "{account}");
    std::fs::write(&plan, declared.replace("files", "file")).unwrap();
    let (exit, _, said) = place.begin(&["quick", "../plan.yaml"]);
    assert_eq!(exit, Some(2), "{said}");
    assert!(said.contains("../plan.yaml:3:7: `agents.file`: "), "{said}");
}

/// The demonstration of the README, to its end: cargo builds and tests the scripted agents' work, run by each agent and by the
/// gate.
#[test]
fn the_demonstration_is_approved_beforehand() {
    let place = tempfile::tempdir().unwrap();
    let work = place.path().join("work");
    let options = ["--approve", "--run-id", "r1", "--keep", "--accept-weaker-isolation"];
    let (exit, account, said) =
        program(place.path(), &[&options[..], &["--work-dir", work.to_str().unwrap()]].concat());
    assert_eq!(exit, Some(0), "{said}");
    assert_eq!((&account["result"]["state"], &account["result"]["waves"]), (&json!("COMPLETE"), &json!(3)));
    let library = git(&work.join("r1/repository"), &["show", "main:src/lib.rs"]);
    assert!(
        library.ends_with("pub mod count;\npub mod frequency;\npub mod longest;\npub mod report;\npub mod json;\n"),
        "{library}"
    );
    let changelog = git(&work.join("r1/repository"), &["show", "main:CHANGELOG.md"]);
    assert!(
        changelog.ends_with("- `json` renders counts as JSON\n- the program prints a report of its input\n"),
        "{changelog}"
    );
}
