//! Cleans up after a run over a repository that is over, did not begin, or was cancelled.

use super::facts::{Facts, file};
use super::run::{Before, Remembered, RepositoryRun};
use crate::console::Style;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::start::Start;
use interlocking_runtime::journal::JournalError;
use interlocking_runtime::run::claim_ended;
use std::time::Duration;

impl<M: Remembered> RepositoryRun<M> {
    /// Keeps other processes from the run, which this process has executed to its end, while its worktrees and directories are
    /// removed. Returns false if another process has retried or resumed it since: what the run has is then for that process to
    /// remove. [`finish`](Self::finish) calls this; a program that removes worktrees before that calls it first.
    pub async fn take_back(&mut self) -> bool {
        if self.claim.is_some() || self.left_alone.is_some() {
            return self.left_alone.is_none();
        }
        let taken_up = || Some("another process has taken the run up".to_owned());
        self.left_alone = match claim_ended(&*self.start.journal, &self.start.run).await {
            Ok(claim) => {
                self.claim = claim;
                match Facts::<M>::find(&self.start) {
                    Ok(Some(found)) if found.set_ups != self.facts.set_ups => taken_up(),
                    Ok(_) => None,
                    Err(error) => Some(error.to_string()),
                }
            }
            Err(JournalError::Held { .. }) => taken_up(),
            Err(error) => Some(error.to_string()),
        };
        self.left_alone.is_none()
    }

    /// Removes the directory of a run that is over; prints where the directory is instead if the user keeps it or if worktrees
    /// could not be removed. Keeps the agents' sessions if the run has failed and `may_be_retried`.
    pub(super) fn remove_or_keep(mut self, is_left_behind: bool, may_be_retried: bool) -> Result<(), CommandError> {
        let file = file(&self.start);
        if self.facts.keep || is_left_behind {
            self.start.console.line(Style::Plain, &format!("Kept        {}", self.facts.directory.display()));
            return file.replace(&self.facts);
        }
        self.facts.remove_directories(&self.start)?;
        if self.facts.is_demonstration {
            // Without its repository the run can be neither retried nor forked.
            return file.forget();
        }
        self.facts.is_there = false;
        file.replace(&self.facts)?;
        if may_be_retried { Ok(()) } else { file.clear() }
    }

    /// Removes what was made for a run that then did not start or was not resumed, and restores the file of facts as it was
    /// before. Does nothing if another process executes the run. If the run had no directories before, calls `undo` before their
    /// removal, so that the program can remove what else it has made.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if something cannot be removed.
    pub async fn abandon<F: Future<Output = ()>>(self, undo: impl FnOnce() -> F) -> Result<(), CommandError> {
        let Before { known, records, has_sessions } = &self.before;
        let (journal, run) = (&self.start.journal, &self.start.run);
        let mut further_attempts = 0..40;
        let _claim = loop {
            let claimed = journal.claim(run).await;
            // A process that executes the run has taken over its directories and its facts.
            if journal.load(run).await.map_err(CommandError::of_journal)?.len() != *records {
                return Ok(());
            }
            match claimed {
                Ok(claim) => break claim,
                // Another process may hold the run for as long as it takes to be refused.
                Err(JournalError::Held { .. }) if further_attempts.next().is_some() => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                Err(error) => return Err(CommandError::of_journal(error)),
            }
        };
        if self.is_fresh() {
            undo().await;
            self.facts.remove_directories(&self.start)?;
        }
        let file = file(&self.start);
        match known {
            Some(known) if *has_sessions => file.replace(known),
            Some(known) => file.clear().and(file.replace(known)),
            None => file.forget(),
        }
    }

    /// The run that was cancelled while no process executed it, or is about to be removed from the journal; `None` if the run has
    /// nothing on disk.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the run's file of facts cannot be read, or names a directory that was not made for the run.
    pub(super) fn cancelled(start: Start) -> Result<Option<Self>, CommandError> {
        let Some(facts) = Facts::find(&start)?.filter(|facts: &Facts<M>| facts.is_there) else { return Ok(None) };
        facts.require_made(&start)?;
        let (result, named_script, made, claim, left_alone) = Default::default();
        let before = Before { known: Some(Box::new(facts.clone())), records: 0, has_sessions: true };
        Ok(Some(Self { start, facts, result, named_script, before, made, claim, left_alone }))
    }

    /// Removes what is left of such a run after the program has removed its worktrees, unless some are `left_behind`.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if worktrees are left behind, or something else cannot be removed.
    pub(super) fn clear_cancelled(self, left_behind: Option<&str>) -> Result<(), CommandError> {
        let removed = self.remove_or_keep(left_behind.is_some(), false);
        let Some(problem) = left_behind else { return removed };
        let further = removed.err().map(|error| format!("; {error}")).unwrap_or_default();
        Err(worktrees_left(&format!("{problem}{further}")))
    }
}

/// The error of a run that has ended, and has worktrees that could not be removed.
pub(super) fn worktrees_left(problem: &str) -> CommandError {
    CommandError::new(format!("some worktrees could not be removed: {problem}")).with_exit(Exit::Output)
}
