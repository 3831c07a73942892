//! What came of a run over a repository: as JSON for the next program, and in lines for whoever waited for it.

use super::run::{Remembered, RepositoryRun};
use crate::console::Style;
use crate::ending::Ending;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::text::{count, quoted};
use interlocking_agents::{Ledger, Usage};
use interlocking_core::run_id::RunId;
use interlocking_runtime::{Outcome, Report};
use interlocking_sqlite::private;
use interlocking_worktree::{CommitId, CommitRecord, Repository};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// The result of a run with what its graph does not know.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Account<R> {
    /// The run.
    pub run: RunId,
    /// Whether it came to its aim.
    pub success: bool,
    /// Whether it has come to no end of its own: it was cancelled, or stopped and can be resumed.
    pub interrupted: bool,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// What all agent calls used up.
    pub usage: Usage,
    /// Where the repository is.
    pub repository: PathBuf,
    /// The branch that was to be advanced.
    pub target: Advance,
    /// The commits that the branch was advanced by, oldest first.
    pub commits: Vec<LandedCommit>,
    /// References that keep the work of a run that did not land, or of rounds that were rejected.
    pub archived: Vec<String>,
    /// Every agent call.
    pub calls: Ledger,
    /// None if the run has come to no result.
    pub result: Option<R>,
}

/// A branch that was advanced, or was not: then `before` and `after` are the same.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Advance {
    /// Its name.
    pub branch: String,
    /// Where it was when the run began.
    pub before: String,
    /// Where it is now.
    pub after: String,
}

/// A commit that the branch has now.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct LandedCommit {
    /// Its name.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
}

/// What a program tells at the end of a run beside its [`Account`].
#[derive(Debug)]
pub struct Told {
    /// How the program ends.
    pub exit: Exit,
    /// The account in lines for people.
    pub lines: Vec<(Style, String)>,
    /// How the run can be taken further, if it can be.
    pub next: Option<String>,
    /// Worktrees that could not be removed, and why.
    pub left_behind: Option<String>,
}

/// Whether nothing is left to resume.
pub fn has_ended<O>(report: &Report<O>) -> bool {
    matches!(report.outcome, Outcome::Finished(_) | Outcome::Failed(_) | Outcome::Cancelled)
}

impl<R> Account<R> {
    /// The account of a run that advanced its branch from one commit to another, or left it where it was. It is a success, and not
    /// interrupted, if it has a result.
    ///
    /// # Errors
    ///
    /// [`CommandError`] where the repository cannot be read.
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

    /// Where the branch is now, in words: `is where it was`, or how far it was advanced.
    pub fn advance(&self) -> String {
        match self.commits.len() {
            0 => format!("`{}` is where it was", self.target.branch),
            further => {
                let further = count(further as u64, "commit");
                format!("`{}` is {further} further, at {}", self.target.branch, short(&self.target.after))
            }
        }
    }

    /// The commits, and what is kept of work that did not land, a line each; empty where there is nothing of either.
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

    /// What the run has cost, in calls, money and time: two lines.
    pub fn cost(&self) -> String {
        format!("Cost        {}\nTime        {:.1} s", self.usage, self.seconds)
    }
}

impl<M: Remembered> RepositoryRun<M> {
    /// Ends the run in this process: prints what came of it, writes it to the files that the user wants, and removes the run's directories
    /// if it `is_over` and they are not to be kept, or says where they are. What agents remember of a run that `has_failed` is kept.
    ///
    /// # Errors
    ///
    /// [`CommandError`] where the result cannot be serialized. What cannot be written or removed is told here, and the program ends with
    /// [`Exit::Output`]; the rest is done.
    pub fn finish<R: Serialize>(
        self,
        account: &Account<R>,
        told: Told,
        is_over: bool,
        has_failed: bool,
    ) -> Result<Ending, CommandError> {
        let Told { exit, lines, next, left_behind } = told;
        let (console, directory) = (self.start.console.clone(), self.directory().to_owned());
        let mut ending = Ending::with_result(exit, account)?;
        let text = format!("{}\n", ending.result.as_deref().unwrap_or_default());
        let kept = (is_over && self.keeps()).then(|| directory.join("result.json"));
        let files = self.result.iter().cloned().chain(kept);
        let written = files.map(|path| {
            let written = private::write_file(&path, &text);
            written.map_err(|error| CommandError::from(error).at(path.display().to_string()))
        });
        let mut done: Vec<Result<(), CommandError>> = written.collect();
        for (style, line) in lines {
            console.line(style, &line);
        }
        self.tell_left_behind(left_behind.as_deref());
        if is_over {
            let can_go_on = self.keeps() || !self.is_demonstration();
            if let Some(next) = next.filter(|_| can_go_on) {
                console.line(Style::Plain, &next);
            }
            done.push(self.leave(left_behind.is_some(), has_failed));
        } else {
            console.line(Style::Plain, &format!("Worktrees   {}", directory.display()));
        }
        for error in done.into_iter().filter_map(Result::err) {
            console.line(Style::Bad, &format!("error: {error}"));
            ending.exit = Exit::Output;
        }
        Ok(ending)
    }
}

/// A commit's name as people read it.
fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}
