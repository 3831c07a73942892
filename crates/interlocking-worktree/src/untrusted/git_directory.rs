//! Checks of a git directory before gix opens its files.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use gix::bstr::ByteSlice as _;

use crate::{
    untrusted::{
        Limits, Refused,
        file::{self, Kind},
        include::included,
    },
    values::git_error::{Doing as _, GitError},
    values::worktree_error::WorktreeError,
};

/// Files that make a clone's git directory refer to another one, or to objects elsewhere.
const LEADING_ELSEWHERE: [&str; 4] =
    ["commondir", "config.worktree", "objects/info/alternates", "objects/info/http-alternates"];

/// The setting, which only this crate sets, that says that a repository is a clone made by this crate.
pub(crate) const IS_CLONE: &str = "interlocking.clone";

/// Whether `git` was opened as a clone made by this crate, which its agent can write to.
pub(crate) fn is_of_clone(git: &gix::Repository) -> bool {
    let is_set = git.config_snapshot().boolean_filter(IS_CLONE, |found| found.source == gix::config::Source::Api);
    matches!(is_set, Ok(Some(true)))
}

/// Checks the files that gix is about to open of the repository or worktree at `path`, which is its root or its git
/// directory.
pub(crate) fn check_at(path: &Path, limits: Limits) -> Result<(), GitError> {
    let dot_git = path.join(".git");
    let directory = match std::fs::symlink_metadata(&dot_git) {
        Ok(found) if found.is_dir() || found.is_symlink() => dot_git,
        Ok(_) => read_link(&dot_git)?.unwrap_or_else(|| path.to_owned()),
        Err(_) => path.to_owned(),
    };
    check(&directory, limits)
}

/// Checks the files that gix opens of a git directory, of a worktree's own or a whole repository's.
pub(crate) fn check(directory: &Path, limits: Limits) -> Result<(), GitError> {
    for name in ["HEAD", "gitdir", "commondir", "locked"] {
        check_link(&directory.join(name))?;
    }
    let common = match file::read(&directory.join("commondir"), Kind::Link)? {
        Some(contents) if contents.bytes.trim_ascii_end() == b"../.." => up_twice(directory),
        Some(contents) => directory.join(path_in(&contents.bytes)?),
        None => directory.to_owned(),
    };
    check_link(&common.join("HEAD"))?;
    for (name, kind) in [
        ("packed-refs", Kind::PackedReferences(limits)),
        ("shallow", Kind::Shallow(limits)),
        ("info/exclude", Kind::Rules(limits)),
        ("info/attributes", Kind::Rules(limits)),
    ] {
        file::check(&common.join(name), kind)?;
    }
    check_alternates(&common.join("objects"), limits)?;
    let mut checks = 0;
    for own in [common.join("config"), directory.join("config.worktree")] {
        check_configuration(&own, limits, 0, &mut checks)?;
    }
    Ok(())
}

/// Checks the reference that HEAD points to, which gix reads with HEAD.
pub(crate) fn check_head(git: &gix::Repository) -> Result<(), GitError> {
    let head = git.git_dir().join("HEAD");
    check_link(&head)?;
    let Some(contents) = file::read(&head, Kind::Link).ok().flatten() else { return Ok(()) };
    let Some(name) = contents.bytes.strip_prefix(b"ref: ") else { return Ok(()) };
    // gix refuses what is not the name of a reference.
    let name = gix::refs::FullName::try_from(name.trim_ascii().as_bstr());
    let Ok(name) = name.map(|name| name.as_bstr().to_string()) else { return Ok(()) };
    let loose = git.common_dir().join(name);
    if loose.is_dir() { Ok(()) } else { file::check(&loose, Kind::Reference) }
}

