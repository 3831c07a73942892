//! The boundary: all that an agent can write and this crate reads of git's own files and objects.
//!
//! An agent can write to the git directory of its clone, and to what its linked worktree shares with the user's repository. So
//! none of it is read but through this module, which bounds what is read and gives out what is sound, or a [`Refused`].
//!
//! | what | limit | read by | held to be sound if |
//! |---|---|---|---|
//! | the `.git` file, `gitdir`, `commondir`, `locked`, references, shallow roots | [`file::Kind`] | us, by descriptor | a regular file |
//! | notes of what is under way, and of what was written | [`file::Kind`] | us, by descriptor | a regular file; who believes it says how far |
//! | the index | [`Limits::index`] | us, by descriptor ([`index`]; [`known_index`] keeps what came of the same bytes) | every path is one inside a working tree, in order, once; modes and stages are git's; no split, no sparse directories; no extension is believed |
//! | HEAD, `packed-refs`, `config` with what it includes, `info/exclude`, `info/attributes`, `objects/info/alternates` and those that it leads to | [`Limits::references`], [`Limits::configuration`], [`Limits::rules`] | gix, after a look ([`git_directory`]) | regular files within their limit |
//! | a clone's whole `.git` | | gix, after a look ([`git_directory`]) | only files and directories, and nothing that leads elsewhere |
//! | objects | [`Limits::object`] | gix | of the size that they say; no replacements, no commit graph, no index of several packs is believed |
//! | trees | [`Limits::index`] for the index that one needs | gix, then us ([`tree`]) | git's own rules: names, modes, order, each once, depth |
//! | programs of `filter` and `merge` settings | | us ([`program`]) | not named relative to a place that an agent writes to |
//!
//! What gix opens by itself is looked at before. Whoever writes there at the same moment can come between: an agent's place is
//! worked on when its agent has stopped.

pub(crate) mod file;
pub(crate) mod git_directory;
pub(crate) mod index;
pub(crate) mod known_index;
mod limits;
pub(crate) mod path;
pub(crate) mod program;
mod refused;
pub(crate) mod tree;

pub use limits::Limits;
pub use refused::Refused;
