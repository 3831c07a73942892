//! Notes of the files that this crate wrote into a worktree, kept where the worktree's user does not write, for reuse
//! of the files.

use std::path::{Path, PathBuf};

use gix::{
    ObjectId,
    attrs::Source,
    bstr::{BStr, BString, ByteSlice as _},
    index::entry::Mode,
};

use crate::{
    filesystem::own_paths,
    pool::written_files_note,
    repository::registration_lock::private_directory,
    untrusted::{
        Limits,
        file::{self, Kind},
    },
    values::git_error::{Doing as _, GitError},
};

/// The files as they were written, with their stat data, and the configuration that decided how they were written.
pub(crate) struct Pristine {
    pub(crate) index: gix::index::State,
    /// The tree of the index. A file that does not exist any more, or may have been touched, has no stat data.
    pub(crate) tree: ObjectId,
    pub(crate) form: BString,
}

/// The name of the note's file.
pub(crate) const NOTE: &str = "pristine";

/// The directory of the note about a worktree, by its name in git's list.
pub(crate) fn directory_of(common_directory: &Path, name: &str) -> PathBuf {
    private_directory(common_directory).join("pristine").join(name)
}

/// Notes the files that have just been written: a copy of the index, where agents do not write.
pub(crate) fn save(directory: &Path, index: &gix::index::State, tree: ObjectId, form: &BStr) -> Result<(), GitError> {
    let doing = || format!("writing {}", directory.display());
    own_paths::create_dir_all(directory).doing(doing)?;
    file::write_anew(directory.join(NOTE), written_files_note::encode(index, tree, form)).doing(doing)
}

impl Pristine {
    pub(crate) fn read(git: &gix::Repository, directory: &Path) -> Result<Self, GitError> {
        let doing = || format!("reading {}", directory.display());
        let note = file::read(&directory.join(NOTE), Kind::Pristine(Limits::of(git)))?;
        let note = note.map(|note| note.bytes).unwrap_or_default();
        written_files_note::decode(&note, git.object_hash()).ok_or_else(|| GitError::new(doing(), "it is not whole"))
    }
}

/// Everything outside the tree that decides how a blob is written to a working tree: if two forms are equal, equal
/// blobs give equal files. None on systems where different names can mean the same file, where nothing is reused.
pub(crate) fn form(git: &gix::Repository) -> Result<Option<BString>, GitError> {
    let configuration = git.config_snapshot();
    let is_folding =
        ["core.ignoreCase", "core.precomposeUnicode"].iter().any(|name| configuration.boolean(*name) == Some(true));
    if is_folding {
        return Ok(None);
    }
    let mut form = BString::default();
    let mut add = |part: &[u8]| {
        form.extend_from_slice(part);
        form.push(b'\n');
    };
    for name in ["core.autocrlf", "core.eol", "core.safecrlf", "core.symlinks", "core.fileMode", "core.attributesFile"]
    {
        add(name.as_bytes());
        add(configuration.string(name).unwrap_or_default().as_slice());
    }
    for section in configuration.plumbing().sections_by_name("filter").into_iter().flatten() {
        add(&section.to_bstring());
    }
    let named = configuration.trusted_path("core.attributesFile");
    let named = named.doing(|| "reading core.attributesFile".to_owned())?;
    let place = |source: Source| source.storage_location(&mut |name| std::env::var_os(name));
    // Otherwise git's default file for the user, which depends on `XDG_CONFIG_HOME`.
    let users = named.or_else(|| place(Source::Git));
    for file in [Some(git.common_dir().join("info/attributes")), users, place(Source::System)].into_iter().flatten() {
        let contents = file::read(&file, Kind::Rules(Limits::of(git)))?;
        add(&contents.map(|contents| contents.bytes).unwrap_or_default());
    }
    Ok(Some(form))
}

/// The blobs of the `.gitattributes` files, which also decide how files are written.
pub(crate) fn attributes(index: &gix::index::State) -> Vec<(&BStr, gix::ObjectId)> {
    let entries = index.entries().iter().map(|entry| (entry.path(index), entry));
    let is_one = |path: &BStr| path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name) == b".gitattributes";
    entries
        .filter(|(path, entry)| is_one(path) && entry.mode != Mode::COMMIT)
        .map(|(path, entry)| (path, entry.id))
        .collect()
}
