//! A run of the protocol over a repository: how the program sets it up, and what it does at its end.

use crate::cli::{Options, Specification};
use crate::summary;
use hybrid::demo::Scenario;
use hybrid::graph::Hybrid;
use hybrid::past::{Past, PastError};
use hybrid::requirements::unmet;
use hybrid::run::{SetUpError, Settings, UnderWay, set_up};
use hybrid::spec::Task;
use hybrid::stage::lay_out;
use hybrid::types::{HybridResult, StackSpec};
use interlocking::agents::Script;
use interlocking::cli::repository::{Account, Conclusion, RepositoryRun, has_ended};
use interlocking::cli::{CommandError, Ending, Exit, Prepared, RunSession, Start, Style};
use interlocking::prelude::*;
use interlocking::runtime::roles::Roles;
use interlocking::toolchain::Toolchain;
use interlocking::worktree::{BranchName, Repository};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Facts stored with a run beside its location.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Facts {
    toolchain: Toolchain,
    language_server: PathBuf,
    resolve_conflicts: bool,
    mutation_deadline: Duration,
    mechanical_mutants: usize,
    /// The scenario whose agents play the roles that no other agent plays; none if other agents play all.
    scenario: Option<Scenario>,
}

/// State kept for a run while this process executes it.
struct Session {
    run: RepositoryRun<Facts>,
    under_way: UnderWay,
}

/// Sets up a new run.
pub(crate) async fn begin(
    options: Options,
    specification: Specification,
    start: Start,
) -> Result<(StackSpec, Prepared<Hybrid>), CommandError> {
    let task = specification.task()?;
    let scenario = options.scenario().unwrap_or(Some(Scenario::Happy));
    let is_our_task = specification.is_the_demonstration();
    let mut location = specification.location;
    location.branch.get_or_insert_with(|| "main".to_owned());
    let facts = Facts {
        toolchain: task.toolchain.clone(),
        language_server: task.language_server.clone(),
        resolve_conflicts: task.resolve_conflicts,
        mutation_deadline: task.mutation_deadline,
        mechanical_mutants: task.mechanical_mutants,
        scenario,
    };
    let run = RepositoryRun::begin_at(location, &options.repository, start, facts).await?;
    if scenario.is_some() && !is_our_task {
        run.start().console.line(
            Style::Bold,
            "note: the agents are the demonstration's: they write its bounded stack, whatever the specification \
             says; --script FILE takes your own",
        );
    }
    if !run.is_demonstration() {
        refuse_unmet(&run, &task).await?;
    }
    let roles = bind_roles(&run).await?;
    announce(&run, &task);
    if run.is_demonstration() {
        lay_out_demonstration(&run).await?;
    }
    let spec = task.spec.clone();
    Ok((spec, prepare(run, task, roles, None).await?))
}

/// Sets up a run that another process began, or that is a fork.
pub(crate) async fn resume(options: Options, start: Start) -> Result<Prepared<Hybrid>, CommandError> {
    let mut run = RepositoryRun::<Facts>::resume(&options.repository, start).await?;
    if let Some(scenario) = options.scenario() {
        run.own_mut().scenario = scenario;
        if !options.repository.specifies_agents() {
            run.clear_agents();
        }
    }
    let start = run.start();
    let mut past = Past::read(&*start.journal, &start.run).await.map_err(|error| match error {
        PastError::Journal(error) => CommandError::of_journal(error),
        error => error.into(),
    })?;
    if start.is_retried {
        past = past.retried();
    }
    if run.is_fresh() {
        past = past.without_places();
    }
    let Facts { toolchain, language_server, resolve_conflicts, mutation_deadline, mechanical_mutants, .. } =
        run.own().clone();
    let spec = past.spec.clone();
    let task = Task { spec, toolchain, language_server, resolve_conflicts, mutation_deadline, mechanical_mutants };
    let roles = bind_roles(&run).await?;
    prepare(run, task, roles, Some(past)).await
}

/// Refuses a project that lacks what the protocol needs.
async fn refuse_unmet(run: &RepositoryRun<Facts>, task: &Task) -> Result<(), CommandError> {
    let failed = |error: &dyn std::error::Error| CommandError::new(format!("the project cannot be looked at: {error}"));
    let repository = Repository::open(run.repository()).map_err(|error| failed(&error))?;
    let branch = BranchName::new(run.branch()).map_err(|error| failed(&error))?;
    // The set-up of the run reports a missing branch.
    let Some(base) = repository.branch_head(&branch).map_err(|error| failed(&error))? else { return Ok(()) };
    let unmet = unmet(&repository, base, task, run.start().accepts_weaker_isolation).await;
    let unmet: Vec<_> = unmet.map_err(|error| failed(&error))?.iter().map(ToString::to_string).collect();
    if unmet.is_empty() { Ok(()) } else { Err(CommandError::new(unmet.join("\n"))) }
}

/// Binds the roles to agents. Agents build and test what they write, each below a directory of its own.
async fn bind_roles(run: &RepositoryRun<Facts>) -> Result<Roles, CommandError> {
    let Facts { toolchain, scenario, .. } = run.own();
    let commands = toolchain.configured().map(ToString::to_string);
    let access = run.build_access(toolchain, commands);
    let script = scenario.map(|scenario| Script::parse("the demonstration's script", scenario.script())).transpose()?;
    run.bind_roles::<Hybrid>(&access, script).await
}