/// Checks the files that refer to objects elsewhere, and from there to others: gix reads all of them.
fn check_alternates(objects: &Path, limits: Limits) -> Result<(), GitError> {
    /// No real repository has this many.
    const MOST: usize = 100;
    let (mut waiting, mut seen, mut checks) = (vec![objects.to_owned()], HashSet::new(), 0..MOST);
    while let Some(directory) = waiting.pop() {
        let alternates = directory.join("info/alternates");
        let doing = || format!("reading {}", alternates.display());
        if checks.next().is_none() {
            return Err(GitError::new(doing(), format!("with the others it leads to more than {MOST} directories")));
        }
        let Some(contents) = file::read(&alternates, Kind::Rules(limits))? else { continue };
        if seen.insert(std::fs::canonicalize(&directory).doing(doing)?) {
            let named = gix::odb::alternate::parse(&contents.bytes).doing(doing)?;
            // Relative paths are relative to the first object directory.
            waiting.extend(named.into_iter().map(|named| objects.join(named)));
        }
    }
    Ok(())
}

/// The common directory of an ordinary linked worktree, without `..` so that errors name it plainly.
fn up_twice(directory: &Path) -> PathBuf {
    directory.parent().and_then(Path::parent).map_or_else(|| directory.join("../.."), Path::to_owned)
}

/// Checks a file of one line. HEAD may be a link to the branch, as early versions of git made it.
fn check_link(path: &Path) -> Result<(), GitError> {
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    if is_link && path.ends_with("HEAD") {
        let resolved = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        return if resolved == path { Ok(()) } else { file::check(&resolved, Kind::Link) };
    }
    file::check(path, Kind::Link)
}

/// Checks a configuration file and the files that it includes, whatever their conditions. A file that is included twice
/// is read twice, by gix too, so that a few files can lead to any number of `checks`.
fn check_configuration(path: &Path, limits: Limits, depth: usize, checks: &mut usize) -> Result<(), GitError> {
    /// Git follows includes to this depth.
    const DEEPEST: usize = 10;
    /// No real repository has this many.
    const MOST: usize = 100;
    *checks += 1;
    if *checks > MOST {
        let doing = format!("reading {}", path.display());
        return Err(GitError::new(
            doing,
            format!("the configuration includes more than {MOST} files: remove an `include`"),
        ));
    }
    let Some(contents) = file::read(path, Kind::Configuration(limits))? else { return Ok(()) };
    let text = contents.bytes;
    let is_including = text.to_ascii_lowercase().windows(8).any(|part| part == b"[include");
    if !is_including || depth >= DEEPEST {
        return Ok(());
    }
    let doing = || format!("reading {}", path.display());
    let configuration = gix::config::File::from_bytes_no_includes(
        &text,
        gix::config::file::Metadata::default(),
        gix::config::file::init::Options::default(),
    )
    .doing(doing)?;
    let sections = configuration.sections().filter(|section| {
        let name = section.header().name();
        name.eq_ignore_ascii_case(b"include") || name.eq_ignore_ascii_case(b"includeIf")
    });
    for value in sections.flat_map(|section| section.values("path")) {
        // gix includes nothing then, or fails.
        let Ok(included) = included(value, path) else { continue };
        check_configuration(&included, limits, depth + 1, checks)?;
    }
    Ok(())
}

/// Checks the files of ignore rules and attributes that the configuration names.
pub(crate) fn check_named_files(git: &gix::Repository) -> Result<(), GitError> {
    let limits = Limits::of(git);
    let configuration = git.config_snapshot();
    for name in ["core.excludesFile", "core.attributesFile"] {
        let Some(Ok(path)) = configuration.trusted_path(name).transpose() else { continue };
        file::check(&path, Kind::Rules(limits))?;
    }
    Ok(())
}

