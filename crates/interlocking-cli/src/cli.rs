//! A program's command line: defines its commands, parses the arguments and runs the chosen command.

use crate::arguments::{ResumeArguments, RunArguments, after_help, default_run_id, wants_json};
use crate::commands::{answer, cancel, completions, fork, graph, list, man, prune, show};
use crate::console::{Console, Style};
use crate::entry::JsonEntry;
use crate::error::CommandError;
use crate::execute::{Invocation, execute};
use crate::exit::Exit;
use crate::help::{examples, grouped};
use crate::interrupt;
use crate::local::Local;
use crate::own_command::{CommandContext, OwnCommand};
use crate::prepared::Prepared;
use crate::start::Start;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use interlocking_agents::program::forbid_inspection;
use interlocking_core::graph::Graph;
use interlocking_runtime::CancelToken;
use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::process::ExitCode;
use std::rc::Rc;

type SetUp<G, S> = Rc<dyn Fn(S, Start) -> Local<Prepared<G>>>;
type Begin<G, S, E> = Box<dyn Fn(S, E, Start) -> Local<(<G as Graph>::Entry, Prepared<G>)>>;
pub(crate) type ClearUp = Box<dyn Fn(Start) -> Local<()>>;

/// The command line of a program that runs graph `G`.
///
/// `S` are the program's own options for any run, new or resumed: agents, directories. `E` are the options from which the entry
/// value of a new run is made. Neither may reuse the name of an option of the commands; `docs/book/src/cli.md` lists those.
pub struct Cli<G: Graph, S = crate::NoArguments, E = JsonEntry> {
    name: &'static str,
    about: Option<&'static str>,
    version: Option<&'static str>,
    set_up: SetUp<G, S>,
    begin: Begin<G, S, E>,
    clean_up: ClearUp,
    commands: Vec<OwnCommand>,
    runs_by_default: bool,
}

impl<G: Graph, S: Args + 'static> Cli<G, S> {
    /// The command line of program `name`. `set_up` makes a run from the options: a [`Run`](interlocking_runtime::Run), or a
    /// [`Prepared`] run if the program does something at its end. `Cli` adds the run's name, journal, cancellation and observers.
    ///
    /// Without [`with_entry`](Self::with_entry), the entry value is given as JSON.
    pub fn new<P, F>(name: &'static str, set_up: impl Fn(S, Start) -> F + 'static) -> Self
    where
        P: Into<Prepared<G>>,
        F: Future<Output = Result<P, CommandError>> + 'static,
    {
        let set_up: SetUp<G, S> = Rc::new(move |options, start| {
            let setting_up = set_up(options, start);
            Box::pin(async move { Ok(setting_up.await?.into()) })
        });
        Self {
            name,
            about: None,
            version: None,
            begin: with_entry_of(set_up.clone(), |entry: JsonEntry, start: &Start| {
                let start = start.clone();
                async move { entry.read(&start).await }
            }),
            set_up,
            clean_up: Box::new(|_| Box::pin(std::future::ready(Ok(())))),
            commands: Vec::new(),
            runs_by_default: false,
        }
    }
}

/// Makes the entry value of a new run with `enter`, and sets the run up with `set_up`, as for a resumed run.
fn with_entry_of<G: Graph, S: 'static, E: 'static, F>(
    set_up: SetUp<G, S>,
    enter: impl Fn(E, &Start) -> F + 'static,
) -> Begin<G, S, E>
where
    F: Future<Output = Result<G::Entry, CommandError>> + 'static,
{
    Box::new(move |options, entry, start| {
        let (entering, set_up) = (enter(entry, &start), set_up.clone());
        Box::pin(async move {
            let entry = entering.await?;
            Ok((entry, set_up(options, start).await?))
        })
    })
}

impl<G: Graph, S: Args + 'static, E: Args + 'static> Cli<G, S, E> {
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

