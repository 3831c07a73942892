//! How long a tree takes beyond its critical path, and how often git is asked to move a branch: `cargo bench -p v3 --bench tree`.
//!
//! A tree of 1 + 5 + 20 nodes is built, and then one of 1 + 20, whose siblings all merge into one branch. The agents are scripted: each turn
//! takes a second, and writes and commits a file. Builds and tests are a shell's. What is printed of each:
//!
//! - **wall**: from the start of the run to its end.
//! - **path**: the turns of agents one after the other on the longest way through the tree, on which siblings merge one after the other,
//!   and as many builds and test runs as there are on it, each of the mean time that one took in this run.
//! - **broadcasts**: messages that tell of a merge. The protocol wants one for each sibling that is still at work: at most n(n - 1)/2 of n
//!   siblings.
//! - **rebases** and **candidates**: how often a branch was put on another commit, and how often work was made one commit on the parent's.
//! - **moves**: how often a branch was moved, all operations of all nodes together.
//!
//! Nothing is deleted before everything is measured but by the runs themselves: for some minutes after many files were deleted, some file
//! systems (ext4) take longer to make new ones. So wait that long between two calls.
//!
//! As arguments: how often (1), and which tree by its name (both).

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]

use interlocking::agents::{Script, ScriptedAgent};
use interlocking::cli::repository::{EmbeddedFile, LayOutError, lay_out};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Entry, NodeOutcome, Origin};
use interlocking::runtime::{Journal, MemoryJournal};
use interlocking::toolchain::{CommandLine, Harness, NamedCommand, Runner, Toolchain};
use interlocking::worktree::{BranchName, CommitId, CommitRecord, Keep, Repository, Signature};
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};
use v3::run::{run, workspaces};
use v3::types::outcome::V3Outcome;
use v3::types::scaffold::ScaffoldInput;
use v3::types::spec::Spec;
use v3::workbench::Workbench;

/// How long a turn takes, in seconds.
const TURN: f64 = 1.0;

/// A run of the tree, as its journal has it.
struct Node {
    outcomes: Vec<NodeOutcome>,
    ended_at_ms: u64,
    children: Vec<Self>,
}

/// What builds and test runs took, in seconds.
#[derive(Clone, Default)]
struct Commands(Arc<Mutex<Vec<f64>>>);

fn main() -> Result<(), Box<dyn Error>> {
    let commands = Commands::default();
    tracing::subscriber::set_global_default(commands.clone())?;
    measure_all(&commands)
}

#[tokio::main]
async fn measure_all(commands: &Commands) -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let times = arguments.iter().find_map(|argument| argument.parse::<u32>().ok()).unwrap_or(1);
    let named = arguments.iter().find(|argument| argument.contains('+'));
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    println!("tree      wall    path   over  commands (mean)  broadcasts  rebases  candidates  moves");
    for number in 1..=times {
        let trees = [("1+5+20", &[5, 4][..]), ("1+20", &[20][..])];
        for (name, shape) in trees.into_iter().filter(|(name, _)| named.is_none_or(|named| named == name)) {
            measure(name, shape, &place.path().join(format!("{name}-{number}")), commands).await?;
        }
    }
    Ok(())
}