/// Refuses a clone's git directory that is a link or refers to other directories, or that contains something other than
/// files and directories.
///
/// The clone's agent can write to its `.git`. Operations on it from outside must not be diverted: a symbolic link in
/// the place of `objects`, `refs` or a log would make this process write to another program's files, and a pipe would
/// make it block.
pub(crate) fn check_clone(root: &Path, limits: Limits) -> Result<(), WorktreeError> {
    let directory = root.join(".git");
    let diverted = |what: String| WorktreeError::Diverted { path: root.to_owned(), found: what };
    match std::fs::symlink_metadata(&directory) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(diverted("it is not a directory any more".to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(WorktreeError::Gone { path: root.to_owned() });
        }
        Err(error) => return Err(error).doing(|| format!("looking at {}", directory.display()))?,
    }
    for name in LEADING_ELSEWHERE {
        if std::fs::symlink_metadata(directory.join(name)).is_ok() {
            return Err(diverted(format!("there is a `{name}` in it")));
        }
    }
    if let Some(found) = first_special(&directory)? {
        return Err(diverted(format!("{} is neither a file nor a directory", found.display())));
    }
    let configuration = file::read(&directory.join("config"), Kind::Configuration(limits))?;
    let text = configuration.map(|contents| contents.bytes).unwrap_or_default();
    // This matches `includeIf` too; git allows no blanks before the name.
    if String::from_utf8_lossy(&text).to_ascii_lowercase().contains("[include") {
        return Err(diverted("its configuration includes other files".to_owned()));
    }
    Ok(check(&directory, limits)?)
}

#[expect(clippy::disallowed_methods, reason = "names are read; what a link leads to is not")]
fn first_special(directory: &Path) -> Result<Option<PathBuf>, GitError> {
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        let doing = || format!("looking through {}", directory.display());
        for entry in std::fs::read_dir(&directory).doing(doing)? {
            let entry = entry.doing(doing)?;
            let kind = entry.file_type().doing(doing)?;
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if !kind.is_file() {
                return Ok(Some(entry.path()));
            }
        }
    }
    Ok(None)
}

/// The directory that a `.git` file names, whether or not it exists. None if it is not a file that names one.
pub(crate) fn read_link(link: &Path) -> Result<Option<PathBuf>, GitError> {
    let Some(contents) = file::read(link, Kind::Link)? else { return Ok(None) };
    let Some(named) = contents.bytes.strip_prefix(b"gitdir: ") else { return Ok(None) };
    let named = path_in(named)?;
    if named.as_os_str().is_empty() {
        return Ok(None);
    }
    Ok(Some(link.with_file_name("").join(named)))
}

/// Parses a line that is a path.
pub(crate) fn path_in(line: &[u8]) -> Result<PathBuf, GitError> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let path = gix::path::from_byte_slice(line).map_err(std::io::Error::other);
    Ok(path.doing(|| "reading a path".to_owned())?.to_owned())
}

/// Checks the files that gix opens of a repository and of every registered worktree.
#[expect(clippy::disallowed_methods, reason = "names are read; what a link leads to is not")]
pub(crate) fn check_list(common: &Path, limits: Limits) -> Result<(), GitError> {
    check(common, limits)?;
    let list = common.join("worktrees");
    let doing = || format!("reading {}", list.display());
    let entries = match std::fs::read_dir(&list) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.doing(doing)?,
    };
    for entry in entries {
        let directory = entry.doing(doing)?.path();
        for name in ["HEAD", "gitdir", "commondir", "locked"] {
            check_link(&directory.join(name))?;
        }
    }
    Ok(())
}

/// Checks the loose references below a folder before gix lists them, which reads them all.
#[expect(clippy::disallowed_methods, reason = "names are read; what a link leads to is not")]
pub(crate) fn check_references(common: &Path, prefix: &str) -> Result<(), GitError> {
    let root = common.join(prefix);
    let mut waiting = vec![root];
    while let Some(directory) = waiting.pop() {
        let doing = || format!("looking through {}", directory.display());
        let entries = match std::fs::read_dir(&directory) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            // A reference has the folder's name, so there is none below it.
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => continue,
            entries => entries.doing(doing)?,
        };
        for entry in entries {
            let entry = entry.doing(doing)?;
            let kind = entry.file_type().doing(doing)?;
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if kind.is_file() {
                file::check(&entry.path(), Kind::Reference)?;
            } else if !std::fs::metadata(entry.path()).is_ok_and(|found| found.is_file() || found.is_dir()) {
                let refused: Refused = file::not_a_file(&entry.path(), kind);
                return Err(GitError::refused(doing(), refused));
            }
        }
    }
    Ok(())
}
