//! The access that a confined program has to a path.

use std::path::{Path, PathBuf};

/// The access to a path and everything below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Read and list.
    Read,
    /// Read, list and run.
    Execute,
    /// Read, list, run, write, make, rename, link and delete. Does not include making devices or sending commands (`ioctl`) to
    /// them.
    Write,
    /// Read and write a device such as `/dev/null`.
    Device,
}

/// A path and the access to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The path as given. A symbolic link is resolved when the sandbox is prepared.
    pub path: PathBuf,
    /// The access to the path.
    pub access: Access,
    /// Whether the grant is skipped if the path does not exist. Paths that the caller names must exist.
    pub if_present: bool,
}

impl Grant {
    pub(crate) fn required(path: impl Into<PathBuf>, access: Access) -> Self {
        Self { path: path.into(), access, if_present: false }
    }

    pub(crate) fn optional(path: impl Into<PathBuf>, access: Access) -> Self {
        Self { path: path.into(), access, if_present: true }
    }

    /// Whether this grant covers `path`, whose symbolic links must be resolved.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        std::fs::canonicalize(&self.path).is_ok_and(|granted| path.starts_with(granted))
    }
}
