//! What a confined program may do with a path.

use std::path::{Path, PathBuf};

/// How a path may be used, with everything below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Read and list.
    Read,
    /// Read, list and run.
    Execute,
    /// Read, list, run, write, make, rename, link and delete: all but devices.
    Write,
    /// A device such as `/dev/null`: read and write.
    Device,
}

/// A path and its use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The path, as given; a symbolic link stands for what it leads to when the sandbox is prepared.
    pub path: PathBuf,
    /// What may be done there.
    pub access: Access,
    /// Whether it is left out where it does not exist. The caller's own paths must exist.
    pub if_present: bool,
}

impl Grant {
    pub(crate) fn must(path: impl Into<PathBuf>, access: Access) -> Self {
        Self { path: path.into(), access, if_present: false }
    }

    pub(crate) fn may(path: impl Into<PathBuf>, access: Access) -> Self {
        Self { path: path.into(), access, if_present: true }
    }

    /// Whether `path`, with its links resolved as far as it exists, lies in this grant.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        std::fs::canonicalize(&self.path).is_ok_and(|granted| path.starts_with(granted))
    }
}
