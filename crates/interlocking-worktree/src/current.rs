//! The configuration as it is now, without reading it each time.
//!
//! A worktree's files look as the configuration of this moment says, which may be another than when the repository was
//! opened. Reading it takes as long as making a small worktree, so it is read again only if one of its files has changed.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

/// What tells whether a file is still the same.
type Stamp = Option<(SystemTime, u64)>;

/// An opened repository and the files that its configuration came from, or would have come from.
pub(crate) struct Current {
    pub(crate) git: gix::ThreadSafeRepository,
    files: Vec<(PathBuf, Stamp)>,
}

impl Current {
    pub(crate) fn of(git: &gix::Repository) -> Self {
        let configuration = git.config_snapshot();
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
        files.sort();
        files.dedup();
        let files = files.into_iter().map(|file| (stamp(&file), file)).map(|(stamp, file)| (file, stamp)).collect();
        Self { git: git.clone().into_sync(), files }
    }

    /// Whether none of the files has changed, and none has appeared or gone.
    pub(crate) fn is_current(&self) -> bool {
        self.files.iter().all(|(file, noted)| stamp(file) == *noted)
    }
}

/// Whether the configuration is the same for all worktrees.
pub(crate) fn is_shared(git: &gix::Repository) -> bool {
    git.config_snapshot().plumbing().sections_by_name("includeIf").is_none_or(|mut sections| sections.next().is_none())
}

fn stamp(file: &Path) -> Stamp {
    let found = std::fs::metadata(file).ok()?;
    Some((found.modified().ok()?, found.len()))
}
