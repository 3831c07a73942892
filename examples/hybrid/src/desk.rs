//! What the program does before a run and after it.

use crate::cli::{Location, Options, Players, Specification, UsageError, absolute};
use crate::site::{Site, refuse_unwritable};
use crate::summary::{Account, Branch, Landed};
use crate::whereabouts::Whereabouts;
use hybrid::graph::Hybrid;
use hybrid::past::Past;
use hybrid::run::{Ended, UnderWay, has_ended, take_away};
use hybrid::spec::{SpecError, Task};
use hybrid::types::{HybridResult, StackSpec};
use interlocking::cli::{Console, Ending, Exit, Start, Style, Trouble, private};
use interlocking::prelude::*;
use interlocking::worktree::{CommitRecord, Repository};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What lies ready between the steps of the one run that a program starts or takes up.
#[derive(Default)]
pub(crate) struct Desk(Mutex<Papers>);

#[derive(Default)]
struct Papers {
    new: Option<New>,
    order: Option<Order>,
}

/// A run that is to begin.
struct New {
    task: Task,
    /// Whether it is the demonstration's.
    is_our_task: bool,
    location: Location,
}

/// A run that is under way.
struct Order {
    start: Start,
    whereabouts: Whereabouts,
    under_way: UnderWay,
    result: Option<PathBuf>,
}

impl Desk {
    /// Takes in what is to be built.
    pub(crate) fn take(&self, specification: &Specification) -> Result<StackSpec, SpecError> {
        let task = specification.task()?;
        let spec = task.spec.clone();
        let (is_our_task, location) = (specification.is_the_demonstration(), specification.location.clone());
        self.lock().new = Some(New { task, is_our_task, location });
        Ok(spec)
    }

    /// Makes ready for the run.
    pub(crate) async fn set_up(&self, options: Options, start: Start) -> Result<Run<Hybrid>, Trouble> {
        let new = self.lock().new.take();
        match new {
            Some(new) => self.begin(options, start, new).await,
            None => self.take_up(options, start).await,
        }
    }

    async fn begin(&self, options: Options, start: Start, new: New) -> Result<Run<Hybrid>, Trouble> {
        let New { task, is_our_task, location } = new;
        if task.spec.strictness.mutation_blocking {
            let unmet = "`strictness.mutationBlocking` asks for tests that catch mutants, and this graph has nobody who looks for \
                         mutants: the run could not succeed";
            return Err(Trouble::new(unmet).remedy("set it to false, or take the preset \"default\""));
        }
        let players = options.players()?.unwrap_or_else(Players::usual);
        let script = players.script(options.script.as_deref())?;
        if !start.journal.load(&start.run).await?.is_empty() {
            let taken = Trouble::new(format!("there is a run `{}` in the journal", start.run));
            return Err(taken.at(start.directory.display().to_string()).remedy("choose another --run-id"));
        }
        let result = options.result_file(None)?;
        let site = Site::choose(&location, &start.run)?;
        if players.play_the_demonstration() && !is_our_task {
            start.console.line(
                Style::Bold,
                "note: the agents are the demonstration's: they write its bounded stack, whatever the specification \
                 says; --script FILE takes your own",
            );
        }
        let whereabouts = Whereabouts {
            directory: site.directory.clone(),
            removed: site.removed.clone(),
            target_directory: site.target_directory.clone(),
            repository: site.repository.clone(),
            is_demonstration: site.is_demonstration,
            branch: location.branch.unwrap_or_else(|| "main".to_owned()),
            toolchain: task.toolchain.clone(),
            players,
            keep: options.keep,
            result: result.clone(),
        };
        let prepared = async {
            let roles = whereabouts.cast(script).await?;
            let prepared = whereabouts.prepare(&start, task, roles).await?;
            whereabouts.write(&start)?;
            Ok(prepared)
        };
        match prepared.await {
            Ok((run, under_way)) => {
                self.lock().order = Some(Order { start, whereabouts, under_way, result });
                Ok(run)
            }
            Err(trouble) => {
                site.give_up()?;
                Err(trouble)
            }
        }
    }

    /// Makes ready for a run that another process began. Touches nothing: that process may live.
    async fn take_up(&self, options: Options, start: Start) -> Result<Run<Hybrid>, Trouble> {
        let mut whereabouts = Whereabouts::read(&start)?;
        if let Some(players) = options.players()? {
            whereabouts.players = players;
        }
        whereabouts.keep |= options.keep;
        let script = whereabouts.players.script(options.script.as_deref())?;
        let past = Past::read(&*start.journal, &start.run).await?;
        let task = Task { spec: past.spec.clone(), toolchain: whereabouts.toolchain.clone() };
        let roles = whereabouts.cast(script).await?;
        let (run, under_way) = whereabouts.set_up(&start, task, roles, Some(past))?;
        let result = options.result_file(whereabouts.result.take())?;
        self.lock().order = Some(Order { start, whereabouts, under_way, result });
        Ok(run)
    }

