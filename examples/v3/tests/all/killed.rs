//! A run of two levels and a rebase, cut off at each of its records; and the program killed during a run (`kill -9`). Another
//! process that resumes the run reaches the same result.

use crate::concurrency::begun;
use crate::project::Project;
use crate::rebases::clash_above_x;
use crate::small::{AgentScript, Who, approved, merged, project, spec, test_run};
use crate::test_run::TestRun;
use crate::tree::family;
use async_trait::async_trait;
use interlocking::prelude::*;
use interlocking::runtime::journal::{
    Claim, Digest, Encoded, Entry, JournalError, Letter, Posted, Record, RunSummary, ending,
};
use interlocking::runtime::{Budgets, Journal};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use v3::types::outcome::V3Outcome;
use v3::types::scaffold::ScaffoldInput;
use v3::types::spec::Spec;

/// A journal whose process ends at a record, before it is written. It notes which payloads are requested.
pub(crate) struct Cut {
    journal: Arc<dyn Journal>,
    left: AtomicUsize,
    ends: Notify,
    pub(crate) fetched: Mutex<Vec<Digest>>,
    /// Whether all payloads are missing.
    is_empty: bool,
    /// Which record is the last, whatever its number.
    ends_with: Option<fn(&Record) -> bool>,
}

impl Cut {
    fn at(record: usize, journal: Arc<dyn Journal>) -> Self {
        let (ends, fetched, is_empty, ends_with) = Default::default();
        Self { journal, left: AtomicUsize::new(record), ends, fetched, is_empty, ends_with }
    }

    /// A journal whose process ends with the first such record.
    fn with(ends_with: fn(&Record) -> bool, journal: Arc<dyn Journal>) -> Self {
        Self { ends_with: Some(ends_with), ..Self::at(usize::MAX, journal) }
    }

    /// A journal whose process does not end.
    pub(crate) fn never(journal: Arc<dyn Journal>) -> Arc<Self> {
        Arc::new(Self::at(usize::MAX, journal))
    }

    /// A journal whose payloads are missing.
    pub(crate) fn without_payloads(journal: Arc<dyn Journal>) -> Arc<Self> {
        Arc::new(Self { is_empty: true, ..Self::at(usize::MAX, journal) })
    }
}

#[async_trait]
impl Journal for Cut {
    async fn claim(&self, run: &RunId) -> Result<Claim, JournalError> {
        self.journal.claim(run).await
    }

    async fn append(&self, record: Record) -> Result<(), JournalError> {
        if self.ends_with.is_some_and(|ends_with| ends_with(&record)) {
            self.left.store(1, Ordering::SeqCst);
        }
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) != Ok(1) {
            if self.left.load(Ordering::SeqCst) > 0 {
                return self.journal.append(record).await;
            }
        } else {
            self.ends.notify_one();
        }
        // The process is gone: nothing follows.
        std::future::pending().await
    }

    async fn load(&self, run: &RunId) -> Result<Vec<Record>, JournalError> {
        self.journal.load(run).await
    }

    async fn fetch(&self, run: &RunId, digests: &[Digest]) -> Result<Vec<Encoded>, JournalError> {
        self.fetched.lock().unwrap().extend(digests);
        if let Some(digest) = digests.first().copied().filter(|_| self.is_empty) {
            let (place, what) = ("the test's journal".to_owned(), format!("run `{run}`"));
            return Err(JournalError::PayloadMissing { place, digest, what });
        }
        self.journal.fetch(run, digests).await
    }

    async fn runs(&self) -> Result<Vec<RunSummary>, JournalError> {
        self.journal.runs().await
    }

    async fn post(&self, run: &RunId, letter: Letter) -> Result<u64, JournalError> {
        self.journal.post(run, letter).await
    }

    async fn next_letter(&self, run: &RunId, after: u64) -> Result<Posted, JournalError> {
        self.journal.next_letter(run, after).await
    }

    async fn letters(&self, run: &RunId, after: u64) -> Result<Vec<Posted>, JournalError> {
        self.journal.letters(run, after).await
    }

    async fn remove(&self, run: &RunId) -> Result<(), JournalError> {
        self.journal.remove(run).await
    }
}

