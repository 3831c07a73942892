//! Reading and writing single files of a working tree in which an agent may have put anything.
//!
//! **Invariant:** no link is followed, in no part of the path, and nothing is opened that is not a regular file:
//! reading a pipe would never end, and a link points where the agent wants it to.

use std::io::{ErrorKind, Write as _};

use gix::bstr::ByteSlice as _;

use crate::{
    filesystem::directory::{Directory, Kind},
    values::{
        git_error::{Doing as _, GitError},
        path::RepositoryPath,
    },
    worktrees::worktree::Worktree,
};

/// A file of a working tree was not read, or not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// What is at the path is not a file.
    #[error("{path} is {found}, not a file: delete it")]
    NotAFile {
        /// The path.
        path: RepositoryPath,
        /// What is there.
        found: &'static str,
    },
    /// A part of the path is not a directory.
    #[error("{path} is {found}, not a directory: delete it")]
    NotADirectory {
        /// The part.
        path: RepositoryPath,
        /// What is there.
        found: &'static str,
    },
    /// The file is larger than the limit given.
    #[error("{path} has more than {most} bytes")]
    TooLarge {
        /// The path.
        path: RepositoryPath,
        /// The most bytes that were to be read.
        most: u64,
    },
    /// It could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Worktree {
    /// The current contents of a file, committed or not; none if there is no file. No more than `most` bytes are read.
    ///
    /// # Errors
    ///
    /// [`FileError`], for example if a part of the path is a link.
    pub fn read_file(&self, path: &RepositoryPath, most: u64) -> Result<Option<Vec<u8>>, FileError> {
        let doing = || format!("reading {path} in {}", self.path().display());
        let Some((directory, name)) = self.directory_of(path, false)? else { return Ok(None) };
        match directory.metadata(name).doing(doing)? {
            None => return Ok(None),
            Some(metadata) if metadata.kind == Kind::File => {}
            Some(metadata) => return Err(FileError::NotAFile { path: path.clone(), found: named(metadata.kind) }),
        }
        match directory.read(name, most) {
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                Err(FileError::TooLarge { path: path.clone(), most })
            }
            read => Ok(read.doing(doing)?),
        }
    }

    /// Writes a file in place of what was there, and keeps its executable bit. Missing directories of the path are
    /// created.
    ///
    /// # Errors
    ///
    /// [`FileError`], for example if a part of the path is a link. What the link points to is unchanged.
    pub fn write_file(&self, path: &RepositoryPath, contents: &[u8]) -> Result<(), FileError> {
        let doing = || format!("writing {path} in {}", self.path().display());
        let Some((directory, name)) = self.directory_of(path, true)? else {
            return Err(GitError::new(doing(), "a directory on the way went while it was made").into());
        };
        let known = directory.metadata(name).doing(doing)?;
        match known {
            None => {}
            Some(metadata) if metadata.kind == Kind::File => directory.remove_file(name).doing(doing)?,
            Some(metadata) => return Err(FileError::NotAFile { path: path.clone(), found: named(metadata.kind) }),
        }
        let is_executable = known.is_some_and(|metadata| metadata.is_executable);
        let mut file = directory.create_file(name, is_executable).doing(doing)?;
        Ok(file.write_all(contents).doing(doing)?)
    }

    /// The directory of a file, created if `is_made`, and the file's name there. None if there is no such directory.
    fn directory_of<'path>(
        &self,
        path: &'path RepositoryPath,
        is_made: bool,
    ) -> Result<Option<(Directory, &'path [u8])>, FileError> {
        let doing = || format!("looking for {path} in {}", self.path().display());
        let mut directory = Directory::open(self.path()).doing(doing)?;
        let bytes = path.as_bytes();
        let mut begin = 0;
        for end in bytes.find_iter(b"/") {
            let name = &bytes[begin..end];
            begin = end + 1;
            match directory.metadata(name).doing(doing)? {
                None if !is_made => return Ok(None),
                None => _ = directory.make_directory(name).doing(doing)?,
                Some(metadata) if metadata.kind == Kind::Directory => {}
                Some(metadata) => {
                    let path = RepositoryPath::from_git(bytes[..end].as_bstr());
                    return Err(FileError::NotADirectory { path, found: named(metadata.kind) });
                }
            }
            let Some(inside) = directory.directory(name).doing(doing)? else { return Ok(None) };
            directory = inside;
        }
        Ok(Some((directory, &bytes[begin..])))
    }
}

fn named(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "a file",
        Kind::Directory => "a directory",
        Kind::Link => "a symbolic link",
        Kind::Other => "a pipe, a socket or a device",
    }
}
