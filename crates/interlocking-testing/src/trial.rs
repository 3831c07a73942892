//! One run that is tried: prepared by the author of the test, played by the enumerator.

use std::any::Any;

use interlocking_core::graph::Graph;
use interlocking_runtime::Run;

/// A run that has not begun, and what it may begin with. A pair of the two is one.
///
/// Its settings are the author's, but for some that are the enumerator's: the run's name and journal, the clock where time is virtual, and
/// the agent of every role that is not bound.
pub struct Trial<G: Graph> {
    pub(crate) run: Run<G>,
    pub(crate) entries: Vec<G::Entry>,
    /// Dropped when the run is over.
    pub(crate) kept: Vec<Box<dyn Any>>,
}

impl<G: Graph> Trial<G> {
    /// A run that begins with `entry`.
    pub fn new(run: Run<G>, entry: G::Entry) -> Self {
        Self { run, entries: vec![entry], kept: Vec::new() }
    }

    /// The same that may begin with `entry`, too.
    #[must_use]
    pub fn or(mut self, entry: G::Entry) -> Self {
        self.entries.push(entry);
        self
    }

    /// Drops `value` when the run is over, and not before: a temporary directory in which it works.
    #[must_use]
    pub fn keeping(mut self, value: impl Any) -> Self {
        self.kept.push(Box::new(value));
        self
    }
}

impl<G: Graph> From<(Run<G>, G::Entry)> for Trial<G> {
    fn from((run, entry): (Run<G>, G::Entry)) -> Self {
        Self::new(run, entry)
    }
}
