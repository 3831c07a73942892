//! The commands that need no graph but its name: they work on a journal, or tell of the program itself.

pub(crate) mod list;
pub(crate) mod show;
pub(crate) mod answer;
pub(crate) mod fork;
pub(crate) mod cancel;
pub(crate) mod graph;
pub(crate) mod prune;
pub(crate) mod completions;
pub(crate) mod man;
