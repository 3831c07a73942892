//! Programs that are broken in every way, and how a turn ends with each.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use interlocking_agents::faults::FaultyProgram;
use interlocking_agents::{Agent, Conversation, NoEvents, Schema, Slug, Turn};
use serde_json::json;
use tokio::sync::RwLock;
use tokio::task::JoinSet;

/// The session that the programs name.
pub(crate) const SESSION: &str = "0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f";

/// The time limit of a turn: a turn that hangs fails the test, and no machine is that slow.
const LONGEST: Duration = Duration::from_secs(100);

/// How a driver's program writes what every program writes.
pub(crate) struct Speech {
    pub(crate) version: &'static str,
    /// The program's first lines.
    pub(crate) begins: &'static str,
    /// A text of the model.
    pub(crate) says: &'static str,
    /// The answer to the turn, `{"word":"yes"}`, and the end.
    pub(crate) answers: &'static str,
    /// Lines of the right kind with wrong contents.
    pub(crate) nonsense: &'static str,
}

/// The time limits of calls, in seconds.
#[derive(Clone, Copy, Default)]
pub(crate) struct Limits {
    pub(crate) total: Option<u64>,
    pub(crate) first_event: Option<u64>,
    pub(crate) idle: Option<u64>,
}

/// Makes an agent for a program that is in its own directory.
pub(crate) type Make = fn(&Path, Limits) -> Arc<dyn Agent>;

/// Memory is measured for the whole process: a test that measures it runs alone, and all other cases run in parallel.
static MEMORY: RwLock<()> = RwLock::const_new(());

/// How much more memory a single line of 100 MB may take.
const MOST_FOR_A_LINE: u64 = 64 << 20;

