//! What becomes of a run over a repository that is over, did not begin, or was cancelled.

use super::facts::{Facts, file};
use super::run::{Before, Remembered, RepositoryRun};
use super::run_file::remove_directory;
use crate::console::Style;
use crate::error::CommandError;
use crate::start::Start;

impl<M: Remembered> RepositoryRun<M> {
    /// Removes the directory of a run that is over, or says where it is. One that has failed and `may_be_retried` keeps its agents'
    /// sessions.
    pub(super) fn leave(mut self, is_left_behind: bool, may_be_retried: bool) -> Result<(), CommandError> {
        let file = file(&self.start);
        if self.facts.keep || is_left_behind {
            self.start.console.line(Style::Plain, &format!("Kept        {}", self.facts.directory.display()));
            return file.replace(&self.facts);
        }
        remove_directory(&self.facts.removed)?;
        if self.facts.is_demonstration {
            // Nothing can go on without its repository.
            return file.forget();
        }
        self.facts.is_there = false;
        file.replace(&self.facts)?;
        if may_be_retried { Ok(()) } else { file.clear() }
    }

    /// Removes what was made for a run that then did not begin, or was not resumed, and remembers of it what was known before, unless
    /// somebody else executes it now. Where it had nothing on disk, `undo` takes away before that what the program has made there.
    ///
    /// # Errors
    ///
    /// [`CommandError`] where something cannot be removed.
    pub async fn abandon<F: Future<Output = ()>>(self, undo: impl FnOnce() -> F) -> Result<(), CommandError> {
        let Before { known, records } = &self.before;
        // Somebody who executes it has made the directories his own, and what is remembered.
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

    /// What is known of a run that was cancelled while nobody executed it, and that has something on disk.
    ///
    /// # Errors
    ///
    /// [`CommandError`] where that cannot be read.
    pub fn cancelled(start: Start) -> Result<Option<Self>, CommandError> {
        let Some(facts) = Facts::find(&start)?.filter(|facts: &Facts<M>| facts.is_there) else { return Ok(None) };
        let (result, named_script, unready) = Default::default();
        let before = Before { known: Some(Box::new(facts.clone())), records: 0 };
        Ok(Some(Self { start, facts, result, named_script, before, unready }))
    }

    /// Removes what is left of a run that was cancelled, once the program has removed its worktrees, or says what it could not remove.
    ///
    /// # Errors
    ///
    /// [`CommandError`] where something cannot be removed.
    pub fn clear_cancelled(self, left_behind: Option<&str>) -> Result<(), CommandError> {
        self.tell_left_behind(left_behind);
        self.leave(left_behind.is_some(), false)
    }

    pub(super) fn tell_left_behind(&self, left_behind: Option<&str>) {
        if let Some(problem) = left_behind {
            self.start.console.line(Style::Bad, &format!("Some worktrees could not be removed: {problem}"));
        }
    }
}
