//! Runs the Hybrid protocol from the command line: the demonstration, or one's own specification, agents, repository.

mod cli;
mod progress;
mod summary;

use crate::cli::{Arguments, Diagram, Order, UsageError, absolute};
use crate::progress::{Screen, Style, watch, while_waiting};
use crate::summary::{Account, Branch, Landed};
use clap::Parser;
use hybrid::graph::Hybrid;
use hybrid::places::PlaceError;
use hybrid::run::{Ended, SetUpError, Settings, run};
use hybrid::stage::{StageError, lay_out};
use interlocking::agents::ScriptedAgent;
use interlocking::graph::Graph;
use interlocking::run_id::RunId;
use interlocking::runtime::{Cancel, event};
use interlocking::worktree::{CommitRecord, GitError, OpenError, Repository};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tempfile::TempDir;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    Success = 0,
    NoSuccess = 1,
    Usage = 2,
    Infrastructure = 3,
    Interrupted = 130,
}

/// Where a run takes place.
struct Site {
    /// Removed at the end, with everything in it, unless it is to be kept.
    temporary: Option<TempDir>,
    /// The run's own directory: worktrees, and the demonstration's repository.
    directory: PathBuf,
    target_directory: PathBuf,
    repository: PathBuf,
    is_demonstration: bool,
}

