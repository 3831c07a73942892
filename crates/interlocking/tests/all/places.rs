//! Places in which a resumed run continues its work.

use crate::support::{failed, finished, pass, timed};
use async_trait::async_trait;
use interlocking::prelude::*;
use interlocking::runtime::journal::account::account;
use interlocking::runtime::journal::fork::{ForkPoint, fork};
use interlocking::runtime::journal::{Letter, LetterBody};
use interlocking::runtime::{Journal, MemoryJournal, WorkspaceError, Workspaces};
use interlocking::worktree::{BranchName, CommitId, Repository, Signature};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Places under a version control that only records requests.
#[derive(Clone, Default)]
struct Yard {
    asked: Arc<Mutex<Vec<String>>>,
}

impl Yard {
    fn says(&self, what: String) {
        self.asked.lock().unwrap().push(what);
    }

    /// The requests since the last call, sorted.
    fn asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.sort();
        asked
    }
}

#[async_trait]
impl Workspaces for Yard {
    fn locate(&self, _: &str) -> Result<PathBuf, WorkspaceError> {
        Ok(PathBuf::from("/"))
    }
    async fn changes(&self, _: &str) -> Result<Vec<String>, WorkspaceError> {
        Ok(Vec::new())
    }
    async fn commit(&self, _: &str) -> Result<Option<String>, WorkspaceError> {
        Ok(Some("base".to_owned()))
    }
    async fn make(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        self.says(format!("make {name} at {commit}"));
        Ok(())
    }
    async fn open(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        self.says(format!("open {name} at {commit}"));
        Ok(())
    }
    async fn restore(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        self.says(format!("restore {name} to {commit}"));
        Ok(())
    }
}

/// A graph with everything that may be interrupted in a place: a node, a message's handler, and an adviser.
#[derive(Graph)]
#[graph(output = u32)]
struct Site {
    #[node(entry, input = u32, goto(build), spawn(advise), workspace = "plan")]
    plan: LogicNode<Plan>,
    #[node(input = u32, goto(wait), workspace = "main")]
    build: LogicNode<Build>,
    #[node(input = u32, question = String, answer = bool, goto(exit))]
    wait: HumanNode<Asks>,
    #[node(on(u32), resume, goto(build, cancels(wait)), visits = 9, workspace = "mail")]
    mail: EventNode<Mail>,
    #[node(input = u32, report = u32, reports_to(exit), visits = 1, workspace = "aside")]
    advise: AdvisoryNode<Advise>,
}
held!(Site, Bench);

/// How long each of these takes.
#[derive(Clone, Copy, Default)]
struct Takes {
    build: u64,
    mail: u64,
    advise: u64,
}

logic!(Plan for site::plan, |input: u32, cx| {
    cx.committed("plan", "planned");
    cx.spawn::<site::advise>(input);
    goto!(cx, site::build, input)
});
logic!(Build(takes: u64) for site::build, |input: u32, cx| {
    pass(*takes).await;
    goto!(cx, site::wait, input)
});
struct Asks;
impl HumanHandler<site::wait> for Asks {
    async fn ask(&self, _: &u32, _: &mut Cx<'_, site::wait>) -> Result<String, NodeError> {
        Ok("Done?".to_owned())
    }
    async fn answered(&self, input: u32, _: bool, cx: &mut Cx<'_, site::wait>) -> Route<site::wait> {
        goto!(cx, site::exit, input)
    }
}
struct Mail(u64);
impl EventHandler<site::mail> for Mail {
    async fn handle(&self, _: u32, cx: &mut Cx<'_, site::mail>) -> Route<site::mail> {
        pass(self.0).await;
        cx.resume()
    }
}
struct Advise(u64);
impl AdvisoryHandler<site::advise> for Advise {
    async fn advise(&self, input: u32, _: &mut Cx<'_, site::advise>) -> Result<u32, NodeError> {
        pass(self.0).await;
        Ok(input)
    }
}
impl Finish for Site {
    async fn finish(&self, output: u32, _: Self::Reports) -> Result<u32, NodeError> {
        Ok(output)
    }
}

