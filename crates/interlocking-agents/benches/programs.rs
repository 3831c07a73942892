//! Compares running programs with a bare `tokio::process::Command` that does the same: `cargo bench -p interlocking-agents
//! --bench programs`.
//!
//! Both start the same programs, write the same input, read and parse the same lines, drain standard error, and wait for the end,
//! in turns. Ours additionally clears the environment, marks the program, and looks for remaining processes.

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run should say so")]

#[path = "../../interlocking-bench/src/rounds.rs"]
#[expect(dead_code, unreachable_pub, reason = "another package's module, of which a part is used")]
mod rounds;

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures_util::future::join_all;
use interlocking_agents::program::{Environment, Invocation, Line, Running};
use rounds::compare_by;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::runtime::{Builder, Runtime};

/// The argument with which this program acts as the measured program.
const ECHO: &str = "--echo-once";

type Part = fn(&Runtime);

fn main() {
    if std::env::args().any(|argument| argument == ECHO) {
        return echo_once();
    }
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    // `-- many` measures only that part.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let parts: [(&str, Part); 5] =
        [("one", one_call), ("many", many_calls), ("stream", stream), ("drop", dropped), ("held", held)];
    for (_, measure) in parts.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name))
    {
        measure(&runtime);
    }
}

/// Reports the times of its first byte read and of its last byte written.
fn echo_once() {
    let mut byte = [0];
    std::io::stdin().read_exact(&mut byte).unwrap();
    let first = now();
    let mut rest = Vec::new();
    std::io::stdin().read_to_end(&mut rest).unwrap();
    let text = "x".repeat(400);
    std::io::stdout()
        .write_all(format!("{{\"first\":{first},\"text\":\"{text}\",\"last\":{}}}\n", now()).as_bytes())
        .unwrap();
}

/// Nanoseconds of the clock that all processes share.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64
}

/// The three times of a call: from its start until the program has the first byte, from the program's last byte to the parsed
/// result, and in total.
struct Times {
    first: Duration,
    last: Duration,
    whole: Duration,
}

impl Times {
    fn of(begun: (u64, Instant), result: &Value, parsed: u64) -> Self {
        let at = |name: &str| result[name].as_u64().unwrap();
        let [first, last] = [(begun.0, at("first")), (at("last"), parsed)]
            .map(|(from, to)| Duration::from_nanos(to.saturating_sub(from)));
        Self { first, last, whole: begun.1.elapsed() }
    }
}

type OneOf = fn(&Times) -> Duration;

fn prompt() -> Vec<u8> {
    vec![b'p'; 4_000]
}

async fn ours(program: PathBuf, arguments: &[&str]) -> Times {
    let begun = (now(), Instant::now());
    let invocation = Invocation {
        arguments: arguments.iter().map(Into::into).collect(),
        input: prompt(),
        ..Invocation::new(program, Environment::minimal())
    };
    let mut running = invocation.start().await.unwrap();
    let mut result = None;
    while let Some(line) = running.next_line().await.unwrap() {
        let Line::Whole(line) = line else { panic!("{line:?}") };
        result = Some((serde_json::from_slice(line).unwrap(), now()));
    }
    assert_eq!(running.end().await.unwrap().exit, Some(0));
    let (result, parsed): (Value, u64) = result.unwrap();
    Times::of(begun, &result, parsed)
}