/// Starts a run whose process ends with this record, counted from 1 over all runs of the tree. Gives the outcome if the run ends
/// before. Work on threads of its own has ended when this returns.
pub(crate) fn start_until(test: &TestRun<'_>, record: usize) -> Option<Outcome<V3Outcome>> {
    start_cut(test, Cut::at(record, test.journal.clone()), &["a", "b"])
}

/// The same with a journal that ends the process.
fn start_cut(test: &TestRun<'_>, cut: Cut, children: &[&str]) -> Option<Outcome<V3Outcome>> {
    let process = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let cut = Arc::new(cut);
            let run = test.run().with_journal(cut.clone());
            tokio::select! {
                biased;
                () = cut.ends.notified() => None,
                ended = run.start(ScaffoldInput::from(spec(children))) => Some(ended.unwrap().outcome),
            }
        })
    };
    std::thread::scope(|scope| scope.spawn(process).join().unwrap())
}

/// Starts a run whose process ends once `watch` is done.
fn start_until_seen(test: &TestRun<'_>, spec: Spec, watch: impl Future<Output = ()> + Send) {
    let process = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let cut = Cut::never(test.journal.clone());
            let run = test.run().with_journal(cut.clone());
            tokio::select! {
                biased;
                // Later writes are lost.
                () = watch => cut.left.store(0, Ordering::SeqCst),
                ended = run.start(ScaffoldInput::from(spec)) => panic!("{:?}", ended.unwrap().outcome),
            }
        });
    };
    std::thread::scope(|scope| scope.spawn(process).join().unwrap());
}

/// Asserts the result of an undisturbed run: each child is merged once, and nothing is left.
fn is_whole(project: &Project, after: &str) {
    let mut subjects = project.subjects("main");
    subjects[1..3].sort();
    let expected =
        ["feat(top): implement", "feat(top/a): implement", "feat(top/b): implement", "feat(top): scaffold", "Begin"];
    assert_eq!(subjects, expected, "{after}");
    for node in ["top", "a", "b"] {
        assert_eq!(project.git(&["show", &format!("main:src/{node}.txt")]), "stub\ndone\n", "{after}");
        assert_eq!(project.git(&["show", &format!("main:checks/{node}.sh")]).lines().count(), 1, "{after}");
    }
    assert_eq!(project.git(&["rev-list", "--merges", "main"]), "", "{after}");
    project.is_tidy();
}

/// How often each agent was called.
fn asked(test: &TestRun<'_>) -> BTreeMap<String, usize> {
    let mut asked = BTreeMap::new();
    for call in test.agent.calls() {
        *asked.entry(call.title().to_owned()).or_default() += 1;
    }
    asked
}

/// V3-04, CON-142, CON-144, EVO-06: whichever record a process ends with, the next process reaches the same result, and no agent
/// is asked again whose answer was recorded. Each record from the Nth on with `V3_EVERY_RECORD=N`; otherwise a sample, every
/// ninth from the fourth on.
#[tokio::test]
async fn a_tree_that_ends_with_any_record_comes_to_the_same() {
    let every = std::env::var("V3_EVERY_RECORD").ok().map(|first| first.parse::<usize>().unwrap());
    let step = if every.is_some() { 1 } else { 9 };
    let (mut last, mut nodes) = (0, BTreeSet::new());
    // Before the first record there is no run.
    for record in (every.unwrap_or(4).max(2)..).step_by(step) {
        let project = project().await;
        let test = test_run(&project, &family());
        if let Some(ended) = start_until(&test, record) {
            assert!(matches!(ended, Outcome::Finished(V3Outcome::Merged(_))), "{record}: {ended:?}");
            break;
        }
        last = record;
        let mut recorded = 0;
        for run in test.journal.runs().await.unwrap() {
            for outcome in test.outcomes(&run.run).await {
                recorded += outcome.calls.len();
                nodes.insert(outcome.node);
            }
        }
        let at_work = test.agent.calls().len() - recorded;
        let ended = test.run().resume().await.unwrap().outcome;
        assert!(matches!(ended, Outcome::Finished(V3Outcome::Merged(_))), "{record}: {ended:?}");
        is_whole(&project, &format!("record {record}"));
        let asked = asked(&test);
        let again: usize = asked.values().map(|times| times - 1).sum();
        assert!(again <= at_work, "{record}: {again} were asked again, and {at_work} were at work: {asked:?}");
    }
    assert!(last >= 50, "{last}");
    assert!(nodes.len() >= 9, "{nodes:?}");
}