async fn measure(name: &str, shape: &[usize], place: &Path, commands: &Commands) -> Result<(), Box<dyn Error>> {
    let root = place.join("project");
    let begin = [EmbeddedFile { path: "README.md", contents: "# A tree\n" }];
    lay_out(&root, &begin, "Begin", async |_| Ok::<_, LayOutError>(())).await?;
    let begun = head(&root)?;
    let author = Signature::new("Runtime", "runtime@example.org")?;
    let made = GitWorkspaces::new(Repository::open(&root)?, place.join("runs"));
    let made = workspaces(made.with_author(author).with_target(BranchName::new("main")?).with_keep(Keep::Never));
    let suite = NamedCommand::new(CommandLine::new("sh", &["{path}"]));
    let toolchain = Toolchain {
        build_command: CommandLine::new("true", &[]),
        test_command: CommandLine::new("true", &[]),
        harness: Harness::ExitCode,
        commands: [("suite".to_owned(), suite)].into(),
        ..Toolchain::default()
    };
    let checkouts = made.checkouts_of(&RunId::DEFAULT);
    let workbench = Workbench::new(Runner::with_weaker_isolation(toolchain, place.join("target"), checkouts))?;
    let (mut script, mut tree) = (String::new(), 0);
    let spec: Spec = serde_json::from_value(turns(&mut script, "t", shape, &mut tree))?;
    let journal = Arc::new(MemoryJournal::new());
    commands.take();

    let began = Instant::now();
    let ended = run(workbench)
        .with_agent_for_others(Arc::new(ScriptedAgent::new(Script::parse("a tree's agents", &script)?)))
        .with_workspaces(Arc::new(made))
        .with_journal(journal.clone())
        .start(ScaffoldInput::from(spec))
        .await?
        .outcome;
    let wall = began.elapsed().as_secs_f64();
    let Outcome::Finished(V3Outcome::Merged(_)) = ended else { return Err(format!("{ended:?}").into()) };
    let is_merge = |commit: &CommitRecord| commit.subject().ends_with(": implement");
    let merged =
        Repository::open(&root)?.commits(begun..head(&root)?)?.iter().filter(|commit| is_merge(commit)).count();
    if merged != shape[0] + 1 {
        return Err(format!("of {} children {} were merged", shape[0], merged.saturating_sub(1)).into());
    }

    let tree = read(&journal, RunId::DEFAULT).await?;
    let took = commands.take();
    let mean = took.iter().sum::<f64>() / took.len() as f64;
    let (ready, merging) = longest(&tree, mean);
    let path = ready + merging;
    let all = outcomes(&tree);
    let count = |node: &str| all.iter().filter(|outcome| outcome.node == node).count();
    let broadcasts: usize = all.iter().map(|outcome| outcome.posted.len()).sum();
    let rebases = all.iter().filter(|outcome| outcome.node == "rebaser" && outcome.commits.len() > 2).count();
    let moves: usize = all.iter().map(|outcome| outcome.commits.len()).sum();
    println!(
        "{name:8} {wall:5.1}s  {path:5.1}s  {:5.3}  {:>8} ({:3.0} ms)  {broadcasts:>10}  {rebases:>7}  {:>10}  {moves:>5}",
        wall / path,
        took.len(),
        1e3 * mean,
        count("merger"),
    );
    Ok(())
}

fn head(root: &Path) -> Result<CommitId, Box<dyn Error>> {
    let main = Repository::open(root)?.branch_head(&BranchName::new("main")?)?;
    main.ok_or_else(|| "the project has no `main`".into())
}

/// The turns of a node and of all below it; gives its specification.
fn turns(script: &mut String, id: &str, shape: &[usize], number: &mut usize) -> Value {
    let name = format!("n{number}");
    *number += 1;
    let children: Vec<Value> = match shape {
        [] => Vec::new(),
        [many, rest @ ..] => (0..*many).map(|child| turns(script, &format!("{id}/c{child}"), rest, number)).collect(),
    };
    let own = json!({ "id": name, "text": format!("{name} is done.") });
    let criteria: Vec<Value> = children
        .iter()
        .flat_map(|child| child["acceptanceCriteria"].as_array().cloned())
        .flatten()
        .chain([own])
        .collect();
    let of_each =
        |make: fn(&str) -> Value| criteria.iter().filter_map(|one| one["id"].as_str()).map(make).collect::<Vec<_>>();
    let (code, tests, contract) =
        (format!("src/{name}.txt"), format!("tests/{name}.sh"), format!("tests/contract_{name}.sh"));
    let mut work = json!({
        "scaffoldCommit": "$HEAD", "interfaceFile": format!("src/{name}.api"), "contractSuite": contract,
        "testPlan": of_each(|one| json!({ "criterionId": one, "plannedTestName": one, "approach": "Looks." })),
    });
    if !children.is_empty() {
        work["childSpecs"] = json!(children);
        work["interfaces"] = json!([{ "path": format!("src/{name}.api"), "exports": [] }]);
    }
    let covered = of_each(|one| json!([one, one]));
    let approved = json!({ "Approved": {
        "signOff": "It is done.", "coverageReport": { "criteriaWithTests": covered, "criteriaMissing": [] } } });
    let ready = json!({ "TestsReady": {
        "testsCommit": "$HEAD", "testFiles": [tests], "pendingCriteria": of_each(|one| json!(one)) } });
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let merged =
        json!({ "MergeComplete": { "mergeCommit": "$HEAD", "author": id, "impactLevel": "Trivial", "changes": [] } });
    let mut turn = |title: &str, output: &Value, files: &[(&str, &str)]| {
        let title = json!(format!("# You {title} `{id}`"));
        _ = writeln!(script, "[[turn]]\ncontains = [{title}]\ntimes = \"any\"\ndelay = \"{:.0}ms\"", 1e3 * TURN);
        _ = writeln!(script, "output_json = {}", json!(output.to_string()));
        for (path, content) in files {
            _ = writeln!(script, "[[turn.write]]\npath = {}\ncontent = {}", json!(path), json!(content));
        }
        if !files.is_empty() {
            script.push_str("[[turn.commit]]\nmessage = \"work\"\n");
        }
    };
    let check = format!("grep -q done {code}\n");
    let api = format!("src/{name}.api");
    turn(
        "are the planner of",
        &json!({ "InitWork": work }),
        &[(&api, "done\n"), (&code, "stub\n"), (&contract, "true\n")],
    );
    turn("are the test author of", &ready, &[(&tests, &check)]);
    turn("are the implementer of", &passed, &[(&code, "done\n")]);
    turn("are the reviewer of", &approved, &[]);
    turn("are the merger of", &merged, &[]);
    turn("judge what", &approved, &[]);
    json!({ "id": id, "description": "Is done.", "acceptanceCriteria": criteria, "targetPath": code, "testPath": tests })
}

