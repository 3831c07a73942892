//! How much of a run's time is neither the agents' nor the commands': `cargo bench -p hybrid --bench critical_path`.
//!
//! Plays the happy scenario with agents that take their time, and compares how long the run takes with its critical
//! path: the agents' delays and the build and test commands' own times, along the longest way from entry to exit. What is
//! between the two is git, the executor, prompts, and whatever was waited for without need.
//!
//! What is between them does not grow with the agents' time, so it is given in milliseconds too. A number as argument says
//! how often (5 unless it does), a second one how long the slower agents take, in milliseconds (2,000 unless it does).

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]

use hybrid::demo::{self, Scenario};
use hybrid::run::{Settings, run};
use hybrid::spec::{SpecFormat, Task};
use hybrid::stage::lay_out;
use hybrid::toolchain::CommandLine;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::runtime::event::EventKind;
use interlocking::runtime::roles::Roles;
use interlocking::runtime::{Cancel, Event};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// How long each agent takes, in parts of the slower ones' time.
const DELAYS: [(&str, f64); 4] = [("types", 0.8), ("adversary", 1.0), ("tests", 1.0), ("impl", 0.8)];

/// One run, in seconds.
struct Measured {
    /// From before its worktrees are made until after they are removed.
    wall: f64,
    /// Agents' delays and commands along the longest way.
    critical_path: f64,
    /// What the nodes along the longest way took.
    nodes: f64,
    /// By node.
    took: BTreeMap<&'static str, f64>,
    /// By worktree, in order.
    commands: BTreeMap<String, Vec<f64>>,
}

/// As the first argument: be the clock of a command.
const TIME: &str = "--time";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, time, log, program, rest @ ..] = &*arguments
        && time == TIME
    {
        std::process::exit(time_command(log, program, rest)?);
    }
    play()
}

/// Runs a command and notes how long it took. A process of its own, because the run starts its commands by itself; not a
/// shell and two `date`: what they take is neither the command's nor the run's, but counts as the run's.
fn time_command(log: &str, program: &str, arguments: &[String]) -> Result<i32, Box<dyn Error>> {
    let started = Instant::now();
    let status = Command::new(program).args(arguments).status()?;
    let took = started.elapsed().as_nanos();
    let line = format!("{took} {}\n", std::env::current_dir()?.display());
    fs::OpenOptions::new().create(true).append(true).open(log)?.write_all(line.as_bytes())?;
    Ok(status.code().unwrap_or(1))
}

#[tokio::main]
async fn play() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u32>().ok());
    let (times, slower) = (numbers.next().unwrap_or(5), numbers.next().unwrap_or(2_000));
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("critical-path");
    let aside = place.with_file_name("critical-path-aside");
    let (mut ratios, mut beyond) = (Vec::new(), Vec::new());
    println!("run   wall  critical path   over  between nodes");
    for number in 0..=times {
        make_room(&place, &aside, number)?;
        let measured = measure(&place, slower).await?;
        // The first one compiles the dependencies, and is not counted.
        if number == 0 {
            continue;
        }
        let Measured { wall, critical_path, nodes, .. } = measured;
        ratios.push(wall / critical_path);
        beyond.push(1e3 * (wall - critical_path));
        let over = 100.0 * (wall / critical_path - 1.0);
        println!("{number:>3} {wall:6.3}s {critical_path:13.3}s {over:5.1}% {:13.3}s", wall - nodes);
        if number == times {
            println!("nodes of the last run: {:.3?}", measured.took);
            println!("its commands: {:.3?}", measured.commands);
        }
    }
    ratios.sort_by(f64::total_cmp);
    beyond.sort_by(f64::total_cmp);
    if let (Some(ratio), Some(beyond)) = (ratios.get(ratios.len() / 2), beyond.get(beyond.len() / 2)) {
        println!("median: {:.1}% over the critical path, {beyond:.0} ms", 100.0 * (ratio - 1.0));
    }
    Ok(())
}

/// Moves what the run before left out of the way. It is deleted by the next benchmark, not between two runs: on ext4, files
/// are created much more slowly in the minute after many were deleted.
fn make_room(place: &Path, aside: &Path, number: u32) -> std::io::Result<()> {
    if number == 0 && aside.exists() {
        fs::remove_dir_all(aside)?;
    }
    fs::create_dir_all(aside)?;
    if place.exists() {
        fs::rename(place, aside.join(number.to_string()))?;
    }
    fs::create_dir_all(place)
}

