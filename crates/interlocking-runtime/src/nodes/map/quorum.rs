//! A map that need not wait for all of its children.
//!
//! Once as many have succeeded as its `quorum` says, or its handler has enough, the rest is cancelled; so it is once the quorum can no
//! longer be reached. The decision is one record, written before anything is cancelled: a run that is resumed after it decides
//! nothing again. What a child comes to counts by its own record, also where it ends while the others are being cancelled.

use super::Ended;
use super::children::{Child, Children};
use super::start::Starter;
use crate::event::EventKind;
use crate::journal::Entry;
use interlocking_core::failure::{ChildFailure, NodeError};
use interlocking_core::graph::Graph;
use interlocking_core::table::Quorum;
use std::future::Future;

/// Asks a map's handler whether there is enough.
pub(super) trait Ask<O> {
    fn is_enough(&mut self, ended: &[Ended<O>]) -> impl Future<Output = bool> + Send;
}

/// Waits until the quorum is reached, or no longer can be, and cancels the rest: all children have ended in what this gives.
pub(super) async fn settle<C: Graph>(
    quorum: Quorum,
    starter: &Starter<'_, C>,
    mut children: Children<C>,
    mut handler: impl Ask<C::Output>,
) -> Result<Children<C>, NodeError> {
    let mut ended = Results::new(starter.named.len());
    if starter.untyped.history().decision(&starter.by).is_none() {
        let reached =
            if starter.decided.is_some() { false } else { wait(quorum, &mut ended, &mut children, &mut handler).await };
        decide(starter, reached, &ended).await?;
        children.0.cancel().await.into_iter().for_each(|child| ended.add(child));
    } else {
        while let Some(child) = children.any().await {
            ended.add(child);
        }
    }
    ended.give_back(starter, &children);
    Ok(children)
}

/// Waits for children until the quorum is reached; false when it no longer can be.
async fn wait<C: Graph>(
    quorum: Quorum,
    ended: &mut Results<C::Output>,
    children: &mut Children<C>,
    handler: &mut impl Ask<C::Output>,
) -> bool {
    loop {
        let pending = ended.results.len() - ended.order.len();
        match quorum {
            Quorum::AtLeast(count) if ended.succeeded() >= count as usize => return true,
            Quorum::AtLeast(count) if ended.succeeded() + pending < count as usize => return false,
            Quorum::Enough if !ended.order.is_empty() && handler.is_enough(&ended.results).await => return true,
            _ => {}
        }
        match children.any().await {
            Some(child) => ended.add(child),
            None => return false,
        }
    }
}

/// Records the decision, and tells of it.
async fn decide<C: Graph>(
    starter: &Starter<'_, C>,
    reached: bool,
    ended: &Results<C::Output>,
) -> Result<(), NodeError> {
    let (untyped, by) = (starter.untyped, &starter.by);
    let runs = ended.results.iter().zip(&starter.named).filter(|(result, _)| result.is_some());
    let runs: Vec<_> = runs.map(|(_, named)| named.run.clone()).collect();
    if let Some(record_writer) = &untyped.record_writer {
        let entry = Entry::Decided { by: by.clone(), reached, ended: runs.clone() };
        record_writer.write_detached(entry).await?;
    }
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let succeeded = ended.succeeded();
    untyped.emit(|| EventKind::NodeDecided {
        node: untyped.node(starter.execution),
        reached,
        succeeded: number(succeeded),
        failed: number(runs.len() - succeeded),
        cancelled: number(starter.named.len() - runs.len()),
    });
    untyped.history().decided(by.clone(), runs);
    Ok(())
}

/// What children have come to.
struct Results<O> {
    /// By position of their items.
    results: Vec<Ended<O>>,
    /// The positions of those that have ended, in the order in which they did.
    order: Vec<usize>,
}

impl<O> Results<O> {
    fn new(items: usize) -> Self {
        Self { results: (0..items).map(|_| None).collect(), order: Vec::with_capacity(items) }
    }

    fn add(&mut self, child: Child<O>) {
        if let Some(result) = self.results.get_mut(child.item) {
            *result = Some(child.result);
            self.order.push(child.item);
        }
    }

    fn succeeded(&self) -> usize {
        self.results.iter().filter(|result| matches!(result, Some(Ok(_)))).count()
    }

    /// Has the children give all of them: in the order in which they ended, and then those that have been cancelled.
    fn give_back<C: Graph<Output = O>>(mut self, starter: &Starter<'_, C>, children: &Children<C>) {
        let cancelled = (0..self.results.len()).filter(|item| self.results[*item].is_none());
        for item in self.order.iter().copied().chain(cancelled.collect::<Vec<_>>()) {
            let (named, result) = (starter.named[item].clone(), self.results[item].take());
            let result = result.unwrap_or(Err(ChildFailure::Cancelled));
            children.0.complete(Child { item, run: named.run, key: named.key, number: named.number, result });
        }
    }
}