/// The outcome of every broken program, one line each.
pub(crate) async fn outcomes(speech: &Speech, make: Make) -> String {
    let alone = MEMORY.write().await;
    let before = most_memory();
    let long = FaultyProgram::new().reading_line().line(speech.begins).bytes(b"{\"type\":\"").long(100_000_000);
    let long = outcome("a long line", &long.line("\"}").line(speech.answers), make, Limits::default()).await;
    // Linux sums up counters of several cores, and may report slightly less than before.
    let grown = most_memory().saturating_sub(before);
    assert!(grown < MOST_FOR_A_LINE, "{} MiB for a line of 100 MB", grown >> 20);
    drop(alone);
    let _beside_others = MEMORY.read().await;
    let program = || FaultyProgram::new().answering_version(speech.version);
    let said = |program: FaultyProgram| program.line(speech.begins).line(speech.says);
    let begun = || said(program().reading_line());
    let half = &speech.answers.as_bytes()[..speech.answers.len() / 2];
    let long_silence = Duration::from_secs(1_000);
    let deep = "[".repeat(100_000);
    let none = Limits::default();
    let cases: Vec<(&str, FaultyProgram, Limits)> = vec![
        ("all is well", begun().line(speech.answers), none),
        ("the last line has no end", begun().bytes(speech.answers.as_bytes()), none),
        ("the answer breaks off", begun().bytes(half).exit(1), none),
        ("the answer breaks off, and all is said to be well", begun().bytes(half).exit(0), none),
        ("a line is no UTF-8", begun().bytes(b"{\"type\":\"\xff\xfe\x80\"}\n\xc3\x28\n").line(speech.answers), none),
        ("a line is no JSON", begun().line("Warning: {not JSON").line("").line(speech.answers), none),
        ("a line is JSON of other kinds", begun().line("null").line("[]").line("5").line(speech.answers), none),
        ("fields are of other types", begun().line(speech.nonsense).line(speech.answers), none),
        ("a line is nested deeply", begun().line(&deep).line(speech.answers), none),
        ("100,000 lines mean nothing", begun().repeated(100_000, r#"{"type":"x"}"#).line(speech.answers), none),
        ("nothing is said", program().exit(0), none),
        ("nothing is said but why", program().error_line("error: unknown option").exit(2), none),
        ("it exits in the middle", begun().error_line("out of memory").exit(7), none),
        ("it is killed in the middle", begun().kill_itself(), none),
        (
            "it falls silent at once",
            program().silence(long_silence),
            Limits { first_event: Some(1), ..Limits::default() },
        ),
        ("it falls silent in the middle", begun().silence(long_silence), Limits { idle: Some(1), ..Limits::default() }),
        (
            "it is silent, and ignores signals",
            program().ignoring_signals().silence(long_silence),
            Limits { total: Some(1), ..Limits::default() },
        ),
        ("it answers, and does not end", begun().ignoring_signals().line(speech.answers).silence(long_silence), none),
        ("it answers, and leaves a child", begun().leaving_a_child().line(speech.answers), none),
        ("it exits, and leaves a child", begun().leaving_a_child().exit(1), none),
        ("it writes 50 MB of errors", begun().repeated_errors(500_000).exit(1), none),
    ];
    let mut turns = JoinSet::new();
    for (position, (name, program, limits)) in cases.into_iter().enumerate() {
        turns.spawn(async move { (position, format!("{name}: {}", outcome(name, &program, make, limits).await)) });
    }
    let mut lines = Vec::new();
    while let Some(turn) = turns.join_next().await {
        lines.push(turn.unwrap());
    }
    lines.sort();
    lines
        .into_iter()
        .map(|(_, line)| line)
        .chain([format!("a line is 100 MB long: {long}")])
        .map(|line| line + "\n")
        .collect()
}

/// The outcome of a program that is given by a relative path, in a workspace from which that path leads to another
/// program.
pub(crate) async fn outcome_of_a_relative_path(speech: &Speech, make: Make) -> String {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let here = std::env::current_dir().unwrap();
    let below_root = || here.components().skip(1);
    let to_root: PathBuf = below_root().map(|_| "..").collect();
    let file = to_root.join(directory.path().join("program").strip_prefix("/").unwrap());
    let workspace = directory.path().join("work").join(below_root().map(|_| "deep").collect::<PathBuf>());
    std::fs::create_dir_all(&workspace).unwrap();
    let planted = workspace.join(&file);
    std::fs::create_dir_all(planted.parent().unwrap()).unwrap();
    FaultyProgram::new().exit(99).write_to(planted).unwrap();
    let program = FaultyProgram::new().reading_line().line(speech.begins).line(speech.says).line(speech.answers);
    program.write_to(&file).unwrap();
    let agent = make(&file, Limits::default());
    let turn = Turn { workspace: Some(workspace), ..Turn::fresh(Slug::new("test").unwrap(), "Say yes.") };
    let ended = Conversation::new(&*agent).run(turn, &NoEvents).await;
    ended.map_or_else(|error| error.to_string(), |completion| completion.text.unwrap_or_default())
}

async fn outcome(name: &str, program: &FaultyProgram, make: Make, limits: Limits) -> String {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workspace = directory.path().join("work");
    std::fs::create_dir(&workspace).unwrap();
    let file = program.write_to(directory.path().join("program")).unwrap();
    let agent = make(&file, limits);
    let schema = json!({ "type": "object", "properties": { "word": { "type": "string" } }, "required": ["word"], "additionalProperties": false });
    let turn = Turn {
        workspace: Some(workspace),
        schema: Some(Arc::new(Schema::new(schema).unwrap())),
        // More than a pipe holds, for programs that do not read it.
        ..Turn::fresh(Slug::new("test").unwrap(), "Say yes. ".repeat(20_000))
    };
    let conversation = Conversation::new(&*agent).with_corrections(0);
    let ended = tokio::time::timeout(LONGEST, conversation.run(turn, &NoEvents)).await;
    let ended = ended.unwrap_or_else(|_| panic!("{name}: it hangs"));
    for pid in FaultyProgram::recorded_pids(&file).unwrap() {
        assert!(is_gone(pid).await, "process {pid} is still running");
    }
    match ended {
        Ok(completion) => format!("{}, {} call", completion.output, completion.usage.calls),
        Err(error) => {
            let kind = serde_json::to_value(&*error.kind).unwrap();
            let name =
                kind.as_object().map_or_else(|| kind.to_string(), |fields| fields.keys().next().unwrap().clone());
            let words: String = error.to_string().lines().last().unwrap_or_default().chars().take(100).collect();
            let session = if error.session.is_some() { "a session" } else { "no session" };
            format!("{name} ({words}), {session}")
        }
    }
}

/// A zombie counts as gone.
async fn is_gone(pid: u32) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next().unwrap_or('Z'));
        if state.is_none_or(|state| matches!(state, 'Z' | 'X')) {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The peak memory of this process, in bytes.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
