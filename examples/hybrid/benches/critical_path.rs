//! How much of a run's time is neither the agents' nor the commands': `cargo bench -p hybrid --bench critical_path`.
//!
//! Plays the happy scenario with agents that take their time, and compares how long the run takes with its critical
//! path: the agents' delays and the builds' and test runs' own times, along the longest way from entry to exit. What is
//! between the two is git, the executor, prompts, and whatever was waited for without need.
//!
//! What is between them does not grow with the agents' time, so it is given in milliseconds too. A number as argument says
//! how often (5 unless it does), a second one how long the slower agents take, in milliseconds (2,000 unless it does).

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]

use hybrid::demo::{self, Scenario};
use hybrid::run::{Settings, run};
use hybrid::spec::{SpecFormat, Task};
use hybrid::stage::lay_out;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::runtime::event::{EventKind, Name};
use interlocking::runtime::roles::Roles;
use interlocking::runtime::{CancelToken, Event};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

/// How long each agent takes, in parts of the slower ones' time.
const DELAYS: [(&str, f64); 4] = [("types", 0.8), ("adversary", 1.0), ("tests", 1.0), ("impl", 0.8)];

/// One run, in seconds.
struct Measured {
    /// From before its worktrees are made until after they are removed.
    wall: f64,
    /// Agents' delays, builds and runs of the tests along the longest way.
    critical_path: f64,
    /// What the nodes along the longest way took.
    nodes: f64,
    /// By node.
    took: BTreeMap<Name, f64>,
    /// The skeleton's and the implementation's.
    builds: Vec<f64>,
    /// The tests' before their commit and after it, and the merged ones'.
    tests: Vec<f64>,
}

/// How long builds and runs of the tests took, in the order in which they ended.
#[derive(Default)]
struct Verdicts {
    builds: Vec<f64>,
    tests: Vec<f64>,
}

/// Listens to what the runner tells.
#[derive(Clone, Default)]
struct Clock(Arc<Mutex<Verdicts>>);

impl Clock {
    fn read(&self) -> MutexGuard<'_, Verdicts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscriber for Clock {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target() == "interlocking_toolchain::runner"
    }

    fn event(&self, event: &tracing::Event<'_>) {
        let mut told = Told::default();
        event.record(&mut told);
        let Told { what, seconds } = told;
        match what.as_str() {
            "build" => self.read().builds.push(seconds),
            "test" => self.read().tests.push(seconds),
            _ => {}
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The fields of one event.
#[derive(Default)]
struct Told {
    what: String,
    seconds: f64,
}

impl Visit for Told {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "microseconds" {
            self.seconds = Duration::from_micros(value).as_secs_f64();
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "what" {
            value.clone_into(&mut self.what);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let clock = Clock::default();
    tracing::subscriber::set_global_default(clock.clone())?;
    play(&clock)
}

#[tokio::main]
async fn play(clock: &Clock) -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u32>().ok());
    let (times, slower) = (numbers.next().unwrap_or(5), numbers.next().unwrap_or(2_000));
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("critical-path");
    let aside = place.with_file_name("critical-path-aside");
    let (mut ratios, mut beyond) = (Vec::new(), Vec::new());
    println!("run   wall  critical path   over  between nodes");
    for number in 0..=times {
        make_room(&place, &aside, number)?;
        let measured = measure(&place, slower, clock).await?;
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
            println!("its builds: {:.3?}, its tests: {:.3?}", measured.builds, measured.tests);
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

async fn measure(place: &Path, slower: u32, clock: &Clock) -> Result<Measured, Box<dyn Error>> {
    let (repository, target) = (place.join("repository"), place.with_file_name("demonstration"));
    lay_out(&repository, &target, false).await?;
    *clock.read() = Verdicts::default();
    let events = Arc::new(Mutex::new(Vec::<Event>::new()));
    let sink = events.clone();
    let mut task = Task::parse("spec.toml", demo::SPEC, SpecFormat::Toml)?;
    // What these take is no matter of the graph.
    (task.mechanical_mutants, task.language_server) = (0, "none".into());
    let settings = Settings {
        task,
        past: None,
        repository,
        main: "main".into(),
        land_on: None,
        run: "r1".parse()?,
        directory: place.join("worktrees"),
        target_directory: target,
        journal: None,
        roles: Roles::all(Arc::new(ScriptedAgent::new(slow_script(slower)?))),
        sink: Arc::new(move |event| sink.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(event)),
        cancel: CancelToken::new(),
        keep: false,
        accept_weaker_isolation: false,
    };
    let started = Instant::now();
    let ended = run(settings).await?;
    let wall = started.elapsed().as_secs_f64();
    if ended.result.is_none_or(|result| !result.succeeded()) {
        return Err("the run did not succeed".into());
    }
    let Verdicts { builds, tests } = std::mem::take(&mut *clock.read());
    let events = events.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let took = events.iter().filter_map(|event| match &event.kind {
        EventKind::NodeFinished { node, took_ms, .. } => Some((node.node.clone(), *took_ms as f64 / 1e3)),
        _ => None,
    });
    let took: BTreeMap<Name, f64> = took.collect();

    let delay = |agent: &str| {
        let part = DELAYS.iter().find(|(name, _)| *name == agent).map_or(0.0, |(_, part)| *part);
        part * f64::from(slower) / 1e3
    };
    let verdict = |of: &[f64], index: usize| of.get(index).copied().unwrap_or(0.0);
    let critical_path = delay("types")
        + delay("adversary").max(verdict(&builds, 0))
        + (delay("tests") + verdict(&tests, 0)).max(delay("impl") + verdict(&builds, 1))
        + verdict(&tests, 1)
        + verdict(&tests, 2);
    let node = |name: &str| took.get(name).copied().unwrap_or(0.0);
    let alone = ["types", "gate", "blind_fork", "blind", "verify", "merge", "validate", "post_validate", "finish"];
    let nodes = alone.into_iter().map(node).sum::<f64>()
        + node("skeleton").max(node("adversary"))
        + node("tests").max(node("implementation"));
    Ok(Measured { wall, critical_path, nodes, took, builds, tests })
}

/// The happy script, with delays.
fn slow_script(slower: u32) -> Result<Script, Box<dyn Error>> {
    let script = DELAYS.iter().fold(Scenario::Happy.script().to_owned(), |script, (agent, part)| {
        let line = format!("agent = \"{agent}\"\n");
        script.replace(&line, &format!("{line}delay = \"{:.0}ms\"\n", part * f64::from(slower)))
    });
    Ok(Script::parse("happy, slowly", &script)?)
}
