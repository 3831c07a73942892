//! A cache of the git configuration that notices changes to its files.
//!
//! The files of a worktree are written as the current configuration says, which may have changed since the repository
//! was opened. Reading it takes as long as making a small worktree, so it is read again only if the contents of one of
//! its files have changed. Times alone do not count: the git program rewrites the repository's file unchanged whenever
//! it deletes a branch.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::untrusted::{
    Limits,
    file::{self, Kind},
    include,
};

/// The modification time and length of a file: if both are equal, the file counts as unchanged.
type Stamp = Option<(SystemTime, u64)>;

/// An open repository and the files that its configuration was read from, or would have been if they existed.
pub(crate) struct Current {
    pub(crate) git: gix::ThreadSafeRepository,
    files: Vec<ConfigurationFile>,
}

struct ConfigurationFile {
    path: PathBuf,
    limits: Limits,
    stamp: Stamp,
    /// None if it cannot be read, usually because it does not exist.
    contents: Option<Vec<u8>>,
}

impl Current {
    pub(crate) fn of(git: &gix::Repository) -> Self {
        let (configuration, limits) = (git.config_snapshot(), Limits::of(git));
        let sections = configuration.plumbing().sections();
        let mut files: Vec<PathBuf> = sections.filter_map(|section| section.meta().path.clone()).collect();
        files.push(git.common_dir().join("config"));
        files.push(PathBuf::from("/etc/gitconfig"));
        for name in ["GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"] {
            files.extend(std::env::var_os(name).map(PathBuf::from));
        }
        if let Some(home) = std::env::var_os("HOME").map(PathBuf::from) {
            files.push(home.join(".gitconfig"));
            files.push(home.join(".config/git/config"));
        }
        files.extend(std::env::var_os("XDG_CONFIG_HOME").map(|home| Path::new(&home).join("git/config")));
        files.push(git.git_dir().join("config.worktree"));
        files.extend(included(configuration.plumbing()));
        files.sort();
        files.dedup();
        Self {
            git: git.clone().into_sync(),
            files: files.into_iter().map(|path| ConfigurationFile::read(path, limits)).collect(),
        }
    }

    /// Whether none of the files has changed, appeared or been removed.
    pub(crate) fn is_current(&mut self) -> bool {
        self.files.iter_mut().all(ConfigurationFile::is_current)
    }
}

/// The files that a configuration includes, whether or not they exist.
fn included(configuration: &gix::config::File) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for section in
        ["include", "includeIf"].into_iter().filter_map(|name| configuration.sections_by_name(name)).flatten()
    {
        for path in section.values("path") {
            let from = section.meta().path.as_deref().unwrap_or(Path::new("/"));
            files.extend(include::included(path, from).ok());
        }
    }
    files
}

impl ConfigurationFile {
    fn read(path: PathBuf, limits: Limits) -> Self {
        // The time is read first, so that a write between the two reads is noticed.
        let stamp = stamp(&path);
        let contents = file::read(&path, Kind::Configuration(limits)).ok().flatten().map(|contents| contents.bytes);
        Self { path, limits, stamp, contents }
    }

    fn is_current(&mut self) -> bool {
        if stamp(&self.path) == self.stamp {
            return true;
        }
        let now = Self::read(self.path.clone(), self.limits);
        let is_same = now.contents == self.contents;
        if is_same {
            *self = now;
        }
        is_same
    }
}

/// Whether the configuration is the same for all worktrees.
pub(crate) fn is_shared(git: &gix::Repository) -> bool {
    git.config_snapshot().plumbing().sections_by_name("includeIf").is_none_or(|mut sections| sections.next().is_none())
}

/// Whether there are programs that convert files. They run in the working tree of the repository that was opened.
pub(crate) fn has_filters(git: &gix::Repository) -> bool {
    git.config_snapshot().plumbing().sections_by_name("filter").is_some_and(|mut sections| sections.next().is_some())
}

fn stamp(file: &Path) -> Stamp {
    let found = std::fs::metadata(file).ok()?;
    Some((found.modified().ok()?, found.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_included_file_that_appears_is_noticed() {
        let place = tempfile::tempdir().unwrap();
        gix::init(place.path()).unwrap();
        let directory = place.path().join(".git");
        let absolute = place.path().join("absolute");
        let includes = format!(
            "[extensions]\n\tworktreeConfig = true\n[include]\n\tpath = relative\n[include]\n\tpath = {}\n",
            absolute.display()
        );
        std::fs::write(directory.join("config"), includes).unwrap();
        for file in [directory.join("relative"), absolute, directory.join("config.worktree")] {
            let mut current = Current::of(&gix::open(place.path()).unwrap());
            assert!(current.is_current());
            std::fs::write(&file, "[core]\n\tautocrlf = true\n").unwrap();
            assert!(!current.is_current(), "{}", file.display());
            let is_read = gix::open(place.path()).unwrap().config_snapshot().boolean("core.autocrlf") == Some(true);
            assert!(is_read, "{}", file.display());
            std::fs::remove_file(&file).unwrap();
        }
    }

    #[test]
    fn a_configuration_that_depends_on_the_branch_is_read_anew() {
        let place = tempfile::tempdir().unwrap();
        gix::init(place.path()).unwrap();
        let directory = place.path().join(".git");
        std::fs::write(directory.join("config"), "[includeIf \"onbranch:other\"]\n\tpath = other\n").unwrap();
        std::fs::write(directory.join("other"), "[core]\n\tautocrlf = input\n").unwrap();
        let repository = crate::Repository::open(place.path()).unwrap();
        let read = || {
            let git = repository.git_as_configured().unwrap();
            git.config_snapshot().string("core.autocrlf").is_some_and(|value| value == "input")
        };
        for (branch, is_other) in [("main", false), ("other", true), ("main", false)] {
            std::fs::write(directory.join("HEAD"), format!("ref: refs/heads/{branch}\n")).unwrap();
            assert_eq!(read(), is_other, "{branch}");
        }
    }

    #[test]
    fn what_a_file_holds_counts_and_not_when_it_was_written() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("config");
        let write = |text: &str, seconds: u64| {
            std::fs::write(&path, text).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        };
        let mut file = ConfigurationFile::read(path.clone(), Limits::default());
        assert!(file.is_current(), "it is not there, as before");
        write("one", 1);
        assert!(!file.is_current(), "it has appeared");
        let mut file = ConfigurationFile::read(path.clone(), Limits::default());
        write("one", 2);
        assert!(file.is_current(), "it was written anew");
        write("two", 3);
        assert!(!file.is_current() && !file.is_current(), "it has changed, and nobody has read it again");
        let mut file = ConfigurationFile::read(path.clone(), Limits::default());
        std::fs::remove_file(&path).unwrap();
        assert!(!file.is_current(), "it is gone");
    }
}
