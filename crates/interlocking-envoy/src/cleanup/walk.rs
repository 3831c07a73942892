//! Finds the files of a worktree that contain markers.

use crate::cleanup::extensions::Extensions;
use crate::cleanup::marked::{MARKER, Marked};
use crate::cleanup::report::Failure;
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use memchr::memmem::Finder;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A file with markers, or with lines that look like markers.
pub(crate) struct Found {
    /// The path, relative to the worktree's root.
    pub(crate) path: PathBuf,
    /// The file's content.
    pub(crate) content: Vec<u8>,
    pub(crate) marked: Marked,
}

/// The number of bytes searched for a zero byte, which makes a file binary: as in git.
const LOOKED_AT_FOR_ZERO: usize = 8_000;

/// The files that contain markers, sorted by path, and the files that could not be read.
pub(crate) fn marked_files(root: &Path, extensions: &Extensions) -> (Vec<Found>, Vec<Failure>) {
    let results = Mutex::default();
    let mut builder = WalkBuilder::new(root);
    // Only git's ignore rules in the worktree apply: not `.ignore` files, and not rules of directories above.
    builder.hidden(false).ignore(false).parents(false).follow_links(false).filter_entry(belongs);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(8);
    builder.threads(threads).build_parallel().visit(&mut Search { root, extensions, results: &results });
    let (mut found, mut failures): Results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by(|one, other| one.path.cmp(&other.path));
    failures.sort_by(|one, other| one.path.cmp(&other.path));
    (found, failures)
}

type Results = (Vec<Found>, Vec<Failure>);

/// Whether an entry is part of the worktree and may be edited: not `.git`, not `.claude` with the agents' configuration, and not
/// another repository.
fn belongs(entry: &DirEntry) -> bool {
    let is_other = || {
        let name = entry.file_name();
        name == ".git" || name == ".claude" || std::fs::symlink_metadata(entry.path().join(".git")).is_ok()
    };
    entry.depth() == 0 || !entry.file_type().is_some_and(|kind| kind.is_dir()) || !is_other()
}

struct Search<'a> {
    root: &'a Path,
    extensions: &'a Extensions,
    results: &'a Mutex<Results>,
}

impl<'a> ParallelVisitorBuilder<'a> for Search<'a> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'a> {
        let Self { root, extensions, results } = *self;
        Box::new(Searcher { root, extensions, results, finder: Finder::new(MARKER), buffer: Vec::new() })
    }
}

/// One thread's search.
struct Searcher<'a> {
    root: &'a Path,
    extensions: &'a Extensions,
    results: &'a Mutex<Results>,
    finder: Finder<'static>,
    /// Reused for all files; as large as the largest of them.
    buffer: Vec<u8>,
}

impl ParallelVisitor for Searcher<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        let failed = |path: &Path, reason: String| {
            let path = path.strip_prefix(self.root).unwrap_or(path).to_owned();
            self.results.lock().unwrap_or_else(PoisonError::into_inner).1.push(Failure { path, reason });
        };
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                failed(path_of(&error).unwrap_or(self.root), error.to_string());
                return WalkState::Continue;
            }
        };
        // A symbolic link is not a regular file, so its target is not touched.
        let comments = self.extensions.of(entry.path());
        let Some(comments) = comments.filter(|_| entry.file_type().is_some_and(|kind| kind.is_file())) else {
            return WalkState::Continue;
        };
        match read(entry.path(), &mut self.buffer) {
            Ok(length) => {
                let content = &self.buffer[..length];
                if self.finder.find(content).is_some() && !is_binary(content) {
                    let path = entry.path().strip_prefix(self.root).unwrap_or(entry.path()).to_owned();
                    let found = Found { path, content: content.to_owned(), marked: Marked::of(content, comments) };
                    self.results.lock().unwrap_or_else(PoisonError::into_inner).0.push(found);
                }
            }
            // Another process has removed the file, and so its markers.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => failed(entry.path(), error.to_string()),
        }
        WalkState::Continue
    }
}

fn is_binary(content: &[u8]) -> bool {
    memchr::memchr(0, &content[..content.len().min(LOOKED_AT_FOR_ZERO)]).is_some()
}

/// Reads a file to the beginning of the buffer, and returns its length. The length is not queried first, which would take a good
/// part of the time for small files.
fn read(path: &Path, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let mut file = File::open(path)?;
    let mut length = 0;
    loop {
        if length == buffer.len() {
            buffer.resize((2 * length).max(1 << 16), 0);
        }
        match file.read(&mut buffer[length..]) {
            Ok(0) => return Ok(length),
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}
