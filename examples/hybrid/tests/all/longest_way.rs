//! The duration of a run by a clock that only agents move: builds and tests are answered at once.

use crate::agent_script::AgentScript;
use crate::stage::Stage;
use hybrid::demo::Scenario;
use hybrid::graph::Hybrid;
use hybrid::places::{beginning_at, workspaces};
use hybrid::run::Settings;
use hybrid::workbench::{RunPlaces, Workbench};
use interlocking::prelude::*;
use interlocking::runtime::clock::TokioClock;
use interlocking::toolchain::{Recorder, Runner};
use interlocking::worktree::{BranchName, Repository};
use std::sync::Arc;

/// The time of each agent, in seconds.
struct Times {
    types: u64,
    adversary: u64,
    tests: u64,
    implementation: u64,
    mutation: u64,
}

impl Times {
    fn agents(&self) -> [(&'static str, u64); 5] {
        let Self { types, adversary, tests, implementation, mutation } = *self;
        [("types", types), ("adversary", adversary), ("tests", tests), ("impl", implementation), ("mutation", mutation)]
    }

    /// The longest path from the entry to the exit, which waits for the mutation adversary.
    fn longest_way(&self) -> u64 {
        self.types + self.adversary + self.tests.max(self.implementation) + self.mutation
    }

    fn sum(&self) -> u64 {
        self.agents().iter().map(|(_, seconds)| seconds).sum()
    }
}

/// HY-236: a run takes as long as its longest path, and not as long as the sum of its agents: exactly, with a clock that only
/// agents move, whichever of two concurrent agents is the slower.
///
/// TC-20: agents, programs, clock and places are passed to a run, and each has a stand-in.
#[tokio::test]
async fn a_run_takes_as_long_as_its_longest_way() {
    for times in [
        Times { types: 8, adversary: 10, tests: 10, implementation: 8, mutation: 5 },
        Times { types: 3, adversary: 1, tests: 2, implementation: 12, mutation: 4 },
    ] {
        let script = times.agents().into_iter().fold(AgentScript::of(Scenario::Happy), |script, (agent, seconds)| {
            script.with(agent, |turn| turn.delay_ms = seconds * 1_000)
        });
        let mut stage = Stage::quick(script).await;
        stage.task.language_server = "none".into();
        let report = run_in_its_own_time(&stage).await;
        let Outcome::Finished(result) = report.outcome else { panic!("{:?}", report.outcome) };
        assert!(result.succeeded(), "{:#?}", result.failure());
        // Tokio wakes each sleeper at the next millisecond.
        assert_eq!(report.took.as_millis() / 1_000, times.longest_way());
        assert!(times.longest_way() < times.sum());
    }
}

/// Runs the protocol with a clock that stops while anything but an agent works.
async fn run_in_its_own_time(stage: &Stage) -> Report<hybrid::types::HybridResult> {
    let Settings { task, repository, main, run, directory, target_directory, roles, .. } = stage.settings();
    let (repository, main) = (Repository::open(repository).unwrap(), BranchName::new(main).unwrap());
    let base = repository.branch_head(&main).unwrap().unwrap();
    let workspaces = beginning_at(workspaces(&repository, &main, &directory, false).unwrap(), base);
    let checkouts = workspaces.checkouts_of(&run);
    // The tests fail twice on the stubs, and pass on the merged code; every build passes.
    let (test, [red, passed]) = (&task.toolchain.test_command, [1, 0].map(|code| Recorder::exit(code, "")));
    let recorder =
        Recorder::new().answer(test.clone(), red.clone()).answer(test.clone(), red).with_default_answer(passed);
    let runner = Runner::with_weaker_isolation(task.toolchain.clone(), &target_directory, &checkouts);
    let runner = runner.with_recorder(Arc::new(recorder));
    let places = RunPlaces { run: run.clone(), workspaces: workspaces.clone(), base };
    let bench = Arc::new(Workbench::new(repository, places, runner, &task).unwrap());
    tokio::time::pause();
    let run = Run::new(Hybrid::new(&bench))
        .with_id(run)
        .with_roles(roles)
        .with_workspaces(Arc::new(workspaces))
        .with_report_deadline(task.mutation_deadline)
        .with_clock(Arc::new(TokioClock::start()));
    let report = run.start(task.spec.clone()).await.unwrap();
    tokio::time::resume();
    report
}
