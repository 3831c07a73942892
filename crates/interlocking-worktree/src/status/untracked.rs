//! Finding the files of a working tree that are neither tracked nor ignored.

use gix::bstr::{BStr, BString, ByteSlice as _};
use rustix::fs::FileType;

use crate::{
    filesystem::{
        directory::{Directory, Kind, split},
        entries::for_each_entry,
    },
    status::{
        change::ChangeKind,
        examine::Comparison,
        ignores::Ignores,
        unchanged::{DEEPEST, at, is_git},
    },
    values::{git_error::GitError, path::PathRule},
};

/// The most bytes of a `.git` file that is read.
const LONGEST_LINK: u64 = 8 * 1024;

/// A walk through untracked files and directories.
pub(crate) struct Untracked<'a> {
    index: &'a gix::index::State,
    /// Set if names that differ only in case are the same.
    folding: Option<gix::index::AccelerateLookup<'a>>,
    root: &'a Directory,
    ignores: Ignores,
    /// The directory that was entered last.
    at: BString,
    found: &'a mut Comparison,
    /// Directories that are walked later, when those above them are closed.
    deeper: Vec<BString>,
}

impl<'a> Untracked<'a> {
    pub(crate) fn of(
        git: &gix::Repository,
        index: &'a gix::index::State,
        root: &'a Directory,
        found: &'a mut Comparison,
    ) -> Result<Self, GitError> {
        let folds = git.config_snapshot().boolean("core.ignoreCase") == Some(true);
        let folding = folds.then(|| index.prepare_icase_backing());
        let mut ignores = Ignores::of(git)?;
        let doing = |error: std::io::Error| GitError::new("reading the ignore rules", error.to_string());
        ignores.enter(root, BStr::new("")).map_err(doing)?;
        Ok(Self { index, folding, root, ignores, at: BString::default(), found, deeper: Vec::new() })
    }

    /// Walks these paths in order; each is in a directory that has tracked files.
    pub(crate) fn all(mut self, unknown: &[BString]) -> std::io::Result<()> {
        let mut opened: Option<(BString, Directory)> = None;
        for path in unknown {
            let (above, name) = split(path.as_bstr());
            if opened.as_ref().is_none_or(|(path, _)| *path != above) {
                opened = match self.go_to(above)? {
                    Some(directory) => Some((above.to_owned(), directory)),
                    None => continue,
                };
            }
            if let Some((_, directory)) = &opened {
                self.entry(directory, path.as_bstr(), name, None, 0)?;
            }
        }
        while let Some(path) = self.deeper.pop() {
            if let Some(directory) = self.go_to(path.as_bstr())? {
                self.inside(&directory, 0)?;
            }
        }
        Ok(())
    }

    /// Enters a directory from the one that was entered last. It is not ignored: it has tracked files, or the walk has
    /// reached it.
    fn go_to(&mut self, path: &BStr) -> std::io::Result<Option<Directory>> {
        while !is_in(path, self.at.as_bstr()) {
            self.leave();
        }
        let mut directory = match self.root.below(self.at.as_bstr())? {
            Some(directory) => directory,
            None => return Ok(None),
        };
        while self.at != path {
            let rest = path[self.at.len()..].trim_start_with(|byte| byte == '/');
            let name = rest.split(|byte| *byte == b'/').next().unwrap_or_default().to_owned();
            directory = match directory.directory(&name)? {
                Some(inside) => inside,
                None => return Ok(None),
            };
            self.enter(&directory, &name)?;
        }
        Ok(Some(directory))
    }

    fn enter(&mut self, directory: &Directory, name: &[u8]) -> std::io::Result<()> {
        let path = join(self.at.as_bstr(), name);
        self.ignores.enter(directory, path.as_bstr())?;
        self.at = path;
        Ok(())
    }

    fn leave(&mut self) {
        self.ignores.leave();
        let above = split(self.at.as_bstr()).0.len();
        self.at.truncate(above);
    }

