//! Cleans up after a run over a repository that is over, did not begin, or was cancelled.

use super::facts::{Facts, file};
use super::run::{Before, Remembered, RepositoryRun};
use super::run_file::remove_directory;
use crate::console::Style;
use crate::error::CommandError;
use crate::start::Start;

impl<M: Remembered> RepositoryRun<M> {
    /// Removes the directory of a run that is over; prints where the directory is instead if the user keeps it or if worktrees
    /// could not be removed. Keeps the agents' sessions if the run has failed and `may_be_retried`.
    pub(super) fn remove_or_keep(mut self, is_left_behind: bool, may_be_retried: bool) -> Result<(), CommandError> {
        let file = file(&self.start);
        if self.facts.keep || is_left_behind {
            self.start.console.line(Style::Plain, &format!("Kept        {}", self.facts.directory.display()));
            return file.replace(&self.facts);
        }
        remove_directory(&self.facts.removed)?;
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
        let Before { known, records } = &self.before;
        // A process that executes the run has taken over its directories and its facts.
        let Ok(_claim) = self.start.journal.claim(&self.start.run).await else { return Ok(()) };
        let has_begun = self.start.journal.load(&self.start.run).await.map_or(true, |known| known.len() != *records);
        if has_begun {
            return Ok(());
        }
        if self.is_fresh() {
            undo().await;
            remove_directory(&self.facts.removed)?;
        }
        match known {
            Some(known) => file(&self.start).replace(known),
            None => file(&self.start).forget(),
        }
    }

    /// The run that was cancelled while no process executed it; `None` if the run has nothing on disk.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the run's file of facts cannot be read.
    pub fn cancelled(start: Start) -> Result<Option<Self>, CommandError> {
        let Some(facts) = Facts::find(&start)?.filter(|facts: &Facts<M>| facts.is_there) else { return Ok(None) };
        let (result, named_script, unready) = Default::default();
        let before = Before { known: Some(Box::new(facts.clone())), records: 0 };
        Ok(Some(Self { start, facts, result, named_script, before, unready }))
    }

    /// Removes what is left of a cancelled run after the program has removed its worktrees, and prints which worktrees are
    /// `left_behind`.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if something cannot be removed.
    pub fn clear_cancelled(self, left_behind: Option<&str>) -> Result<(), CommandError> {
        self.tell_left_behind(left_behind);
        self.remove_or_keep(left_behind.is_some(), false)
    }

    pub(super) fn tell_left_behind(&self, left_behind: Option<&str>) {
        if let Some(problem) = left_behind {
            self.start.console.line(Style::Bad, &format!("Some worktrees could not be removed: {problem}"));
        }
    }
}
