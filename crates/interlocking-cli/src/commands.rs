//! The commands that execute no graph: they work on a journal, or print the graph, completions or the manual page.

pub(crate) mod list;
pub(crate) mod show;
pub(crate) mod answer;
pub(crate) mod fork;
pub(crate) mod cancel;
pub(crate) mod graph;
pub(crate) mod prune;
pub(crate) mod completions;
pub(crate) mod man;