fn site(takes: Takes, yard: &Yard, journal: &Arc<MemoryJournal>) -> Run<Site> {
    let graph = Site {
        plan: LogicNode(Plan),
        build: LogicNode(Build(takes.build)),
        wait: HumanNode(Asks),
        mail: EventNode(Mail(takes.mail)),
        advise: AdvisoryNode(Advise(takes.advise)),
    };
    timed(graph).with_workspaces(Arc::new(yard.clone())).with_journal(journal.clone())
}

/// The requests to the places at a resume, after the whole run has stopped 20 ms from its beginning. A message came at 10 ms.
async fn asked_at_a_resume(takes: Takes) -> Vec<String> {
    let (yard, journal) = (Yard::default(), Arc::new(MemoryJournal::new()));
    let run = site(takes, &yard, &journal).with_wait_for_people().start(3);
    let (stopped, ()) = tokio::join!(tokio::time::timeout(Duration::from_millis(20), run), async {
        pass(10).await;
        let body = LetterBody::Message { node: "mail".to_owned(), message: "7".into() };
        journal.post(&RunId::DEFAULT, Letter { key: None, body }).await.unwrap();
    });
    stopped.unwrap_err();
    assert!(yard.asked().is_empty(), "nothing is put back where nothing was interrupted");
    let report = site(Takes::default(), &yard, &journal).resume().await.unwrap();
    let Outcome::Waiting { questions } = report.outcome else { panic!("{:?}", report.outcome) };
    let asked = yard.asked();
    let body = LetterBody::Answer { to: questions[0].by.clone(), answer: "true".into() };
    journal.post(&RunId::DEFAULT, Letter { key: None, body }).await.unwrap();
    assert_eq!(finished(site(Takes::default(), &yard, &journal).resume().await.unwrap()), 3);
    asked
}

#[tokio::test(start_paused = true)]
async fn the_place_of_whatever_was_interrupted_is_put_back() {
    let opened = |restored: &[&str]| {
        let place = |name: &str, commit: &str| match restored.contains(&name) {
            true => format!("restore {name} to {commit}"),
            false => format!("open {name} at {commit}"),
        };
        let mut all = [("aside", "base"), ("mail", "base"), ("main", "base"), ("plan", "planned")]
            .map(|(name, commit)| place(name, commit));
        all.sort();
        all
    };
    let none = Takes::default();
    assert_eq!(asked_at_a_resume(none).await, opened(&[]), "a person may take long");
    assert_eq!(asked_at_a_resume(Takes { build: 99, ..none }).await, opened(&["main"]), "the message waits for it");
    assert_eq!(asked_at_a_resume(Takes { mail: 99, ..none }).await, opened(&["mail"]));
    assert_eq!(asked_at_a_resume(Takes { advise: 99, ..none }).await, opened(&["aside"]));
    assert_eq!(asked_at_a_resume(Takes { mail: 99, advise: 99, ..none }).await, opened(&["aside", "mail"]));
}

/// A fork has places of its own, made as its history requires.
#[tokio::test(start_paused = true)]
async fn the_places_of_a_fork_are_made_before_they_are_opened() {
    let (yard, journal, none) = (Yard::default(), Arc::new(MemoryJournal::new()), Takes::default());
    let run = site(Takes { build: 99, ..none }, &yard, &journal).start(3);
    tokio::time::timeout(Duration::from_millis(20), run).await.unwrap_err();
    let new: RunId = "new".parse().unwrap();
    for (point, plans) in [(ForkPoint::End, ["planned"; 2]), (ForkPoint::Records(1), ["base", "planned"])] {
        fork(&*journal, &RunId::DEFAULT, &point, &new).await.unwrap();
        for plan in plans {
            // At each resume, too: only the places themselves know which of them exist already.
            let forked = site(Takes { build: 99, ..none }, &yard, &journal).with_id(new.clone()).resume();
            tokio::time::timeout(Duration::from_millis(20), forked).await.unwrap_err();
            let asked = yard.asked();
            let made = [("aside", "base"), ("mail", "base"), ("main", "base"), ("plan", plan)];
            let made = made.map(|(name, commit)| format!("make {name} at {commit}"));
            assert_eq!(asked[..4], made, "{asked:?}");
            assert_eq!(asked.len(), 8, "{asked:?}");
            pass(1).await;
        }
        journal.remove(&new).await.unwrap();
    }
    drop(site(none, &yard, &journal).resume().await.unwrap());
    assert!(yard.asked().iter().all(|asked| !asked.starts_with("make ")), "the run itself has its places");
}

