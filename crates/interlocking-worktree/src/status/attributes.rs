//! The attributes of files, and the filters that they define.
//!
//! gix would open `.gitattributes` by its path, whatever is there: a pipe, a link, four gigabytes. So the files that
//! count are read here, as regular files and up to a limit, and given to gix as if they were in the index.

use std::{
    collections::{BTreeSet, HashMap},
    io::Read,
};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice as _},
    filter::plumbing::pipeline::{CrlfRoundTripCheck, convert},
    index::entry::{Flags, Mode, Stage, Stat},
    objs::Kind,
    worktree::stack::state::attributes::Source,
};

use crate::{
    filesystem::directory::{Directory, split},
    status::index,
    values::git_error::{Doing as _, GitError},
};

const NAME: &[u8] = b".gitattributes";

/// The largest file of attributes or ignore rules in a working tree, in bytes. Git reads up to 100 MiB, but matching
/// names with that many rules takes minutes.
pub(crate) const LARGEST_FILE_OF_RULES: u64 = 1024 * 1024;

/// The most bytes of all these files together.
pub(crate) const ALL_RULES: u64 = 8 * 1024 * 1024;

/// Which `.gitattributes` counts if a directory has different ones in the working tree and in the index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefer {
    /// That of the working tree: for files that go into the repository.
    WorkingTree,
    /// That of the index: for files that are written from the repository.
    Index,
}

/// The conversion of files on their way into the repository and out of it.
pub(crate) struct Filters<'git> {
    git: &'git gix::Repository,
    pipeline: gix::filter::plumbing::Pipeline,
    stack: gix::worktree::Stack,
    rules: Rules,
    is_rewriting_line_ends: bool,
}

/// The contents of attribute files, by the object ids that they would have.
#[derive(Default)]
struct Rules(HashMap<ObjectId, Vec<u8>>);

impl<'git> Filters<'git> {
    /// Uses only the attributes in the index.
    pub(crate) fn of_index(git: &'git gix::Repository, index: &gix::index::State) -> Result<Self, GitError> {
        Self::with(git, versions(index), Rules::default())
    }

    /// Uses the attributes in the index and those in the directories above these paths.
    pub(crate) fn of_both<'path>(
        git: &'git gix::Repository,
        index: &gix::index::State,
        root: &Directory,
        paths: impl IntoIterator<Item = &'path BStr>,
        prefer: Prefer,
    ) -> Result<Self, GitError> {
        let mut versions = versions(index);
        let mut rules = Rules::default();
        let mut left = ALL_RULES;
        // Usually a directory comes right after its parent.
        let mut opened: Option<(BString, Option<Directory>)> = None;
        for directory in directories_above(paths) {
            let path = if directory.is_empty() {
                BString::from(NAME)
            } else {
                BString::from([directory.as_slice(), b"/", NAME].concat())
            };
            if prefer == Prefer::Index && versions.contains_key(&path) {
                continue;
            }
            let doing = || format!("reading {path}");
            let (above, name) = split(directory.as_bstr());
            let inside = match &opened {
                Some((path, None)) if !directory.is_empty() && path == above => None,
                Some((path, Some(opened))) if !directory.is_empty() && path == above => {
                    opened.directory(name).doing(doing)?
                }
                _ => root.below(directory.as_bstr()).doing(doing)?,
            };
            let contents =
                inside.as_ref().map(|inside| read_rules(inside, NAME, &mut left)).transpose().doing(doing)?;
            opened = Some((directory, inside));
            let contents = contents.flatten();
            if let Some(contents) = contents {
                let id = gix::objs::compute_hash(git.object_hash(), Kind::Blob, &contents).doing(doing)?;
                rules.0.insert(id, contents);
                versions.insert(path, id);
            }
        }
        Self::with(git, versions, rules)
    }

    fn with(git: &'git gix::Repository, versions: HashMap<BString, ObjectId>, rules: Rules) -> Result<Self, GitError> {
        let doing = || "reading the attributes".to_owned();
        let mut index = gix::index::State::new(git.object_hash());
        for (path, id) in versions {
            index.dangerously_push_entry(Stat::default(), id, Flags::empty(), Mode::FILE, path.as_bstr());
        }
        index.sort_entries();
        let stack = git.attributes_only(&index, Source::IdMapping).doing(doing)?.detach();
        let (pipeline, stack) = gix::filter::Pipeline::new(git, stack).doing(doing)?.into_parts();
        let line_ends = git.config_snapshot().string("core.autocrlf");
        let is_rewriting_line_ends = line_ends.is_some_and(|value| !value.eq_ignore_ascii_case(b"false"));
        Ok(Self { git, pipeline, stack, rules, is_rewriting_line_ends })
    }

    /// Skips the check that line endings survive a round trip: git makes it when it adds a file, not when it compares
    /// one.
    pub(crate) fn for_comparison(mut self) -> Self {
        self.pipeline.options_mut().crlf_roundtrip_check = CrlfRoundTripCheck::Skip;
        self
    }

    /// Whether any of these attributes is set, unset or has a value at a path, so that it is not unspecified.
    fn is_specified<const N: usize>(&mut self, path: &BStr, names: [&str; N]) -> Result<bool, GitError> {
        let doing = || format!("reading the attributes of {path}");
        let mut found = self.stack.selected_attribute_matches(names);
        let objects = Objects { rules: &self.rules, git: self.git };
        self.stack.at_entry(path, Some(Mode::FILE), &objects).doing(doing)?.matching_attributes(&mut found);
        Ok(found.iter_selected().any(|found| !found.assignment.state.is_unspecified()))
    }

    /// Whether a filter program of the user's configuration converts the file.
    pub(crate) fn is_driven(&mut self, path: &BStr) -> Result<bool, GitError> {
        self.is_specified(path, ["filter"])
    }

    /// Whether the file has the same bytes in a working tree as in the repository.
    pub(crate) fn is_verbatim(&mut self, path: &BStr) -> Result<bool, GitError> {
        /// All attributes that gix's filters read.
        const ATTRIBUTES: [&str; 6] = ["crlf", "ident", "filter", "eol", "text", "working-tree-encoding"];
        Ok(!self.is_rewriting_line_ends && !self.is_specified(path, ATTRIBUTES)?)
    }

    /// Converts a file's contents to what the repository would store.
    pub(crate) fn clean<R: Read>(
        &mut self,
        contents: R,
        path: &BStr,
        index: &gix::index::State,
    ) -> gix::Result<convert::ToGitOutcome<'_, R>> {
        let on_disk = gix::path::from_bstr(path)?;
        let objects = Objects { rules: &self.rules, git: self.git };
        let entry = self.stack.at_entry(path, Some(Mode::FILE), &objects).map_err(gix::Error::from_error)?;
        let git = self.git;
        self.pipeline.convert_to_git(
            contents,
            on_disk.as_ref(),
            &mut |_, found| {
                entry.matching_attributes(found);
            },
            &mut |buffer| {
                use gix::prelude::Find as _;
                let Some(entry) = index.entry_by_path(path) else { return Ok(None) };
                let object = git.objects.try_find(&entry.id, buffer)?;
                Ok(object.filter(|object| object.kind == Kind::Blob).map(drop))
            },
        )
    }

    /// Converts a blob to the file's contents in a working tree.
    pub(crate) fn smudge<'version>(
        &mut self,
        version: &'version [u8],
        path: &BStr,
    ) -> gix::Result<convert::ToWorktreeOutcome<'version, '_>> {
        let objects = Objects { rules: &self.rules, git: self.git };
        let entry = self.stack.at_entry(path, Some(Mode::FILE), &objects).map_err(gix::Error::from_error)?;
        self.pipeline.convert_to_worktree(
            version,
            path,
            &mut |_, found| {
                entry.matching_attributes(found);
            },
            convert::to_worktree::Options::default(),
        )
    }
}