async fn measure(place: &Path, slower: u32) -> Result<Measured, Box<dyn Error>> {
    let (repository, target) = (place.join("repository"), place.with_file_name("demonstration"));
    lay_out(&repository, &target).await?;
    let log = place.join("commands");
    let events = Arc::new(Mutex::new(Vec::<Event>::new()));
    let sink = events.clone();
    let settings = Settings {
        task: timed_task(&log)?,
        past: None,
        repository,
        main: "main".into(),
        run: "r1".parse()?,
        directory: place.join("worktrees"),
        target_directory: target,
        roles: Roles::all(Arc::new(ScriptedAgent::new(slow_script(slower)?))),
        sink: Arc::new(move |event| sink.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(event)),
        cancel: Cancel::new(),
        keep: false,
    };
    let started = Instant::now();
    let ended = run(settings).await?;
    let wall = started.elapsed().as_secs_f64();
    if ended.result.is_none_or(|result| !result.success) {
        return Err("the run did not succeed".into());
    }
    let commands = read_commands(&log)?;
    let events = events.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let took = events.iter().filter_map(|event| match &event.kind {
        EventKind::NodeFinished { node, took, .. } => Some((node.node, took.as_secs_f64())),
        _ => None,
    });
    let took: BTreeMap<&str, f64> = took.collect();

    let delay = |agent: &str| {
        let part = DELAYS.iter().find(|(name, _)| *name == agent).map_or(0.0, |(_, part)| *part);
        part * f64::from(slower) / 1e3
    };
    let command =
        |place: &str, index: usize| commands.get(place).and_then(|all| all.get(index)).copied().unwrap_or(0.0);
    let critical_path = delay("types")
        + delay("adversary").max(command("skeleton-r1", 0))
        + (delay("tests") + command("tests-r1", 0)).max(delay("impl") + command("impl-r1", 0))
        + command("tests-r1", 1)
        + command("merge-r1", 0);
    let node = |name: &str| took.get(name).copied().unwrap_or(0.0);
    let alone = ["types", "gate", "blind_fork", "blind", "verify", "merge", "validate", "post_validate"];
    let nodes = alone.into_iter().map(node).sum::<f64>()
        + node("skeleton").max(node("adversary"))
        + node("tests").max(node("implementation"));
    Ok(Measured { wall, critical_path, nodes, took, commands })
}

/// The happy script, with delays.
fn slow_script(slower: u32) -> Result<Script, Box<dyn Error>> {
    let script = DELAYS.iter().fold(Scenario::Happy.script().to_owned(), |script, (agent, part)| {
        let line = format!("agent = \"{agent}\"\n");
        script.replace(&line, &format!("{line}delay = \"{:.0}ms\"\n", part * f64::from(slower)))
    });
    Ok(Script::parse("happy, slowly", &script)?)
}

/// The demonstration's task, with commands that note how long they take.
fn timed_task(log: &Path) -> Result<Task, Box<dyn Error>> {
    let mut task = Task::parse("spec.toml", demo::SPEC, SpecFormat::Toml)?;
    let this = std::env::current_exe()?.display().to_string();
    let timed = |command: &CommandLine| {
        let mut words = vec![this.clone(), TIME.to_owned(), log.display().to_string()];
        words.extend(Vec::<String>::from(command.clone()));
        CommandLine::try_from(words)
    };
    task.toolchain.build_command = timed(&task.toolchain.build_command)?;
    task.toolchain.test_command = timed(&task.toolchain.test_command)?;
    Ok(task)
}

/// How long each command took, by the name of the directory it ran in.
fn read_commands(log: &PathBuf) -> Result<BTreeMap<String, Vec<f64>>, Box<dyn Error>> {
    let mut commands = BTreeMap::<String, Vec<f64>>::new();
    for line in fs::read_to_string(log)?.lines() {
        let (nanoseconds, directory) = line.split_once(' ').ok_or("a line without a directory")?;
        let name = directory.rsplit('/').next().unwrap_or_default().to_owned();
        commands.entry(name).or_default().push(nanoseconds.parse::<f64>()? / 1e9);
    }
    Ok(commands)
}
