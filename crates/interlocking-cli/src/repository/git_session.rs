//! A run whose nodes work on [`GitWorkspaces`], from its preparation to its end.

use super::account::{Account, Conclusion, has_ended};
use super::run::{Remembered, RepositoryRun};
use crate::console::Style;
use crate::ending::Ending;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::prepared::{Prepared, RunSession};
use crate::start::Start;
use interlocking_agents::Script;
use interlocking_agents::backends::BuildAccess;
use interlocking_core::graph::{Graph, Stored};
use interlocking_runtime::roles::Roles;
use interlocking_runtime::{Outcome, Report, Run};
use interlocking_workspaces::{GitWorkspaces, Landings, landings};
use interlocking_worktree::{BranchName, CommitId, Keep, Repository};
use std::sync::Arc;

impl<M: Remembered> RepositoryRun<M> {
    /// Worktrees and clones for the run, in its own [directory](Self::worktrees). They begin at the run's branch, and land there
    /// or on the branch that the user names with `--land-on`. No change of a file in the journal's directory lands.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the repository cannot be opened, or the branch's name is invalid.
    pub fn workspaces(&self) -> Result<GitWorkspaces, CommandError> {
        let keep = if self.keeps() { Keep::Always } else { Keep::Never };
        let workspaces = GitWorkspaces::new(Repository::open(self.repository())?, self.worktrees());
        let workspaces = workspaces.with_target(BranchName::new(self.branch())?).with_keep(keep);
        // What this program reads there it believes.
        let workspaces = workspaces.with_reserved_directory(&self.start.directory);
        Ok(match self.land_on() {
            Some(branch) => workspaces.with_landing(BranchName::new(branch)?),
            None => workspaces,
        })
    }

    /// Prepares a run whose nodes work on [these workspaces](Self::workspaces), with the agents that the options name and the
    /// script `usual` for all other roles. At the end, the program prints what landed, where work is kept that did not land, and
    /// the cost; the result contains the graph's output.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if a role has no agent, or the run cannot land on the branch. In that case nothing was done.
    pub async fn prepare<G: Graph>(
        self,
        run: Run<G>,
        access: &BuildAccess,
        usual: Option<Script>,
    ) -> Result<Prepared<G>, CommandError> {
        let workspaces = self.workspaces()?;
        let roles = self.bind_roles::<G>(access, usual).await?;
        self.prepare_with(run, roles, workspaces).await
    }

    /// Like [`prepare`](Self::prepare), with the given agents and with workspaces that the program has configured further than
    /// the [usual ones](Self::workspaces).
    ///
    /// # Errors
    ///
    /// Those of [`prepare`](Self::prepare).
    pub async fn prepare_with<G: Graph>(
        self,
        run: Run<G>,
        roles: Roles,
        workspaces: GitWorkspaces,
    ) -> Result<Prepared<G>, CommandError> {
        self.prepare_judged(run, roles, workspaces, |_| Exit::Done).await
    }

    /// Like [`prepare_with`](Self::prepare_with), where `judge` decides the exit code by the graph's output. The run is a success
    /// only with [`Exit::Done`].
    ///
    /// # Errors
    ///
    /// Those of [`prepare`](Self::prepare).
    pub async fn prepare_judged<G: Graph>(
        mut self,
        run: Run<G>,
        roles: Roles,
        workspaces: GitWorkspaces,
        judge: fn(&G::Output) -> Exit,
    ) -> Result<Prepared<G>, CommandError> {
        if self.is_fresh() {
            workspaces.ensure_name_is_free(&self.start.run)?;
        }
        if self.facts.base.is_none() {
            // The program has made the repository after the run began.
            let branch = BranchName::new(self.branch())?;
            self.facts.base = Repository::open(self.repository())?.branch_head(&branch)?;
        }
        self.refuse_elsewhere().await?;
        let run = run.with_roles(roles).with_workspaces(Arc::new(workspaces.clone()));
        let run = self.ready(run)?;
        Ok(Prepared::new(run, GitSession::<G, M> { run: self, workspaces, judge }))
    }

    /// Refuses a branch to land on that has commits with which the run did not begin, before any agent is called.
    async fn refuse_elsewhere(&self) -> Result<(), CommandError> {
        let Some(name) = self.land_on() else { return Ok(()) };
        let is_over = self.is_over().await?;
        let (repository, branch) = (Repository::open(self.repository())?, BranchName::new(name)?);
        let Some(head) = repository.branch_head(&branch)? else { return Ok(()) };
        let (Some(base), landed) = landed(self, &repository).await? else { return Ok(()) };
        // The run may have landed there before it was stopped.
        if is_over || repository.is_ancestor(head, base)? || landed.is_some() {
            return Ok(());
        }
        Err(CommandError::new(format!(
            "the run began at {base}, and `{branch}` is at {head}, which has commits that the run did not begin with"
        ))
        .at("--land-on")
        .remedy("name another branch, or one that does not exist: it is made there by what lands, for you to merge"))
    }

