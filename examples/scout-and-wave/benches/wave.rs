//! How long a wave of many agents takes beyond its critical path, on a large repository: `cargo bench -p scout-and-wave --bench wave`.
//!
//! The agents are scripted: each thinks for two seconds, writes a file and commits it. What is printed of each run:
//!
//! - **wall**: from the approval of the plan to COMPLETE, when the wave is on `main`.
//! - **path**: what cannot but come one after the other. It is the slowest agent, from where it is asked to its answer, and what the git
//!   program takes for the same merges, one after the other in a worktree of the same repository. The gate is `true`: it is in the wall with
//!   the checkout that it runs in, and not in the path.
//! - **prepared**: how long the files of the worktrees take to write, with all that the orchestrator does to judge the plan. That is done
//!   before a person is asked to approve it, and so not in the wall.
//! - **launched**: from where the agents are launched until the last of them has its worktree. That is in the wall and not in the path.
//! - **by git**: what `git worktree add` takes for as many, one after the other in a clone of the repository, and which share of that the
//!   two take together.
//! - **clean-up**: from COMPLETE until the files of all worktrees are deleted, and the run's caller has its outcome.
//! - **memory**: the most that this process ever had resident, scripted agents and an in-memory journal included. It does not fall from
//!   one run to the next.
//!
//! Nothing is deleted before everything is measured but by the runs themselves: for some minutes after many files were deleted, some file
//! systems (ext4) take longer to make new ones. So wait that long between two calls, and measure once a call.
//!
//! Three numbers as arguments: how often (1), how many agents (26), how many files (10,000).

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]

use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use interlocking::runtime::journal::answer::{answer, open_questions};
use interlocking::runtime::{Event, EventKind, MemoryJournal};
use interlocking::toolchain::{Runner, Toolchain};
use interlocking::workspaces::FilePath;
use interlocking::worktree::{BranchName, Keep, Repository, Signature};
use scout_and_wave::graph::{ReviewAnswer, SawResult};
use scout_and_wave::request::Request;
use scout_and_wave::run::{run, workspaces};
use scout_and_wave::workbench::Workbench;
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long an agent thinks.
const THINKS: Duration = Duration::from_secs(2);

/// Files of one directory.
const IN_A_DIRECTORY: usize = 100;

/// One run, in seconds.
struct Measured {
    wall: f64,
    clean_up: f64,
    agent: f64,
    merges: f64,
    prepared: f64,
    launched: f64,
    worktrees_of_git: f64,
    /// What each node of the orchestrator took, in its order.
    nodes: Vec<(String, f64)>,
}

/// What is told, and when.
type Told = Arc<Mutex<Vec<(Instant, Event)>>>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    let (times, agents) = (numbers.next().unwrap_or(1), numbers.next().unwrap_or(26).clamp(2, 26));
    let files = numbers.next().unwrap_or(10_000);
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    println!("{agents} agents, {files} files");
    println!("run   wall    path   over  agent  merges  prepared  launched  by git  share  clean-up");
    let (mut over, mut shares, mut last) = (Vec::new(), Vec::new(), Vec::new());
    for number in 1..=times {
        let Measured { wall, clean_up, agent, merges, prepared, launched, worktrees_of_git, nodes } =
            measure(&place.path().join(number.to_string()), agents, files).await?;
        let (path, share) = (agent + merges, (prepared + launched) / worktrees_of_git);
        over.push(wall / path);
        last = nodes;
        shares.push(share);
        println!(
            "{number:>3} {wall:5.2}s  {path:5.2}s  {:5.3} {agent:5.2}s  {merges:5.2}s    {prepared:5.2}s    {launched:5.2}s  {worktrees_of_git:5.2}s  {share:5.2}    {clean_up:5.2}s",
            wall / path
        );
    }
    println!("nodes of the last run: {last:.2?}");
    println!("median: {:.3} of the critical path, worktrees {:.2} of git's time", median(over), median(shares));
    println!("memory: {} MB", most_resident()? / 1024);
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

