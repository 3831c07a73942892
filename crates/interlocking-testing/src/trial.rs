//! One run of a search: the author of the test prepares it, the enumerator plays it.

use std::any::Any;

use interlocking_core::graph::Graph;
use interlocking_runtime::Run;

/// A run that has not begun, and its possible entry values. A pair of a run and an entry value converts into a trial.
///
/// The author sets the run's options. The enumerator replaces the run's name and journal, the clock where time is
/// virtual, and the agent of every role that is not bound.
pub struct Trial<G: Graph> {
    pub(crate) run: Run<G>,
    pub(crate) entries: Vec<G::Entry>,
    /// Dropped when the run is over.
    pub(crate) kept: Vec<Box<dyn Any>>,
}

impl<G: Graph> Trial<G> {
    /// A trial whose run begins with `entry`.
    pub fn new(run: Run<G>, entry: G::Entry) -> Self {
        Self { run, entries: vec![entry], kept: Vec::new() }
    }

    /// Adds `entry` as another possible entry value.
    #[must_use]
    pub fn or(mut self, entry: G::Entry) -> Self {
        self.entries.push(entry);
        self
    }

    /// Keeps `value` until the run is over, for instance a temporary directory in which the run works.
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