/// Reads ignore rules or attributes in a directory. None if there is no regular file of this name.
pub(crate) fn read_rules(directory: &Directory, name: &[u8], left: &mut u64) -> std::io::Result<Option<Vec<u8>>> {
    let contents = directory.read(name, LARGEST_FILE_OF_RULES)?;
    if let Some(contents) = &contents {
        *left = left.checked_sub(contents.len() as u64).ok_or_else(|| {
            std::io::Error::other(format!("with the others before it, it is larger than {ALL_RULES} bytes"))
        })?;
    }
    Ok(contents)
}

/// The blobs of `.gitattributes` files in an index, including executable ones, which git reads and gix does not.
pub(crate) fn versions(index: &gix::index::State) -> HashMap<BString, ObjectId> {
    let is_file = |mode| mode == Mode::FILE || mode == Mode::FILE_EXECUTABLE;
    let counts =
        |entry: &gix::index::Entry| is_file(entry.mode) && matches!(entry.stage(), Stage::Unconflicted | Stage::Ours);
    let entries = index.entries().iter().filter(|entry| counts(entry));
    let entries = entries.map(|entry| (entry.path(index), entry.id)).filter(|(path, _)| index::has_attributes(path));
    entries.map(|(path, id)| (path.to_owned(), id)).collect()
}

/// All directories above these paths; the root is the empty path.
fn directories_above<'path>(paths: impl IntoIterator<Item = &'path BStr>) -> BTreeSet<BString> {
    let mut directories = BTreeSet::new();
    for path in paths {
        let mut directory = split(path).0;
        while directories.insert(directory.to_owned()) && !directory.is_empty() {
            directory = split(directory).0;
        }
    }
    directories
}

/// The object database, and the attribute files that were read.
struct Objects<'a> {
    rules: &'a Rules,
    git: &'a gix::Repository,
}

impl gix::objs::Find for Objects<'_> {
    fn try_find<'buffer>(
        &self,
        id: &gix::oid,
        buffer: &'buffer mut Vec<u8>,
    ) -> gix::Result<Option<gix::objs::Data<'buffer>>> {
        let Some(contents) = self.rules.0.get(id) else { return self.git.objects.try_find(id, buffer) };
        buffer.clear();
        buffer.extend_from_slice(contents);
        Ok(Some(gix::objs::Data { kind: Kind::Blob, object_hash: self.git.object_hash(), data: buffer }))
    }
}
