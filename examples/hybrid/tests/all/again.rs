//! A failed run goes on at the failed node, and a fork goes on at the end of its history: each in newly made places.

use crate::agent_script::{AgentScript, Turn};
use crate::stage::{Stage, git};
use hybrid::demo::Scenario;
use hybrid::graph::Hybrid;
use hybrid::past::Past;
use hybrid::run::{Ended, SetUpError, Settings, UnderWay, set_up};
use interlocking::agents::SessionOp;
use interlocking::prelude::*;
use interlocking::runtime::StartError;
use interlocking::runtime::journal::fork::{ForkPoint, fork};
use interlocking::runtime::journal::{Entry, Journal, MemoryJournal};
use interlocking::workspaces::GitWorkspacesError;
use std::sync::Arc;

/// A run over the stage, to its end.
async fn first(stage: &Stage, journal: &Arc<MemoryJournal>) -> Ended {
    let (run, under_way) = set_up(stage.settings()).unwrap();
    let report = run.with_journal(journal.clone()).start(stage.task.spec.clone()).await.unwrap();
    under_way.conclude(report, &**journal).await.unwrap()
}

/// The run that failed, retried where nothing is left of its places.
async fn retried(stage: &Stage, journal: &Arc<MemoryJournal>) -> (Run<Hybrid>, UnderWay) {
    let settings = stage.settings();
    let past = Past::read(&**journal, &settings.run).await.unwrap();
    assert!(!past.goes_on);
    let past = Some(past.retried().without_places());
    let (run, under_way) = set_up(Settings { past, ..settings }).unwrap();
    (run.with_journal(journal.clone()), under_way)
}

/// The settings of a fork of the run.
async fn forked(stage: &Stage, journal: &Arc<MemoryJournal>, point: &ForkPoint, name: &str) -> Settings {
    let (settings, new) = (stage.settings(), name.parse().unwrap());
    fork(&**journal, &settings.run, point, &new).await.unwrap();
    let past = Past::read(&**journal, &new).await.unwrap();
    Settings { past: Some(past.without_places()), run: new, ..settings }
}

fn before(node: &str, visit: u32) -> ForkPoint {
    ForkPoint::Before { node: node.to_owned(), visit }
}

async fn to_its_end(settings: Settings, journal: &Arc<MemoryJournal>) -> Ended {
    let (run, under_way) = set_up(settings).unwrap();
    let report = run.with_journal(journal.clone()).resume().await.unwrap();
    under_way.conclude(report, &**journal).await.unwrap()
}

/// Whichever node has failed, finished work stays finished, and the result is that of an undisturbed run.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_has_failed_is_retried_to_its_end() {
    // The first agent must not write, the next must not leave their branch, and the last has an error.
    let breaks = |turn: &mut Turn| turn.run(&["false"]);
    let astray = |turn: &mut Turn| turn.run(&["git", "checkout", "-q", "-b", "astray"]);
    let writes = |turn: &mut Turn| turn.write("src/lib.rs", "// Broken on purpose.\n");
    type Case<'case> = (Scenario, &'case str, fn(&mut Turn), &'case [&'case str]);
    let cases: [Case<'_>; 4] = [
        (Scenario::Happy, "adversary", writes, &["types"]),
        (Scenario::Happy, "tests", astray, &["types", "adversary"]),
        (Scenario::Happy, "impl", astray, &["types", "adversary"]),
        (Scenario::FixRound, "fix", breaks, &["types", "adversary", "tests", "impl"]),
    ];
    for (scenario, agent, fails, done) in cases {
        let script = AgentScript::of(scenario);
        // The other side, which was at work when this side failed, is asked again.
        let beside = match agent {
            "tests" => Some("impl"),
            "impl" => Some("tests"),
            _ => None,
        };
        let (again, other) = (script.turn(agent), beside.map(|beside| script.turn(beside)));
        let script = script.with(agent, fails).then(again);
        let stage = Stage::quick(other.into_iter().fold(script, AgentScript::then)).await;
        let journal = Arc::new(MemoryJournal::new());
        let ended = first(&stage, &journal).await;
        let (_, failure) = stage.assert_not_landed(&ended);
        assert!(failure.to_string().contains(if agent == "impl" { "implementation" } else { agent }), "{failure}");

        let (run, under_way) = retried(&stage, &journal).await;
        let report = run.retry().await.unwrap();
        let ended = under_way.conclude(report, &*journal).await.unwrap();
        let result = ended.result.clone().unwrap();
        assert!(result.succeeded(), "{agent}: {:#?}", result.failure());
        assert_eq!(ended.main.1.to_string(), stage.git(&["rev-parse", "main"]), "{agent}");
        assert_eq!(stage.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]), "main", "{agent}");
        assert!(ended.left_behind.is_none(), "{:?}", ended.left_behind);
        for role in done {
            assert_eq!(stage.calls_of(role).len(), 1, "{agent}: what `{role}` did stays done");
        }
        let [_, second] = &stage.calls_of(agent)[..] else { panic!("{agent} is asked once more") };
        assert!(!second.files.get("src/lib.rs").unwrap().contains("Broken on purpose"), "in a place as it was");
        let narrative = &result.witness.narrative;
        assert_eq!(narrative.matches("types went on to ").count(), 1, "{narrative}");
    }
}