    /// Ends the run, if it is at its end, and tells what came of it.
    pub(crate) async fn conclude(&self, report: Report<HybridResult>, start: Start) -> Result<Ending, Trouble> {
        let order = self.lock().order.take();
        let Some(Order { whereabouts, under_way, result, .. }) = order else {
            return Err(Trouble::new("the run was not set up").with_exit(Exit::Failed));
        };
        let (is_over, usual) = (has_ended(&report), Ending::of(&report)?);
        let ended = under_way.conclude(report, &*start.journal).await.map_err(|error| {
            let again = format!("once that is out of the way, `hybrid resume {}` concludes it", start.run);
            Trouble::from(error).remedy(again).with_exit(Exit::Failed)
        })?;
        let left_behind = ended.left_behind.as_ref().map(ToString::to_string);
        let account = account(&whereabouts, start.run.clone(), ended)?;
        let exit = match () {
            () if account.interrupted => usual.exit,
            () if account.success => Exit::Done,
            () => Exit::Failed,
        };
        let ending = Ending::with_result(exit, &account)?;
        let text = format!("{}\n", ending.result.as_deref().unwrap_or_default());
        let mut files: Vec<(PathBuf, io::Result<()>)> = Vec::new();
        if let Some(path) = result {
            let written = private::write_file(&path, &text);
            files.push((path, written));
        }
        if is_over {
            if whereabouts.keep {
                let path = whereabouts.directory.join("result.json");
                let written = private::write_file(&path, &text);
                files.push((path, written));
            }
            tell(&start.console, &account, left_behind.as_deref());
            whereabouts.leave(&start, left_behind.is_some())?;
        } else {
            start.console.line(Style::Plain, &format!("Worktrees   {}", whereabouts.directory.display()));
        }
        for (path, written) in files {
            written.map_err(|error| Trouble::from(error).at(path.display().to_string()).with_exit(Exit::Output))?;
        }
        // What is to be done with a run that is not over is in the usual lines.
        Ok(Ending { summary: is_over.then(String::new), ..ending })
    }

    /// Removes what a run has made that was cancelled while nobody executed it.
    pub(crate) async fn clear_cancelled(start: Start) -> Result<(), Trouble> {
        let Some(whereabouts) = Whereabouts::find(&start)? else { return Ok(()) };
        let left_behind = if whereabouts.keep {
            None
        } else {
            let past = Past::read(&*start.journal, &start.run).await?;
            let Whereabouts { repository, branch, .. } = &whereabouts;
            take_away(&past, repository, branch, start.run.clone(), whereabouts.worktrees()).await?
        };
        if let Some(problem) = &left_behind {
            start.console.line(Style::Bad, &format!("Some worktrees could not be removed: {problem}"));
        }
        whereabouts.leave(&start, left_behind.is_some())
    }

    /// Removes what was made for a run that then could not begin.
    pub(crate) async fn clear(&self) {
        let order = self.lock().order.take();
        let Some(Order { start, whereabouts, .. }) = order.filter(|order| !order.start.is_resumed) else { return };
        let has_begun = start.journal.load(&start.run).await.map_or(true, |records| !records.is_empty());
        if !has_begun && let Err(trouble) = whereabouts.remove(&start) {
            start.console.line(Style::Bad, &trouble.to_string());
        }
    }

    /// What lies there is whole between two statements, whoever panics.
    fn lock(&self) -> MutexGuard<'_, Papers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Options {
    /// The file that the result is written to, too. One that cannot be written is better known now than after the run; what
    /// is in it stays until then.
    fn result_file(&self, settled: Option<PathBuf>) -> Result<Option<PathBuf>, UsageError> {
        let given = self.result.as_deref().map(absolute).transpose()?;
        let path = given.or(settled);
        path.as_deref().map_or(Ok(()), refuse_unwritable)?;
        Ok(path)
    }
}

/// The run with what the protocol itself does not know.
fn account(whereabouts: &Whereabouts, run: RunId, ended: Ended) -> Result<Account, Trouble> {
    let repository = Repository::open(&whereabouts.repository)?;
    let (before, after) = ended.main;
    let commits = repository.commits(before..after)?;
    let landed = |commit: &CommitRecord| Landed { commit: commit.id.to_string(), subject: commit.subject().to_owned() };
    let own = format!("{run}/");
    let archived = repository.archived()?.into_iter().filter(|(name, _)| name.as_str().starts_with(&own));
    Ok(Account {
        run,
        success: ended.result.as_ref().is_some_and(HybridResult::succeeded),
        interrupted: ended.result.is_none(),
        seconds: ended.took.as_secs_f64(),
        usage: ended.ledger.total(),
        repository: whereabouts.repository.clone(),
        main: Branch { branch: whereabouts.branch.clone(), before: before.to_string(), after: after.to_string() },
        commits: commits.iter().map(landed).collect(),
        archived: archived.map(|(name, _)| name.reference()).collect(),
        calls: ended.ledger,
        result: ended.result,
    })
}

/// The account for people.
fn tell(console: &Console, account: &Account, left_behind: Option<&str>) {
    console.line(Style::Plain, "");
    console.line(if account.success { Style::Good } else { Style::Bad }, &account.headline());
    console.line(Style::Plain, &account.details());
    if let Some(problem) = left_behind {
        console.line(Style::Bad, &format!("Some worktrees could not be removed: {problem}"));
    }
}
