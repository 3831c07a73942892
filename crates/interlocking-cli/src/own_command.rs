//! Commands that a program adds to the built-in ones.

use crate::arguments::{ExecuteArguments, default_run_id};
use crate::console::Console;
use crate::error::CommandError;
use crate::execute::{Invocation, execute};
use crate::exit::Exit;
use crate::local::Local;
use crate::prepared::Prepared;
use crate::start::Start;
use clap::{ArgMatches, Args, Command};
use interlocking_core::graph::Graph;
use interlocking_core::run_id::RunId;
use interlocking_runtime::CancelToken;
use std::fmt;
use std::future::Future;

type Handle = Box<dyn Fn(&ArgMatches, CommandContext) -> Local<Exit>>;

/// A command of the program's own.
pub(crate) struct OwnCommand {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) augment: fn(Command) -> Command,
    pub(crate) handle: Handle,
}

impl OwnCommand {
    pub(crate) fn new<A: Args + 'static, F>(
        name: &'static str,
        about: &'static str,
        handle: impl Fn(A, CommandContext) -> F + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Exit, CommandError>> + 'static,
    {
        let handle = Box::new(move |matches: &ArgMatches, context| -> Local<Exit> {
            match A::from_arg_matches(matches) {
                Ok(arguments) => Box::pin(handle(arguments, context)),
                Err(error) => Box::pin(std::future::ready(Err(CommandError::of_clap(&error)))),
            }
        });
        Self { name, about, augment: A::augment_args, handle }
    }
}

/// What the handler of a program's own command works with.
#[derive(Clone)]
pub struct CommandContext {
    pub(crate) name: &'static str,
    pub(crate) console: Console,
    pub(crate) cancel: CancelToken,
}

impl CommandContext {
    /// The program's name, for messages that suggest other commands.
    pub fn program(&self) -> &'static str {
        self.name
    }

    /// The console on which the command prints, and from which it reads.
    pub fn console(&self) -> &Console {
        &self.console
    }

    /// Cancelled when the user interrupts the program.
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// Begins a new run named `run`, or named from the time: opens the journal, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the journal cannot be used.
    pub fn start(&self, arguments: &ExecuteArguments, run: Option<RunId>) -> Result<Start, CommandError> {
        let run = run.map_or_else(default_run_id, Ok)?;
        self.invocation(arguments, false).start(run, None, &self.console, &self.cancel)
    }

    /// Executes a run that was [started](Self::start), to its end or until it stops, as `run` does: with the same progress,
    /// closing lines and exit codes. The run's graph may differ from the graph of the program's `run` and `resume`. The command
    /// `resume` then refuses the run, and the program should add a command that resumes it with [`resume`](Self::resume).
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the run does not start, or its outcome cannot be printed.
    pub async fn execute<G: Graph>(
        &self,
        arguments: &ExecuteArguments,
        start: Start,
        prepared: impl Into<Prepared<G>>,
        entry: G::Entry,
    ) -> Result<Exit, CommandError> {
        execute(&self.invocation(arguments, true), start, prepared.into(), Some(entry)).await
    }

    /// Resumes a run of any graph where its journal ends, as the command `resume` does; with `retry`, a run that has failed.
    /// `set_up` prepares the run.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the run does not exist or cannot be resumed.
    pub async fn resume<G: Graph, P: Into<Prepared<G>>, F>(
        &self,
        arguments: &ExecuteArguments,
        run: RunId,
        retry: bool,
        set_up: impl FnOnce(Start) -> F,
    ) -> Result<Exit, CommandError>
    where
        F: Future<Output = Result<P, CommandError>>,
    {
        let invocation = self.invocation(arguments, true);
        let start = invocation.resume_of(run, retry, &self.console, &self.cancel).await?;
        let prepared = set_up(start.clone()).await?.into();
        execute(&invocation, start, prepared, None).await
    }

    fn invocation(&self, arguments: &ExecuteArguments, binds_roles: bool) -> Invocation {
        Invocation { name: self.name, binds_roles, arguments: arguments.clone() }
    }
}

impl fmt::Debug for CommandContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandContext").field("name", &self.name).finish_non_exhaustive()
    }
}