/// CON-32, CON-142: if a process ends after a commit has landed, and before the approval of its judge or merger counts, an agent
/// that is asked again in the next process cannot revoke the merge.
#[tokio::test]
async fn what_has_landed_is_merged_whatever_is_answered_afterwards() {
    let honest = AgentScript::default().honest("top", &["a"]).honest("top/a", &[]);
    let rejects = json!({ "Reject": { "reason": "No.", "missingCriteria": [] } });
    let refuses = json!({ "MergeRejected": { "reason": "BuildFailure", "details": "No.", "failingTests": [] } });
    let is_judges = |record: &Record| matches!(&record.entry, Entry::Outcome(outcome) if outcome.node == "judge");
    let is_roots_mergers = |record: &Record| {
        record.run == RunId::DEFAULT && matches!(&record.entry, Entry::Outcome(outcome) if outcome.node == "merger")
    };
    for (who, id, first, then, ends_with) in [
        (Who::Judge, "top/a", approved(&["a".to_owned()]), rejects, is_judges as fn(&Record) -> bool),
        (Who::Merger, "top", merged("top"), refuses, is_roots_mergers),
    ] {
        let project = project().await;
        let script = AgentScript::default().once(who, id, &first, &[]).once(who, id, &then, &[]);
        let test = test_run(&project, &AgentScript::with(script, honest.clone()));
        assert!(start_cut(&test, Cut::with(ends_with, test.journal.clone()), &["a"]).is_none());
        let ended = test.run().resume().await.unwrap().outcome;
        let Outcome::Finished(V3Outcome::Merged(merge)) = ended else { panic!("{ended:?}") };
        assert_eq!(merge.merge_commit.to_string(), project.git(&["rev-parse", "main"]).trim());
        assert_eq!(merge.changes.len(), 1);
        let subjects = ["feat(top): implement", "feat(top/a): implement", "feat(top): scaffold", "Begin"];
        assert_eq!(project.subjects("main"), subjects);
        let asked = asked(&test);
        let again: Vec<_> = asked.iter().filter(|(_, times)| **times > 1).collect();
        assert!(matches!(&again[..], [(title, 2)] if title.contains(id)), "{asked:?}");
        project.is_tidy();
    }
}

/// CON-142: a commit that another run of the same specification lands meanwhile does not count as this run's, though it has the
/// same message.
#[tokio::test]
async fn what_another_run_has_landed_is_another_runs() {
    let project = project().await;
    let test = test_run(&project, &AgentScript::default().honest("top", &[]));
    let is_landing = |record: &Record| matches!(&record.entry, Entry::Once { name, .. } if name.contains("land"));
    assert!(start_cut(&test, Cut::with(is_landing, test.journal.clone()), &[]).is_none());
    std::fs::write(project.root().join("other"), "").unwrap();
    project.git(&["add", "other"]);
    project.git(&["-c", "user.name=Other", "-c", "user.email=o@example.org", "commit", "-m", "feat(top): implement"]);
    let ended = test.run().resume().await.unwrap().outcome;
    assert!(matches!(ended, Outcome::Finished(V3Outcome::Merged(_))), "{ended:?}");
    assert_eq!(project.subjects("main"), ["feat(top): implement", "feat(top): implement", "Begin"]);
    assert_eq!(project.git(&["show", "main:src/top.txt"]), "stub\ndone\n");
    project.git(&["show", "main:other"]);
}

/// CON-142: if the user's branch moves while the root's merger is asked, the candidate is made and tested again on the new head.
#[tokio::test]
async fn the_root_lands_on_a_branch_that_has_moved() {
    let project = project().await;
    let test = test_run(&project, &AgentScript::default().honest("top", &["a"]).honest("top/a", &[]));
    let merger = test.agent.hold("merger of `top`");
    let watch = async {
        merger.reached().await;
        std::fs::write(project.root().join("other"), "").unwrap();
        project.git(&["add", "other"]);
        project.git(&["-c", "user.name=Other", "-c", "user.email=o@example.org", "commit", "-m", "Meanwhile"]);
        merger.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&["a"])), watch);
    let V3Outcome::Merged(merge) = outcome else { panic!("{outcome}") };
    assert_eq!(merge.merge_commit.to_string(), project.git(&["rev-parse", "main"]).trim());
    let subjects = ["feat(top): implement", "feat(top/a): implement", "feat(top): scaffold", "Meanwhile", "Begin"];
    assert_eq!(project.subjects("main"), subjects);
    assert_eq!(test.prompts("merger of `top`").len(), 1);
    project.is_tidy();
}

