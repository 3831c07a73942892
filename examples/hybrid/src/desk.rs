//! What the program does before a run and after it.

use crate::cli::{Options, Players, Specification, UsageError, absolute};
use crate::site::{Site, refuse_unwritable};
use crate::summary::{Account, Branch, Landed};
use crate::whereabouts::{Whereabouts, beside};
use hybrid::graph::Hybrid;
use hybrid::past::Past;
use hybrid::run::{Ended, UnderWay, has_ended, take_away};
use hybrid::spec::Task;
use hybrid::types::{HybridResult, StackSpec};
use interlocking::cli::{CommandError, Console, Ending, Exit, Prepared, RunSession, Start, Style, private};
use interlocking::prelude::*;
use interlocking::worktree::{CommitRecord, Repository};
use std::io;
use std::path::PathBuf;

/// A run that is under way.
pub(crate) struct Order {
    start: Start,
    whereabouts: Whereabouts,
    under_way: UnderWay,
    result: Option<PathBuf>,
    /// What lay there before this process made the run's directory; none if there was one.
    before: Option<Before>,
}

/// A run that had nothing on disk when it was taken up.
struct Before {
    /// What was known of it; none of a fork that nobody had taken up.
    whereabouts: Option<Whereabouts>,
    /// How many records it had.
    records: usize,
}

/// Makes ready for a new run.
pub(crate) async fn begin(
    options: Options,
    specification: Specification,
    start: Start,
) -> Result<(StackSpec, Prepared<Hybrid>), CommandError> {
    let task = specification.task()?;
    let spec = task.spec.clone();
    let is_our_task = specification.is_the_demonstration();
    let location = specification.location;
    if task.spec.strictness.mutation_blocking {
        let unmet = "`strictness.mutationBlocking` asks for tests that catch mutants, and this graph has nobody who looks for \
                     mutants: the run could not succeed";
        return Err(CommandError::new(unmet).remedy("set it to false, or take the preset \"default\""));
    }
    let players = options.players()?.unwrap_or_else(Players::usual);
    let script = players.script(options.script.as_deref())?;
    if !start.journal.load(&start.run).await?.is_empty() {
        let taken = CommandError::new(format!("there is a run `{}` in the journal", start.run));
        return Err(taken.at(start.directory.display().to_string()).remedy("choose another --run-id"));
    }
    let result = options.result_file(None)?;
    Whereabouts::forget_removed(&start).await?;
    let location = location.absolute()?;
    let site = Site::choose(&location, &start.run)?;
    if players.play_the_demonstration() && !is_our_task {
        start.console.line(
            Style::Bold,
            "note: the agents are the demonstration's: they write its bounded stack, whatever the specification \
                 says; --script FILE takes your own",
        );
    }
    let whereabouts = Whereabouts {
        is_there: true,
        directory: site.directory.clone(),
        removed: site.removed.clone(),
        target_directory: site.target_directory.clone(),
        repository: site.repository.clone(),
        is_demonstration: site.is_demonstration,
        branch: location.branch.clone().unwrap_or_else(|| "main".to_owned()),
        location,
        land_on: options.land_on.clone(),
        toolchain: task.toolchain.clone(),
        players,
        keep: options.keep,
        result: result.clone(),
        agents: beside(&start).directory(),
    };
    let prepared = async {
        beside(&start).make_directory()?;
        let roles = whereabouts.bind_roles(script).await?;
        let prepared = whereabouts.prepare(&start, task, roles).await?;
        whereabouts.write(&start)?;
        Ok(prepared)
    };
    match prepared.await {
        Ok((run, under_way)) => {
            let order = Order { start, whereabouts, under_way, result, before: None };
            Ok((spec, Prepared::new(run, order)))
        }
        Err(error) => {
            site.give_up()?;
            beside(&start).clear()?;
            Err(error)
        }
    }
}

/// Makes ready for a run that another process began, or that is a fork. What is there is not touched: that process may live.
pub(crate) async fn take_up(options: Options, start: Start) -> Result<Prepared<Hybrid>, CommandError> {
    // Until all is ready, nobody else makes ready for it; and whoever executes it has made it ready.
    let claim = match Whereabouts::find(&start)? {
        Some(known) if known.is_there => None,
        _ => Some(
            start
                .journal
                .claim(&start.run)
                .await
                .map_err(|error| CommandError::from(error).with_exit(Exit::Journal))?,
        ),
    };
    let known = Whereabouts::find(&start)?;
    let mut whereabouts = Whereabouts::read(&start).await?;
    whereabouts.refuse_gone(&start)?;
    if let Some(players) = options.players()? {
        whereabouts.players = players;
    }
    whereabouts.keep |= options.keep;
    whereabouts.land_on = options.land_on.clone().or(whereabouts.land_on);
    let script = whereabouts.players.script(options.script.as_deref())?;
    let mut past = Past::read(&*start.journal, &start.run).await?;
    if start.is_retried {
        past = past.retried();
    }
    let result = options.result_file(whereabouts.result.take())?;
    let site = if whereabouts.is_there {
        whereabouts.make_directory()?;
        None
    } else {
        past = past.without_places();
        Some(whereabouts.settle(&start.run)?)
    };
    let task = Task { spec: past.spec.clone(), toolchain: whereabouts.toolchain.clone() };
    let records = start.journal.load(&start.run).await?.len();
    let prepared = async {
        beside(&start).make_directory()?;
        let roles = whereabouts.bind_roles(script).await?;
        let prepared = whereabouts.set_up(&start, task, roles, Some(past))?;
        Whereabouts { result: result.clone(), ..whereabouts.clone() }.note(&start)?;
        Ok(prepared)
    };
    let (run, under_way) = match (prepared.await, site) {
        (Ok(prepared), _) => prepared,
        (Err(error), None) => return Err(error),
        (Err(error), Some(site)) => {
            site.give_up()?;
            if known.is_none() {
                beside(&start).clear()?;
            }
            return Err(error);
        }
    };
    drop(claim);
    let had_nothing = known.as_ref().is_none_or(|known| !known.is_there);
    let before = had_nothing.then_some(Before { whereabouts: known, records });
    Ok(Prepared::new(run, Order { start, whereabouts, under_way, result, before }))
}

