//! The trust boundary: this module reads all of git's own files and objects that an agent can write.
//!
//! An agent can write to the git directory of its clone, and to what its linked worktree shares with the user's
//! repository. So all of it is read only through this module, which limits what is read and returns either checked data
//! or a [`Refused`].
//!
//! | what | limit | read by | accepted if |
//! |---|---|---|---|
//! | the `.git` file, `gitdir`, `commondir`, `locked`, `info/sparse-checkout`, references, shallow roots | [`file::Kind`] | this crate, by descriptor | a regular file |
//! | notes of operations under way, and of written files | [`file::Kind`] | this crate, by descriptor | a regular file; the reader decides how far to trust it |
//! | the index | [`Limits::index`] | this crate, by descriptor ([`index`]; [`known_index`] caches the result of the same bytes) | every path is inside a working tree, in order, once; modes and stages are git's; not split, no sparse directories; extensions are not trusted |
//! | HEAD, `packed-refs`, `config` and the files that it includes, `info/exclude`, `info/attributes`, `objects/info/alternates` and the directories that it names | [`Limits::references`], [`Limits::configuration`], [`Limits::rules`] | gix, after a check ([`git_directory`]) | regular files within their limit |
//! | a clone's whole `.git` | | gix, after a check ([`git_directory`]) | only files and directories, and nothing that refers to other directories |
//! | objects | [`Limits::object`] | gix | their sizes are as declared; replacements, commit graphs and multi-pack indexes are not trusted |
//! | trees | [`Limits::index`] for the index that a tree needs | gix, then this crate ([`tree`]) | git's own rules: names, modes, order, each name once, depth |
//! | programs of `filter` and `merge` settings | | this crate ([`program`]) | neither named relative to a directory that an agent can write to, nor made to look for code there |
//!
//! Files that gix opens by itself are checked before. A program that writes at the same moment can change them between
//! the check and the use: a worktree should be worked on only when its agent has stopped.

pub(crate) mod file;
pub(crate) mod git_directory;
pub(crate) mod include;
pub(crate) mod index;
pub(crate) mod known_index;
mod limits;
pub(crate) mod path;
pub(crate) mod program;
mod refused;
pub(crate) mod tree;

pub use limits::Limits;
pub use refused::Refused;