/// A bench in a worktree, on which something is made in two steps.
#[derive(Graph)]
#[graph(output = String)]
struct Bench {
    #[node(entry, input = String, goto(paint), workspace = "bench")]
    saw: LogicNode<Saw>,
    #[node(input = String, goto(exit), workspace = "bench")]
    paint: LogicNode<Paint>,
}
fn commit(bench: &Trees, place: &Path) -> Result<String, NodeError> {
    let commit = bench.repository.open_worktree(place)?.commit_all(&author(), "Work")?;
    Ok(commit.ok_or("nothing was done")?.to_string())
}
logic!(Saw(trees: Trees) for bench::saw, |what: String, cx| {
    let place = cx.workspace()?.path;
    std::fs::write(place.join("work.txt"), &what)?;
    let commit = if what == "lie" { "1".repeat(40) } else { commit(trees, &place)? };
    cx.committed("bench", &commit);
    goto!(cx, bench::paint, what)
});
logic!(Paint(trees: Trees) for bench::paint, |what: String, cx| {
    let place = cx.workspace()?.path;
    let sawn = std::fs::read_to_string(place.join("work.txt"))?;
    std::fs::write(place.join("work.txt"), format!("{sawn} painted"))?;
    std::fs::write(place.join("drops.txt"), "paint")?;
    if *trees.is_dry.lock().unwrap() {
        return Err(format!("no paint for {what}").into());
    }
    let commit = commit(trees, &place)?;
    cx.committed("bench", &commit);
    goto!(cx, bench::exit, std::fs::read_to_string(place.join("work.txt"))?)
});

/// Worktrees named after their run.
#[derive(Clone)]
struct Trees {
    repository: Repository,
    base: CommitId,
    places: PathBuf,
    run: RunId,
    is_dry: Arc<Mutex<bool>>,
}

fn author() -> Signature {
    Signature::new("Test", "test@example.org").unwrap()
}

fn unusable(error: impl std::fmt::Display) -> WorkspaceError {
    WorkspaceError::Unusable { reason: error.to_string() }
}

impl Trees {
    fn path(&self, name: &str) -> PathBuf {
        self.places.join(format!("{}-{name}", self.run))
    }

    fn create(&self, name: &str, commit: CommitId) -> Result<(), WorkspaceError> {
        let branch = BranchName::new(format!("{}/{name}", self.run)).map_err(unusable)?;
        self.repository.create_worktree(self.path(name), branch, commit).map(drop).map_err(unusable)
    }
}

#[async_trait]
impl Workspaces for Trees {
    fn locate(&self, name: &str) -> Result<PathBuf, WorkspaceError> {
        Ok(self.path(name))
    }
    async fn changes(&self, _: &str) -> Result<Vec<String>, WorkspaceError> {
        Ok(Vec::new())
    }
    async fn commit(&self, _: &str) -> Result<Option<String>, WorkspaceError> {
        Ok(Some(self.base.to_string()))
    }
    async fn make(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        if self.path(name).exists() {
            return Ok(());
        }
        self.create(name, commit.parse().map_err(unusable)?)
    }
    async fn open(&self, name: &str, _: &str) -> Result<(), WorkspaceError> {
        self.repository.open_worktree(self.path(name)).map(drop).map_err(unusable)
    }
    async fn restore(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        let worktree = self.repository.open_worktree(self.path(name)).map_err(unusable)?;
        worktree.reset_to(commit.parse().map_err(unusable)?).map_err(unusable)
    }
}

fn bench(trees: &Trees, journal: &Arc<MemoryJournal>) -> Run<Bench> {
    let graph = Bench { saw: LogicNode(Saw(trees.clone())), paint: LogicNode(Paint(trees.clone())) };
    let run = timed(graph).with_workspaces(Arc::new(trees.clone()));
    run.with_id(trees.run.clone()).with_journal(journal.clone())
}