impl RunSession<Hybrid> for Order {
    /// Ends the run, if it is at its end, and tells what came of it.
    async fn conclude(self, report: Report<HybridResult>) -> Result<Ending, CommandError> {
        let Self { start, whereabouts, under_way, result, .. } = self;
        let (is_over, usual) = (has_ended(&report), Ending::of(&report)?);
        let (has_failed, next) = (matches!(report.outcome, Outcome::Failed(_)), next(&report, &start.run));
        let ended = under_way.conclude(report, &*start.journal).await.map_err(|error| {
            let again = format!("once that is out of the way, `hybrid resume {}` tells what came of it", start.run);
            CommandError::from(error).remedy(again).with_exit(Exit::Failed)
        })?;
        let left_behind = ended.left_behind.clone();
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
            let can_go_on = whereabouts.keep || !whereabouts.is_demonstration;
            if let Some(next) = next.filter(|_| can_go_on && !account.success) {
                start.console.line(Style::Plain, &next);
            }
            whereabouts.leave(&start, left_behind.is_some(), has_failed)?;
        } else {
            start.console.line(Style::Plain, &format!("Worktrees   {}", whereabouts.directory.display()));
        }
        for (path, written) in files {
            written
                .map_err(|error| CommandError::from(error).at(path.display().to_string()).with_exit(Exit::Output))?;
        }
        // What is to be done with a run that is not over is in the usual lines.
        Ok(Ending { summary: is_over.then(String::new), ..ending })
    }

    /// Removes what was made for a run that then could not begin, or not be taken up.
    async fn abandon(self) -> Result<(), CommandError> {
        let Self { start, whereabouts, before, .. } = self;
        let before = match (before, start.is_resumed) {
            (Some(before), _) => before,
            (None, false) => Before { whereabouts: None, records: 0 },
            (None, true) => return Ok(()),
        };
        // Somebody who executes it has made the places his own.
        let Ok(_claim) = start.journal.claim(&start.run).await else { return Ok(()) };
        let has_begun = start.journal.load(&start.run).await.map_or(true, |records| records.len() != before.records);
        if has_begun {
            return Ok(());
        }
        match before.whereabouts {
            None => whereabouts.remove(&start),
            Some(known) => whereabouts.remove_directory().and_then(|()| known.note(&start)),
        }
    }
}

/// Removes what a run has made that was cancelled while nobody executed it.
pub(crate) async fn clear_cancelled(start: Start) -> Result<(), CommandError> {
    let Some(whereabouts) = Whereabouts::find(&start)? else { return Ok(()) };
    if !whereabouts.is_there {
        return Ok(());
    }
    let left_behind = if whereabouts.keep {
        None
    } else {
        let Whereabouts { repository, branch, .. } = &whereabouts;
        take_away(repository, branch, &start.run, &whereabouts.worktrees()).await?
    };
    if let Some(problem) = &left_behind {
        start.console.line(Style::Bad, &format!("Some worktrees could not be removed: {problem}"));
    }
    whereabouts.leave(&start, left_behind.is_some(), false)
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
fn account(whereabouts: &Whereabouts, run: RunId, ended: Ended) -> Result<Account, CommandError> {
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
        main: Branch { branch: whereabouts.landing().to_owned(), before: before.to_string(), after: after.to_string() },
        commits: commits.iter().map(landed).collect(),
        archived: archived.map(|(name, _)| name.reference()).collect(),
        calls: ended.ledger,
        result: ended.result,
    })
}

/// How a run that is over and has not come to its aim can be taken further.
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

/// The account for people.
fn tell(console: &Console, account: &Account, left_behind: Option<&str>) {
    console.line(Style::Plain, "");
    console.line(if account.success { Style::Good } else { Style::Bad }, &account.headline());
    console.line(Style::Plain, &account.details());
    if let Some(problem) = left_behind {
        console.line(Style::Bad, &format!("Some worktrees could not be removed: {problem}"));
    }
}
