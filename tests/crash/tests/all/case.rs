//! One run, executed by as many processes as it needs.

use crate::past::Past;
use crate::verdict;
use interlocking::prelude::Outcome;
use interlocking::runtime::Journal;
use interlocking_crash::order::{Ending, Order, Presence};
use interlocking_crash::people::People;
use interlocking_crash::places::Places;
use interlocking_crash::room::Room;
use interlocking_sqlite::SqliteJournal;
use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than any process of the run takes on the slowest machine, and shorter than the run's watch waits.
const PATIENCE: Duration = Duration::from_secs(50);

/// How a process is killed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kill {
    /// Not at all.
    Never,
    /// By itself, at this point.
    At(u64),
    /// From outside, so long after its start.
    After(Duration),
}

/// A run in a directory of its own, which is kept when a test fails.
pub(crate) struct Case {
    place: TempDir,
    /// The number of processes, and of those that were killed.
    processes: u32,
    pub(crate) kills: u32,
    /// How much room the journal has in processes that are started from here on.
    pub(crate) room: Room,
    story: String,
}

impl Case {
    pub(crate) fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        Places::new(place.path()).make().unwrap();
        Self { place, processes: 0, kills: 0, room: Room::Enough, story: String::new() }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.place.path()
    }

    /// Opens the journal, as any other process may.
    pub(crate) fn journal(&self) -> Arc<SqliteJournal> {
        Arc::new(SqliteJournal::open(self.directory().join("journal")).unwrap())
    }

    /// Starts a process and does not wait for it.
    pub(crate) fn spawn(&mut self, dies_at: Option<u64>, people: Presence) -> Child {
        let (directory, process, room) = (self.directory().to_owned(), self.processes, self.room);
        self.processes += 1;
        let order = serde_json::to_string(&Order { directory, process, dies_at, room, people }).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlocking-crash"));
        command.env_remove("RUST_BACKTRACE").arg(order);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Lets one process work, and judges what it did. Gives its report, or `None` if it was killed.
    pub(crate) async fn process(&mut self, kill: Kill, people: Presence) -> Option<Ending> {
        let past = Past::of(&*self.journal()).await;
        let number = self.processes;
        let dies_at = if let Kill::At(point) = kill { Some(point) } else { None };
        let child = self.spawn(dies_at, people);
        let ending = self.wait(child, kill);
        let outcome = ending.as_ref().map_or("killed", |ending| ending.outcome.name());
        writeln!(self.story, "process {number}, people {people:?}, {:?}, to be killed {kill:?}: {outcome}", self.room)
            .unwrap();
        verdict::on_a_process(self, number, &past).await;
        ending
    }

    fn wait(&mut self, mut child: Child, kill: Kill) -> Option<Ending> {
        let started = Instant::now();
        if let Kill::After(delay) = kill {
            std::thread::sleep(delay);
            // A process that has ended by itself cannot be killed.
            child.kill().unwrap();
        }
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("a process does not end\n{}", self.account());
            }
            std::thread::sleep(Duration::from_micros(500));
        };
        let (said, complained) = said(&mut child);
        assert_eq!(complained, "", "{}", self.account());
        match status.code() {
            Some(0) => Some(serde_json::from_str(&said).unwrap()),
            None => {
                self.kills += 1;
                None
            }
            Some(code) => panic!("a process ended with {code}\n{}", self.account()),
        }
    }

    /// Responds to the questions of a run that waits; false if the run does not wait.
    pub(crate) async fn attend(&self, ending: &Ending) -> bool {
        let Outcome::Waiting { questions } = &ending.outcome else { return false };
        let people = People::new(self.journal());
        for asked in questions {
            let question = serde_json::from_value(asked.question.clone()).unwrap();
            people.respond(&asked.run, &asked.by, &question).await.unwrap();
        }
        true
    }

    /// Lets processes work undisturbed until the run has ended, and judges it.
    pub(crate) async fn settle(&mut self, people: Presence) {
        for _ in 0..8 {
            let Some(ending) = self.process(Kill::Never, people).await else { panic!("nobody killed it") };
            if !self.attend(&ending).await {
                return verdict::on_the_end(self, &ending).await;
            }
        }
        panic!("the run does not end\n{}", self.account());
    }

    /// An account of what happened, with the log.
    pub(crate) fn account(&self) -> String {
        let log = std::fs::read_to_string(self.directory().join("log")).unwrap_or_default();
        format!("{}in {}:\n{log}", self.story, self.directory().display())
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        self.place.disable_cleanup(std::thread::panicking());
    }
}

/// The standard output and the standard error of a process that has ended.
pub(crate) fn said(child: &mut Child) -> (String, String) {
    let (mut said, mut complained) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut complained).unwrap();
    (said, complained)
}

/// The report of a run without disturbances, and its duration.
pub(crate) async fn undisturbed() -> &'static (Ending, Duration) {
    static UNDISTURBED: OnceLock<(Ending, Duration)> = OnceLock::new();
    if let Some(known) = UNDISTURBED.get() {
        return known;
    }
    let mut case = Case::new();
    let started = Instant::now();
    let child = case.spawn(None, Presence::Here);
    let ending = case.wait(child, Kill::Never).unwrap();
    let took = started.elapsed();
    assert_eq!(ending.outcome.name(), "finished", "{:?}\n{}", ending.outcome, case.account());
    assert_eq!(case.journal().runs().await.unwrap().len(), 7, "the root, its children and a grandchild");
    UNDISTURBED.get_or_init(|| (ending, took))
}