/// A retry works in the run's own worktree, without the files that the failed node has left there. A fork works in worktrees of
/// its own, at the commit that its history names; those of the original run stay as they are.
#[tokio::test(start_paused = true)]
async fn retries_and_forks_work_at_the_commit_that_their_history_tells_of() {
    let place = tempfile::tempdir().unwrap();
    let repository = Repository::init(place.path().join("project")).unwrap();
    let base = repository.main_worktree().unwrap().unwrap().commit_empty(&author(), "Begin").unwrap();
    let (is_dry, places) = (Arc::new(Mutex::new(true)), place.path().to_owned());
    let trees = |name: &str| {
        let (repository, places, is_dry) = (repository.clone(), places.clone(), is_dry.clone());
        Trees { repository, base, places, run: name.parse().unwrap(), is_dry }
    };
    let journal = Arc::new(MemoryJournal::new());
    let first = trees("r1");
    first.create("bench", base).unwrap();
    assert_eq!(failed(bench(&first, &journal).start("oak".to_owned()).await.unwrap()).node, "paint");

    let told = account(&*journal, &first.run).await.unwrap();
    for (nth, by) in (1..).zip(told.executions.iter().map(|known| known.by.clone())) {
        let forked = trees(&format!("before-{}", by.node));
        let point = ForkPoint::Before { node: by.node, visit: by.visit };
        assert_eq!(fork(&*journal, &first.run, &point, &forked.run).await.unwrap().records, nth);
    }
    *is_dry.lock().unwrap() = false;
    for name in ["before-saw", "before-paint"] {
        let forked = trees(name);
        assert_eq!(finished(bench(&forked, &journal).resume().await.unwrap()), "oak painted", "{name}");
        assert!(forked.path("bench").join("drops.txt").exists());
    }
    let left = std::fs::read_to_string(first.path("bench").join("work.txt")).unwrap();
    assert_eq!(left, "oak painted", "as the node that failed has left it");
    assert_eq!(finished(bench(&first, &journal).retry().await.unwrap()), "oak painted", "and not painted twice");

    // A missing commit is reported with run and place; nothing was done.
    *is_dry.lock().unwrap() = true;
    let liar = trees("liar");
    liar.create("bench", base).unwrap();
    assert_eq!(failed(bench(&liar, &journal).start("lie".to_owned()).await.unwrap()).node, "paint");
    let forked = trees("gone");
    fork(&*journal, &liar.run, &ForkPoint::End, &forked.run).await.unwrap();
    let before = journal.records(&forked.run);
    let refused = bench(&forked, &journal).resume().await.unwrap_err().to_string();
    assert!(refused.starts_with("run `gone`, workspace `bench`: "), "{refused}");
    assert!(refused.contains(&"1".repeat(7)), "{refused}");
    assert_eq!(journal.records(&forked.run), before);
}

/// If places cannot be made for another run, they report that instead of giving it the original run's.
#[tokio::test(start_paused = true)]
async fn a_fork_whose_places_nobody_can_make_is_refused() {
    struct Fixed;
    #[async_trait]
    impl Workspaces for Fixed {
        fn locate(&self, _: &str) -> Result<PathBuf, WorkspaceError> {
            Ok(PathBuf::from("/"))
        }
        async fn changes(&self, _: &str) -> Result<Vec<String>, WorkspaceError> {
            Ok(Vec::new())
        }
        async fn commit(&self, _: &str) -> Result<Option<String>, WorkspaceError> {
            Ok(Some("base".to_owned()))
        }
    }
    let (yard, journal) = (Yard::default(), Arc::new(MemoryJournal::new()));
    let run = |name: &str| {
        let run = site(Takes::default(), &yard, &journal).with_workspaces(Arc::new(Fixed));
        run.with_id(name.parse().unwrap())
    };
    assert!(matches!(run("one").start(3).await.unwrap().outcome, Outcome::Waiting { .. }));
    fork(&*journal, &"one".parse().unwrap(), &ForkPoint::End, &"two".parse().unwrap()).await.unwrap();
    assert_eq!(
        run("two").resume().await.unwrap_err().to_string(),
        "run `two`, workspace `aside`: a fork needs a place of its own, and these workspaces do not say how one is made at base: \
         `Workspaces::make`"
    );
    assert!(matches!(run("one").resume().await.unwrap().outcome, Outcome::Waiting { .. }));
}