/// HY-25: a run is retried only if its work can be landed; this is checked before an agent is asked. It can land elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_has_moved_since_is_told_before_any_agent_is_asked() {
    let script = AgentScript::of(Scenario::Happy);
    let again = script.turn("adversary");
    let writes = |turn: &mut Turn| turn.write("src/lib.rs", "// Broken on purpose.\n");
    let mut stage = Stage::quick(script.with("adversary", writes).then(again)).await;
    let journal = Arc::new(MemoryJournal::new());
    let ended = first(&stage, &journal).await;
    stage.assert_not_landed(&ended);
    let user = ["-c", "user.name=A user", "-c", "user.email=user@interlocking.invalid"];
    stage.git(&[&user[..], &["commit", "--quiet", "--allow-empty", "--message", "Notes"]].concat());
    let now = stage.git(&["rev-parse", "main"]);
    let base = std::mem::replace(&mut stage.base, now);
    let (calls, records) = (stage.agent.calls().len(), journal.load(&stage.settings().run).await.unwrap().len());

    let past = Past::read(&*journal, &stage.settings().run).await.unwrap().retried().without_places();
    let refused = set_up(Settings { past: Some(past), ..stage.settings() }).err().unwrap();
    assert!(matches!(refused, SetUpError::CannotLand { .. }), "{refused}");
    assert!(refused.to_string().contains(&format!("began at {base}, and main is at {} now", stage.base)), "{refused}");
    assert_eq!(stage.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]), "main");

    let past = Past::read(&*journal, &stage.settings().run).await.unwrap().retried().without_places();
    let settings = Settings { past: Some(past), land_on: Some("next".to_owned()), ..stage.settings() };
    let (run, under_way) = set_up(settings).unwrap();
    assert_eq!(stage.agent.calls().len(), calls);
    assert_eq!(journal.load(&stage.settings().run).await.unwrap().len(), records);
    let report = run.with_journal(journal.clone()).retry().await.unwrap();
    let ended = under_way.conclude(report, &*journal).await.unwrap();
    assert!(ended.result.unwrap().succeeded());
    assert_eq!(stage.git(&["rev-parse", "main"]), stage.base, "nothing is merged onto what nobody has verified");
    assert_eq!(stage.git(&["rev-parse", "next"]), ended.main.1.to_string());
    stage.git(&["merge-base", "--is-ancestor", &base, "next"]);
}

