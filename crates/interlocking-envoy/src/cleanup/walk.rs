//! Finds the files of a worktree that contain markers.

use crate::cleanup::extensions::Extensions;
use crate::cleanup::marked::{MARKER, Marked};
use crate::cleanup::report::Failure;
use crate::cleanup::rules;
use crate::library::is_worktree_root;
use ignore::gitignore::gitconfig_excludes_path;
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use memchr::memmem::Finder;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file with markers, or with lines that look like markers.
pub(crate) struct Found {
    /// The path, relative to the worktree's root.
    pub(crate) path: PathBuf,
    /// The file's content; empty if nothing is to be removed from it.
    pub(crate) content: Vec<u8>,
    pub(crate) marked: Marked,
}

/// How many bytes a search holds in memory.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Of one file, for each thread.
    pub(crate) file: usize,
    /// Of all files together from which something is to be removed.
    pub(crate) marked: usize,
}

impl Limits {
    /// More than the source code of a project has, and little enough for any machine.
    pub(crate) const USUAL: Self = Self { file: 32 << 20, marked: 256 << 20 };
}

/// The number of bytes searched for a zero byte, which makes a file binary: as in git.
const LOOKED_AT_FOR_ZERO: usize = 8_000;

/// The files that contain markers, sorted by path, and the files that could not be read.
pub(crate) fn marked_files(root: &Path, extensions: &Extensions, limits: Limits) -> (Vec<Found>, Vec<Failure>) {
    let results = Arc::new(Results { root: root.to_owned(), limits, entries: Mutex::default() });
    match rules::check_root(root) {
        Ok(exclude) => search(root, exclude.as_deref(), extensions, &results),
        Err(failure) => results.add_failure(failure),
    }
    let Entries { mut found, mut failures, .. } = std::mem::take(&mut *results.entries());
    found.sort_by(|one, other| one.path.cmp(&other.path));
    failures.sort_by(|one, other| one.path.cmp(&other.path));
    (found, failures)
}

fn search(root: &Path, exclude: Option<&Path>, extensions: &Extensions, results: &Arc<Results>) {
    let mut builder = WalkBuilder::new(root);
    // Only git's ignore rules in the worktree apply: not `.ignore` files, and not rules of directories above.
    builder.hidden(false).ignore(false).parents(false).follow_links(false).git_global(false).git_exclude(false);
    // As in git, the repository's file comes before that of the user: `ignore` asks first what is added last.
    let of_user = gitconfig_excludes_path().filter(|path| path.is_file());
    for excludes in of_user.as_deref().into_iter().chain(exclude) {
        // Its patterns are relative to the root. A file that does not exist has none, and wrong ones are left out, as in git.
        let _ = builder.current_dir(root).add_ignore(excludes);
    }
    let for_filter = results.clone();
    builder.filter_entry(move |entry| {
        // `ignore` reads a directory's rules before it visits the directory, and after it has called this.
        entry.depth() == 0 || !is_directory(entry) || (belongs(entry) && for_filter.can_read_rules(entry.path()))
    });
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(8);
    builder.threads(threads).build_parallel().visit(&mut Search { extensions, results });
}

fn is_directory(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

/// Whether a directory is part of the worktree and may be edited: not `.git`, not `.claude` with the agents' configuration, and not
/// another repository.
fn belongs(directory: &DirEntry) -> bool {
    let name = directory.file_name();
    name != ".git" && name != ".claude" && !is_worktree_root(directory.path())
}

/// What all threads have found so far.
struct Results {
    root: PathBuf,
    limits: Limits,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    found: Vec<Found>,
    failures: Vec<Failure>,
    /// The number of bytes of the contents of `found`.
    bytes: usize,
}

impl Results {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_owned()
    }

    fn add_failure(&self, Failure { path, reason }: Failure) {
        let path = self.relative(&path);
        self.entries().failures.push(Failure { path, reason });
    }

    /// Whether a directory's rules can be read; reports them if not.
    fn can_read_rules(&self, directory: &Path) -> bool {
        rules::check(directory).map_err(|failure| self.add_failure(failure)).is_ok()
    }

    fn add_found(&self, path: &Path, content: &[u8], marked: Marked) {
        let path = self.relative(path);
        let content = if marked.removes_anything() { content } else { &[] };
        let (mut entries, most) = (self.entries(), self.limits.marked);
        if entries.bytes + content.len() > most {
            let reason = format!(
                "it is left as it is, because the files with markers have more than {most} bytes together: run the command \
                 again when the others are cleaned up"
            );
            entries.failures.push(Failure { path, reason });
            return;
        }
        entries.bytes += content.len();
        entries.found.push(Found { path, content: content.to_owned(), marked });
    }
}

struct Search<'a> {
    extensions: &'a Extensions,
    results: &'a Results,
}

impl<'a> ParallelVisitorBuilder<'a> for Search<'a> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'a> {
        let Self { extensions, results } = *self;
        Box::new(Searcher { extensions, results, finder: Finder::new(MARKER), buffer: Vec::new() })
    }
}

