//! Runs whose process is killed, resumed by the library: remaining programs of the agent are ended before anything is started, or
//! are named.

use crate::isolation::{Alone, Write};
use interlocking::agents::program::Secret;
use interlocking::agents::{Agent, ClaudeCode, ClaudeSettings, Script, ScriptedAgent};
use interlocking::prelude::*;
use interlocking::runtime::workspaces::Directories;
use interlocking_model_server::{ModelServer, Reaction, Rule, programs};
use interlocking_sqlite::SqliteJournal;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The task of the other process: to `start` the run or to `resume` it, or the `scene` of a test.
const TASK: &str = "INTERLOCKING_TEST_TASK";
const PLACE: &str = "INTERLOCKING_TEST_PLACE";
/// The address of the model; without it, the agent plays a script.
const MODEL: &str = "INTERLOCKING_TEST_MODEL";

/// Two processes that stay, one of them in a session of its own; the shell that started them waits.
const STAY: &str =
    "setsid sh -c 'echo $$ > far; exec sleep 300' & sh -c 'echo $$ > near; exec sleep 300' & echo x >> begun; wait";

/// Reports which of the remaining processes live.
fn look(desk: &Path) -> String {
    let desk = desk.display();
    format!(
        "for who in far near; do grep -q ') [^ZX]' /proc/$(cat {desk}/$who)/stat && echo $who >> {desk}/seen; done 2>/dev/null"
    )
}

fn desk(place: &Path) -> PathBuf {
    place.join("desk")
}

fn run(place: &Path) -> Run<Alone> {
    let agent: Arc<dyn Agent> = match std::env::var(MODEL) {
        Ok(model) => Arc::new(claude(place, &model)),
        Err(_) => {
            let desk = desk(place);
            let script = format!("test -s begun || {{ {STAY}; }}; {}", look(&desk));
            let script = format!(
                "[[turn]]\ntimes = 'any'\noutput_json = '\"Done.\"'\n\
                 [[turn.run]]\ncommand = ['sh', '-c', '''{script}; true''']\n"
            );
            Arc::new(ScriptedAgent::new(Script::parse("the writer's", &script).unwrap()))
        }
    };
    Run::new(Alone { write: LLMNode(Write) })
        .with_id("killed".parse().unwrap())
        .with_journal(Arc::new(SqliteJournal::open(place.join("journal")).unwrap()))
        .with_workspaces(Arc::new(Directories::new().with("desk", desk(place))))
        .with_weaker_isolation()
        .with_agent_for_others(agent)
}

/// The real program, which reports the remaining processes whenever it is started.
fn claude(place: &Path, model: &str) -> ClaudeCode {
    let settings = ClaudeSettings {
        program: place.join("claude"),
        model: Some("haiku".to_owned()),
        home: Some(place.join("home")),
        base_url: Some(model.to_owned()),
        allowed_tools: vec!["Bash".to_owned()],
        retries: 1,
        ..ClaudeSettings::default()
    };
    ClaudeCode::new(settings).with_key(Secret::new("sk-ant-test"))
}

/// Not a test of its own: the code of the other processes.
#[tokio::test(flavor = "multi_thread")]
async fn another_process() {
    let (Ok(task), Some(place)) = (std::env::var(TASK), std::env::var_os(PLACE)) else { return };
    let place = Path::new(&place);
    match task.as_str() {
        "start" => drop(run(place).start("tides".to_owned()).await),
        "resume" => fs::write(place.join("said"), said(place).await).unwrap(),
        "scene" => a_process_of_another_user(place),
        task => panic!("{task}"),
    }
}

/// The result of resuming the run.
async fn said(place: &Path) -> String {
    match run(place).resume().await {
        Ok(report) => format!("{:?}", report.outcome),
        Err(error) => error.to_string(),
    }
}

fn process(program: &Path, task: &str, place: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", "killed::another_process", "--nocapture"]).envs([(TASK, task)]).env(PLACE, place);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn this_program() -> PathBuf {
    std::env::current_exe().unwrap()
}

