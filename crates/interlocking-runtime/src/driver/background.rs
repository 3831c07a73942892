//! Advisory nodes and observers: they run in the background and take no token of the run. If one fails, only its own report
//! says so.

use crate::context::reports::Reports;
use crate::driver::background_tasks::BackgroundTasks;
use crate::erased::done::ErasedDone;
use crate::erased::shared::ErasedShared;
use crate::erased::token::ErasedToken;
use crate::execution::interruption::{Interruption, failure};
use crate::journal::NodeOutcome;
use crate::nodes::observer::Observation;
use interlocking_core::failure::{Failure, FailureKind};
use interlocking_core::frontier::Execution;
use interlocking_core::net::{Net, NodeIndex};
use interlocking_core::table::NodeKind;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The background executions of one run.
pub(crate) struct Background {
    net: &'static Net,
    pub(super) tasks: BackgroundTasks,
    pub(super) observers: Vec<Observer>,
    /// The advisory executions that have not returned.
    pub(super) advisory: Vec<Execution>,
    pub(crate) reports: Reports,
}

/// One observer: it sees one outcome at a time.
pub(super) struct Observer {
    pub(super) node: NodeIndex,
    pub(super) queue: VecDeque<NodeOutcome>,
    /// How many outcomes it has been shown.
    pub(super) shown: u32,
    pub(super) busy: bool,
    pub(super) failed: bool,
}

/// The result of a background execution.
pub(crate) struct Returned {
    pub(super) execution: Execution,
    pub(super) result: Result<ErasedDone, Interruption>,
}

impl Background {
    pub(crate) fn new(net: &'static Net) -> Self {
        let rows = net.table().nodes.iter().enumerate();
        let observers = rows.filter(|(_, row)| row.kind == NodeKind::Observer).map(|(node, _)| Observer {
            node: node as NodeIndex,
            queue: VecDeque::new(),
            shown: 0,
            busy: false,
            failed: false,
        });
        let observers = observers.collect();
        Self { net, tasks: BackgroundTasks::default(), observers, advisory: Vec::new(), reports: Reports::default() }
    }

    /// Whether an observer observes this node.
    pub(crate) fn is_observed(&self, node: &str) -> bool {
        let rows = &self.net.table().nodes;
        self.observers.iter().any(|observer| rows[usize::from(observer.node)].observes.iter().any(|name| name == node))
    }

    /// Whether a background execution runs.
    pub(crate) fn is_busy(&self) -> bool {
        self.tasks.len() > 0
    }

    /// Whether a background execution runs that is not parked until another process continues the run.
    pub(crate) fn goes_on(&self, is_parked: impl Fn(Execution) -> bool) -> bool {
        self.tasks.len() > self.advisory.iter().filter(|execution| is_parked(**execution)).count()
    }

    /// Starts an advisory execution.
    pub(crate) fn start(&mut self, shared: &Arc<dyn ErasedShared>, execution: Execution, input: ErasedToken) {
        let untyped = shared.untyped();
        untyped.emit_started(execution, untyped.now());
        self.advisory.push(execution);
        self.launch(shared, execution, input);
    }

    fn launch(&mut self, shared: &Arc<dyn ErasedShared>, execution: Execution, input: ErasedToken) {
        let performing = shared.clone().perform_in_background(execution, input);
        self.tasks.spawn(async move { Returned { execution, result: performing.await } });
    }

    /// Shows an outcome to the observers of its node.
    pub(crate) fn observe(&mut self, shared: &Arc<dyn ErasedShared>, outcome: NodeOutcome) {
        let rows = &self.net.table().nodes;
        for at in 0..self.observers.len() {
            let observer = &mut self.observers[at];
            let observes = &rows[usize::from(observer.node)].observes;
            if !observer.failed && observes.contains(&outcome.node) {
                observer.queue.push_back(outcome.clone());
                self.show_next(shared, at);
            }
        }
    }

    /// Shows an idle observer the next outcome that it has not seen.
    pub(super) fn show_next(&mut self, shared: &Arc<dyn ErasedShared>, at: usize) {
        let observer = &mut self.observers[at];
        if observer.busy || observer.failed {
            return;
        }
        let Some(outcome) = observer.queue.pop_front() else { return };
        observer.shown += 1;
        observer.busy = true;
        let execution = Execution { node: observer.node, visit: observer.shown, attempt: 1 };
        let place = self.net.node(observer.node).first_place;
        let read = |json: String| shared.graph_type().read_token(place, &json).map_err(|error| error.reason);
        let json = serde_json::to_string(&Observation(outcome)).map_err(|error| error.to_string());
        match json.and_then(read) {
            Ok(token) => self.launch(shared, execution, token),
            Err(reason) => {
                let failed = failure(shared.net(), execution, FailureKind::Handler, reason, Vec::new());
                self.observer_failed(at, execution, failed);
            }
        }
    }

    pub(super) fn observer_failed(&mut self, at: usize, execution: Execution, failure: Failure) {
        let observer = &mut self.observers[at];
        (observer.busy, observer.failed) = (false, true);
        observer.queue.clear();
        self.reports.add(execution, Err(failure));
    }

    /// Stops all background executions and waits until they have stopped, because only then are their costs known.
    pub(crate) async fn shutdown(&mut self) {
        self.tasks.shutdown().await;
    }

    /// The next background execution that returns.
    pub(crate) fn poll_returned(&mut self, context: &mut Context<'_>) -> Poll<Returned> {
        match self.tasks.poll_next(context) {
            Poll::Ready(Some(returned)) => Poll::Ready(returned),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}