/// The project's build and test commands, as a user writes them.
const TOOLCHAIN: &str = "\
buildCommand = [\"sh\", \"-c\", \"test ! -e broken\"]
testCommand = [\"sh\", \"-c\", \"for check in checks/*.sh; do (. ./$check) || exit 1; done\"]
harness = \"exitCode\"
[commands.suite]
command = [\"sh\", \"{path}\"]
harness = \"exitCode\"
";

/// The program, on a user's project.
pub(crate) struct Program<'p> {
    pub(crate) project: &'p Project,
}

impl<'p> Program<'p> {
    /// Writes the files that the program is given.
    pub(crate) fn of(project: &'p Project, script: &AgentScript, children: &[&str]) -> Self {
        let write = |name: &str, text: &str| std::fs::write(project.place().join(name), text).unwrap();
        write("toolchain.toml", TOOLCHAIN);
        write("spec.toml", &toml::to_string(&spec(children)).unwrap());
        write("script.toml", script.text());
        project.git(&["config", "user.name", "A user"]);
        project.git(&["config", "user.email", "user@example.org"]);
        Self { project }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.project.place().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_v3"));
        command.args(arguments).args(["--accept-weaker-isolation", "--json"]);
        command.arg("--events").arg(self.path("events.jsonl"));
        command.current_dir(self.project.place()).stdin(Stdio::null());
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.env("INTERLOCKING_JOURNAL", self.path("journal")).env_remove("XDG_STATE_HOME");
        command
    }

    pub(crate) fn begin(&self) -> Command {
        let mut command = self.command(&["run", "--run-id", "r1"]);
        for (option, file) in
            [("--spec", "spec.toml"), ("--toolchain", "toolchain.toml"), ("--repo", "project"), ("--work-dir", "work")]
        {
            command.arg(option).arg(self.path(file));
        }
        command
    }

    /// How many nodes have begun or ended, in all runs of the tree.
    fn steps(&self) -> usize {
        let text = std::fs::read_to_string(self.path("events.jsonl")).unwrap_or_default();
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let events = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.filter(|event| matches!(event["event"].as_str(), Some("node_started" | "node_finished"))).count()
    }

    /// Kills the run after so many steps; whether it had not ended by then.
    fn is_killed_after(&self, steps: usize) -> bool {
        let mut command = self.begin();
        command.arg("--script").arg(self.path("script.toml"));
        let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while self.steps() < steps && process.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < crate::watched::FOREVER, "{} steps", self.steps());
            std::thread::sleep(Duration::from_millis(1));
        }
        process.kill().unwrap();
        process.wait().unwrap().code().is_none()
    }
}

/// V3-04, V3-97: killed with `kill -9`, and resumed by another process, on a user's project that cargo does not build (TC-25).
#[tokio::test]
async fn a_program_that_is_killed_is_resumed() {
    let mut killed = 0;
    for steps in [3, 12, 20, 28, 36] {
        let project = project().await;
        let program = Program::of(&project, &family(), &["a", "b"]);
        killed += usize::from(program.is_killed_after(steps));
        let mut command = program.command(&["resume", "r1"]);
        command.arg("--script").arg(program.path("script.toml"));
        let output = command.output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        assert_eq!(output.status.code(), Some(0), "{steps}: {said}");
        let account: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(account["value"]["Merged"].is_object(), "{steps}: {said}");
        is_whole(&project, &format!("killed after {steps} steps"));
    }
    assert!(killed >= 4, "{killed}");
}