fn new_place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(desk(place.path())).unwrap();
    place
}

/// The runner process, once the agent's command has begun.
struct Runner(Child);

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Runner {
    fn start(command: &mut Command, place: &Path) -> Self {
        let mut runner = Self(command.spawn().unwrap());
        let begun = Instant::now();
        let desk = desk(place);
        while ["far", "near", "begun"].iter().any(|name| fs::read(desk.join(name)).unwrap_or_default().is_empty()) {
            assert!(begun.elapsed() < Duration::from_secs(100), "nobody stays");
            assert_eq!(runner.0.try_wait().unwrap(), None, "the runner has ended");
            std::thread::sleep(Duration::from_millis(10));
        }
        runner
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Kills the process that would end the remaining programs, as a person or a malicious program may.
    fn kill_guard(&self) {
        let is_guard = |number: &u32| {
            let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
            let parent = stat.rsplit(')').next().and_then(|rest| rest.split_ascii_whitespace().nth(1)?.parse().ok());
            String::from_utf8_lossy(&line).contains("interlocking-guard") && parent == Some(self.0.id())
        };
        kill(processes().find(is_guard).unwrap());
    }

    /// The processes with the runner's mark.
    fn programs(&self) -> Vec<u32> {
        let its = format!("{}-", self.0.id());
        let is_marked = |number: &u32| {
            let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            let environment = String::from_utf8_lossy(&environment).into_owned();
            let marks = environment.split('\0').find_map(|variable| variable.strip_prefix("INTERLOCKING_PROGRAM="));
            marks.is_some_and(|marks| marks.split(',').any(|mark| mark.starts_with(&its)))
        };
        processes().filter(is_marked).collect()
    }
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn kill(number: u32) {
    kill_process(Pid::from_raw(number.cast_signed()).unwrap(), Signal::KILL).unwrap();
}

/// Whether `is_there` becomes false within some seconds: a killed process may take a moment.
fn ends(is_there: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while is_there() {
        if begun.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

fn read(place: &Path, name: &str) -> String {
    fs::read_to_string(desk(place).join(name)).unwrap_or_default()
}

/// Kills the runner during a command of the agent, with the guard that ends the remaining programs and without; then resumes the
/// run.
fn assert_resumed_after_kill(start: impl Fn(&Path) -> Command) {
    for guard_lives in [true, false] {
        let place = new_place();
        let place = place.path();
        let mut command = start(place);
        let mut runner = Runner::start(&mut command, place);
        assert!(runner.programs().len() >= 2, "they are marked");
        if !guard_lives {
            runner.kill_guard();
        }
        runner.kill();
        if guard_lives {
            assert!(ends(|| !runner.programs().is_empty()), "they go on: {:?}", runner.programs());
        }
        assert!(command.env(TASK, "resume").status().unwrap().success());
        assert_eq!(fs::read_to_string(place.join("said")).unwrap(), "Finished(\"Done.\")");
        assert_eq!(read(place, "seen"), "", "these lived when something was started");
        assert_eq!(runner.programs(), [] as [u32; 0], "nothing is left");
    }
}

#[test]
fn nothing_of_a_killed_run_goes_on_and_it_is_taken_up_when_that_is_so() {
    assert_resumed_after_kill(|place| process(&this_program(), "start", place));
}

#[test]
fn the_same_with_the_real_claude_code_in_the_midst_of_a_command() {
    let Some(program) = programs::found(programs::claude()) else { return };
    let servers = Mutex::new(Vec::new());
    assert_resumed_after_kill(|place| {
        let begun = desk(place).join("begun");
        let stay = Reaction::tool("Bash", json!({ "command": STAY, "description": "wait" }));
        let first = Rule::asked("Write about").when("nothing has begun", move |_| !begun.exists()).reply(stay);
        let script = interlocking_model_server::Script::new().rule(first);
        let server =
            ModelServer::start(script.rule(Rule::any().reply(Reaction::output(json!({ "value": "Done." }))))).unwrap();
        let wrapper = place.join("claude");
        fs::write(&wrapper, format!("#!/bin/sh\n{}\nexec {} \"$@\"\n", look(&desk(place)), program.display())).unwrap();
        fs::set_permissions(&wrapper, Permissions::from_mode(0o755)).unwrap();
        let mut command = process(&this_program(), "start", place);
        command.env(MODEL, server.url());
        servers.lock().unwrap().push(server);
        command
    });
}

/// Runs the program in a process namespace of its own, which `/proc` shows if it is `mounted` anew. `None` if this user may not
/// create one.
fn apart(program: &Path, mounted: bool, task: &str, place: &Path) -> Option<Command> {
    let mut options = vec!["--pid", "--fork", "--kill-child"];
    options.extend(mounted.then_some("--mount-proc"));
    options.extend((!is_root()).then_some("--map-root-user"));
    if !Command::new("unshare").args(&options).arg("true").status().is_ok_and(|status| status.success()) {
        return None;
    }
    let inner = process(program, task, place);
    let mut command = Command::new("unshare");
    command.args(options).arg(program).args(inner.get_args()).stdin(Stdio::null()).stdout(Stdio::null());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(command)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn a_run_is_not_taken_up_where_nobody_can_see_what_is_left() {
    let place = new_place();
    let place = place.path();
    let Some(mut blind) = apart(&this_program(), false, "resume", place) else {
        return println!("not tried: this user may make no namespaces");
    };
    Runner::start(&mut process(&this_program(), "start", place), place).kill();
    assert!(blind.status().unwrap().success());
    assert_eq!(
        fs::read_to_string(place.join("said")).unwrap(),
        "run `killed` is not resumed yet: processes that an earlier process left running cannot be listed: \
         /proc shows another namespace of processes; is /proc mounted?"
    );
    assert_eq!(read(place, "begun"), "x\n", "nothing was started again");
}

/// No process outside the namespace can end the processes inside.
#[test]
fn a_run_is_not_taken_up_while_a_process_of_another_user_is_left_which_is_named() {
    let place = new_place();
    let place = place.path();
    let Some(mut scene) = apart(&this_program(), true, "scene", place).filter(|_| is_root()) else {
        return println!("not tried: it takes the system's user, who may make namespaces");
    };
    let output = scene.stdout(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Run as root: the run belongs to another user.
fn a_process_of_another_user(place: &Path) {
    const NOBODY: u32 = 65534;
    let copy = place.join("program");
    fs::copy(this_program(), &copy).unwrap();
    for path in [place, &desk(place), &copy] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let nobodys = |task: &str| {
        let mut command = process(&copy, task, place);
        command.uid(NOBODY).gid(NOBODY).env("HOME", place).env_remove("TMPDIR").current_dir(place);
        command
    };
    Runner::start(&mut nobodys("start"), place).kill();

    // Its limit of file locks says that it descends from a program of a runner that has ended.
    let mut ended = Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let limit = 1_000_000_000_000_000_000 + (9_999_999 - u64::from(ended.id())) * 100_000_000_000 + 1;
    let mut left = Runner(Command::new("sleep").arg("300").spawn().unwrap());
    let number = Pid::from_raw(left.0.id().cast_signed());
    prlimit(number, Resource::Locks, Rlimit { current: Some(limit), maximum: Some(limit) }).unwrap();

    let resumed = || {
        assert!(nobodys("resume").status().unwrap().success());
        fs::read_to_string(place.join("said")).unwrap()
    };
    let expected = format!(
        "run `killed` is not resumed yet: these processes were left running by an earlier process, and this process \
         may not end them:\n  process {}, \"sleep\"\nend them as their user or as root",
        left.0.id()
    );
    assert_eq!(resumed(), expected);
    assert_eq!(read(place, "begun"), "x\n", "nothing was started again");
    assert_eq!(left.0.try_wait().unwrap(), None, "it lives");
    left.kill();
    assert_eq!(resumed(), "Finished(\"Done.\")");
}
