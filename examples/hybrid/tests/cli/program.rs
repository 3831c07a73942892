//! The program as a process of its own.

use crate::artefacts::{place, target_directory};
use hybrid::demo::SPEC;
use hybrid::stage::lay_out;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// The directory of these tests' journals: one for each call.
static JOURNALS: LazyLock<PathBuf> = LazyLock::new(|| {
    let journals = place().join("journals");
    fs::remove_dir_all(&journals).ok();
    journals
});

/// The program, which reads no git configuration but the repository's own, with a journal of its own.
pub(crate) fn hybrid(arguments: &[&str]) -> Command {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let journal = JOURNALS.join(CALLS.fetch_add(1, Ordering::Relaxed).to_string());
    fs::create_dir_all(&*JOURNALS).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hybrid"));
    command.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command.env("INTERLOCKING_JOURNAL", journal);
    command
}

/// The program with a place for artefacts that all tests share.
pub(crate) fn run(arguments: &[&str]) -> Ran {
    Ran::of(hybrid(arguments).arg("--target-dir").arg(target_directory()).output().unwrap())
}

pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(directory);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// The demonstration's task, in a file there, without mutants: they take most of a run's time.
pub(crate) fn without_mutants(directory: &Path) -> String {
    task(directory, "without_mutants.toml", "")
}

/// The same without compilation, for tests that are not about verdicts: every build passes, and the tests fail while there is a
/// stub.
pub(crate) fn without_builds(directory: &Path) -> String {
    let commands = "buildCommand = [\"true\"]\nharness = \"exitCode\"\ntestCommand = [\"sh\", \"-c\", \"! grep -q 'todo!' src/lib.rs\"]\n";
    task(directory, "without_builds.toml", commands)
}

fn task(directory: &Path, name: &str, commands: &str) -> String {
    let file = directory.join(name);
    fs::write(&file, format!("mechanicalMutants = 0\n{SPEC}{commands}")).unwrap();
    file.to_str().unwrap().to_owned()
}

pub(crate) struct Ran {
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { exit: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.stdout, self.stderr))
    }
}

/// A crate's repository that is not the program's own, and a directory for worktrees beside it.
pub(crate) struct Repository {
    pub(crate) directory: TempDir,
}

impl Repository {
    /// A copy of a repository that is made and built once in each process.
    pub(crate) async fn new() -> Self {
        static FIRST: OnceCell<PathBuf> = OnceCell::const_new();
        let first = FIRST.get_or_init(async || {
            let first = place().join("user");
            fs::remove_dir_all(&first).ok();
            lay_out(&first.join("crate"), &target_directory(), false).await.unwrap();
            first
        });
        let directory = tempfile::tempdir().unwrap();
        let copied = Command::new("cp").arg("-a").args([first.await, &directory.path().join("user")]).status().unwrap();
        assert!(copied.success(), "{copied}");
        for name in ["work", "temporary"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        Self { directory }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("user/crate")
    }

    pub(crate) fn arguments(&self, more: &[&str]) -> Vec<String> {
        let work = self.directory.path().join("work");
        let own = ["--repo", self.path().to_str().unwrap(), "--work-dir", work.to_str().unwrap()].map(str::to_owned);
        own.into_iter().chain(more.iter().map(|argument| (*argument).to_owned())).collect()
    }

    pub(crate) fn run(&self, more: &[&str]) -> Ran {
        let arguments = self.arguments(more);
        run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Whether a run has left no worktrees and no branches.
    pub(crate) fn is_tidy(&self) -> bool {
        let worktrees = git(&self.path(), &["worktree", "list", "--porcelain"]);
        let branches = git(&self.path(), &["branch", "--format=%(refname:short)"]);
        worktrees.matches("worktree ").count() == 1 && branches == "main"
    }

    /// Everything that a run must not leave behind, regardless of `main` and of the archive.
    pub(crate) fn traces(&self) -> Traces {
        let (path, root) = (self.path(), self.directory.path());
        let names = |directory: &Path| -> Vec<PathBuf> {
            let mut names: Vec<_> =
                fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
            names.sort();
            names
        };
        let directories =
            [root, &root.join("work"), &root.join("temporary"), &path.join(".git"), &path.join(".git/refs")];
        let references = git(&path, &["for-each-ref", "--format=%(refname)"]);
        let references = references.lines().filter(|name| !name.starts_with("refs/interlocking/archive/"));
        Traces {
            // Deeper files are named by content or by reference.
            files: directories
                .into_iter()
                .flat_map(names)
                .filter(|file| !file.ends_with("refs/interlocking"))
                .collect(),
            references: references.map(str::to_owned).collect(),
            worktrees: git(&path, &["worktree", "list", "--porcelain"]).matches("worktree ").count(),
            changes: git(&path, &["status", "--porcelain", "--ignored"]),
            processes: processes_of(root),
        }
    }
}

/// What exists of a run outside its journal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Traces {
    files: Vec<PathBuf>,
    references: Vec<String>,
    worktrees: usize,
    changes: String,
    processes: Vec<String>,
}

impl Traces {
    /// The differences from another state, except in git's own files, which `git gc` and `git fetch` reorganise.
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        let of = |traces: &Self| -> Vec<String> {
            let files = traces.files.iter().filter(|file| !file.components().any(|part| part.as_os_str() == ".git"));
            let files = files.map(|file| file.display().to_string());
            let more = [traces.worktrees.to_string(), traces.changes.clone()];
            files.chain(traces.references.clone()).chain(more).chain(traces.processes.clone()).collect()
        };
        let (here, there) = (of(self), of(other));
        let only = |one: &[String], other: &[String]| -> Vec<String> {
            one.iter().filter(|item| !other.contains(item)).cloned().collect()
        };
        [only(&here, &there), only(&there, &here)].concat()
    }
}