/// What keeps a run from taking place, or its result from being written.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error(transparent)]
    NoRepository(#[from] OpenError),
    #[error("the demonstration could not be laid out: {0}")]
    Stage(#[from] StageError),
    #[error("the run could not start: {0}")]
    SetUp(#[from] SetUpError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("{}: {reason}", path.display())]
    File { path: PathBuf, reason: io::Error },
    #[error("the result could not be written to standard output: {0}")]
    Output(io::Error),
    #[error("the result could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let screen = Screen::new();
    let ended = match arguments.graph {
        Some(language) => draw(language).map(|()| Exit::Success),
        None => start(&arguments, &screen).await,
    };
    let exit = ended.unwrap_or_else(|trouble| {
        screen.line(Style::Bad, &trouble.to_string());
        match trouble {
            Trouble::Usage(_) | Trouble::NoRepository(_) => Exit::Usage,
            // What was asked for cannot be: no such branch, or a name that is taken.
            Trouble::SetUp(
                SetUpError::Branch(_) | SetUpError::Place(PlaceError::NoMain { .. } | PlaceError::RunTaken { .. }),
            ) => Exit::Usage,
            _ => Exit::Infrastructure,
        }
    });
    ExitCode::from(exit as u8)
}

fn draw(language: Diagram) -> Result<(), Trouble> {
    let table = Hybrid::net().table();
    let text = match language {
        Diagram::Mermaid => interlocking::draw::mermaid(table),
        Diagram::Dot => interlocking::draw::dot(table),
    };
    print(&text)
}

/// Runs what was ordered, and tells what came of it.
async fn start(arguments: &Arguments, screen: &Screen) -> Result<Exit, Trouble> {
    let order = arguments.order()?;
    // A file that cannot be written is better known now than after the run.
    let json = arguments.json.as_deref().map(create).transpose()?;
    let events = arguments.events.as_deref().map(create).transpose()?;
    let site = Site::choose(arguments, &order)?;
    for warning in &order.warnings {
        screen.line(Style::Bold, &format!("note: {warning}"));
    }
    let cancel = Cancel::new();
    tokio::spawn(stop_when_interrupted(cancel.clone()));
    let account = site.run(arguments, order, events, screen, &cancel).await;
    let (account, left_behind) = match account {
        Ok(Some(done)) => done,
        nothing => {
            site.leave(arguments.keep, screen)?;
            return nothing.map(|_| {
                screen.line(Style::Bold, "Interrupted before the run began.");
                Exit::Interrupted
            });
        }
    };
    let result = serde_json::to_string_pretty(&account)? + "\n";
    print(&result)?;
    let mut files: Vec<(PathBuf, io::Result<()>)> = Vec::new();
    if let (Some(path), Some(mut file)) = (&arguments.json, json) {
        files.push((path.clone(), file.write_all(result.as_bytes())));
    }
    if arguments.keep {
        let path = site.directory.join("result.json");
        files.push((path.clone(), fs::write(path, &result)));
    }
    let headline = if account.success { Style::Good } else { Style::Bad };
    screen.line(Style::Plain, "");
    screen.line(headline, &account.headline());
    screen.line(Style::Plain, &account.details());
    if let Some(problem) = &left_behind {
        screen.line(Style::Bad, &format!("Some worktrees could not be removed: {problem}"));
    }
    site.leave(arguments.keep || left_behind.is_some(), screen)?;
    for (path, written) in files {
        written.map_err(|reason| Trouble::File { path, reason })?;
    }
    Ok(match () {
        () if account.interrupted => Exit::Interrupted,
        () if account.success => Exit::Success,
        () if account.is_infrastructure_failure() => Exit::Infrastructure,
        () => Exit::NoSuccess,
    })
}

/// What became of a run: its account, and why worktrees were left behind, if some were.
type Told = (Account, Option<String>);

impl Site {
    /// Makes the run's directory, and nothing in it.
    fn choose(arguments: &Arguments, order: &Order) -> Result<Self, Trouble> {
        let unusable = |path: &Path, reason| UsageError::Unusable { path: path.to_owned(), reason };
        let repository = match &order.repository {
            Some(path) => Some(Repository::open(absolute(path)?)?),
            None => None,
        };
        let (temporary, work) = match &arguments.work_dir {
            Some(directory) => (None, absolute(directory)?),
            None => {
                let made = tempfile::Builder::new().prefix("hybrid-").tempdir();
                let made = made.map_err(|reason| unusable(&std::env::temp_dir(), reason))?;
                let path = made.path().to_owned();
                (Some(made), path)
            }
        };
        if let Some(tree) = repository.as_ref().and_then(Repository::working_tree) {
            refuse_inside(&work, tree)?;
        }
        fs::create_dir_all(&work).map_err(|reason| unusable(&work, reason))?;
        let directory = work.join(order.run.as_str());
        fs::create_dir(&directory).map_err(|reason| match reason.kind() {
            io::ErrorKind::AlreadyExists => UsageError::RunExists { path: directory.clone() },
            _ => unusable(&directory, reason),
        })?;
        let target_directory = match &arguments.target_dir {
            Some(target) => absolute(target)?,
            None => work.join("target"),
        };
        Ok(Self {
            temporary,
            target_directory,
            is_demonstration: repository.is_none(),
            repository: match (&order.repository, repository) {
                (Some(path), Some(_)) => absolute(path)?,
                _ => directory.join("repository"),
            },
            directory,
        })
    }

    /// Lays out the demonstration if there is no other repository, and runs the protocol. None if it was interrupted before.
    async fn run(
        &self,
        arguments: &Arguments,
        order: Order,
        events: Option<File>,
        screen: &Screen,
        cancel: &Cancel,
    ) -> Result<Option<Told>, Trouble> {
        let (module, criteria) = (&order.task.spec.module_name, order.task.spec.acceptance_criteria.len());
        screen.line(
            Style::Bold,
            &format!(
                "Scripted agents build `{module}` ({criteria} acceptance criteria) as run {} in {}; files, builds, \
                 tests and commits are real.",
                order.run,
                self.repository.display()
            ),
        );
        if self.is_demonstration {
            let what = "laying out a crate, and compiling what its tests depend on";
            screen.line(Style::Dim, &format!("First {what}."));
            let laying = lay_out(&self.repository, &self.target_directory);
            tokio::select! {
                biased;
                () = cancel.requested() => return Ok(None),
                laid_out = while_waiting(screen, what, laying) => laid_out?,
            };
        }
        let agent = ScriptedAgent::new(order.script);
        // Cargo as a script runs it: one place outside the worktrees, and in it one for each of them.
        let agent = agent
            .with_env("CARGO_TARGET_DIR", self.target_directory.join("agents"))
            .with_env("CARGO_BUILD_BUILD_DIR", self.target_directory.join("agents").join("{workspace-path-hash}"));
        let (sink, stream) = event::channel();
        let settings = Settings {
            task: order.task,
            repository: self.repository.clone(),
            main: arguments.branch.clone(),
            run: order.run.clone(),
            directory: self.directory.join("worktrees"),
            target_directory: self.target_directory.clone(),
            agent: Arc::new(agent),
            sink,
            cancel: cancel.clone(),
            keep: arguments.keep,
        };
        let (ended, recorded) = tokio::join!(run(settings), watch(screen, stream, events, cancel.clone()));
        let ended = ended?;
        if let (Some(path), Err(reason)) = (&arguments.events, recorded) {
            screen.line(Style::Bad, &format!("{}: {reason}; not every event was written", path.display()));
        }
        let left_behind = ended.left_behind.as_ref().map(ToString::to_string);
        Ok(Some((self.account(&arguments.branch, order.run, ended)?, left_behind)))
    }

    fn account(&self, branch: &str, run: RunId, ended: Ended) -> Result<Account, Trouble> {
        let repository = Repository::open(&self.repository)?;
        let (before, after) = ended.main;
        let commits = repository.commits(before..after)?;
        let landed =
            |commit: &CommitRecord| Landed { commit: commit.id.to_string(), subject: commit.subject().to_owned() };
        let own = format!("{run}/");
        let archived = repository.archived()?.into_iter().filter(|(name, _)| name.as_str().starts_with(&own));
        Ok(Account {
            run,
            success: ended.result.as_ref().is_some_and(|result| result.success),
            interrupted: ended.result.is_none(),
            seconds: ended.took.as_secs_f64(),
            usage: ended.ledger.total(),
            repository: self.repository.clone(),
            main: Branch { branch: branch.to_owned(), before: before.to_string(), after: after.to_string() },
            commits: commits.iter().map(landed).collect(),
            archived: archived.map(|(name, _)| name.reference()).collect(),
            calls: ended.ledger,
            result: ended.result,
        })
    }

    /// Removes the run's directory, or says where it is.
    fn leave(self, keep: bool, screen: &Screen) -> Result<(), Trouble> {
        let Self { temporary, directory, .. } = self;
        if keep {
            temporary.map(TempDir::keep);
            screen.line(Style::Plain, &format!("Kept        {}", directory.display()));
            return Ok(());
        }
        let removed = match temporary {
            Some(temporary) => temporary.close(),
            None => fs::remove_dir_all(&directory),
        };
        removed.map_err(|reason| Trouble::File { path: directory, reason })
    }
}

/// Worktrees inside the repository would be its files.
fn refuse_inside(work: &Path, repository: &Path) -> Result<(), UsageError> {
    let unusable = |reason| UsageError::Unusable { path: work.to_owned(), reason };
    // The directory may not exist yet; where it would be is told by what exists of the way to it.
    let existing = work.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(work);
    let existing = existing.canonicalize().map_err(unusable)?;
    let tree = repository.canonicalize().map_err(unusable)?;
    if existing.starts_with(&tree) {
        return Err(UsageError::WorkInside { directory: work.to_owned(), repository: repository.to_owned() });
    }
    Ok(())
}

fn create(path: &Path) -> Result<File, UsageError> {
    File::create(path).map_err(|reason| UsageError::Unusable { path: path.to_owned(), reason })
}

fn print(text: &str) -> Result<(), Trouble> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Trouble::Output)
}

/// The first interrupt cancels the run, which ends in good order; the second ends the program.
async fn stop_when_interrupted(cancel: Cancel) {
    interrupted().await;
    cancel.request();
    interrupted().await;
    std::process::exit(i32::from(Exit::Interrupted as u8));
}

/// Resolves on Ctrl-C, and on a request to terminate where there is such a thing.
async fn interrupted() {
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        return;
    }
    if tokio::signal::ctrl_c().await.is_err() {
        // Without a handler the signal ends the program by itself.
        std::future::pending::<()>().await;
    }
}
