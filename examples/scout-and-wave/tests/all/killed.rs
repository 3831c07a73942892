//! The program is killed during a wave of three agents (`kill -9`), and resumed by another process.

use crate::project::{Project, git};
use crate::small::{Turn, plan, project, text_again, turn};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const FILES: [&str; 3] = ["a.txt", "b.txt", "c.txt"];

/// The steps of a run with one wave, in order: nodes, and each merged branch.
const STEPS: [&str; 16] = [
    "command",
    "scout",
    "suit",
    "review",
    "pending",
    "agents",
    "wait_for_worktrees",
    "implement",
    "predict",
    "merge",
    "merged wave1-agent-a",
    "merged wave1-agent-b",
    "merged wave1-agent-c",
    "append",
    "verify",
    "verified",
];

/// Far longer than any run takes.
const LIMIT: Duration = Duration::from_secs(120);

/// A run of the program on a project, with agents that play a script.
struct Program<'p> {
    project: &'p Project,
}

impl Program<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.project.place().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scout-and-wave"));
        command.args(arguments).args(["--approve", "--accept-weaker-isolation"]);
        command.arg("--script").arg(self.path("script.toml")).arg("--events").arg(self.path("events.jsonl"));
        command.current_dir(self.project.place()).stdin(Stdio::null());
        command
    }

    /// The command that begins the run, which goes as far as it can.
    fn begin(&self) -> Command {
        let (root, work) = (self.project.root(), self.path("work"));
        let [root, work] = [&root, &work].map(|path| path.to_str().unwrap());
        self.command(&[
            "run",
            "--run-id",
            "r1",
            "--task",
            "Three files",
            "--name",
            "three",
            "--repo",
            root,
            "--work-dir",
            work,
        ])
    }

    /// The last of the steps that has begun.
    fn step(&self) -> Option<usize> {
        let text = std::fs::read_to_string(self.path("events.jsonl")).unwrap_or_default();
        let events = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let begun = events.filter_map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            let named = match event["event"].as_str() {
                Some("node_started") => &event["node"],
                Some("note") => &event["text"],
                _ => return None,
            };
            STEPS.iter().position(|step| named.as_str() == Some(step))
        });
        begun.max()
    }

    /// Begins the run, kills it as soon as it has reached a step, and gives the step that it had reached when it was killed.
    fn killed_at(&self, step: usize) -> usize {
        let mut process = self.begin().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while self.step().is_none_or(|now| now < step) {
            assert!(begun.elapsed() < LIMIT, "it has come to {:?}", self.step());
            std::thread::sleep(Duration::from_millis(1));
        }
        // If it has just ended there is nothing to kill, and it is resumed all the same.
        process.kill().unwrap();
        process.wait().unwrap();
        self.step().unwrap()
    }
}

fn ended(command: &mut Command) -> Value {
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while process.try_wait().unwrap().is_none() {
        // A run that waits for a person would not end.
        if begun.elapsed() > LIMIT {
            process.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let Output { status, stdout, stderr } = process.wait_with_output().unwrap();
    assert_eq!(status.code(), Some(0), "{}", String::from_utf8_lossy(&stderr));
    serde_json::from_slice(&stdout).unwrap()
}

/// A project, and a script of three agents with a gate that really checks each agent's file.
async fn three() -> Project {
    let project = project().await;
    let mut plan = plan();
    let wave = plan["waves"][0]["agents"].as_array_mut().unwrap();
    let mut third = wave[0].clone();
    (third["agent"], third["creates"]) = (json!("C"), json!(["c.txt"]));
    wave.push(third);
    plan["gate"] = json!(FILES.map(|file| ["test", "-f", file]));
    let mut third = Turn { post: "agent C of wave 1", ..turn("A", "c.txt") };
    third.report["worktree"] = json!(".claude/worktrees/wave1-agent-c");
    let turns = [turn("A", "a.txt"), turn("B", "b.txt"), third];
    std::fs::write(project.place().join("script.toml"), text_again(&plan, &turns)).unwrap();
    project
}

/// Whether the commit has everything that the gate checks.
fn is_verified(project: &Project, commit: &str) -> bool {
    let files = project.git(&["ls-tree", "--name-only", commit]);
    FILES.iter().all(|file| files.lines().any(|line| line == *file))
}

/// SAW-47, SAW-105, SAW-109: whichever step it is killed in, nothing is lost or merged twice, and `main` is never at an
/// unverified commit of the wave.
#[tokio::test]
async fn a_program_that_is_killed_anywhere_is_resumed() {
    let whole = three().await;
    let program = Program { project: &whole };
    assert_eq!(ended(&mut program.begin())["result"]["state"], "COMPLETE");
    assert_eq!(program.step(), Some(STEPS.len() - 1));
    let tree = |project: &Project| project.git(&["ls-tree", "-r", "main", "--", "a.txt", "b.txt", "c.txt", "list.txt"]);
    let mut missed: BTreeSet<usize> = (0..STEPS.len()).collect();
    // A step may be over before it is observed and the process is killed.
    for _ in 0..4 * STEPS.len() {
        let Some(next) = missed.first() else { break };
        let project = three().await;
        let program = Program { project: &project };
        let step = program.killed_at(*next);
        missed.remove(&step);
        let after = format!("killed in {:?}", STEPS[step]);
        // `main` is unchanged, or has the plan, or the whole wave.
        let subject = project.git(&["log", "-1", "--format=%s", "main"]);
        let is_whole = is_verified(&project, "main") && subject == "docs: wave 1 is verified\n";
        assert!(is_whole || subject == "Begin\n" || subject.starts_with("docs: plan "), "{after}: {subject}");

        let account = ended(&mut program.command(&["resume", "r1"]));
        assert_eq!(account["result"]["state"], "COMPLETE", "{after}");
        assert_eq!(tree(&project), tree(&whole), "{after}");
        let merges = project.git(&["log", "--merges", "--reverse", "--format=%s", "main"]);
        assert_eq!(merges, "Merge wave1-agent-a\nMerge wave1-agent-b\nMerge wave1-agent-c\n", "{after}");
        let was_at = project.git(&["reflog", "main", "--format=%H"]);
        let was_at: Vec<_> = was_at.lines().collect();
        assert_eq!(was_at.len(), 3, "{after}: begun, planned, and the wave");
        assert!(is_verified(&project, was_at[0]) && !is_verified(&project, was_at[1]), "{after}");
        assert_eq!(git(&project.root(), &["status", "--short"]), "", "{after}");
        assert_eq!(project.git(&["branch", "--format=%(refname:short)"]), "main\n", "{after}");
    }
    let missed: Vec<_> = missed.into_iter().map(|step| STEPS[step]).collect();
    assert_eq!(missed, [""; 0], "never killed there");
}
