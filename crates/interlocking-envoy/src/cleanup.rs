//! Removes debug logs that were marked when they were written.
//!
//! A marker is a comment on a line of its own, `// [DEBUG-TEMP]` or `# [DEBUG-TEMP]`. The marker is removed with all lines below
//! it up to the first blank line, which is kept. Text is compared byte by byte; code is not interpreted.
//!
//! A cleanup does not touch files whose extension is not [listed](Extensions), Markdown, everything below `.claude` and `.git`,
//! files that git's ignore rules name (even if they are tracked), binary files, the targets of symbolic links, and repositories
//! within the worktree, such as submodules and other worktrees.
//!
//! An agent may have written the worktree's files, so a cleanup opens only what it has found to be a regular file, and limits what it
//! reads: a file of more than 32 MiB is reported and not searched, and so is a directory whose `.gitignore` is not a regular file of
//! at most 1 MiB. Run it when no agent is at work: one that puts a pipe in the place of a file at that moment makes it wait.

mod extensions;
mod marked;
mod replace;
mod report;
mod rules;
mod walk;

pub use extensions::{Comments, ExtensionError, Extensions};
pub use marked::{Block, MARKER, Marked};
pub use report::{CleanupError, CleanupReport, CleanupWarning, Failure, FileReport};

use crate::library::is_worktree_root;
use std::path::{Path, PathBuf};

/// Removes marked debug logs from a worktree.
#[derive(Clone, Debug)]
pub struct Cleanup {
    extensions: Extensions,
    is_dry_run: bool,
}

impl Default for Cleanup {
    fn default() -> Self {
        Self::new()
    }
}

impl Cleanup {
    /// A block of more lines than this causes a warning, as a blank line may be missing.
    pub const LONG_BLOCK: usize = 20;

    /// A cleanup of files with the usual extensions.
    pub fn new() -> Self {
        Self { extensions: Extensions::usual(), is_dry_run: false }
    }

    /// Sets the extensions of the files that are searched.
    #[must_use]
    pub fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// Only reports what would be removed.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.is_dry_run = true;
        self
    }

    /// Cleans up the git worktree at `root`. Each file is replaced atomically. A file that cannot be replaced is listed in the
    /// report, and the other files are cleaned up all the same.
    ///
    /// # Errors
    ///
    /// [`CleanupError`] if `root` is not the root of a worktree: nothing was done.
    pub fn run(&self, root: &Path) -> Result<CleanupReport, CleanupError> {
        if !is_worktree_root(root) {
            return Err(CleanupError::NoWorktree { path: root.to_owned() });
        }
        let (found, mut failures) = walk::marked_files(root, &self.extensions, walk::Limits::USUAL);
        let mut files = Vec::new();
        for found in found {
            if !self.is_dry_run
                && found.marked.removes_anything()
                && let Err(error) = replace::replace(&found, root)
            {
                failures.push(Failure { path: found.path, reason: error.to_string() });
                continue;
            }
            files.push((found.path, found.marked));
        }
        Ok(CleanupReport::of(self.is_dry_run, files, failures))
    }
}

/// The root of the git worktree that contains `place`, if there is one.
pub fn worktree_root(place: &Path) -> Option<PathBuf> {
    let place = std::path::absolute(place).ok()?;
    place.ancestors().find(|directory| is_worktree_root(directory)).map(Path::to_owned)
}