async fn measure(place: &Path, agents: usize, files: usize) -> Result<Measured, Box<dyn Error>> {
    let root = place.join("repository");
    lay_out(&root, files)?;
    let worktrees_of_git = worktrees_of_git(place, &root, agents)?;
    written_back()?;
    let letters: Vec<String> = ('A'..='Z').take(agents).map(String::from).collect();
    let journal = Arc::new(MemoryJournal::new());
    let told = Told::default();
    let author = Signature::new("Orchestrator", "orchestrator@example.org")?;
    let made = GitWorkspaces::new(Repository::open(&root)?, place.join("runs"));
    let made = workspaces(made.with_author(author).with_target(BranchName::new("main")?).with_keep(Keep::Never));
    let checkouts = made.checkouts_of(&RunId::DEFAULT);
    let runner = Runner::with_weaker_isolation(Toolchain::default(), place.join("target"), checkouts);
    let workbench = Workbench { runner, is_configured: false };
    let script = Script::parse("many agents", &script(&letters))?;
    let agent = Arc::new(ScriptedAgent::new(script));
    let sink = told.clone();
    let ready = || {
        let sink = sink.clone();
        let tell = move |event| sink.lock().unwrap_or_else(PoisonError::into_inner).push((Instant::now(), event));
        run(workbench.clone())
            .with_agent_for_others(agent.clone())
            .with_workspaces(Arc::new(made.clone()))
            .with_journal(journal.clone())
            .with_events(Arc::new(tell))
    };
    let document = FilePath::new("docs/IMPL-many.md")?;
    ready().start(Request::Feature { task: "Many files".to_owned(), document }).await?;
    let [question] = &open_questions(&*journal, &RunId::DEFAULT).await?[..] else {
        return Err("the plan was not to be approved".into());
    };
    let approval = serde_json::to_value(ReviewAnswer::Approve { acknowledge_caveats: false })?;
    answer(&*journal, &RunId::DEFAULT, &question.by, &approval).await?;
    let base = git(&root, &["rev-parse", "main"])?;

    // A person takes their time: what was written has been written back by then, as after the worktrees of git.
    written_back()?;
    let began = Instant::now();
    let ended = ready().resume().await?.outcome;
    let ended_at = Instant::now();
    let Outcome::Finished(SawResult::Complete { .. }) = ended else { return Err(format!("{ended:?}").into()) };

    let told = told.lock().unwrap_or_else(PoisonError::into_inner);
    let launched =
        told.iter().find(|(_, event)| matches!(&event.kind, EventKind::NodeStarted(node) if node.node == *"agents"));
    let there = told.iter().rev().find(
        |(_, event)| matches!(&event.kind, EventKind::NodeFinished { node, .. } if node.node == *"wait_for_worktrees"),
    );
    let (Some((launched, _)), Some((there, _))) = (launched, there) else { return Err("nobody was launched".into()) };
    let complete = told
        .iter()
        .rev()
        .find(|(_, event)| matches!(&event.kind, EventKind::NodeFinished { node, .. } if node.node == *"verified"));
    let (complete, _) = complete.ok_or("nothing was verified")?;
    let took = told.iter().filter_map(|(_, event)| match &event.kind {
        EventKind::NodeFinished { node, took_ms, .. } if node.node == *"implement" => Some(*took_ms),
        _ => None,
    });
    let of_orchestrator = told.iter().filter_map(|(_, event)| match &event.kind {
        EventKind::NodeFinished { node, took_ms, .. }
            if !["wait_for_worktrees", "implement"].contains(&&*node.node) =>
        {
            Some((node.node.to_string(), Duration::from_millis(*took_ms).as_secs_f64()))
        }
        _ => None,
    });
    let nodes: Vec<_> = of_orchestrator.collect();
    let prepared = nodes.iter().filter(|(node, _)| node == "suit").map(|(_, took)| took).sum();
    let agent = Duration::from_millis(took.max().unwrap_or(0)).as_secs_f64();
    Ok(Measured {
        wall: complete.duration_since(began).as_secs_f64(),
        clean_up: ended_at.duration_since(*complete).as_secs_f64(),
        agent,
        merges: merges_of_git(place, &root, base.trim(), agents)?,
        prepared,
        launched: there.duration_since(*launched).as_secs_f64(),
        worktrees_of_git,
        nodes,
    })
}