/// A run and those below it.
async fn read(journal: &MemoryJournal, root: RunId) -> Result<Node, Box<dyn Error>> {
    let mut below: Vec<(RunId, RunId, u64)> = Vec::new();
    let mut ended_at_ms = 0;
    for summary in journal.runs().await? {
        match summary.origin {
            Some(Origin::Child { parent, .. }) => below.push((parent, summary.run, summary.updated_at_ms)),
            _ => ended_at_ms = summary.updated_at_ms,
        }
    }
    Box::pin(read_below(journal, root, ended_at_ms, &below)).await
}

async fn read_below(
    journal: &MemoryJournal,
    run: RunId,
    ended_at_ms: u64,
    below: &[(RunId, RunId, u64)],
) -> Result<Node, Box<dyn Error>> {
    let mut children = Vec::new();
    for (_, child, ended_at_ms) in below.iter().filter(|(parent, ..)| *parent == run) {
        children.push(Box::pin(read_below(journal, child.clone(), *ended_at_ms, below)).await?);
    }
    let outcome = |entry: Entry| match entry {
        Entry::Outcome(outcome) => Some(outcome),
        _ => None,
    };
    let outcomes = journal.load(&run).await?.into_iter().filter_map(|record| outcome(record.entry)).collect();
    Ok(Node { outcomes, ended_at_ms, children })
}

fn outcomes(node: &Node) -> Vec<&NodeOutcome> {
    node.outcomes.iter().chain(node.children.iter().flat_map(outcomes)).collect()
}

/// What the longest way through a run takes at least, in seconds: until it is ready to merge, and from then on. Tests are written while
/// children work; children merge one after the other, each when it is ready and the one before has merged; all else comes one after the
/// other.
fn longest(node: &Node, command: f64) -> (f64, f64) {
    let takes = |outcome: &NodeOutcome| {
        let commands = match &*outcome.node {
            "scaffold" | "write_tests" | "implement" | "integrate" => 1.0,
            "review" => 2.0,
            "merger" => 3.0,
            "rebaser" if outcome.commits.len() > 2 => 2.0,
            _ => 0.0,
        };
        TURN * outcome.calls.len() as f64 + command * commands
    };
    let all = |outcomes: &[NodeOutcome]| outcomes.iter().map(takes).sum::<f64>();
    let of = |name: &str| node.outcomes.iter().filter(|outcome| outcome.node == name).map(takes).sum::<f64>();
    let queued = node.outcomes.iter().position(|outcome| outcome.node == "merge_queue").unwrap_or(node.outcomes.len());
    let (work, merging) = node.outcomes.split_at(queued);
    let mut children: Vec<&Node> = node.children.iter().collect();
    children.sort_by_key(|child| child.ended_at_ms);
    let merged = children.into_iter().fold(0.0, |merged: f64, child| {
        let (ready, merging) = longest(child, command);
        merged.max(ready) + merging
    });
    let (tests, integrate) = (of("write_tests"), of("integrate"));
    (all(work) - tests - integrate + tests.max(merged + integrate), all(merging))
}

impl Commands {
    fn take(&self) -> Vec<f64> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Subscriber for Commands {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target() == "interlocking_toolchain::runner"
    }

    fn event(&self, event: &tracing::Event<'_>) {
        let mut took = Took::default();
        event.record(&mut took);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(took.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// How long one took, as the runner says.
#[derive(Default)]
struct Took(Option<f64>);

impl Visit for Took {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "microseconds" {
            self.0 = Some(Duration::from_micros(value).as_secs_f64());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
