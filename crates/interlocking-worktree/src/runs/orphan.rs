//! What runs have left in a yard whose process died, or was told to keep it.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use crate::{
    filesystem::own_paths,
    recovery::process_lock::Held,
    runs::{
        run::{close, mark_kept, take_away},
        yard::{PlaceName, RUN, Yard, YardError},
    },
    untrusted::file::{Kind, open_with},
    values::git_error::{Doing as _, GitError},
    worktrees::{list::WorktreeEntry, worktree::Worktree},
};

/// A run that is not alive. As long as there is this, nobody else deals with it.
#[derive(Debug)]
pub struct Orphan {
    yard: Yard,
    run: PlaceName,
    directory: PathBuf,
    lock: Held,
    is_kept: bool,
    worktrees: Vec<WorktreeEntry>,
}

impl Yard {
    /// The runs whose process is dead, and those that were kept, ordered by name. Half-made worktrees of theirs are gone
    /// by then. To be asked at start; each is then [kept](Orphan::keep), [removed](Orphan::remove), or left as it is.
    ///
    /// # Errors
    ///
    /// Something could not be read.
    pub fn orphans(&self) -> Result<Vec<Orphan>, GitError> {
        let doing = || format!("looking for runs in {}", self.directory.display());
        let worktrees = self.repository.worktrees()?;
        let _beginning = self.lock()?;
        let mut orphans = Vec::new();
        for entry in own_paths::read_dir(&self.directory).doing(doing)? {
            let entry = entry.doing(doing)?;
            let run = entry.file_name().to_str().and_then(|name| PlaceName::new(name).ok());
            let (Some(run), true) = (run, entry.file_type().doing(doing)?.is_dir()) else { continue };
            let directory = entry.path();
            // A link there is not followed: what it leads to would be locked and written to.
            let opened = open_with(&directory.join(RUN), Kind::Link, File::options().read(true).append(true));
            let Ok(Some(opened)) = opened else { continue };
            let Ok(lock) = Held::take(opened) else { continue };
            let mut text = String::new();
            (&*lock).read_to_string(&mut text).doing(doing)?;
            let in_it = |entry: &&WorktreeEntry| entry.path.parent() == Some(&directory);
            let worktrees = worktrees.iter().filter(in_it).cloned().collect();
            orphans.push(Orphan {
                yard: self.clone(),
                run,
                directory,
                lock,
                is_kept: text.contains("kept"),
                worktrees,
            });
        }
        orphans.sort_by(|one, other| one.run.cmp(&other.run));
        Ok(orphans)
    }
}

impl Orphan {
    /// The run's name.
    #[must_use]
    pub fn run(&self) -> &PlaceName {
        &self.run
    }

    /// Where its worktrees are.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether it was kept on purpose.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Its worktrees, as git lists them.
    #[must_use]
    pub fn worktrees(&self) -> &[WorktreeEntry] {
        &self.worktrees
    }

    /// Marks it as kept on purpose.
    ///
    /// # Errors
    ///
    /// It could not be written.
    pub fn keep(self) -> Result<(), GitError> {
        if self.is_kept { Ok(()) } else { mark_kept(&self.lock, &self.directory) }
    }

    /// Removes its worktrees, with what is not committed in them; branches stay. Returns what else lies in its
    /// directory, and is not touched.
    ///
    /// # Errors
    ///
    /// The first [`YardError`], for instance of a worktree whose `.git` file was rewritten; the others are removed all
    /// the same.
    pub fn remove(self) -> Result<Vec<PathBuf>, YardError> {
        let mut result = Ok(());
        for entry in self.worktrees {
            let worktree = Worktree::linked(self.yard.repository.clone(), entry.name, entry.path, entry.branch);
            result = result.and(take_away(&self.yard, &worktree));
        }
        result?;
        Ok(close(&self.directory)?)
    }
}