    /// Makes the entry value of a new run from options of the program's own.
    #[must_use]
    pub fn with_entry<E2: Args + 'static>(
        self,
        enter: impl Fn(E2, &Start) -> Result<G::Entry, CommandError> + 'static,
    ) -> Cli<G, S, E2> {
        let enter = move |entry, start: &Start| std::future::ready(enter(entry, start));
        let begin = with_entry_of(self.set_up.clone(), enter);
        self.with_begin(begin)
    }

    /// Sets new runs up in another way than resumed runs, with options that only `run` takes and that decide more than the entry
    /// value. The `set_up` function that was given to [`new`](Self::new) then sets up resumed runs only.
    #[must_use]
    pub fn with_new_runs<E2: Args + 'static, P, F>(self, begin: impl Fn(S, E2, Start) -> F + 'static) -> Cli<G, S, E2>
    where
        P: Into<Prepared<G>>,
        F: Future<Output = Result<(G::Entry, P), CommandError>> + 'static,
    {
        self.with_begin(Box::new(move |options, new, start| {
            let beginning = begin(options, new, start);
            Box::pin(async move {
                let (entry, prepared) = beginning.await?;
                Ok((entry, prepared.into()))
            })
        }))
    }

    fn with_begin<E2>(self, begin: Begin<G, S, E2>) -> Cli<G, S, E2> {
        let Self { name, about, version, set_up, clean_up, commands, runs_by_default, .. } = self;
        Cli { name, about, version, set_up, begin, clean_up, commands, runs_by_default }
    }

    /// Adds a command of the program's own, with options `A`. The handler prints on the [context](CommandContext)'s console and
    /// returns the exit code. Flatten [`CommonArguments`](crate::CommonArguments) into the options of a command that reads the
    /// journal, and [`ExecuteArguments`](crate::ExecuteArguments) into the options of a command that executes a run.
    ///
    /// # Panics
    ///
    /// If a command of that name exists.
    #[must_use]
    pub fn with_command<A: Args + 'static, F>(
        mut self,
        name: &'static str,
        about: &'static str,
        handle: impl Fn(A, CommandContext) -> F + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Exit, CommandError>> + 'static,
    {
        let is_taken = self.command().find_subcommand(name).is_some() || name == "help";
        assert!(!is_taken, "there is a command `{name}` already");
        self.commands.push(OwnCommand::new(name, about, handle));
        self
    }

    /// Removes what a run has besides its journal, such as worktrees, after `cancel` has ended it, and before `prune`
    /// removes it from the journal. `cancel` also calls this for a run that was cancelled before, to repeat a removal
    /// that was not completed; there may be nothing left to remove. Called only if no process executes the run; a
    /// process that executes it reaches [`conclude`](crate::RunSession::conclude) instead.
    #[must_use]
    pub fn with_cleanup<F>(mut self, clean_up: impl Fn(Start) -> F + 'static) -> Self
    where
        F: Future<Output = Result<(), CommandError>> + 'static,
    {
        self.clean_up = Box::new(move |start| Box::pin(clean_up(start)));
        self
    }

    /// Lets the program start a run if no command is given, with the options of `run`.
    #[must_use]
    pub fn running_by_default(mut self) -> Self {
        self.runs_by_default = true;
        self
    }

    /// Executes the process's command line, and returns the exit code for the process.
    ///
    /// The first interrupt (Ctrl-C, or a request to terminate) suspends a run, so that it can be resumed, and ends a command
    /// that only reads; the second ends the process at once, whatever it waits for. Needs a tokio runtime with time. Prevents
    /// the user's other processes from reading the keys in this process's memory and environment ([`forbid_inspection`]).
    pub async fn main(self) -> ExitCode {
        let console = Console::standard();
        if let Err(error) = forbid_inspection() {
            console.line(Style::Plain, &format!("warning: agents can read this process's keys: {error}"));
        }
        let cancel = CancelToken::new();
        interrupt::listen(cancel.clone(), console.clone());
        self.execute(std::env::args_os(), &console, &cancel).await.into()
    }

    /// Executes the command line `words`, which begins with the program's name. Prints only on `console`, and waits at the
    /// end until its messages are written: it blocks for five seconds, at most, in which nobody reads them. `cancel` stops a
    /// run, and a command that only reads.
    pub async fn execute(
        &self,
        words: impl IntoIterator<Item = impl Into<OsString>>,
        console: &Console,
        cancel: &CancelToken,
    ) -> Exit {
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        let json = wants_json(&words);
        let followed = self.follow(words, console, cancel).await;
        let exit = followed.unwrap_or_else(|error| {
            error.tell(console, json);
            error.exit()
        });
        console.flush();
        exit
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
        match matches.subcommand() {
            None => self.run(&matches, console, cancel).await,
            Some(("run", matches)) => self.run(matches, console, cancel).await,
            Some(("resume", matches)) => self.resume(matches, console, cancel).await,
            Some((name, matches)) => match self.commands.iter().find(|command| command.name == name) {
                Some(command) => {
                    let (console, cancel) = (console.clone(), cancel.clone());
                    (command.handle)(matches, CommandContext { name: self.name, console, cancel }).await
                }
                // These complete what they do, so that nothing stays half made or half removed. What waits for input ends.
                None if ["answer", "fork", "cancel", "prune"].contains(&name) => {
                    self.manage(name, matches, console, cancel).await
                }
                None => tokio::select! {
                    biased;
                    done = self.manage(name, matches, console, cancel) => done,
                    () = cancel.cancelled() => Err(CommandError::interrupted()),
                },
            },
        }
    }

    /// Follows a command that executes no run.
    async fn manage(
        &self,
        command: &str,
        matches: &ArgMatches,
        console: &Console,
        cancel: &CancelToken,
    ) -> Result<Exit, CommandError> {
        match command {
            "list" => list::list(read(matches)?, console).await,
            "show" => show::show(read(matches)?, self.name, console).await,
            "answer" => answer::answer(read(matches)?, self.name, console, cancel).await,
            "fork" => fork::fork(read(matches)?, (self.name, &G::net().table().graph), console).await,
            "cancel" => cancel::cancel(read(matches)?, self.name, console, cancel, &self.clean_up).await,
            "graph" => graph::graph(&read(matches)?, G::net().table(), console),
            "prune" => prune::prune(read(matches)?, self.name, console, cancel, &self.clean_up).await,
            "completions" => completions::completions(&read(matches)?, self.command(), self.name, console),
            "man" => man::man(self.command(), console),
            other => Err(CommandError::new(format!("there is no command `{other}`"))),
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
            .subcommand(subcommand("prune", "Remove old runs", prune::Arguments::augment_args))
            .subcommand(subcommand(
                "completions",
                "Print completions for a shell",
                completions::Arguments::augment_args,
            ))
            .subcommand(subcommand("man", "Print the manual page", |command| command))
            .subcommands(self.commands.iter().map(|own| subcommand(own.name, own.about, own.augment)));
        let command = if self.runs_by_default {
            run(command).args_conflicts_with_subcommands(true)
        } else {
            command.subcommand_required(true).arg_required_else_help(true)
        };
        let command = about(command, self.about);
        let with_examples = |below: Command| match examples(below.get_name(), self.name) {
            Some(examples) => below.after_help(examples),
            None => below,
        };
        let command = grouped(command.mut_subcommands(with_examples));
        match self.version {
            Some(version) => command.version(version),
            None => command,
        }
    }

    async fn run(&self, matches: &ArgMatches, console: &Console, cancel: &CancelToken) -> Result<Exit, CommandError> {
        let arguments: RunArguments = read(matches)?;
        let (options, new): (S, E) = (read(matches)?, read(matches)?);
        let run = arguments.run_id.map_or_else(default_run_id, Ok)?;
        let invocation = Invocation { name: self.name, binds_roles: binds_roles::<S>(), arguments: arguments.execute };
        let start = invocation.start(run, None, console, cancel)?;
        let (entry, prepared) = (self.begin)(options, new, start.clone()).await?;
        execute(&invocation, start, prepared, Some(entry)).await
    }

    async fn resume(
        &self,
        matches: &ArgMatches,
        console: &Console,
        cancel: &CancelToken,
    ) -> Result<Exit, CommandError> {
        let arguments: ResumeArguments = read(matches)?;
        let options: S = read(matches)?;
        let invocation = Invocation { name: self.name, binds_roles: binds_roles::<S>(), arguments: arguments.execute };
        let start = invocation.resume_of(arguments.resumed, arguments.retry, console, cancel).await?;
        let prepared = (self.set_up)(options, start.clone()).await?;
        execute(&invocation, start, prepared, None).await
    }
}

/// A command with its description and options.
fn subcommand(name: &'static str, is_for: &'static str, options: impl FnOnce(Command) -> Command) -> Command {
    about(options(Command::new(name)), Some(is_for))
}

/// Sets a command's description. Called after options are added, because clap makes the documentation of each struct of options
/// the command's description.
fn about(command: Command, is_for: Option<&'static str>) -> Command {
    command.about(is_for).long_about(None::<&str>)
}

/// Whether the program's own options include those of [`Agents`](crate::Agents).
fn binds_roles<S: Args>() -> bool {
    let own = S::augment_args(Command::new(""));
    ["agent", "agents"].iter().all(|id| own.get_arguments().any(|argument| argument.get_id() == id))
}

/// Reads a struct of arguments from clap's matches.
fn read<A: FromArgMatches>(matches: &ArgMatches) -> Result<A, CommandError> {
    A::from_arg_matches(matches).map_err(|error| CommandError::of_clap(&error))
}

impl<G: Graph, S, E> fmt::Debug for Cli<G, S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cli").field("name", &self.name).finish_non_exhaustive()
    }
}