async fn bare(program: PathBuf, arguments: &[&str]) -> Times {
    let begun = (now(), Instant::now());
    let mut child = bare_child(program, arguments);
    let (mut stdin, stdout, mut stderr) =
        (child.stdin.take().unwrap(), child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let writing = async move {
        stdin.write_all(&prompt()).await.unwrap();
        drop(stdin);
    };
    let reading = async move {
        let (mut lines, mut line, mut result) = (BufReader::new(stdout), Vec::new(), None);
        while lines.read_until(b'\n', &mut line).await.unwrap() > 0 {
            result = Some((serde_json::from_slice(&line).unwrap(), now()));
            line.clear();
        }
        result.unwrap()
    };
    let mut errors = Vec::new();
    let ((), (result, parsed), drained): ((), (Value, u64), _) =
        tokio::join!(writing, reading, stderr.read_to_end(&mut errors));
    drained.unwrap();
    assert!(child.wait().await.unwrap().success());
    Times::of(begun, &result, parsed)
}

fn bare_child(program: PathBuf, arguments: &[&str]) -> Child {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

fn one_call(runtime: &Runtime) {
    let program = std::env::current_exe().unwrap();
    let parts: [(&str, OneOf); 3] = [
        ("a call as a whole", |times| times.whole),
        ("begin to first byte written", |times| times.first),
        ("last byte to parsed result", |times| times.last),
    ];
    for (name, part) in parts {
        let comparison = compare_by(
            201,
            || part(&runtime.block_on(ours(program.clone(), &[ECHO]))),
            || part(&runtime.block_on(bare(program.clone(), &[ECHO]))),
        );
        println!("{}", comparison.line(name, 1, None));
    }
}

/// A scripted program: a shell that reads its prompt and writes an answer.
const SCRIPT: [&str; 2] = ["-c", "cat >/dev/null; echo '{\"first\":0,\"last\":0}'"];

fn many_calls(runtime: &Runtime) {
    const CALLS: usize = 200;
    let mut processor = [Vec::new(), Vec::new()];
    let run = |is_ours: bool, processor: &mut Vec<Duration>| {
        let (begun, used) = (Instant::now(), processor_time());
        runtime.block_on(async { join_all((0..CALLS).map(|_| tokio::spawn(scripted(is_ours)))).await });
        processor.push(processor_time() - used);
        begun.elapsed()
    };
    let [ours, bare] = &mut processor;
    let comparison = compare_by(15, || run(true, ours), || run(false, bare));
    println!("{}", comparison.line("200 calls at once, each", CALLS as u64, None));
    let [ours, bare] = processor.map(|times| times.iter().sum::<Duration>() / (times.len() * CALLS) as u32);
    println!(
        "the same, this process's processor {ours:>10.1?} / {bare:>10.1?}   ratio {:.2} (mean)",
        ours.as_secs_f64() / bare.as_secs_f64()
    );
}

/// The processor time of this process, without its children. Other programs disturb it less than elapsed time.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit(')').next().unwrap().split_ascii_whitespace().skip(11).take(2);
    let ticks: u64 = fields.map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

async fn scripted(is_ours: bool) {
    if is_ours {
        ours("sh".into(), &SCRIPT).await;
    } else {
        bare("sh".into(), &SCRIPT).await;
    }
}

/// 50 MB of events.
fn stream(runtime: &Runtime) {
    let script = format!("yes '{{\"type\":\"text\",\"text\":\"{}\"}}' | head -n 51500", "x".repeat(950));
    let arguments = ["-c", &script];
    let comparison = compare_by(
        15,
        || {
            let begun = Instant::now();
            runtime.block_on(async {
                let arguments = arguments.iter().map(Into::into).collect();
                let invocation = Invocation { arguments, ..Invocation::new("sh", Environment::minimal()) };
                let (mut running, mut events) = (invocation.start().await.unwrap(), 0);
                while let Some(line) = running.next_line().await.unwrap() {
                    let Line::Whole(line) = line else { panic!("{line:?}") };
                    let _: Value = serde_json::from_slice(line).unwrap();
                    events += 1;
                }
                assert_eq!((events, running.end().await.unwrap().exit), (51_500, Some(0)));
            });
            begun.elapsed()
        },
        || {
            let begun = Instant::now();
            runtime.block_on(async {
                let mut child = bare_child("sh".into(), &arguments);
                let (mut lines, mut line, mut events) = (BufReader::new(child.stdout.take().unwrap()), Vec::new(), 0);
                while lines.read_until(b'\n', &mut line).await.unwrap() > 0 {
                    let _: Value = serde_json::from_slice(&line).unwrap();
                    line.clear();
                    events += 1;
                }
                assert_eq!(events, 51_500);
                assert!(child.wait().await.unwrap().success());
            });
            begun.elapsed()
        },
    );
    println!("{}", comparison.line("50 MB of events", 1, None));
}

async fn silent() -> Running {
    let invocation = Invocation {
        arguments: vec!["-c".into(), "read line".into()],
        stays_open: true,
        ..Invocation::new("sh", Environment::minimal())
    };
    invocation.start().await.unwrap()
}

/// How long dropping a call blocks: a single call, and each of 200 running calls.
fn dropped(runtime: &Runtime) {
    let drop_of = |running: Vec<Running>| {
        let _entered = runtime.enter();
        let mut times: Vec<_> = running
            .into_iter()
            .map(|running| {
                let begun = Instant::now();
                drop(running);
                begun.elapsed()
            })
            .collect();
        let whole: Duration = times.iter().sum();
        times.sort();
        (times[times.len() / 2], times[times.len() - 1], whole)
    };
    let mut alone: Vec<_> = (0..31).map(|_| drop_of(vec![runtime.block_on(silent())]).0).collect();
    alone.sort();
    let processes = std::fs::read_dir("/proc")
        .unwrap()
        .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok()));
    println!(
        "dropping a call that runs          {:>10.1?} (median of 31, {} processes on the system)",
        alone[15],
        processes.count()
    );
    let together = runtime.block_on(join_all((0..200).map(|_| silent())));
    let used = processor_time();
    let (median, most, whole) = drop_of(together);
    let used = (processor_time() - used) / 200;
    println!(
        "dropping 200, one after the other  {median:>10.1?} each (median), {most:.1?} at most, {whole:.1?} in all"
    );
    println!("the same, this process's processor {used:>10.1?} each");
}

/// How much memory 200 running calls need in this process.
fn held(runtime: &Runtime) {
    const CALLS: usize = 200;
    let resident = || {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * rustix::param::page_size()
    };
    let waits = async |running: &mut Running| {
        let waiting = tokio::time::timeout(Duration::from_millis(1), running.next_line()).await;
        assert!(waiting.is_err());
    };
    drop(runtime.block_on(async { join_all((0..CALLS).map(|_| silent())).await }));
    let before = resident();
    let ours = runtime.block_on(async {
        let mut ours = join_all((0..CALLS).map(|_| silent())).await;
        for running in &mut ours {
            waits(running).await;
        }
        ours
    });
    let with_ours = resident();
    drop(ours);
    println!(
        "memory of a running call           {:>10} bytes resident (of 200)",
        with_ours.saturating_sub(before) / CALLS
    );
}
