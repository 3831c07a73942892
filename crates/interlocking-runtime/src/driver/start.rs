//! How a driver starts what is due: alone right here, or as tasks side by side.

use crate::event::EventKind;
use crate::execution::{
    interruption::failure,
    perform::{Here, perform},
};
use crate::journal::replay::beyond_bounds;
use crate::{
    driver::{Driver, Next, end::End},
    execution::shared::Shared,
};
use interlocking_core::failure::FailureKind;
use interlocking_core::frontier::{Due, Execution, Input, Limit, Violation};
use interlocking_core::graph::Graph;

impl<G: Graph> Driver<G> {
    /// Starts everything that is due, but for an execution that is alone: that runs without a task, and so do its
    /// successors while they are alone.
    pub(crate) fn start_due(&mut self) -> Result<Option<(Execution, G::Token)>, End> {
        // Branches of one fork start at one moment.
        let mut started = None;
        self.tasks.gather(&self.shared, self.frontier.due());
        loop {
            // A driver that has to listen does not run a node itself meanwhile.
            let as_task = self.listens || self.frontier.running() + self.frontier.due() > 1;
            if as_task && let Some((execution, waiting)) = self.frontier.next_plain() {
                if let Some(recorded) = &self.recorded {
                    self.shared.services.keep_input(execution.node, &recorded.arrived);
                }
                let started = *started.get_or_insert_with(|| self.shared.services.untyped.now());
                self.shared.services.untyped.emit_started(execution, started);
                self.tasks.start(&self.shared, execution, waiting, started);
                continue;
            }
            let Some(due) = self.frontier.next_due() else { break };
            let (execution, input) = (due.execution, self.take_input(due)?);
            let Some(input) = input else { continue };
            if !self.listens && self.frontier.running() == 1 && !self.frontier.has_due() {
                return Ok(Some((execution, input)));
            }
            let started = *started.get_or_insert_with(|| self.shared.services.untyped.now());
            self.shared.services.untyped.emit_started(execution, started);
            self.tasks.start(&self.shared, execution, &mut Some(input), started);
        }
        self.tasks.launch();
        Ok(None)
    }

    /// How an execution runs that is alone.
    pub(crate) fn alone(&self, execution: Execution, input: G::Token) -> Next<G> {
        if self.may_chain(execution) { Next::Chain(execution, input) } else { Next::Alone(execution, input) }
    }

    /// The token that a handler takes; `None` if the entry took the exhausted route instead.
    #[inline]
    fn take_input(&mut self, due: Due<G::Token>) -> Result<Option<G::Token>, End> {
        let Due { execution, input, exhausted } = due;
        let token = match input {
            Input::One(token) => Some(token),
            Input::Slots(slots) => G::join(execution.node, slots),
        };
        let Some(token) = token else {
            let from = G::net().name(execution.node).to_owned();
            return Err(self.unsound(Some(execution), Violation::NotInTable { from }));
        };
        if let Some(limit) = exhausted {
            self.exhaust(execution, limit, token)?;
            return Ok(None);
        }
        if let Some(recorded) = &self.recorded {
            self.shared.services.keep_input(execution.node, &recorded.arrived);
        }
        Ok(Some(token))
    }

    fn exhaust(&mut self, execution: Execution, limit: Limit, token: G::Token) -> Result<(), End> {
        let node = self.shared.services.untyped.node(execution);
        self.shared.services.untyped.emit(|| EventKind::NodeExhausted(node));
        let Some(step) = G::exhausted(execution.node, limit, token) else {
            return Err(End::failed(beyond_bounds(G::net(), execution, limit)));
        };
        // Not recorded: a replay takes the same route from the same input. Remembered, for `input_of`.
        if self.recorded.is_some()
            && let Err(error) = self.encode_tokens(&step)
        {
            let kind = FailureKind::Journal;
            return Err(End::failed(failure(&self.shared.services, execution, kind, error.to_string(), Vec::new())));
        }
        self.complete(execution, step)
    }

    /// Runs an execution that is alone.
    pub(crate) async fn run_here(&mut self, execution: Execution, input: G::Token) -> Result<(), End> {
        let shared = self.shared.clone();
        let Shared { services, .. } = &*shared;
        let started = services.untyped.now();
        services.untyped.emit_started(execution, started);
        let result = perform(Here { shared: &shared, execution, input: Some(input) }, |_, result| result).await;
        let result = result.map_err(|interruption| interruption.into_stop(services, execution));
        let now = services.untyped.now();
        self.absorb_unrecorded(execution, result, now, now.since(started))
    }
}