/// CON-147, CON-149, V3-99: while a branch is being rebased, a child that is ready is not merged into it; a process that ends
/// then loses nothing.
#[tokio::test]
async fn a_rebase_survives_for_which_a_child_waits() {
    let project = project().await;
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let script = AgentScript::default().always(Who::Rebaser, "top/a", &adapted, &[]);
    let script = AgentScript::with(script, clash_above_x());
    let test = test_run(&project, &script);
    let [planner, reviewer, rebaser] =
        ["planner of `top/b`", "reviewer of `top/a/x`", "rebaser of `top/a`"].map(|title| test.agent.hold(title));
    let watch = async {
        planner.reached().await;
        reviewer.reached().await;
        planner.release();
        rebaser.reached().await;
        reviewer.release();
        let (a, x) = (test.run_of("top/a").await, test.run_of("top/a/x").await);
        test.until("x is ready", |test| begun(test, &x, "merge_queue") == 1).await;
        // It would be merged within this time if it did not have to wait.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let records = test.journal.load(&a).await.unwrap();
        assert!(!records.iter().any(|record| matches!(record.entry, Entry::Landed { .. })));
        assert_eq!(begun(&test, &x, "merger"), 0);
    };
    start_until_seen(&test, spec(&["a+x", "b"]), watch);
    let ended = test.run().resume().await.unwrap().outcome;
    assert!(matches!(ended, Outcome::Finished(V3Outcome::Merged(_))), "{ended:?}");
    for node in ["top", "a", "x", "b"] {
        assert_eq!(project.git(&["show", &format!("main:src/{node}.txt")]), "stub\ndone\n", "{node}");
    }
    assert_eq!(project.git(&["show", "main:shared.txt"]), "by top/b\n");
    assert_eq!(project.subjects("main").len(), 5);
    assert_eq!(test.prompts("planner of `top/a/x`").len(), 1);
    project.is_tidy();
}

/// CON-142: a process that ends while one sibling is judged, and another waits to be merged, loses only that turn of the judge:
/// the sibling whose candidate was made goes first in the next process, even if the other asks first.
#[tokio::test]
async fn who_was_judged_is_merged_first_in_the_next_process() {
    let project = project().await;
    let test = test_run(&project, &family());
    let (reviewer, judge) = (test.agent.hold("reviewer of `top/a`"), test.agent.hold("judge what `top/b`"));
    let watch = async {
        reviewer.reached().await;
        judge.reached().await;
        reviewer.release();
        let a = test.run_of("top/a").await;
        test.until("a is ready", |test| begun(test, &a, "merge_queue") == 1).await;
    };
    start_until_seen(&test, spec(&["a", "b"]), watch);
    let ended = test.run().resume().await.unwrap().outcome;
    assert!(matches!(ended, Outcome::Finished(V3Outcome::Merged(_))), "{ended:?}");
    is_whole(&project, "killed while `b` was judged");
    let asked = asked(&test);
    let again: Vec<_> = asked.iter().filter(|(_, times)| **times > 1).collect();
    assert_eq!(again, [(&"# You judge what `top/b` wants to merge, for its parent".to_owned(), &2)], "{asked:?}");
    let merged = |child: &str| project.git(&["log", "--format=%h", "--grep", &format!("top/{child}"), "main"]);
    let older = merged("b");
    assert!(
        project.git(&["merge-base", older.trim(), merged("a").trim()]).starts_with(older.trim()),
        "b is merged first"
    );
}

/// CON-142: if the budget does not allow a call to make or judge a candidate, the tree stops with at most one sibling in its
/// merge. That sibling goes first once the run may make more calls; no candidate is made or judged twice.
#[tokio::test]
async fn no_candidate_is_made_twice_where_a_budget_runs_out() {
    // The ten calls before the first merger: three planners, three test authors, two implementers and two reviewers.
    for calls in 10..=13 {
        let project = project().await;
        let test = test_run(&project, &family());
        let run = test.run().with_budgets(Budgets::unlimited().with_calls(calls)).start(spec(&["a", "b"]).into());
        let ended = run.await.unwrap().outcome;
        assert!(matches!(ended, Outcome::BudgetExhausted(_)), "{calls}: {ended:?}");
        let mut amid = 0;
        for child in ["top/a", "top/b"] {
            let run = test.run_of(child).await;
            let last = test.outcomes(&run).await.pop();
            let has_ended = ending(&test.journal.load(&run).await.unwrap()).is_some();
            amid += usize::from(!has_ended && last.is_some_and(|last| !last.turns.is_empty()));
        }
        assert!(amid <= 1, "{calls}");
        let ended = test.run().resume().await.unwrap().outcome;
        assert!(matches!(ended, Outcome::Finished(V3Outcome::Merged(_))), "{calls}: {ended:?}");
        is_whole(&project, &format!("{calls} calls"));
        let asked = asked(&test);
        assert!(asked.values().all(|times| *times == 1), "{calls}: {asked:?}");
    }
}
