//! A map that need not wait for all of its children.
//!
//! Once as many children have succeeded as the `quorum` says, or the handler has enough, the rest is cancelled. The rest is
//! also cancelled once the quorum can no longer be reached. The decision is one record, which is written before anything is
//! cancelled: a run that is resumed after it does not decide again. A child's result counts by the child's own record, even if
//! the child ends while the others are being cancelled.

use super::Ended;
use super::children::{AnyChildren, Child, Named, Pool};
use crate::context::services::UntypedServices;
use crate::erased::graph_type::AnyValue;
use crate::event::EventKind;
use crate::journal::Entry;
use interlocking_core::failure::{ChildFailure, NodeError};
use interlocking_core::frontier::Execution;
use interlocking_core::table::Quorum;
use std::future::Future;
use std::pin::Pin;

/// Asks a map's handler whether it has enough.
pub(super) trait Ask: Send {
    /// Whether it has enough with these results, which are the same afterwards.
    fn is_enough<'a>(
        &'a mut self,
        ended: &'a mut Vec<Ended<AnyValue>>,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>>;
}

/// The execution that waits for a quorum.
pub(super) struct Waiting<'run> {
    pub(super) untyped: &'run UntypedServices,
    pub(super) execution: Execution,
    pub(super) quorum: Quorum,
    /// Whether it is already decided that the rest is cancelled.
    pub(super) is_decided: bool,
}

/// Waits until the quorum is reached, or no longer can be, and cancels the rest. Afterwards all children have ended.
pub(super) async fn wait_for_quorum(
    waiting: Waiting<'_>,
    children: &AnyChildren,
    handler: &mut dyn Ask,
) -> Result<(), NodeError> {
    let mut ended = Results::default();
    if waiting.untyped.history().decision(&waiting.untyped.by(waiting.execution)).is_some() {
        while let Some(child) = children.any().await {
            ended.add(child);
        }
    } else {
        let reached = loop {
            if waiting.is_decided {
                break false;
            }
            let reached = wait(waiting.quorum, &mut ended, children, handler).await;
            // Items that are added now may make up a quorum that was out of reach.
            if children.0.close().await || reached {
                break reached;
            }
        };
        while !children.0.close().await {}
        decide(&waiting, reached, &ended, &children.0.named()).await?;
        children.0.cancel().await.into_iter().for_each(|child| ended.add(child));
    }
    ended.give_back(&children.0);
    Ok(())
}

/// Waits for children until the quorum is reached; false when it can no longer be reached.
async fn wait(quorum: Quorum, ended: &mut Results, children: &AnyChildren, handler: &mut dyn Ask) -> bool {
    loop {
        ended.make_room(children.0.count());
        let pending = ended.results.len() - ended.order.len();
        match quorum {
            Quorum::AtLeast(count) if ended.succeeded() >= count as usize => return true,
            Quorum::AtLeast(count) if ended.succeeded() + pending < count as usize => return false,
            Quorum::Enough if !ended.order.is_empty() && handler.is_enough(&mut ended.results).await => return true,
            _ => {}
        }
        match children.any().await {
            Some(child) => ended.add(child),
            None => return false,
        }
    }
}

/// Records the decision, and emits it.
async fn decide(waiting: &Waiting<'_>, reached: bool, ended: &Results, named: &[Named]) -> Result<(), NodeError> {
    let (untyped, by) = (waiting.untyped, waiting.untyped.by(waiting.execution));
    let runs = ended.results.iter().zip(named).filter(|(result, _)| result.is_some());
    let runs: Vec<_> = runs.map(|(_, named)| named.run.clone()).collect();
    if let Some(record_writer) = &untyped.record_writer {
        let entry = Entry::Decided { by: by.clone(), reached, ended: runs.clone() };
        record_writer.write_detached(entry).await?;
    }
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let succeeded = ended.succeeded();
    untyped.emit(|| EventKind::NodeDecided {
        node: untyped.node(waiting.execution),
        reached,
        succeeded: number(succeeded),
        failed: number(runs.len() - succeeded),
        cancelled: number(named.len() - runs.len()),
    });
    untyped.history().decided(by, runs);
    Ok(())
}

/// The results of children.
#[derive(Default)]
struct Results {
    /// The results, by position of their items.
    results: Vec<Ended<AnyValue>>,
    /// The positions of the children that have ended, in the order in which they ended.
    order: Vec<usize>,
}

impl Results {
    /// Makes room for this many children.
    fn make_room(&mut self, children: usize) {
        self.results.resize_with(children, || None);
    }

    fn add(&mut self, child: Child<AnyValue>) {
        self.make_room(self.results.len().max(child.item + 1));
        self.results[child.item] = Some(child.result);
        self.order.push(child.item);
    }

    fn succeeded(&self) -> usize {
        self.results.iter().filter(|result| matches!(result, Some(Ok(_)))).count()
    }

    /// Puts all results back to be taken again: first in the order in which the children ended, then those of cancelled
    /// children.
    fn give_back(mut self, children: &Pool) {
        let named = children.named();
        self.make_room(named.len());
        let cancelled: Vec<usize> = (0..named.len()).filter(|item| self.results[*item].is_none()).collect();
        for item in self.order.iter().copied().chain(cancelled) {
            let (Named { run, key, number }, result) = (named[item].clone(), self.results[item].take());
            let result = result.unwrap_or(Err(ChildFailure::Cancelled));
            children.complete(Child { item, run, key, number, result });
        }
    }
}