    /// Walks everything in the directory that was entered last.
    fn inside(&mut self, directory: &Directory, depth: usize) -> std::io::Result<()> {
        let mut names = Vec::new();
        for_each_entry(directory, |name, kind| {
            names.push((BString::from(name.to_bytes()), kind));
            Ok(())
        })?;
        for (name, kind) in names {
            if is_git(&name, self.folding.is_some()) {
                continue;
            }
            let path = join(self.at.as_bstr(), &name);
            self.entry(directory, path.as_bstr(), name.as_bstr(), Some(kind), depth)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        directory: &Directory,
        path: &BStr,
        name: &BStr,
        kind: Option<FileType>,
        depth: usize,
    ) -> std::io::Result<()> {
        let kind = match kind {
            Some(FileType::RegularFile) => Kind::File,
            Some(FileType::Directory) => Kind::Directory,
            Some(FileType::Symlink) => Kind::Link,
            _ => match directory.metadata(name)? {
                Some(found) => found.kind,
                None => return Ok(()),
            },
        };
        if path.len() > PathRule::LONGEST {
            let longest = PathRule::LONGEST;
            let directory = split(path).0.to_str_lossy().chars().take(40).collect::<String>();
            return Err(std::io::Error::other(format!("in {directory}… is a path longer than {longest} bytes")));
        }
        let is_directory = kind == Kind::Directory;
        if kind == Kind::Other || self.is_tracked(path, is_directory) || self.ignores.is_ignored(path, is_directory) {
            return Ok(());
        }
        if !is_directory {
            self.found.unstaged.insert(path.to_owned(), ChangeKind::Untracked);
            return Ok(());
        }
        let Some(inside) = directory.directory(name).map_err(|error| at(error, path))? else { return Ok(()) };
        if is_repository(&inside)? {
            self.found.nested.insert(path.to_owned());
            self.found.unstaged.insert(path.to_owned(), ChangeKind::Untracked);
        } else if depth == DEEPEST {
            self.deeper.push(path.to_owned());
        } else {
            self.enter(&inside, name)?;
            self.inside(&inside, depth + 1)?;
            self.leave();
        }
        Ok(())
    }

    /// Whether a file is tracked under another spelling of its name.
    fn is_tracked(&self, path: &BStr, is_directory: bool) -> bool {
        let Some(folding) = &self.folding else { return false };
        let file = self.index.entry_by_path_icase(path, true, folding);
        let directory = || self.index.entry_closest_to_directory_or_directory_icase(path, true, folding);
        // A directory's contents are walked, whatever its own name.
        !is_directory && (file.is_some() || directory().is_some())
    }
}

/// Whether git treats a directory as a nested repository.
fn is_repository(directory: &Directory) -> std::io::Result<bool> {
    const LINK: &[u8] = b"gitdir: ";
    let has_parts = |git: &Directory| -> std::io::Result<bool> {
        let has_head = git.metadata(b"HEAD")?.is_some_and(|head| matches!(head.kind, Kind::File | Kind::Link));
        let has = |name: &[u8]| {
            Ok::<_, std::io::Error>(git.metadata(name)?.is_some_and(|found| found.kind == Kind::Directory))
        };
        Ok(has_head && (git.metadata(b"commondir")?.is_some() || has(b"objects")? && has(b"refs")?))
    };
    if let Some(git) = directory.directory(b".git")? {
        return has_parts(&git);
    }
    // A longer file is not a link to a repository.
    let Ok(Some(link)) = directory.read(b".git", LONGEST_LINK) else { return Ok(false) };
    let Some(target) = link.trim_end().strip_prefix(LINK) else { return Ok(false) };
    let Ok(target) = gix::path::from_byte_slice(target) else { return Ok(false) };
    // Only the existence and kind of the target's files are checked; nothing in it is read.
    Ok(directory.reach(target).is_ok_and(|git| has_parts(&git).unwrap_or_default()))
}

fn is_in(path: &BStr, directory: &BStr) -> bool {
    directory.is_empty()
        || path.strip_prefix(directory.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

fn join(directory: &BStr, name: &[u8]) -> BString {
    if directory.is_empty() { name.into() } else { [directory.as_bytes(), b"/", name].concat().into() }
}
