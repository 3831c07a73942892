//! Finds and reads files that an agent can write, such as its program's record of a session. Whatever the files
//! contain, reading them ends soon and uses little memory.

use interlocking_sandbox::regular_file::{self, Links};
use std::fs::{DirEntry, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How much of a file is read at most, in bytes. A sparse file can have any size without taking space.
const MOST: u64 = 256 << 20;

/// The maximum length of a line, in bytes. A longer line is left out.
const LONGEST_LINE: u64 = 16 << 20;

/// How many directory entries one search visits.
const MOST_ENTRIES: usize = 250_000;

/// A search through directories.
#[derive(Debug)]
pub(crate) struct Search {
    /// How many entries the search may still visit.
    left: usize,
}

impl Search {
    pub(crate) fn new() -> Self {
        Self::of_at_most(MOST_ENTRIES)
    }

    /// A search that visits at most so many entries.
    pub(crate) fn of_at_most(entries: usize) -> Self {
        Self { left: entries }
    }

    /// The entries of a directory, up to the limit of the search. Empty if the directory cannot be read.
    pub(crate) fn entries(&mut self, directory: &Path) -> impl Iterator<Item = DirEntry> {
        let entries = std::fs::read_dir(directory).into_iter().flatten();
        let counted = entries.map_while(|entry| {
            self.left = self.left.checked_sub(1)?;
            Some(entry)
        });
        counted.flatten()
    }

    /// The directories in a directory, the last names first. Links are ignored, so that no path leads in a circle.
    pub(crate) fn directories(&mut self, directory: &Path) -> Vec<PathBuf> {
        let is_directory = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let mut paths: Vec<_> = self.entries(directory).filter(is_directory).map(|entry| entry.path()).collect();
        paths.sort_unstable_by(|one, other| other.cmp(one));
        paths
    }
}

/// Opens a regular file. Links are not followed, and opening a pipe does not wait for a writer.
///
/// # Errors
///
/// The system's error, or the path is not a regular file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    regular_file::open(path, Links::Refused)
}

/// Reads a small file as a whole.
///
/// # Errors
///
/// The system's error, or the file is longer than `longest` bytes.
pub(crate) fn read(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    regular_file::read(path, Links::Refused, longest)
}

/// Visits each line of a part of a file, with its position; the last line of the part may be incomplete.
///
/// # Errors
///
/// The system's error, or the part is longer than the limit.
pub(crate) fn for_each_line(path: &Path, part: Range<u64>, mut visit: impl FnMut(u64, &[u8])) -> io::Result<()> {
    let mut file = open(path)?;
    let end = part.end.min(file.metadata()?.len());
    if end.saturating_sub(part.start) > MOST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("it is longer than {MOST} bytes")));
    }
    file.seek(SeekFrom::Start(part.start))?;
    let mut reader = BufReader::new(file.take(end.saturating_sub(part.start)));
    let (mut line, mut at) = (Vec::new(), part.start);
    loop {
        line.clear();
        let mut read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            return Ok(());
        }
        if read < LONGEST_LINE || line.ends_with(b"\n") {
            visit(at, &line);
        } else {
            read += reader.skip_until(b'\n')? as u64;
        }
        at += read;
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn lines(path: &Path, part: Range<u64>) -> io::Result<Vec<(u64, usize)>> {
        let mut all = Vec::new();
        for_each_line(path, part, |at, line| all.push((at, line.len())))?;
        Ok(all)
    }

    #[test]
    fn lines_are_read_and_a_long_one_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        let long = "x".repeat(LONGEST_LINE as usize + 5);
        std::fs::write(&file, format!("one\n{long}\nthree\nfour")).unwrap();
        let third = 4 + long.len() as u64 + 1;
        assert_eq!(lines(&file, 0..u64::MAX).unwrap(), [(0, 4), (third, 6), (third + 6, 4)]);
        assert_eq!(lines(&file, third..third + 8).unwrap(), [(third, 6), (third + 6, 2)]);
    }

    #[test]
    fn a_search_follows_no_link_and_ends() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::create_dir(directory.path().join(name)).unwrap();
        }
        std::os::unix::fs::symlink(".", directory.path().join("link")).unwrap();
        let mut search = Search::of_at_most(6);
        let names = ["c", "b", "a"].map(|name| directory.path().join(name));
        assert_eq!(search.directories(directory.path()), names);
        assert_eq!(search.entries(directory.path()).count(), 2, "all directories together");
        assert_eq!(search.entries(directory.path()).count(), 0);
    }

    /// Opening or reading each of these would take a long time.
    #[test]
    fn what_is_no_file_or_claims_to_be_huge_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(path("fifo")).status().unwrap();
        assert!(made.success());
        std::os::unix::fs::symlink("/dev/zero", path("link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        File::create(path("sparse")).unwrap().set_len(1 << 40).unwrap();
        for name in ["fifo", "link", "socket", "sparse", "missing", "."] {
            let file = path(name);
            assert!(lines(&file, 0..u64::MAX).is_err() && read(&file, 100).is_err(), "{name}");
        }
        assert!(lines(&path("sparse"), (1 << 40) - 10..u64::MAX).is_ok());
    }
}
