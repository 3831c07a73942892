//! A program's command line: its commands, and which of them is asked for.

use crate::arguments::{ResumeArguments, RunArguments, after_help, wants_json};
use crate::commands::{answer, cancel, fork, graph, list, prune, show};
use crate::console::{Console, Style};
use crate::ending::Ending;
use crate::entry::JsonEntry;
use crate::error::CommandError;
use crate::execute::{Asked, execute};
use crate::exit::Exit;
use crate::interrupt::Interrupts;
use crate::start::Start;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use interlocking_agents::program::forbid_inspection;
use interlocking_core::graph::Graph;
use interlocking_runtime::journal::ending;
use interlocking_runtime::{CancelToken, Report, Run, StartError};
use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::process::ExitCode;

type Local<T> = Pin<Box<dyn Future<Output = Result<T, CommandError>>>>;
type SetUp<G, S> = Box<dyn Fn(S, Start) -> Local<Run<G>>>;
type Enter<G, E> = Box<dyn Fn(E, &Start) -> Result<<G as Graph>::Entry, CommandError>>;
pub(crate) type ClearUp = Box<dyn Fn(Start) -> Local<()>>;
type Conclude<G> = Box<dyn Fn(Report<<G as Graph>::Output>, Start) -> Local<Ending>>;

/// The command line of a program that runs graph `G`.
///
/// `S` are the program's own options for any run, new or taken up again: agents, directories. `E` are those that make the
/// entry value of a new one. Neither may call an option as one of the commands' is called: `docs/cli.md` has them all.
pub struct Cli<G: Graph, S = crate::NoArguments, E = JsonEntry> {
    name: &'static str,
    about: Option<&'static str>,
    version: Option<&'static str>,
    set_up: SetUp<G, S>,
    enter: Enter<G, E>,
    conclude: Conclude<G>,
    clear_up: ClearUp,
    runs_by_default: bool,
    arguments: PhantomData<fn(S, E)>,
}

impl<G: Graph, S: Args> Cli<G, S> {
    /// The command line of program `name`. `set_up` makes a run of what the options say; its name, its journal and how it
    /// is cancelled are added here, and whoever watches it beside.
    ///
    /// Without [`with_entry`](Self::with_entry), the entry value is given as JSON.
    pub fn new<F>(name: &'static str, set_up: impl Fn(S, Start) -> F + 'static) -> Self
    where
        F: Future<Output = Result<Run<G>, CommandError>> + 'static,
    {
        Self {
            name,
            about: None,
            version: None,
            set_up: Box::new(move |options, start| Box::pin(set_up(options, start))),
            enter: Box::new(|entry, start| entry.read(&start.console)),
            conclude: Box::new(|report, _| Box::pin(async move { Ok(Ending::of(&report)?) })),
            clear_up: Box::new(|_| Box::pin(std::future::ready(Ok(())))),
            runs_by_default: false,
            arguments: PhantomData,
        }
    }
}

impl<G: Graph, S: Args, E: Args> Cli<G, S, E> {
    /// What the program is for, in its help.
    #[must_use]
    pub fn with_about(mut self, about: &'static str) -> Self {
        self.about = Some(about);
        self
    }

    /// The program's version: `env!("CARGO_PKG_VERSION")`.
    #[must_use]
    pub fn with_version(mut self, version: &'static str) -> Self {
        self.version = Some(version);
        self
    }

    /// Makes the entry value of a new run of options of the program's own.
    #[must_use]
    pub fn with_entry<E2: Args>(
        self,
        enter: impl Fn(E2, &Start) -> Result<G::Entry, CommandError> + 'static,
    ) -> Cli<G, S, E2> {
        let Self { name, about, version, set_up, conclude, clear_up, runs_by_default, .. } = self;
        let (enter, arguments) = (Box::new(enter), PhantomData);
        Cli { name, about, version, set_up, enter, conclude, clear_up, runs_by_default, arguments }
    }

