//! One run that is tried: prepared by the author of the test, played by the enumerator.

use interlocking_core::graph::Graph;
use interlocking_runtime::Run;

/// A run that has not begun, and what it may begin with. A pair of the two is one.
///
/// Its settings are the author's, but for some that are the enumerator's: the run's name and journal, the clock where time is virtual, and
/// the agent of every role that is not bound.
pub struct Trial<G: Graph> {
    pub(crate) run: Run<G>,
    pub(crate) entries: Vec<G::Entry>,
}

impl<G: Graph> Trial<G> {
    /// A run that begins with `entry`.
    pub fn new(run: Run<G>, entry: G::Entry) -> Self {
        Self { run, entries: vec![entry] }
    }

    /// The same that may begin with `entry`, too.
    #[must_use]
    pub fn or(mut self, entry: G::Entry) -> Self {
        self.entries.push(entry);
        self
    }
}

impl<G: Graph> From<(Run<G>, G::Entry)> for Trial<G> {
    fn from((run, entry): (Run<G>, G::Entry)) -> Self {
        Self::new(run, entry)
    }
}
