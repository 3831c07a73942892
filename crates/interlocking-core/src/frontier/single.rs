//! A run whose one token has never waited.

use super::counts::{Counts, entries};
use super::marking::Phase;
use super::{Execution, Frontier, Payload, Solo};
use crate::net::{Net, NodeIndex};
use crate::step::Step;
use std::ops::{Deref, DerefMut};

/// A run that has been a [`Solo`] since its entry: only the counts of its nodes. Most runs that wait are of this sort,
/// so this type is small; [`into_frontier`](Self::into_frontier) makes the equivalent [`Frontier`].
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Single<'n> {
    net: &'n Net,
    counts: AllCounts,
}

/// The counts of all nodes. Those of a small net need no allocation.
#[derive(Clone, Debug)]
enum AllCounts {
    Few([Counts; Self::FEW]),
    Many(Box<[Counts]>),
}

impl AllCounts {
    const FEW: usize = 6;

    #[inline]
    fn new(nodes: usize) -> Self {
        if nodes > Self::FEW {
            Self::Many(vec![Counts::default(); nodes].into())
        } else {
            Self::Few(Default::default())
        }
    }
}

impl Deref for AllCounts {
    type Target = [Counts];

    #[inline]
    fn deref(&self) -> &[Counts] {
        match self {
            Self::Few(counts) => counts,
            Self::Many(counts) => counts,
        }
    }
}

impl DerefMut for AllCounts {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Counts] {
        match self {
            Self::Few(counts) => counts,
            Self::Many(counts) => counts,
        }
    }
}

impl<'n> Single<'n> {
    /// A run whose entry runs: it equals a [`Frontier`] after [`new`](Frontier::new) and
    /// [`next_due`](Frontier::next_due), which hands the entry's token straight back.
    pub fn entered(net: &'n Net) -> Self {
        let mut counts = AllCounts::new(net.nodes().len());
        counts[usize::from(net.place(net.entry()).node)] = Counts::new(1, 1);
        Self { net, counts }
    }

    /// The execution of the entry, which is the only execution until a [`Solo`] moves on.
    pub fn first(&self) -> Execution {
        let node = self.net.place(self.net.entry()).node;
        self.counts[usize::from(node)].execution(node)
    }

    /// The same run as a [`Solo`] of `execution`, which must be the execution that runs.
    pub fn solo(&mut self, execution: Execution) -> Solo<'_> {
        Solo::new(self.net, &mut self.counts, None, execution.node)
    }

    /// Whether the step of `execution`, which must be the execution that runs, ends the run: [`Frontier::complete`]
    /// would put its token at the exit.
    pub fn ends<P: Payload>(&self, execution: Execution, step: &Step<P>) -> bool {
        let alternative = step.alternative().and_then(|way| self.net.alternative(way));
        let is_its_own = alternative.is_some_and(|found| found.source == execution.node && found.allows(step));
        is_its_own && matches!(step, Step::One(_, token) if token.place() == self.net.exit())
    }

    /// The nodes that have been entered so far, in table order, each with how often.
    pub fn entries(&self) -> impl Iterator<Item = (NodeIndex, u32)> + '_ {
        entries(&self.counts)
    }

    /// The same run, in which `execution` runs.
    pub fn into_frontier<P: Payload>(self, execution: Execution) -> Frontier<'n, P> {
        let mut frontier = Frontier::of(self.net, self.counts[..self.net.nodes().len()].into());
        frontier.marking.marked.insert(usize::from(self.net.node(execution.node).first_place));
        frontier.marking.nodes[usize::from(execution.node)].phase = Phase::Running;
        frontier.running = 1;
        frontier
    }
}