/// A repository of so many files, by the git program.
fn lay_out(root: &Path, files: usize) -> Result<(), Box<dyn Error>> {
    for number in 0..files {
        let directory = root.join(format!("src/{:03}", number / IN_A_DIRECTORY));
        if number % IN_A_DIRECTORY == 0 {
            fs::create_dir_all(&directory)?;
        }
        fs::write(directory.join(format!("{number}.txt")), format!("file {number}\n").repeat(20))?;
    }
    git(root, &["init", "-q", "-b", "main"])?;
    git(root, &["add", "."])?;
    git(root, &["commit", "-qm", "Begin"])?;
    Ok(())
}

fn script(letters: &[String]) -> String {
    let agents: Vec<Value> = letters
        .iter()
        .map(|letter| {
            json!({
                "agent": letter, "creates": [format!("new/{letter}.txt")], "task": "Write.", "tests": [], "verification": [],
                "constraints": [], "minutes": 1,
            })
        })
        .collect();
    let plan = json!({
        "title": "Many files", "summary": "A file each.", "waves": [{ "agents": agents }], "contracts": [], "gate": [["true"]],
        "estimates": { "scout": 1, "merge": 1, "sequential": 60 },
    });
    let mut text = format!("[[turn]]\nagent = \"scout\"\noutput_json = '''{plan}'''\n");
    for letter in letters {
        let file = format!("new/{letter}.txt");
        let report = json!({
            "status": "complete", "worktree": format!(".claude/worktrees/wave1-agent-{}", letter.to_lowercase()), "commit": "$HEAD",
            "files_changed": [], "files_created": [file], "interface_deviations": [], "out_of_scope_deps": [], "tests_added": [],
            "verification": "PASS (true - 0/0 tests)",
        });
        _ = writeln!(
            text,
            "[[turn]]\nagent = \"agent\"\ndelay = \"{}ms\"\ncontains = [\"You are agent {letter} \"]\noutput_json = '''{report}'''\n\
             [[turn.write]]\npath = \"{file}\"\ncontent = \"by {letter}\\n\"\n[[turn.commit]]\nmessage = \"work\"",
            THINKS.as_millis()
        );
    }
    text
}

/// The same merges by the git program: of the commits that the run has merged, into where its wave began.
fn merges_of_git(place: &Path, root: &Path, base: &str, agents: usize) -> Result<f64, Box<dyn Error>> {
    let merged = git(root, &["log", "--merges", "--format=%P", "main"])?;
    let heads: Vec<_> = merged.lines().filter_map(|parents| parents.split(' ').nth(1)).collect();
    if heads.len() != agents {
        return Err(format!("{} branches were merged, and there were {agents} agents", heads.len()).into());
    }
    let worktree = place.join("merges");
    git(root, &["worktree", "add", "-q", "--detach", &worktree.display().to_string(), base])?;
    let began = Instant::now();
    for head in heads {
        git(&worktree, &["merge", "-q", "--no-ff", "-m", "Merge", head])?;
    }
    let took = began.elapsed().as_secs_f64();
    git(root, &["worktree", "remove", "--force", &worktree.display().to_string()])?;
    Ok(took)
}

/// As many worktrees by the git program, one after the other.
fn worktrees_of_git(place: &Path, root: &Path, agents: usize) -> Result<f64, Box<dyn Error>> {
    let clone = place.join("clone");
    git(place, &["clone", "-q", &root.display().to_string(), &clone.display().to_string()])?;
    let paths: Vec<PathBuf> = (0..agents).map(|number| place.join(format!("by-git/{number}"))).collect();
    let began = Instant::now();
    for (number, path) in paths.iter().enumerate() {
        git(&clone, &["worktree", "add", "-q", "-b", &format!("agent-{number}"), &path.display().to_string()])?;
    }
    Ok(began.elapsed().as_secs_f64())
}

/// Waits until the system has written back what was written.
fn written_back() -> Result<(), Box<dyn Error>> {
    if !Command::new("sync").status()?.success() {
        return Err("`sync` has failed".into());
    }
    Ok(())
}

fn git(directory: &Path, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).args(["-c", "user.name=A user", "-c", "user.email=user@example.org"]).args(arguments);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = git.output()?;
    if !output.status.success() {
        return Err(format!("git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// In kilobytes.
fn most_resident() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("this system does not say")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