/// One thread's search.
struct Searcher<'a> {
    extensions: &'a Extensions,
    results: &'a Results,
    finder: Finder<'static>,
    /// Reused for all files; as large as the largest of them.
    buffer: Vec<u8>,
}

impl ParallelVisitor for Searcher<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        let results = self.results;
        let failed = |path: &Path, reason: String| results.add_failure(Failure { path: path.to_owned(), reason });
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                failed(path_of(&error).unwrap_or(&results.root), error.to_string());
                return WalkState::Continue;
            }
        };
        // A symbolic link is not a regular file, so its target is not touched.
        let comments = self.extensions.of(entry.path());
        let Some(comments) = comments.filter(|_| entry.file_type().is_some_and(|kind| kind.is_file())) else {
            return WalkState::Continue;
        };
        match read(entry.path(), &mut self.buffer, results.limits.file) {
            Ok(Some(length)) => {
                let content = &self.buffer[..length];
                if self.finder.find(content).is_some() {
                    results.add_found(entry.path(), content, Marked::of(content, comments));
                }
            }
            // A binary file.
            Ok(None) => {}
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

/// Reads a file to the beginning of the buffer, and returns its length; `None` for a binary file, which is not read to its end. The
/// length is not queried first, which would take a good part of the time for small files.
fn read(path: &Path, buffer: &mut Vec<u8>, most: usize) -> io::Result<Option<usize>> {
    let mut file = File::open(path)?;
    let mut length = 0;
    loop {
        if length == buffer.len() {
            buffer.resize((2 * length).max(1 << 16).min(most + 1), 0);
        }
        match file.read(&mut buffer[length..]) {
            Ok(0) => return Ok(Some(length)),
            Ok(count) if length < LOOKED_AT_FOR_ZERO && is_binary(&buffer[..length + count]) => return Ok(None),
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if length > most {
            return Err(io::Error::other(format!(
                "it has more than {most} bytes, and is not searched: split it, or let git ignore it"
            )));
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const MARKED: &str = "// [DEBUG-TEMP]\nlog\n\n";

    fn searched(files: &[(&str, &[u8])], limits: Limits) -> (Vec<String>, Vec<String>) {
        let place = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(place.path().join(name), content).unwrap();
        }
        let (found, failures) = marked_files(place.path(), &Extensions::usual(), limits);
        let found = found.into_iter().map(|found| found.path.display().to_string());
        (found.collect(), failures.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_file_of_more_than_the_limit_is_reported_and_one_of_the_limit_is_searched() {
        for file in [MARKED.len(), LOOKED_AT_FOR_ZERO, 1 << 16, 3 << 16] {
            let large = MARKED.to_owned() + &"x".repeat(file - MARKED.len());
            let larger = large.clone() + "x";
            let limits = Limits { file, ..Limits::USUAL };
            let (found, failures) = searched(&[("a.rs", larger.as_bytes()), ("b.rs", large.as_bytes())], limits);
            assert_eq!(found, ["b.rs"]);
            let said =
                format!("a.rs: it has more than {file} bytes, and is not searched: split it, or let git ignore it");
            assert_eq!(failures, [said]);
        }
    }

    /// A binary file has a zero byte among its first bytes, however large it is.
    #[test]
    fn a_binary_file_has_no_limit() {
        let content = |zero: usize| [&vec![b'x'; zero][..], b"\0", MARKED.as_bytes()].concat();
        let (early, late) = (content(LOOKED_AT_FOR_ZERO - 1), content(LOOKED_AT_FOR_ZERO));
        let limits = Limits { file: LOOKED_AT_FOR_ZERO, ..Limits::USUAL };
        let (found, failures) = searched(&[("early.rs", &early), ("late.rs", &late)], limits);
        assert!(found.is_empty() && failures.len() == 1 && failures[0].starts_with("late.rs: "), "{failures:?}");
        let (found, failures) = searched(&[("early.rs", &early), ("late.rs", &late)], Limits::USUAL);
        assert_eq!((found, failures), (vec!["late.rs".to_owned()], vec![]));
    }

    /// Contents are held only where something is to be removed.
    #[test]
    fn the_files_that_are_held_together_have_a_limit() {
        let stray = format!("x {MARKED}");
        let files = ["a.rs", "b.rs", "c.rs"].map(|name| (name, MARKED.as_bytes()));
        let files = [&files[..], &[("stray.rs", stray.as_bytes())]].concat();
        let two = Limits { marked: 2 * MARKED.len(), ..Limits::USUAL };
        let (found, failures) = searched(&files, two);
        assert_eq!((found.len(), failures.len()), (3, 1), "{found:?} {failures:?}");
        assert!(found.contains(&"stray.rs".to_owned()));
        let three = Limits { marked: 3 * MARKED.len(), ..Limits::USUAL };
        assert_eq!(searched(&files, three), (["a.rs", "b.rs", "c.rs", "stray.rs"].map(str::to_owned).to_vec(), vec![]));
    }
}
