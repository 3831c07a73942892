//! A run whose one token has never waited.

use super::{Counts, Execution, Frontier, NodeState, Payload, Phase, Solo, entries};
use crate::net::{Net, NodeIndex};
use crate::route::Step;
use std::ops::{Deref, DerefMut};

/// A run that has been a [`Solo`] from its entry on: the counts of its nodes, and no more. Most runs that wait are one, so
/// this is small; [`into_frontier`](Self::into_frontier) makes of it what it stands for.
#[derive(Clone, Debug)]
pub struct Single<'n> {
    net: &'n Net,
    nodes: Nodes,
}

/// What is known of each node. That of a small net needs no memory of its own.
#[derive(Clone, Debug)]
enum Nodes {
    Few([NodeState; Self::FEW]),
    Many(Box<[NodeState]>),
}

impl Nodes {
    const FEW: usize = 6;

    #[inline]
    fn new(count: usize) -> Self {
        if count > Self::FEW {
            Self::Many(vec![NodeState::default(); count].into())
        } else {
            Self::Few(Default::default())
        }
    }
}

impl Deref for Nodes {
    type Target = [NodeState];

    #[inline]
    fn deref(&self) -> &[NodeState] {
        match self {
            Self::Few(nodes) => nodes,
            Self::Many(nodes) => nodes,
        }
    }
}

impl DerefMut for Nodes {
    #[inline]
    fn deref_mut(&mut self) -> &mut [NodeState] {
        match self {
            Self::Few(nodes) => nodes,
            Self::Many(nodes) => nodes,
        }
    }
}

impl<'n> Single<'n> {
    /// A run whose entry runs: a [`Frontier`] after [`new`](Frontier::new) and [`next_due`](Frontier::next_due), which
    /// gives the entry's token back at once.
    pub fn entered(net: &'n Net) -> Self {
        let mut nodes = Nodes::new(net.nodes().len());
        nodes[usize::from(net.place(net.entry()).node)].counts = Counts::new(1, 1);
        Self { net, nodes }
    }

    /// The execution of the entry, which is the only one until a [`Solo`] goes on.
    pub fn first(&self) -> Execution {
        let node = self.net.place(self.net.entry()).node;
        self.nodes[usize::from(node)].execution(node)
    }

    /// The same run as a [`Solo`] of `execution`, which is the one that runs.
    pub fn solo(&mut self, execution: Execution) -> Solo<'_> {
        Solo {
            net: self.net,
            shortcuts: self.net.shortcuts(),
            nodes: &mut self.nodes,
            marked: None,
            first: execution.node,
            last: execution.node,
        }
    }

    /// Whether the step of `execution`, which is the one that runs, ends the run: [`Frontier::complete`] would find its
    /// token at the exit.
    pub fn ends<P: Payload>(&self, execution: Execution, step: &Step<P>) -> bool {
        let alternative = step.alternative().and_then(|way| self.net.alternative(way));
        let is_its_own = alternative.is_some_and(|found| found.source == execution.node && found.allows(step));
        is_its_own && matches!(step, Step::One(_, token) if token.place() == self.net.exit())
    }

    /// The nodes that have been entered so far, in table order, each with how often.
    pub fn entries(&self) -> impl Iterator<Item = (NodeIndex, u32)> + '_ {
        entries(&self.nodes)
    }

    /// The same run, in which `execution` runs.
    pub fn into_frontier<P: Payload>(self, execution: Execution) -> Frontier<'n, P> {
        let mut frontier = Frontier::of(self.net, self.nodes[..self.net.nodes().len()].into());
        frontier.marked.insert(usize::from(self.net.node(execution.node).first_place));
        frontier.nodes[usize::from(execution.node)].phase = Phase::Running;
        frontier.running = 1;
        frontier
    }
}
