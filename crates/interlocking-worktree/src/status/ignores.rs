//! Ignore rules, which are read as regular files and up to a limit.
//!
//! gix would open `.gitignore` by its path, whatever is there. And in gix a pattern for directories, such as `*/`,
//! matches the root of the working tree too, so that such a pattern in `info/exclude` hides every new file. Here each
//! part of a path is matched from the root down, as git does, and the root itself is not matched.

use std::path::{Path, PathBuf};

use gix::{
    bstr::{BStr, ByteSlice as _},
    glob::pattern::Case,
    ignore::{Search, search::Ignore},
};

use crate::{
    filesystem::directory::{Directory, read_regular, split},
    status::attributes::{ALL_RULES, LARGEST_FILE_OF_RULES, read_rules},
    values::git_error::{Doing as _, GitError},
};

const NAME: &[u8] = b".gitignore";

/// The rules that apply in a directory: its own, those of its parents, and those of the repository and the user.
pub(crate) struct Ignores {
    global: Search,
    /// One per directory, from the root down.
    stack: Vec<Option<Search>>,
    left: u64,
    case: Case,
    parse: Ignore,
}

impl Ignores {
    /// Reads the rules from outside the working tree.
    pub(crate) fn of(git: &gix::Repository) -> Result<Self, GitError> {
        let doing = || "reading the ignore rules".to_owned();
        let configuration = git.config_snapshot();
        let parse = Ignore { support_precious: configuration.boolean("gitoxide.parsePrecious") == Some(true) };
        let of_user = match configuration.trusted_path("core.excludesFile").doing(doing)? {
            Some(file) => Some(file),
            None => in_home(git),
        };
        let mut global = Search::default();
        // Later rules take precedence.
        for file in of_user.into_iter().chain([git.common_dir().join("info/exclude")]) {
            let doing = || format!("reading {}", file.display());
            if let Some(contents) = read_regular(&file, LARGEST_FILE_OF_RULES).doing(doing)? {
                global.add_patterns_buffer(&contents, &file, None, parse).doing(doing)?;
            }
        }
        let case = if configuration.boolean("core.ignoreCase") == Some(true) { Case::Fold } else { Case::Sensitive };
        Ok(Self { global, stack: Vec::new(), left: ALL_RULES, case, parse })
    }

    /// Enters a directory, whose path is empty for the root.
    pub(crate) fn enter(&mut self, directory: &Directory, path: &BStr) -> std::io::Result<()> {
        let contents = read_rules(directory, NAME, &mut self.left)
            .map_err(|error| std::io::Error::new(error.kind(), format!(".gitignore in /{path}: {error}")))?;
        // Most directories have no rules, and there may be thousands of them.
        let mut found = None;
        if let Some(contents) = contents {
            let rules: &mut Search = found.insert(Search::default());
            let at = gix::path::from_bstr(path).map_err(std::io::Error::other)?;
            rules.add_patterns_buffer(&contents, at.join(".gitignore"), Some(Path::new("")), self.parse)?;
        }
        self.stack.push(found);
        Ok(())
    }

    /// Returns to the parent directory.
    pub(crate) fn leave(&mut self) {
        self.stack.pop();
    }

    /// Whether an entry of the directory that was entered last is ignored. If a directory is ignored, so is everything
    /// in it.
    pub(crate) fn is_ignored(&self, path: &BStr, is_directory: bool) -> bool {
        let rules = self.stack.iter().rev().flatten().chain([&self.global]);
        let mut matches = rules.filter_map(|rules| {
            rules.pattern_matching_relative_path(path.as_bytes().as_bstr(), Some(is_directory), self.case)
        });
        matches.next().is_some_and(|found| !found.pattern.is_negative())
    }
}

/// Whether git ignores a file at this path of a working tree. The file need not exist.
pub(crate) fn is_ignored(git: &gix::Repository, root: &Path, path: &BStr) -> Result<bool, GitError> {
    let doing = || format!("looking whether {path} is ignored");
    let mut ignores = Ignores::of(git)?;
    let mut directory = Some(Directory::open(root).doing(doing)?);
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
    let mut above = BStr::new("");
    for end in ends.chain([path.len()]) {
        if let Some(directory) = &directory {
            ignores.enter(directory, above).doing(doing)?;
        }
        let part = path[..end].as_bstr();
        if ignores.is_ignored(part, end < path.len()) {
            return Ok(true);
        }
        directory = match directory {
            Some(directory) => directory.directory(split(part).1).doing(doing)?,
            None => None,
        };
        above = part;
    }
    Ok(false)
}

/// The default path of the user's ignore rules, if the user's configuration counts.
fn in_home(git: &gix::Repository) -> Option<PathBuf> {
    let permissions = &git.open_options().permissions.env;
    let base = match std::env::var_os("XDG_CONFIG_HOME") {
        Some(home) => permissions.xdg_config_home.check_opt(PathBuf::from(home)),
        None => permissions.home.check_opt(gix::path::env::home_dir()?.join(".config")),
    };
    base.map(|base| base.join("git/ignore"))
}
