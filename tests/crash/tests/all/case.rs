//! One run, through as many processes as it takes.

use crate::verdict::{self, Past};
use interlocking::prelude::{Outcome, RunId};
use interlocking_crash::gazette::Edition;
use interlocking_crash::order::{Ending, Order};
use interlocking_crash::people::People;
use interlocking_crash::places::Places;
use interlocking_sqlite::SqliteJournal;
use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than any process of the run takes on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a process is killed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kill {
    /// Not at all.
    Never,
    /// By itself, at this point.
    At(u64),
    /// From outside, so long after it was started.
    After(Duration),
}

/// A run in a directory of its own.
pub(crate) struct Case {
    place: TempDir,
    processes: u32,
    /// How many of them were killed.
    pub(crate) kills: u32,
    /// What has happened so far, for whoever reads of a failure.
    pub(crate) story: String,
}

impl Case {
    pub(crate) fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        Places::new(place.path()).make().unwrap();
        Self { place, processes: 0, kills: 0, story: String::new() }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.place.path()
    }

    pub(crate) fn journal(&self) -> SqliteJournal {
        SqliteJournal::open(self.directory().join("journal")).unwrap()
    }

    /// Starts a process and does not wait for it.
    pub(crate) fn spawn(&mut self, dies_at: Option<u64>, attended: bool) -> Child {
        let (directory, process) = (self.directory().to_owned(), self.processes);
        self.processes += 1;
        let order = serde_json::to_string(&Order { directory, process, dies_at, attended }).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlocking-crash"));
        command.arg(order).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Lets one process work; what it says at its end, or nothing if it was killed.
    pub(crate) async fn process(&mut self, kill: Kill, attended: bool) -> Option<Ending> {
        let past = Past::of(&self.journal()).await;
        let number = self.processes;
        let dies_at = if let Kill::At(point) = kill { Some(point) } else { None };
        let child = self.spawn(dies_at, attended);
        let ending = self.wait(child, kill);
        writeln!(self.story, "process {number}, to be killed {kill:?}: {:?}", ending.as_ref().map(|e| &e.outcome))
            .unwrap();
        verdict::on_the_log(self.directory(), number, &past, &self.journal()).await;
        ending
    }

    fn wait(&mut self, mut child: Child, kill: Kill) -> Option<Ending> {
        let started = Instant::now();
        if let Kill::After(delay) = kill {
            std::thread::sleep(delay);
            // One that has ended by itself cannot be killed any more.
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
        let (mut said, mut complained) = (String::new(), String::new());
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut complained).unwrap();
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

    /// Answers what the run waits for.
    pub(crate) async fn attend(&self, ending: &Ending) -> bool {
        let Outcome::Waiting { questions } = &ending.outcome else { return false };
        let people = People::new(Arc::new(self.journal()));
        for asked in questions {
            let question = serde_json::from_value(asked.question.clone()).unwrap();
            people.respond(&asked.run, &asked.by, &question).await.unwrap();
        }
        true
    }

    /// Lets processes work undisturbed until the run has ended, and judges it.
    pub(crate) async fn settle(&mut self, attended: bool) -> Ending {
        for _ in 0..8 {
            let Some(ending) = self.process(Kill::Never, attended).await else { panic!("nobody killed it") };
            if self.attend(&ending).await {
                continue;
            }
            verdict::on_the_end(self, &ending).await;
            return ending;
        }
        panic!("the run does not end\n{}", self.account());
    }

    /// What has happened, with the log and the directory, which is kept.
    pub(crate) fn account(&mut self) -> String {
        self.place.disable_cleanup(true);
        let log = std::fs::read_to_string(self.directory().join("log")).unwrap_or_default();
        format!("{}in {}:\n{log}", self.story, self.directory().display())
    }
}

/// What a run makes that nobody disturbs.
pub(crate) async fn undisturbed() -> &'static Ending {
    static UNDISTURBED: OnceLock<Ending> = OnceLock::new();
    if let Some(known) = UNDISTURBED.get() {
        return known;
    }
    let mut case = Case::new();
    let ending = case.process(Kill::Never, true).await.unwrap();
    let Outcome::Finished(Edition { .. }) = &ending.outcome else { panic!("{:?}\n{}", ending.outcome, case.account()) };
    UNDISTURBED.get_or_init(|| ending)
}

pub(crate) fn root() -> RunId {
    interlocking_crash::process::root().unwrap()
}