/// A fork of a failed run goes on to its end; the original is unchanged, and can still be retried.
#[tokio::test(flavor = "multi_thread")]
async fn a_fork_of_a_run_that_has_failed_goes_to_its_end() {
    let script = AgentScript::of(Scenario::FixRound);
    let again = script.turn("fix");
    let breaks = |turn: &mut Turn| turn.run(&["false"]);
    let stage = Stage::quick(script.with("fix", breaks).then(again)).await;
    let journal = Arc::new(MemoryJournal::new());
    let ended = first(&stage, &journal).await;
    stage.assert_not_landed(&ended);
    let kept = stage.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/interlocking"]);
    let records = journal.load(&stage.settings().run).await.unwrap();

    let settings = forked(&stage, &journal, &before("fix", 1), "r2").await;
    let ended = to_its_end(settings, &journal).await;
    stage.assert_landed(&ended);
    for role in ["types", "adversary", "tests", "impl"] {
        assert_eq!(stage.calls_of(role).len(), 1, "{role}");
    }
    let (first_call, second_call) = (&stage.calls_of("fix")[0], &stage.calls_of("fix")[1]);
    assert!(first_call.workspace.ends_with("r1/merge") && second_call.workspace.ends_with("r2/merge"));
    assert_eq!((&first_call.files, &first_call.head), (&second_call.files, &second_call.head));
    assert_eq!(stage.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/interlocking"]), kept);
    assert_eq!(journal.load(&stage.settings().run).await.unwrap(), records);
}

/// The original has landed: its fork is told so before it does anything, and lands on a branch of its own. It has the original's
/// memory, but none of its sessions.
#[tokio::test(flavor = "multi_thread")]
async fn a_fork_of_a_run_that_has_landed_lands_on_a_branch_of_its_own() {
    let script = AgentScript::of(Scenario::TrivialTests);
    let good = AgentScript::of(Scenario::Happy).turn("tests");
    let stage = Stage::new(script.then(good)).await;
    let journal = Arc::new(MemoryJournal::new());
    let ended = first(&stage, &journal).await;
    assert!(ended.result.unwrap().succeeded());
    let (main, calls) = (stage.git(&["rev-parse", "main"]), stage.agent.calls().len());

    let settings = forked(&stage, &journal, &before("tests", 2), "r2").await;
    let past = Past::read(&*journal, &settings.run).await.unwrap().without_places();
    let refused = set_up(settings).err().unwrap();
    assert!(matches!(refused, SetUpError::CannotLand { .. }), "{refused}");
    assert_eq!(stage.agent.calls().len(), calls);

    let settings = Settings { past: Some(past), run: "r2".parse().unwrap(), ..stage.settings() };
    let ended = to_its_end(Settings { land_on: Some("second".to_owned()), ..settings }, &journal).await;
    let result = ended.result.clone().unwrap();
    assert!(result.succeeded(), "{:#?}", result.failure());
    assert_eq!(stage.git(&["rev-parse", "main"]), main);
    assert_eq!(stage.git(&["rev-parse", "second"]), ended.main.1.to_string());
    assert_eq!(stage.git(&["rev-parse", "second~5"]), stage.base);
    let [first, second, own] = &stage.calls_of("tests")[..] else { panic!("{:?}", stage.calls_of("tests")) };
    assert_eq!(second.session, SessionOp::ContinueFrom(first.answered_in.clone().unwrap()));
    assert!(matches!(own.session, SessionOp::StartFresh(_)), "{:?}", own.session);
    assert_eq!((&own.head, &own.files, &own.prompt), (&second.head, &second.files, &second.prompt));
    assert!(own.workspace.ends_with("r2/tests"));
    for role in ["types", "adversary", "impl"] {
        assert_eq!(stage.calls_of(role).len(), 1, "{role}");
    }
}

/// A fork from before a repair of a landed run: the branch has what was merged before that repair, so the fork's work could not
/// land there. The fork is told so before any agent is asked.
#[tokio::test(flavor = "multi_thread")]
async fn a_fork_from_amid_a_run_that_has_landed_is_told_so_at_once() {
    let stage = Stage::quick(AgentScript::of(Scenario::FixRound)).await;
    let journal = Arc::new(MemoryJournal::new());
    let ended = first(&stage, &journal).await;
    stage.assert_landed(&ended);
    let settings = forked(&stage, &journal, &before("fix", 1), "r2").await;
    let refused = set_up(settings).err().unwrap();
    assert!(matches!(refused, SetUpError::CannotLand { .. }), "{refused}");
}

/// The original has landed what a fork from there would land: nothing is left to do.
#[tokio::test(flavor = "multi_thread")]
async fn what_has_landed_is_not_landed_again() {
    let stage = Stage::quick(AgentScript::of(Scenario::Happy)).await;
    let journal = Arc::new(MemoryJournal::new());
    let ended = first(&stage, &journal).await;
    stage.assert_landed(&ended);
    // The agents beside the run are asked again.
    let builders = || stage.agent.calls().iter().filter(|call| call.role != "mutation").count();
    let (main, calls) = (stage.git(&["rev-parse", "main"]), builders());
    let settings = forked(&stage, &journal, &before("post_validate", 1), "r2").await;
    let ended = to_its_end(settings, &journal).await;
    stage.assert_landed(&ended);
    assert_eq!((stage.git(&["rev-parse", "main"]), builders()), (main, calls));
}

/// If a run's commits were deleted, nothing is done; it can be retried once they are back.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_commits_are_gone_is_refused_until_they_are_back() {
    let script = AgentScript::of(Scenario::Happy);
    let again = script.turn("adversary");
    let writes = |turn: &mut Turn| turn.write("src/lib.rs", "// Broken on purpose.\n");
    let stage = Stage::quick(script.with("adversary", writes).then(again)).await;
    let journal = Arc::new(MemoryJournal::new());
    let ended = first(&stage, &journal).await;
    stage.assert_not_landed(&ended);
    let archived = stage.git(&["for-each-ref", "--format=%(refname)", "refs/interlocking/archive"]);
    let copy = stage.repository().with_file_name("copy");
    git(stage.repository().parent().unwrap(), &["clone", "--quiet", "--mirror", "repository", "copy"]);
    for name in archived.lines() {
        stage.git(&["update-ref", "-d", name]);
    }
    stage.git(&["reflog", "expire", "--expire=now", "--all"]);
    stage.git(&["gc", "--quiet", "--prune=now"]);
    let records = journal.load(&stage.settings().run).await.unwrap();
    let (run, under_way) = retried(&stage, &journal).await;
    let refused = run.retry().await.unwrap_err();
    assert!(matches!(refused, StartError::Workspace { .. }), "{refused}");
    assert!(refused.to_string().contains("bring the commit back"), "{refused}");
    drop(under_way);
    assert_eq!(stage.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]), "main");
    assert_eq!(journal.load(&stage.settings().run).await.unwrap(), records);

    stage.git(&["fetch", "--quiet", copy.to_str().unwrap(), "+refs/interlocking/*:refs/interlocking/*"]);
    let (run, under_way) = retried(&stage, &journal).await;
    let report = run.retry().await.unwrap();
    let ended = under_way.conclude(report, &*journal).await.unwrap();
    stage.assert_landed(&ended);
    let is_retried = |entry: &Entry| matches!(entry, Entry::Retried { .. });
    let records = journal.load(&stage.settings().run).await.unwrap();
    assert_eq!(records.iter().filter(|record| is_retried(&record.entry)).count(), 1);
}

/// Names of branches and directories belong to the run: those of another run with the same name in the repository stay.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_another_run_bears_meanwhile_is_refused() {
    let script = AgentScript::of(Scenario::Happy);
    let writes = |turn: &mut Turn| turn.write("src/lib.rs", "// Broken on purpose.\n");
    let stage = Stage::quick(script.with("adversary", writes)).await;
    let journal = Arc::new(MemoryJournal::new());
    let ended = first(&stage, &journal).await;
    stage.assert_not_landed(&ended);
    stage.git(&["branch", "r1/tests", "main"]);
    let past = Past::read(&*journal, &stage.settings().run).await.unwrap().retried().without_places();
    let refused = set_up(Settings { past: Some(past), ..stage.settings() }).err().unwrap();
    assert!(matches!(refused, SetUpError::Workspaces(GitWorkspacesError::RunTaken { .. })), "{refused}");
}
