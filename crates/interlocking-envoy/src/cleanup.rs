//! The removal of debug logs that were marked when they were written.
//!
//! A marker is a comment on a line of its own, `// [DEBUG-TEMP]` or `# [DEBUG-TEMP]`. It goes, and with it all lines below it
//! up to the first blank one, which stays. Nothing is judged: text is compared, byte by byte.
//!
//! What is not touched: files whose extension is not [listed](Extensions), Markdown, everything below `.claude`, `.git`,
//! what git's ignore rules name (even if it is tracked), binary files, whatever a symbolic link leads to, and repositories within
//! the worktree, such as its submodules and other worktrees.

mod extensions;
mod marked;
mod replace;
mod report;
mod walk;

pub use extensions::{Comments, ExtensionError, Extensions};
pub use marked::{Block, MARKER, Marked};
pub use report::{CleanupError, CleanupReport, CleanupWarning, Failure, FileReport};

use crate::library::is_worktree_root;
use std::path::{Path, PathBuf};

/// How debug logs are removed.
#[derive(Clone, Debug)]
pub struct Cleanup {
    extensions: Extensions,
    is_dry_run: bool,
    long_block: usize,
}

impl Default for Cleanup {
    fn default() -> Self {
        Self::new()
    }
}

impl Cleanup {
    /// A block of more lines than these is suspected of a missing blank line, and warned about.
    pub const LONG_BLOCK: usize = 20;

    /// With the usual extensions.
    pub fn new() -> Self {
        Self { extensions: Extensions::usual(), is_dry_run: false, long_block: Self::LONG_BLOCK }
    }

    /// Looks into the files with these extensions, and no others.
    #[must_use]
    pub fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// Only says what would be removed.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.is_dry_run = true;
        self
    }

    /// Warns about blocks of more than so many lines.
    #[must_use]
    pub fn with_long_block(mut self, lines: usize) -> Self {
        self.long_block = lines;
        self
    }

    /// Does it, in the git worktree at `root`. Each file is replaced as a whole or not at all; one that cannot be is in
    /// the report, and the others are done nevertheless.
    ///
    /// # Errors
    ///
    /// [`CleanupError`] where `root` is no worktree: nothing was done.
    pub fn run(&self, root: &Path) -> Result<CleanupReport, CleanupError> {
        if !is_worktree_root(root) {
            return Err(CleanupError::NoWorktree { path: root.to_owned() });
        }
        let (found, mut failures) = walk::marked_files(root, &self.extensions);
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
        Ok(CleanupReport::of(self.is_dry_run, self.long_block, files, failures))
    }
}

/// The root of the git worktree that `place` is in, if it is in one.
pub fn worktree_root(place: &Path) -> Option<PathBuf> {
    let place = std::path::absolute(place).ok()?;
    place.ancestors().find(|directory| is_worktree_root(directory)).map(Path::to_owned)
}