fn announce(run: &RepositoryRun<Facts>, task: &Task) {
    let is_scripted = run.has_script() || run.own().scenario.is_some();
    let who = match (is_scripted, run.has_agents()) {
        (true, false) => "Scripted agents",
        (true, true) => "Scripted and other agents",
        (false, _) => "Agents",
    };
    let (module, criteria) = (&task.spec.module_name, task.spec.acceptance_criteria.len());
    let (name, repository) = (&run.start().run, run.repository().display());
    run.start().console.line(
        Style::Bold,
        &format!(
            "{who} build `{module}` ({criteria} acceptance criteria) as run {name} in {repository}; files, builds, tests and \
             commits are real."
        ),
    );
}

async fn lay_out_demonstration(run: &RepositoryRun<Facts>) -> Result<(), CommandError> {
    let Start { console, cancel, accepts_weaker_isolation, .. } = run.start();
    let what = "laying out a crate, and compiling what its tests depend on";
    console.line(Style::Dim, &format!("First {what}."));
    let laying = lay_out(run.repository(), run.target_directory(), *accepts_weaker_isolation);
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(CommandError::new("interrupted before the run began").with_exit(Exit::Stopped)),
        laid_out = console.while_waiting(what, laying) => laid_out.map(drop).map_err(|error| {
            CommandError::new(format!("the demonstration could not be laid out: {error}")).with_exit(Exit::Failed)
        }),
    }
}

async fn prepare(
    mut session: RepositoryRun<Facts>,
    task: Task,
    roles: Roles,
    past: Option<Past>,
) -> Result<Prepared<Hybrid>, CommandError> {
    let accept_weaker_isolation = session.accepts_weaker_isolation().await?;
    let start = session.start();
    let settings = Settings {
        task,
        past,
        repository: session.repository().to_owned(),
        main: session.branch().to_owned(),
        land_on: session.land_on().map(str::to_owned),
        run: start.run.clone(),
        directory: session.worktrees(),
        target_directory: session.target_directory().to_owned(),
        journal: Some(start.directory.clone()),
        roles,
        sink: Arc::new(|_| {}),
        cancel: start.cancel.clone(),
        keep: session.keeps(),
        accept_weaker_isolation,
    };
    let (run, under_way) = set_up(settings).map_err(|error| {
        let refused = CommandError::new(format!("the run could not start: {error}"));
        match error {
            SetUpError::CannotLand { .. } => refused.remedy(
                "--land-on BRANCH lands it on a branch of its own, which is made where the run began, for you to merge",
            ),
            _ => refused,
        }
    })?;
    let run = session.ready(run)?;
    Ok(Prepared::new(run, Session { run: session, under_way }))
}

impl RunSession<Hybrid> for Session {
    async fn conclude(self, report: Report<HybridResult>) -> Result<Ending, CommandError> {
        let Self { mut run, mut under_way } = self;
        let start = run.start().clone();
        if has_ended(&report) && !run.take_back().await {
            under_way = under_way.leaving_worktrees();
        }
        let (is_over, usual) = (has_ended(&report), Ending::of(&report)?);
        let (has_failed, next) = (matches!(report.outcome, Outcome::Failed(_)), next(&report, &start.run));
        let ended = under_way.conclude(report, &*start.journal).await.map_err(|error| {
            let again = format!("once that is out of the way, `hybrid resume {}` tells what came of it", start.run);
            CommandError::from(error).remedy(again).with_exit(Exit::Failed)
        })?;
        let seconds = ended.took.as_secs_f64();
        let mut account = Account::new(&run, ended.ledger, seconds, ended.main, ended.result)?;
        account.success = account.result.as_ref().is_some_and(HybridResult::succeeded);
        let exit = match () {
            () if account.interrupted => usual.exit,
            () if account.success => Exit::Done,
            () => Exit::Failed,
        };
        let lines = if is_over { summary::lines(&account) } else { Vec::new() };
        let next = next.filter(|_| !account.success);
        let messages = Conclusion { exit, lines, next, left_behind: ended.left_behind };
        let ending = run.finish(&account, messages, is_over, has_failed).await?;
        // The usual lines say what to do with a run that is not over.
        Ok(Ending { summary: is_over.then(String::new), ..ending })
    }

    async fn abandon(self) -> Result<(), CommandError> {
        self.run.abandon(|| std::future::ready(())).await
    }
}

/// How a run that is over without success can be continued.
fn next(report: &Report<HybridResult>, run: &RunId) -> Option<String> {
    match &report.outcome {
        Outcome::Failed(_) => Some(format!(
            "To go on    `hybrid resume {run} --retry` tries again what failed, once its cause is gone; `hybrid fork {run}` makes a \
             run that does"
        )),
        Outcome::Finished(_) => {
            Some(format!("To go on    `hybrid fork {run} --before NODE.VISIT` makes a run that goes on from there"))
        }
        _ => None,
    }
}