/// The processes that work below a directory, or name it in their command lines.
fn processes_of(directory: &Path) -> Vec<String> {
    let place = directory.to_str().unwrap();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    let told = processes.filter_map(|process| {
        let text =
            |file: &str| String::from_utf8_lossy(&fs::read(process.join(file)).unwrap_or_default()).replace('\0', " ");
        let at = fs::read_link(process.join("cwd")).unwrap_or_default();
        let is_there = at.starts_with(directory) || text("cmdline").contains(place) || text("environ").contains(place);
        is_there.then(|| text("cmdline"))
    });
    told.collect()
}

/// Several calls of the program with one journal.
pub(crate) struct Session {
    directory: TempDir,
}

/// A running process of a session.
pub(crate) struct Process(Option<Child>);

impl Session {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = hybrid(arguments);
        command.env("INTERLOCKING_JOURNAL", self.directory.path().join("journal"));
        command
    }

    pub(crate) fn call(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Process {
        Process::spawn(self.command(arguments))
    }

    /// The names in the journal's directory.
    pub(crate) fn journal(&self) -> Vec<String> {
        Self::names("journal", self.path())
    }

    /// The names of what is kept of runs beside the journal.
    pub(crate) fn beside(&self) -> Vec<String> {
        Self::names("journal/hybrid", self.path())
    }

    fn names(directory: &str, at: &Path) -> Vec<String> {
        let entries = fs::read_dir(at.join(directory)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The output of `show` for a run.
    pub(crate) fn show(&self, run: &str) -> Value {
        let shown = self.call(&["show", run, "--json"]);
        assert_eq!(shown.exit, Some(0), "{}", shown.stderr);
        shown.json()
    }

    /// Waits until `is_so` holds of the output of `show` for run `r1`.
    pub(crate) fn wait_until(&self, process: &mut Process, what: &str, is_so: impl Fn(&Value) -> bool) {
        self.wait_until_run(process, "r1", what, is_so);
    }

    /// The same for any run. Asks whenever the journal has changed.
    pub(crate) fn wait_until_run(&self, process: &mut Process, run: &str, what: &str, is_so: impl Fn(&Value) -> bool) {
        let started = Instant::now();
        let (mut asked_at, mut told) = (None, String::new());
        loop {
            let (has_ended, state) = (process.has_ended(), self.state_of_journal());
            if has_ended || asked_at.as_ref() != Some(&state) {
                asked_at = Some(state);
                let shown = self.call(&["show", run, "--json"]);
                if shown.exit == Some(0) && is_so(&shown.json()) {
                    return;
                }
                if has_ended {
                    panic!("it ended before {what}: {}", process.take().stderr);
                }
                told = shown.stdout;
            }
            assert!(started.elapsed() < Duration::from_secs(120), "too long until {what}: {told}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// A value that differs whenever more was recorded: modification time and size of each file of the journal.
    fn state_of_journal(&self) -> Vec<(PathBuf, u64, SystemTime)> {
        let files = fs::read_dir(self.directory.path().join("journal")).into_iter().flatten().flatten();
        let state = files.filter_map(|file| {
            let file = file.path();
            let metadata = fs::metadata(&file).ok()?;
            Some((file, metadata.len(), metadata.modified().ok()?))
        });
        state.collect()
    }

    /// Waits until a node's visit is done.
    pub(crate) fn wait_until_done(&self, process: &mut Process, node: &str, visit: u64) {
        let is_done = |shown: &Value| Self::done(shown).iter().any(|(name, its, _)| name == node && *its == visit);
        self.wait_until(process, &format!("{node} is done"), is_done);
    }

    /// The finished executions, in the order in which they were recorded: node, visit, record.
    pub(crate) fn done(shown: &Value) -> Vec<(String, u64, u64)> {
        let executions = shown["executions"].as_array().unwrap().iter();
        let done = executions.filter(|execution| execution["state"] == "done").map(|execution| {
            let number = |field: &str| execution[field].as_u64().unwrap();
            (execution["node"].as_str().unwrap().to_owned(), number("visit"), number("record"))
        });
        let mut done: Vec<_> = done.collect();
        done.sort_by_key(|(.., record)| *record);
        done
    }
}

impl Process {
    pub(crate) fn spawn(mut command: Command) -> Self {
        Self(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    /// Kills the process.
    pub(crate) fn kill(&mut self) {
        let mut child = self.0.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Interrupts the process, like Ctrl-C.
    pub(crate) fn interrupt(&self) {
        let child = self.0.as_ref().unwrap();
        let id = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    }

    /// Waits for the process to end.
    pub(crate) fn wait(mut self) -> Ran {
        self.take()
    }

    fn has_ended(&mut self) -> bool {
        self.0.as_mut().is_none_or(|child| child.try_wait().unwrap().is_some())
    }

    fn take(&mut self) -> Ran {
        Ran::of(self.0.take().unwrap().wait_with_output().unwrap())
    }
}
