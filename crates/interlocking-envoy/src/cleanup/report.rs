//! What a cleanup did, or would do.

use crate::cleanup::Cleanup;
use crate::cleanup::marked::{Block, Marked};
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};

/// What a cleanup did, or would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CleanupReport {
    /// Whether everything that is marked in the searched files has been removed, or would be.
    pub success: bool,
    /// Whether nothing was changed, as this was a dry run.
    pub dry_run: bool,
    /// The changed files, relative to the worktree's root, in order.
    #[serde(serialize_with = "as_texts")]
    pub files_modified: Vec<PathBuf>,
    /// The number of removed markers.
    pub markers_removed: usize,
    /// The number of removed lines, including markers.
    pub lines_removed: usize,
    /// The removed blocks of each file.
    pub files: Vec<FileReport>,
    /// What a person should check.
    pub warnings: Vec<CleanupWarning>,
    /// Files that could not be read, searched or replaced, and are unchanged.
    pub failures: Vec<Failure>,
}

/// The blocks removed from a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// The file, relative to the worktree's root.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// The removed blocks, with line numbers of the file before the removal.
    pub blocks: Vec<Block>,
}

/// Something about a cleanup that a person should check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CleanupWarning {
    /// A block is long: the blank line before real code may be missing.
    #[error(
        "{}:{line}: {lines} lines belong to this marker, because no blank line comes sooner: check that none of them is real code",
        path.display()
    )]
    LongBlock {
        /// The file.
        #[serde(serialize_with = "as_text")]
        path: PathBuf,
        /// The line of the block's marker.
        line: usize,
        /// The number of the block's lines.
        lines: usize,
    },
    /// A block reaches the end of its file.
    #[error(
        "{}:{line}: no blank line comes after this marker, so all {lines} lines to the file's end belong to it: check that \
         none of them is real code",
        path.display()
    )]
    ReachesEnd {
        /// The file.
        #[serde(serialize_with = "as_text")]
        path: PathBuf,
        /// The line of the block's marker.
        line: usize,
        /// The number of the block's lines.
        lines: usize,
    },
    /// A line looks like a marker but is not one.
    #[error(
        "{}:{line}: `[DEBUG-TEMP]` stays, because this line is not a marker: a marker is a comment of its own that says nothing else",
        path.display()
    )]
    NoMarker {
        /// The file.
        #[serde(serialize_with = "as_text")]
        path: PathBuf,
        /// The line.
        line: usize,
    },
}

/// A file that could not be read, searched or replaced, and is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct Failure {
    /// The file or directory, relative to the worktree's root if it is within that.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// The system's error, or the limit that it exceeds.
    pub reason: String,
}

/// Why a cleanup was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CleanupError {
    /// The directory is not the root of a git worktree.
    #[error("{} is not the root of a git worktree: a cleanup keeps to one, run it there", path.display())]
    NoWorktree {
        /// The directory.
        path: PathBuf,
    },
}

impl CleanupReport {
    pub(crate) fn of(dry_run: bool, marked: Vec<(PathBuf, Marked)>, failures: Vec<Failure>) -> Self {
        let mut warnings = Vec::new();
        let mut files = Vec::new();
        for (path, Marked { blocks, unmarked_lines }) in marked {
            for block in &blocks {
                let (path, line, lines) = (path.clone(), block.line, block.lines);
                if block.reaches_end {
                    warnings.push(CleanupWarning::ReachesEnd { path, line, lines });
                } else if lines > Cleanup::LONG_BLOCK {
                    warnings.push(CleanupWarning::LongBlock { path, line, lines });
                }
            }
            warnings
                .extend(unmarked_lines.into_iter().map(|line| CleanupWarning::NoMarker { path: path.clone(), line }));
            if !blocks.is_empty() {
                files.push(FileReport { path, blocks });
            }
        }
        let sum = |of: fn(&Block) -> usize| files.iter().flat_map(|file| &file.blocks).map(of).sum();
        Self {
            success: failures.is_empty(),
            dry_run,
            files_modified: files.iter().map(|file| file.path.clone()).collect(),
            markers_removed: sum(|block| block.markers),
            lines_removed: sum(|block| block.lines),
            files,
            warnings,
            failures,
        }
    }
}

/// Serializes a path as text, with invalid UTF-8 replaced.
fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

fn as_texts<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}
