//! The protocol's commands: each begins a run of its own.

use crate::begin::{Named, Options, Place, begin_with, read_yaml};
use clap::Args;
use interlocking::cli::{CommandContext, CommandError, ExecuteArguments, Exit};
use interlocking::run_id::RunId;
use scout_and_wave::prompts::Skill;
use scout_and_wave::request::Request;
use std::path::PathBuf;

/// What each takes.
#[derive(Debug, Args)]
struct Any {
    /// The run's name [default: from the time]
    #[arg(long, value_name = "ID")]
    run_id: Option<RunId>,

    #[command(flatten)]
    options: Options,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    execute: ExecuteArguments,
}

/// What `check` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  scout-and-wave check 'Add a cache to the client'")]
pub(crate) struct Check {
    /// What is to be built, in your own words
    task: String,

    #[command(flatten)]
    any: Any,
}

/// What `scout` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  scout-and-wave scout 'Add a cache to the client' --name cache")]
pub(crate) struct Scout {
    #[command(flatten)]
    plan: Plan,
}

/// What `bootstrap` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  scout-and-wave bootstrap 'A program that renames photos by date' --name photos")]
pub(crate) struct Bootstrap {
    #[command(flatten)]
    plan: Plan,
}

/// What both take.
#[derive(Debug, Args)]
struct Plan {
    /// What is to be built, in your own words
    task: String,

    #[command(flatten)]
    named: Named,

    #[command(flatten)]
    any: Any,
}

/// What `wave` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  scout-and-wave wave --name cache\n  scout-and-wave wave --name cache --approve")]
pub(crate) struct Wave {
    #[command(flatten)]
    named: Named,

    #[command(flatten)]
    any: Any,
}

/// What `recover` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  scout-and-wave recover r1 --name cache")]
pub(crate) struct Recover {
    /// The run whose journal is lost, which has a branch called RUN/staging
    lost: RunId,

    #[command(flatten)]
    named: Named,

    #[command(flatten)]
    any: Any,
}

/// What `quick` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  scout-and-wave quick plan.yaml")]
pub(crate) struct Quick {
    /// Who owns what, in YAML: `agents`, each with `files`, `task` and `verification`, and the `gate`
    plan: PathBuf,

    #[command(flatten)]
    any: Any,
}

/// What `skill` takes: nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  scout-and-wave skill > .claude/skills/scout-and-wave/SKILL.md")]
pub(crate) struct NoOptions {}

pub(crate) async fn check(Check { task, any }: Check, cx: CommandContext) -> Result<Exit, CommandError> {
    execute(any, &cx, Request::Check { task }).await
}

pub(crate) async fn scout(Scout { plan }: Scout, cx: CommandContext) -> Result<Exit, CommandError> {
    let Plan { task, named, any } = plan;
    let document = named.document()?;
    execute(any, &cx, Request::Scout { task, document }).await
}

pub(crate) async fn bootstrap(Bootstrap { plan }: Bootstrap, cx: CommandContext) -> Result<Exit, CommandError> {
    let Plan { task, named, any } = plan;
    let document = named.document()?;
    execute(any, &cx, Request::Bootstrap { task, document }).await
}

pub(crate) async fn wave(Wave { named, any }: Wave, cx: CommandContext) -> Result<Exit, CommandError> {
    let document = named.document()?;
    execute(any, &cx, Request::Wave { document }).await
}

pub(crate) async fn recover(Recover { lost, named, any }: Recover, cx: CommandContext) -> Result<Exit, CommandError> {
    let document = named.document()?;
    execute(any, &cx, Request::Recover { document, run: lost }).await
}

pub(crate) async fn quick(Quick { plan, any }: Quick, cx: CommandContext) -> Result<Exit, CommandError> {
    let plan = read_yaml(&plan)?;
    execute(any, &cx, Request::Quick { plan }).await
}

/// The orchestrator's skill (SAW-99).
pub(crate) async fn skill(_: NoOptions, cx: CommandContext) -> Result<Exit, CommandError> {
    cx.console().print(&Skill::of_program(cx.program()).to_string())?;
    Ok(Exit::Done)
}

async fn execute(any: Any, cx: &CommandContext, request: Request) -> Result<Exit, CommandError> {
    let Any { run_id, options, place, execute } = any;
    let start = cx.start(&execute, run_id)?;
    let (request, prepared) = begin_with(options, place, start.clone(), request).await?;
    cx.execute(&execute, start, prepared, request).await
}