    /// Removes what is left of a run that `cancel` or `prune` ends while no process executes it: pass this function to
    /// [`Cli::with_cleanup`](crate::Cli::with_cleanup).
    ///
    /// # Errors
    ///
    /// [`CommandError`] if something cannot be removed.
    pub async fn clean_up(start: Start) -> Result<(), CommandError> {
        Self::clean_up_with(start, Self::workspaces).await
    }

    /// Like [`clean_up`](Self::clean_up), for a program that has its workspaces elsewhere than [the run's](Self::workspaces).
    ///
    /// # Errors
    ///
    /// Those of [`clean_up`](Self::clean_up), and that of `workspaces`.
    pub async fn clean_up_with(
        start: Start,
        workspaces: impl FnOnce(&Self) -> Result<GitWorkspaces, CommandError>,
    ) -> Result<(), CommandError> {
        let Some(run) = Self::cancelled(start)? else { return Ok(()) };
        let left_behind = match run.keeps() {
            true => None,
            false => workspaces(&run)?.remove_leftover_of(&run.start.run).await.err(),
        };
        run.clear_cancelled(left_behind.map(|error| error.to_string()).as_deref())
    }
}

/// The commit that the run began at, if it is known, and the last one that it has landed, if it has landed any. A fork began at what
/// the run had landed from which it was forked.
async fn landed<M: Remembered>(
    run: &RepositoryRun<M>,
    repository: &Repository,
) -> Result<(Option<CommitId>, Option<CommitId>), CommandError> {
    let (start, base) = (&run.start, run.facts.base);
    let Some(head) = repository.branch_head(&BranchName::new(run.landing_branch())?)? else { return Ok((base, None)) };
    let last = |commits: Vec<CommitId>| {
        for commit in commits.into_iter().rev() {
            // A commit that did not land may have been removed.
            if repository.commit(commit).is_ok() && repository.is_ancestor(commit, head)? {
                return Ok::<_, CommandError>(Some(commit));
            }
        }
        Ok(None)
    };
    let Landings { inherited, own, .. } =
        landings(&*start.journal, &start.run).await.map_err(CommandError::of_journal)?;
    Ok((last(inherited)?.or(base), last(own)?))
}

/// The state that is kept for a run on git workspaces.
struct GitSession<G: Graph, M: Remembered> {
    run: RepositoryRun<M>,
    workspaces: GitWorkspaces,
    judge: fn(&G::Output) -> Exit,
}

impl<G: Graph, M: Remembered> RunSession<G> for GitSession<G, M> {
    async fn conclude(self, report: Report<G::Output>) -> Result<Ending, CommandError> {
        let Self { mut run, workspaces, judge } = self;
        let is_over = has_ended(&report);
        let is_to_be_gone = is_over && run.take_back().await && !run.keeps();
        let exit = match &report.outcome {
            Outcome::Finished(output) => judge(output),
            other => Exit::of_outcome(other.name()),
        };
        let has_failed = matches!(report.outcome, Outcome::Failed(_));
        let repository = Repository::open(run.repository())?;
        let (Some(before), after) = landed(&run, &repository).await? else {
            return Err(CommandError::new("it is not known where the run began").with_exit(Exit::Failed));
        };
        let after = after.unwrap_or(before);
        // What could not be removed when the run ended is tried again, and why it cannot be is told.
        let left_behind = match is_to_be_gone {
            true => workspaces.remove_leftover_of(&run.start.run).await.err().map(|error| error.to_string()),
            false => None,
        };
        let is_interrupted = !is_over || matches!(report.outcome, Outcome::Cancelled);
        let (calls, seconds) = (report.ledger, report.took.as_duration().as_secs_f64());
        let output = report.outcome.finished();
        let mut account = Account::new(&run, calls, seconds, (before, after), output.as_ref().map(Stored))?;
        account.interrupted = is_interrupted;
        account.success &= exit == Exit::Done;
        let mut lines = Vec::new();
        if is_over {
            let (advance, work) = (account.advance(), account.work());
            let apart = if work.is_empty() { "" } else { "\n" };
            lines.push((Style::Plain, format!("{advance}.\n{work}{apart}{}", account.cost())));
        }
        let conclusion = Conclusion { exit, lines, next: None, left_behind };
        run.finish(&account, conclusion, is_over, has_failed).await
    }

    async fn abandon(self) -> Result<(), CommandError> {
        self.run.abandon(|| std::future::ready(())).await
    }
}
