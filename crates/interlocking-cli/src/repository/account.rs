//! The account of a run over a repository: as JSON for the next program, and as lines for people.

use super::directories::write_whole;
use super::end::worktrees_left;
use super::run::{Remembered, RepositoryRun};
use crate::console::Style;
use crate::ending::Ending;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::text::{count, quoted};
use interlocking_agents::{Ledger, Usage};
use interlocking_core::run_id::RunId;
use interlocking_runtime::{Outcome, Report};
use interlocking_worktree::{CommitId, CommitRecord, Repository};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// The result of a run, with what the program knows beyond the graph's output: cost, time, commits, kept work.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Account<R> {
    /// The run.
    pub run: RunId,
    /// Whether the run achieved its goal.
    pub success: bool,
    /// Whether the run did not end by itself: it was cancelled, or stopped and can be resumed.
    pub interrupted: bool,
    /// The duration of the run in seconds.
    pub seconds: f64,
    /// The usage of all agent calls together.
    pub usage: Usage,
    /// The path of the repository.
    pub repository: PathBuf,
    /// The branch that the run advances.
    pub target: Advance,
    /// The commits by which the run advanced the branch, oldest first.
    pub commits: Vec<LandedCommit>,
    /// References that keep work that did not land: of the run, or of rejected rounds.
    pub archived: Vec<String>,
    /// Every agent call.
    pub calls: Ledger,
    /// `None` if the run has no result.
    pub result: Option<R>,
}

/// The branch before and after the run. If the run did not advance it, `before` and `after` are the same.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Advance {
    /// The branch's name.
    pub branch: String,
    /// The commit at which the run began.
    pub before: String,
    /// The commit that the run landed last, or `before`.
    pub after: String,
}

/// A commit that the run added to the branch.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct LandedCommit {
    /// The commit's id.
    pub commit: String,
    /// The first line of the commit message.
    pub subject: String,
}

/// What a program prints at the end of a run besides its [`Account`], and its exit code.
#[derive(Debug)]
pub struct Conclusion {
    /// The program's exit code.
    pub exit: Exit,
    /// The account as lines for people.
    pub lines: Vec<(Style, String)>,
    /// A suggestion for how to continue, if there is one.
    pub next: Option<String>,
    /// Worktrees that could not be removed, and why.
    pub left_behind: Option<String>,
}

/// Whether the run has ended, so that there is nothing to resume.
pub fn has_ended<O>(report: &Report<O>) -> bool {
    matches!(report.outcome, Outcome::Finished(_) | Outcome::Failed(_) | Outcome::Cancelled)
}

impl<R> Account<R> {
    /// The account of a run that advanced its branch from commit `before` to commit `after`; both are the same if the branch was
    /// not advanced. A run with a result is a success, and a run without one is interrupted.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the repository cannot be read.
    pub fn new<M: Remembered>(
        run: &RepositoryRun<M>,
        calls: Ledger,
        seconds: f64,
        (before, after): (CommitId, CommitId),
        result: Option<R>,
    ) -> Result<Self, CommandError> {
        let repository = Repository::open(run.repository())?;
        let commits = repository.commits(before..after)?;
        let landed = |commit: &CommitRecord| LandedCommit {
            commit: commit.id.to_string(),
            subject: commit.subject().to_owned(),
        };
        let name = run.start().run.clone();
        let own = format!("{name}/");
        let archived = repository.archived()?.into_iter().filter(|(name, _)| name.as_str().starts_with(&own));
        let branch = run.landing_branch().to_owned();
        Ok(Self {
            run: name,
            success: result.is_some(),
            interrupted: result.is_none(),
            seconds,
            usage: calls.total(),
            repository: run.repository().to_owned(),
            target: Advance { branch, before: before.to_string(), after: after.to_string() },
            commits: commits.iter().map(landed).collect(),
            archived: archived.map(|(name, _)| name.reference()).collect(),
            calls,
            result,
        })
    }

    /// Describes where the branch is: `is where it was`, or how many commits it was advanced.
    pub fn advance(&self) -> String {
        match self.commits.len() {
            0 => format!("`{}` is where it was", self.target.branch),
            further => {
                let further = count(further as u64, "commit");
                format!("`{}` is {further} further, at {}", self.target.branch, short(&self.target.after))
            }
        }
    }

    /// The commits, and the references that keep work that did not land, one line each; empty if there are neither.
    pub fn work(&self) -> String {
        let mut text = String::new();
        if !self.commits.is_empty() {
            let _ = writeln!(text, "\nCommits on {}", self.target.branch);
            for landed in &self.commits {
                let _ = writeln!(text, "  {} {}", short(&landed.commit), quoted(&landed.subject));
            }
        }
        if !self.success && !self.archived.is_empty() {
            let _ = writeln!(text, "\nWork kept in {}", self.repository.display());
            for reference in &self.archived {
                let _ = writeln!(text, "  {reference}");
            }
        }
        text
    }

    /// The cost of the run in calls, money and time, in two lines.
    pub fn cost(&self) -> String {
        format!("Cost        {}\nTime        {:.1} s", self.usage, self.seconds)
    }
}

impl<M: Remembered> RepositoryRun<M> {
    /// Ends the run in this process: prints the account and writes it to the files that the user names. If the run `is_over`,
    /// removes its directories unless the user keeps them, or another process has [taken the run up](Self::take_back); otherwise
    /// prints where they are. Keeps the agents' sessions of a run that `has_failed`.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the result cannot be serialized. If a file cannot be written or a directory not removed, that is
    /// printed, the rest is done all the same, and the program ends with [`Exit::Output`].
    pub async fn finish<R: Serialize>(
        mut self,
        account: &Account<R>,
        conclusion: Conclusion,
        is_over: bool,
        has_failed: bool,
    ) -> Result<Ending, CommandError> {
        let Conclusion { exit, lines, next, left_behind } = conclusion;
        let (start, directory) = (self.start.clone(), self.directory().to_owned());
        let console = &start.console;
        let mut ending = Ending::with_result(exit, account)?;
        let text = format!("{}\n", ending.result.as_deref().unwrap_or_default());
        let kept = (is_over && self.keeps()).then(|| directory.join("result.json"));
        let files = self.result.iter().map(|file| file.path().to_owned()).chain(kept);
        let written = files.map(|path| {
            let written = write_whole(&path, &text);
            written.map_err(|error| CommandError::from(error).at(path.display().to_string()))
        });
        let mut done: Vec<Result<(), CommandError>> = written.collect();
        for (style, line) in lines {
            console.line(style, &line);
        }
        done.extend(left_behind.as_deref().map(|problem| Err(worktrees_left(problem))));
        if is_over {
            let can_go_on = self.keeps() || !self.is_demonstration();
            if let Some(next) = next.filter(|_| can_go_on) {
                console.line(Style::Plain, &next);
            }
            match self.take_back().await {
                true => done.push(self.remove_or_keep(left_behind.is_some(), has_failed)),
                false => {
                    let why = self.left_alone.as_deref().unwrap_or_default();
                    console.line(Style::Plain, &format!("Kept        {}: {why}", directory.display()));
                }
            }
        } else {
            console.line(Style::Plain, &format!("Worktrees   {}", directory.display()));
        }
        for error in done.into_iter().filter_map(Result::err) {
            start.tell(&error.with_exit(Exit::Output));
            ending.exit = Exit::Output;
        }
        Ok(ending)
    }
}

/// The first ten characters of a commit's id.
fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}
