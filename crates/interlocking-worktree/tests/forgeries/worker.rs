//! Processes that try cases, and the process that watches them.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, Command, Stdio},
    sync::mpsc::{RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::{
    arena::{Arena, Target, open_place, open_repository},
    forgery::{ALL, Forgery},
    noise::Noise,
    operations, sample,
};

/// The longest that a case may take.
const LONGEST: Duration = Duration::from_secs(10);
/// The most memory that a case may take, in kibibytes.
const MOST_MEMORY: usize = 256 << 10;
/// The address space of a process: more is a failure even if little of it is used, to protect the machine.
const MOST_ADDRESSES: u64 = 8 << 30;
/// How many cases one process tries.
const BATCH: usize = 500;

/// Tries the cases that the environment names; run by itself, one of each kind.
#[test]
fn worker() {
    let order = |name: &str| std::env::var(name).ok();
    let number = |name: &str| order(name).and_then(|number| number.parse::<usize>().ok());
    let (forgeries, first, count) = match order("FORGERY") {
        Some(name) => {
            let first = number("FORGERY_SEED").unwrap_or_default();
            (vec![Forgery::named(&name)], first, number("FORGERY_COUNT").unwrap_or(1))
        }
        None => (ALL.iter().collect(), 0, 1),
    };
    let limit = Rlimit { current: Some(MOST_ADDRESSES), maximum: Some(MOST_ADDRESSES) };
    setrlimit(Resource::As, limit).unwrap();
    let arena = Arena::new();
    for forgery in forgeries {
        let mut succeeded = 0;
        for seed in first..first + count {
            say(&format!("case {seed}"));
            succeeded += case(&arena, forgery, seed);
        }
        say(&format!("done {succeeded}"));
    }
}

/// Runs one case: forges, runs operations, and checks the victim and the resources used.
fn case(arena: &Arena, forgery: &Forgery, seed: usize) -> usize {
    arena.restore();
    let mut noise = Noise::of(seed as u64);
    let target = *noise.pick(&[Target::Linked, Target::Clone]);
    // A runtime may have the place open before the agent begins, or another process may open it after.
    let is_open = noise.one_in(2);
    let opened =
        is_open.then(|| open_place(&open_repository(&arena.project()).unwrap(), &arena.root(), target).unwrap());
    (forgery.forge)(arena, target, &mut noise);
    forget_most_memory();
    let succeeded = operations::some(arena, target, opened, &mut noise);
    arena.assert_victim_is_untouched();
    let most = most_memory();
    assert!(most <= MOST_MEMORY, "it took {} MB", most >> 10);
    succeeded
}

/// Prints a line, although the test harness may have begun one.
fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nforgery: {what}").unwrap();
    out.flush().unwrap();
}

/// The peak memory in kibibytes since the last [`forget_most_memory`].
fn most_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn forget_most_memory() {
    // If that may not be written, the peak of all cases so far counts.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

#[test]
fn whatever_is_forged_each_operation_answers_and_nothing_beside_is_touched() {
    let wanted = std::env::var("FORGERY_CASES").ok().and_then(|cases| cases.parse::<usize>().ok());
    let one_in: usize = sample::one_in(6);
    let batches = ALL.iter().flat_map(|forgery| {
        let cases = wanted.unwrap_or(forgery.cases / one_in);
        (0..cases).step_by(BATCH).map(move |first| (forgery, first, BATCH.min(cases - first)))
    });
    let batches = std::sync::Mutex::new(batches.collect::<Vec<_>>().into_iter());
    let failures = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from).min(4) {
            scope.spawn(|| {
                loop {
                    let next = batches.lock().unwrap().next();
                    let Some((forgery, first, count)) = next else { break };
                    if let Err(failure) = watch(forgery, first, count) {
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Starts a worker and kills it if a case takes too long. The failure names the case and how to replay it.
fn watch(forgery: &Forgery, first: usize, count: usize) -> Result<(), String> {
    let began = Instant::now();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worker::worker", "--nocapture"])
        .env("FORGERY", forgery.name)
        .env("FORGERY_SEED", first.to_string())
        .env("FORGERY_COUNT", count.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let outcome = follow(&mut child, first, count);
    let _ = child.kill();
    let _ = child.wait();
    match outcome {
        Ok(succeeded) => {
            let (name, seconds) = (forgery.name, began.elapsed().as_secs_f32());
            say(&format!("{name}: {count} cases from {first}, {succeeded} operations succeeded, {seconds:.1} s"));
            Ok(())
        }
        Err((seed, failure)) => Err(format!(
            "{failure}\n{name}, seed {seed}; to replay it: FORGERY={name} FORGERY_SEED={seed} cargo test -p interlocking-worktree --test forgeries -- --nocapture worker",
            name = forgery.name
        )),
    }
}

/// Follows a worker's output: how many operations succeeded, or the case that failed and how.
fn follow(child: &mut Child, first: usize, count: usize) -> Result<usize, (usize, String)> {
    let (sender, lines) = channel();
    let out = child.stdout.take().unwrap();
    let mut errors = child.stderr.take().unwrap();
    std::thread::scope(|scope| {
        let errors = scope.spawn(move || {
            let mut text = Vec::new();
            let _ = errors.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        scope.spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if let Some(said) = line.strip_prefix("forgery: ") {
                    let _ = sender.send(said.to_owned());
                }
            }
        });
        let mut seed = first;
        loop {
            match lines.recv_timeout(LONGEST) {
                Ok(said) => match said.split_once(' ') {
                    Some(("case", number)) => seed = number.parse().unwrap(),
                    Some(("done", succeeded)) if seed + 1 == first + count => return Ok(succeeded.parse().unwrap()),
                    _ => return Err((seed, format!("the worker says {said:?}"))),
                },
                Err(RecvTimeoutError::Timeout) => {
                    // Both threads wait for the end of the process.
                    let _ = child.kill();
                    return Err((seed, format!("it took longer than {} s", LONGEST.as_secs())));
                }
                Err(RecvTimeoutError::Disconnected) => return Err((seed, errors.join().unwrap())),
            }
        }
    })
}