    /// Does what is to be done at the end of a run that this process executed, and says what came of it.
    #[must_use]
    pub fn with_ending<F>(mut self, conclude: impl Fn(Report<G::Output>, Start) -> F + 'static) -> Self
    where
        F: Future<Output = Result<Ending, CommandError>> + 'static,
    {
        self.conclude = Box::new(move |report, start| Box::pin(conclude(report, start)));
        self
    }

    /// Removes what a run has beside its journal, such as worktrees, when `cancel` has ended it. Nobody executes it then: a process
    /// that does comes to its [ending](Self::with_ending) instead.
    #[must_use]
    pub fn with_clearing_up<F>(mut self, clear_up: impl Fn(Start) -> F + 'static) -> Self
    where
        F: Future<Output = Result<(), CommandError>> + 'static,
    {
        self.clear_up = Box::new(move |start| Box::pin(clear_up(start)));
        self
    }

    /// Lets the program start a run where no command is given, with the options of `run`.
    #[must_use]
    pub fn running_by_default(mut self) -> Self {
        self.runs_by_default = true;
        self
    }

    /// Does what the process's command line says, and gives the code that the process is to end with.
    ///
    /// The first interrupt (Ctrl-C, or a request to terminate) suspends a run, so that it can be resumed; the second ends
    /// the process. Needs a tokio runtime with time and signals. Other processes of the user are kept from reading this one's keys
    /// ([`forbid_inspection`]).
    pub async fn main(self) -> ExitCode {
        let console = Console::standard();
        if let Err(error) = forbid_inspection() {
            console.line(Style::Plain, &format!("warning: agents can read this process's keys: {error}"));
        }
        let cancel = CancelToken::new();
        let interrupts = Interrupts::register();
        let interrupts = tokio::spawn(interrupts.listen(cancel.clone(), console.clone()));
        let exit = self.execute(std::env::args_os(), &console, &cancel).await;
        interrupts.abort();
        exit.into()
    }

    /// Does what `words` say, the program's name first; prints on `console` and nowhere else. `cancel` stops a run.
    pub async fn execute(
        &self,
        words: impl IntoIterator<Item = impl Into<OsString>>,
        console: &Console,
        cancel: &CancelToken,
    ) -> Exit {
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        let json = wants_json(&words);
        match self.follow(words, console, cancel).await {
            Ok(exit) => exit,
            Err(error) => {
                match json {
                    true => console.line(Style::Plain, &error.to_json().to_string()),
                    false => console.line(Style::Bad, &format!("error: {error}")),
                }
                error.exit()
            }
        }
    }

    async fn follow(
        &self,
        words: Vec<OsString>,
        console: &Console,
        cancel: &CancelToken,
    ) -> Result<Exit, CommandError> {
        let matches = match self.command().try_get_matches_from(words) {
            Ok(matches) => matches,
            Err(error) if error.use_stderr() => return Err(CommandError::of_clap(&error)),
            // Help, or the version.
            Err(error) => {
                console.print(&error.render().to_string())?;
                return Ok(Exit::Done);
            }
        };
        let table = || G::net().table();
        match matches.subcommand() {
            None => self.run(&matches, console, cancel).await,
            Some(("run", matches)) => self.run(matches, console, cancel).await,
            Some(("resume", matches)) => self.resume(matches, console, cancel).await,
            Some(("list", matches)) => list::list(read(matches)?, console).await,
            Some(("show", matches)) => show::show(read(matches)?, self.name, console).await,
            Some(("answer", matches)) => answer::answer(read(matches)?, self.name, console).await,
            Some(("fork", matches)) => fork::fork(read(matches)?, self.name, console).await,
            Some(("cancel", matches)) => {
                cancel::cancel(read(matches)?, self.name, console, cancel, &self.clear_up).await
            }
            Some(("graph", matches)) => graph::graph(&read(matches)?, table(), console),
            Some(("prune", matches)) => prune::prune(read(matches)?, console).await,
            Some((other, _)) => Err(CommandError::new(format!("there is no command `{other}`"))),
        }
    }

    /// The whole command line.
    fn command(&self) -> Command {
        let run = |command| E::augment_args(S::augment_args(RunArguments::augment_args(command)));
        let resume = |command| S::augment_args(ResumeArguments::augment_args(command));
        let command = Command::new(self.name)
            .after_help(after_help())
            .subcommand(subcommand("run", "Start a run", run))
            .subcommand(subcommand("resume", "Resume a run where its journal ends", resume))
            .subcommand(subcommand("list", "List the runs of the journal", list::Arguments::augment_args))
            .subcommand(subcommand("show", "Show what a run did, as a tree", show::Arguments::augment_args))
            .subcommand(subcommand(
                "answer",
                "Answer a question that a run asks a person",
                answer::Arguments::augment_args,
            ))
            .subcommand(subcommand(
                "fork",
                "Make a new run from a recorded point of another",
                fork::Arguments::augment_args,
            ))
            .subcommand(subcommand("cancel", "End a run for good", cancel::Arguments::augment_args))
            .subcommand(subcommand("graph", "Print the graph", graph::Arguments::augment_args).long_flag("graph"))
            .subcommand(subcommand("prune", "Remove old runs", prune::Arguments::augment_args));
        let command = if self.runs_by_default {
            run(command).args_conflicts_with_subcommands(true)
        } else {
            command.subcommand_required(true).arg_required_else_help(true)
        };
        let command = about(command, self.about);
        match self.version {
            Some(version) => command.version(version),
            None => command,
        }
    }

    async fn run(&self, matches: &ArgMatches, console: &Console, cancel: &CancelToken) -> Result<Exit, CommandError> {
        let arguments: RunArguments = read(matches)?;
        let (options, entry): (S, E) = (read(matches)?, read(matches)?);
        let run = match arguments.run_id {
            Some(run) => run,
            None => crate::arguments::default_run_id()?,
        };
        let asked = Asked { name: self.name, binds_roles: binds_roles::<S>(), arguments: arguments.execute };
        let start = asked.start(run, None, console, cancel)?;
        let entry = (self.enter)(entry, &start)?;
        let run = (self.set_up)(options, start.clone()).await?;
        execute(&asked, start, run, Some(entry), &self.conclude).await
    }

    async fn resume(
        &self,
        matches: &ArgMatches,
        console: &Console,
        cancel: &CancelToken,
    ) -> Result<Exit, CommandError> {
        let arguments: ResumeArguments = read(matches)?;
        let options: S = read(matches)?;
        let asked = Asked { name: self.name, binds_roles: binds_roles::<S>(), arguments: arguments.execute };
        asked.arguments.common.journal.refuse_none()?;
        let start = asked.start(arguments.resumed, Some(arguments.retry), console, cancel)?;
        let records = start.journal.load(&start.run).await.map_err(CommandError::of_journal)?;
        if records.is_empty() {
            let error = CommandError::new(format!("there is no run `{}` to resume", start.run));
            let error = error.at(start.directory.display().to_string());
            return Err(error.remedy(format!("`{} list` shows the runs there are", self.name)));
        }
        if arguments.retry && ending(&records) != Some("failed") {
            // Before the program prepares anything.
            return Err(CommandError::of_start(StartError::NotFailed { run: start.run, ended: ending(&records) }));
        }
        let run = (self.set_up)(options, start.clone()).await?;
        execute(&asked, start, run, None, &self.conclude).await
    }
}

/// A command with what it is for and its options.
fn subcommand(name: &'static str, is_for: &'static str, options: impl FnOnce(Command) -> Command) -> Command {
    about(options(Command::new(name)), Some(is_for))
}

/// Says what a command is for. Last of all: clap takes the documentation of each struct of options for that of the command.
fn about(command: Command, is_for: Option<&'static str>) -> Command {
    command.about(is_for).long_about(None::<&str>)
}

/// Whether the program's own options are also those of [`Agents`](crate::Agents).
fn binds_roles<S: Args>() -> bool {
    let own = S::augment_args(Command::new(""));
    ["agent", "agents"].iter().all(|id| own.get_arguments().any(|argument| argument.get_id() == id))
}

/// Arguments out of what was matched.
fn read<A: FromArgMatches>(matches: &ArgMatches) -> Result<A, CommandError> {
    A::from_arg_matches(matches).map_err(|error| CommandError::of_clap(&error))
}

impl<G: Graph, S, E> fmt::Debug for Cli<G, S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cli").field("name", &self.name).finish_non_exhaustive()
    }
}
