//! Writing a few files that are in a working tree exactly what they are in the repository.
//!
//! A checkout makes ready for filters, for threads and for whatever may be in its way, which takes longer than writing ten
//! files. None of it is needed where a file's directories are known to be directories, and where gix says of a file that no
//! attribute which a checkout follows is given to it. Everything else is a checkout's business: links, executable files, line
//! ends that are changed, and whatever fails here.

use std::{fs::File, io::Write as _, path::Path};

use gix::{
    ObjectId,
    bstr::BStr,
    index::entry::{Mode, Stat},
    worktree::stack::state::attributes::Source,
};

use crate::{
    files::on_disk,
    git_error::{Doing as _, GitError},
    with_directory::with_directory,
};

/// What decides how a version looks in a working tree: all that gix's filters ask for.
const ATTRIBUTES: [&str; 6] = ["crlf", "ident", "filter", "eol", "text", "working-tree-encoding"];

/// Writes such files.
pub(crate) struct Verbatim<'git> {
    git: &'git gix::Repository,
    attributes: gix::AttributeStack<'git>,
    found: gix::attrs::search::Outcome,
}

impl<'git> Verbatim<'git> {
    /// For files of `index`, by the attributes that it has. None if line ends are changed without any.
    pub(crate) fn of(git: &'git gix::Repository, index: &gix::index::State) -> Result<Option<Self>, GitError> {
        let line_ends = git.config_snapshot().string("core.autocrlf");
        if line_ends.is_some_and(|value| !value.eq_ignore_ascii_case(b"false")) {
            return Ok(None);
        }
        let attributes = git.attributes_only(index, Source::IdMapping).doing(|| "reading the attributes".to_owned())?;
        let found = attributes.selected_attribute_matches(ATTRIBUTES);
        Ok(Some(Self { git, attributes, found }))
    }

    /// Writes a file, at a path that a checkout has written before and where nothing is now. None: nothing is there still,
    /// and a checkout is to write it.
    pub(crate) fn write(&mut self, root: &Path, path: &BStr, (id, mode): (ObjectId, Mode)) -> Option<Stat> {
        if mode != Mode::FILE {
            return None;
        }
        self.found.reset();
        self.attributes.at_entry(path, Some(mode)).ok()?.matching_attributes(&mut self.found);
        if self.found.iter_selected().any(|found| !found.assignment.state.is_unspecified()) {
            return None;
        }
        let version = self.git.find_blob(id).ok()?;
        let place = on_disk(root, path);
        let create = || File::options().write(true).create_new(true).open(&place);
        let mut file = with_directory(&place, create).ok()?;
        let written = file.write_all(&version.data).ok().and_then(|()| {
            let metadata = gix::index::fs::Metadata::from_file(&file).ok()?;
            Stat::from_fs(&metadata).ok()
        });
        if written.is_none() {
            let _ = std::fs::remove_file(&place);
        }
        written
    }
}
