//! The program killed amid a wave of three agents (`kill -9`), and resumed by another process.

use crate::project::{Project, git};
use crate::small::{Turn, plan, project, text_again, turn};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const FILES: [&str; 3] = ["a.txt", "b.txt", "c.txt"];

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

    /// Begins the run; it goes as far as it can.
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

    /// What has happened so far: nodes that begin or have ended, states and merges, in each run of the tree.
    fn steps(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("events.jsonl")).unwrap_or_default();
        let events = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let events = events.map(|line| serde_json::from_str::<Value>(line).unwrap());
        let steps =
            events.filter(|event| matches!(event["event"].as_str(), Some("node_started" | "node_finished" | "note")));
        steps.map(|event| format!("{} {}{}", event["event"], event["node"], event["text"])).collect()
    }

    /// Kills the run as soon as so many steps have happened, unless it has ended by then.
    fn is_killed_after(&self, steps: usize) -> bool {
        let mut process = self.begin().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while self.steps().len() < steps {
            assert!(begun.elapsed() < Duration::from_secs(60), "only {:?}", self.steps());
            if process.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        process.kill().unwrap();
        process.wait().unwrap().code().is_none()
    }
}

fn ended(command: &mut Command) -> Value {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert_eq!(status.code(), Some(0), "{}", String::from_utf8_lossy(&stderr));
    serde_json::from_slice(&stdout).unwrap()
}

/// A project, and a script of three agents and a gate that really looks for what each of them makes.
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

/// Whether the gate passes at a commit.
fn is_verified(project: &Project, commit: &str) -> bool {
    let files = project.git(&["ls-tree", "--name-only", commit]);
    FILES.iter().all(|file| files.lines().any(|line| line == *file))
}

/// SAW-47, SAW-105, SAW-109: wherever the program is killed, nothing is lost, nothing is merged twice, and `main` is never at a commit of the
/// wave that is not verified.
#[tokio::test]
async fn a_program_that_is_killed_anywhere_is_resumed() {
    let whole = three().await;
    let program = Program { project: &whole };
    assert_eq!(ended(&mut program.begin())["result"]["state"], "COMPLETE");
    let steps = program.steps();
    // The wave begins with `pending`; what comes before is no part of it.
    let first = steps.iter().position(|step| step.contains("node_started") && step.contains("pending")).unwrap();
    for named in ["pending", "agents", "arrive", "implement", "predict", "merge", "append", "verify", "verified"] {
        assert!(steps[first..].iter().any(|step| step.contains(&format!("\"{named}\""))), "{named}: {steps:?}");
    }
    let tree = |project: &Project| project.git(&["ls-tree", "-r", "main", "--", "a.txt", "b.txt", "c.txt", "list.txt"]);
    let mut killed = 0;
    for killed_after in first + 1..=steps.len() {
        let project = three().await;
        let program = Program { project: &project };
        killed += usize::from(program.is_killed_after(killed_after));
        // The plan, or the whole wave.
        let plan = project.git(&["log", "--format=%H", "--grep", "^docs: plan", "main"]);
        let at = project.git(&["rev-parse", "main"]);
        assert!(at == plan || is_verified(&project, at.trim()), "{killed_after}");

        let account = ended(&mut program.command(&["resume", "r1"]));
        let after = format!("killed after {killed_after}, {:?}", steps[killed_after - 1]);
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
    // The last steps are too close to the end for some.
    let steps = steps.len() - first;
    assert!(killed >= 30 && killed + 3 >= steps, "{killed} of {steps}");
}
