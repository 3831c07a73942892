//! A join with a quorum. Its process is killed at every point, including those at which the join has its quorum, before and after
//! the loser is stopped. The other processes are this test binary again, told by their environment where to die.

use interlocking::prelude::*;
use interlocking::runtime::Journal;
use interlocking::runtime::journal::{Entry, Record};
use interlocking_crash::kill_switch::KillSwitch;
use interlocking_crash::room::WriteLimit;
use interlocking_crash::watched::Watched;
use interlocking_sqlite::SqliteJournal;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

const PLACE: &str = "INTERLOCKING_TEST_PLACE";
const DIES_AT: &str = "INTERLOCKING_TEST_DIES_AT";

type Arrivals = (Option<u32>, Option<u32>, Option<u32>);

/// Two of three are enough.
#[derive(Graph)]
#[graph(output = Arrivals)]
struct Race {
    #[node(entry, input = (), fork(swift, steady, slow))]
    start: ForkNode<Start>,
    #[node(input = (), goto(finish))]
    swift: LogicNode<Runner>,
    #[node(input = (), goto(finish))]
    steady: LogicNode<Runner>,
    #[node(input = (), goto(finish))]
    slow: LogicNode<Runner>,
    #[node(join(swift: u32, steady: u32, slow: u32), quorum = 2, cancels(swift, steady, slow), goto(exit))]
    finish: JoinNode<Finish>,
}
held!(Race);

struct Start;
impl ForkHandler<race::start> for Start {
    async fn fork(&self, (): (), cx: &mut Cx<'_, race::start>) -> Route<race::start> {
        fork!(cx, ((), (), ()))
    }
}

/// The file in which handlers write what they do; each line is a point at which the process can die.
#[derive(Clone)]
struct Notes {
    file: PathBuf,
    kill_switch: KillSwitch,
}

impl Notes {
    fn write(&self, line: &str) {
        let mut file = OpenOptions::new().append(true).create(true).open(&self.file).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
        self.kill_switch.pass();
    }
}

/// Logs that a runner is stopped, or done.
struct Leaves<'n>(&'n Notes, &'static str);
impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.write(&format!("{} leaves", self.1));
    }
}

/// Runs for so many milliseconds.
struct Runner(Notes, u32);
macro_rules! runners {
    ($($node:ident),+) => { $(
        impl LogicHandler<race::$node> for Runner {
            async fn run(&self, (): (), cx: &mut Cx<'_, race::$node>) -> Route<race::$node> {
                self.0.write(concat!(stringify!($node), " begins"));
                let _leaves = Leaves(&self.0, stringify!($node));
                tokio::time::sleep(Duration::from_millis(self.1.into())).await;
                goto!(cx, race::finish, self.1)
            }
        }
    )+ };
}
runners!(swift, steady, slow);

struct Finish(Notes);
impl JoinHandler<race::finish> for Finish {
    async fn join(&self, arrivals: Arrivals, cx: &mut Cx<'_, race::finish>) -> Route<race::finish> {
        self.0.write("finish begins");
        goto!(cx, race::exit, arrivals)
    }
}

fn journal(place: &Path) -> Arc<SqliteJournal> {
    Arc::new(SqliteJournal::open(place.join("journal")).unwrap())
}

/// The race at `place`, whose process dies at the point with this number.
fn race(place: &Path, dies_at: Option<u64>) -> Run<Race> {
    let kill_switch = KillSwitch::new(dies_at);
    let notes = Notes { file: place.join("notes"), kill_switch: kill_switch.clone() };
    let runner = |takes| LogicNode(Runner(notes.clone(), takes));
    let (swift, steady, slow) = (runner(1), runner(40), runner(600_000));
    let graph = Race { start: ForkNode(Start), swift, steady, slow, finish: JoinNode(Finish(notes)) };
    let watched = Watched::new(journal(place), kill_switch, WriteLimit::default(), None);
    Run::new(graph).with_id("race".parse().unwrap()).with_journal(Arc::new(watched))
}

/// The work of the other processes. Without a place in the environment, it does nothing.
#[tokio::test]
async fn a_process_of_its_own() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let dies_at = std::env::var(DIES_AT).unwrap().parse().unwrap();
    race(Path::new(&place), Some(dies_at)).start(()).await.unwrap();
}

fn dies(place: &Path, dies_at: u64) -> ExitStatus {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "race::a_process_of_its_own"])
        .envs([(PLACE, place.to_str().unwrap()), (DIES_AT, &dies_at.to_string())])
        .status()
        .unwrap()
}

fn arrived(records: &[Record]) -> Vec<&str> {
    let outcomes = records.iter().filter_map(|record| match &record.entry {
        Entry::Outcome(outcome) => Some(outcome.node.as_str()),
        _ => None,
    });
    outcomes.filter(|node| ["swift", "steady", "slow"].contains(node)).collect()
}

#[tokio::test]
async fn a_run_that_is_killed_at_any_point_goes_on_with_who_had_arrived() {
    let (mut before, mut after) = (0, 0);
    for dies_at in 1.. {
        let place = tempfile::tempdir().unwrap();
        if dies(place.path(), dies_at).success() {
            assert!(dies_at > 10, "it comes by more points than that");
            break;
        }
        let run = "race".parse().unwrap();
        let records = journal(place.path()).load(&run).await.unwrap_or_default();
        let notes = fs::read_to_string(place.path().join("notes")).unwrap_or_default();
        let is_met = arrived(&records).len() == 2;
        match notes.contains("slow leaves") {
            false => before += u32::from(is_met),
            true => after += 1,
        }
        let report = match records.is_empty() {
            true => race(place.path(), None).start(()).await.unwrap(),
            false => race(place.path(), None).resume().await.unwrap(),
        };
        assert_eq!(report.outcome.finished(), Some((Some(1), Some(40), None)), "killed at point {dies_at}");
        let records = journal(place.path()).load(&run).await.unwrap();
        assert_eq!(arrived(&records), ["swift", "steady"], "killed at point {dies_at}");
        let all = fs::read_to_string(place.path().join("notes")).unwrap();
        let later: Vec<&str> = all[notes.len()..].lines().collect();
        assert!(!is_met || later.iter().all(|line| *line == "finish begins"), "killed at point {dies_at}: {later:?}");
    }
    assert!(before > 0 && after > 0, "with the quorum, {before} deaths before the loser was stopped, {after} after");
}
