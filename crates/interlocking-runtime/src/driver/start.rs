//! How a driver starts the executions that are due, each as a task of its own.

use crate::driver::{Driver, end::End};
use crate::erased::token::ErasedToken;
use crate::event::EventKind;
use crate::execution::interruption::{caught_now, failure, panicked};
use crate::journal::rules::{beyond_bounds, clear_unfilled_slots};
use interlocking_core::failure::FailureKind;
use interlocking_core::frontier::{Due, Execution, Input, Limit, Violation};

impl Driver {
    /// Starts everything that is due.
    pub(crate) fn start_due(&mut self) -> Result<(), End> {
        // All executions get the same start time, so that the branches of a fork start at one moment.
        let mut started = None;
        self.tasks.prepare_batch(&self.shared, self.frontier.due());
        loop {
            let mut taken;
            let (execution, input) = match self.frontier.next_plain() {
                Some(plain) => plain,
                None => {
                    let Some(due) = self.next_due()? else { break };
                    let execution = due.execution;
                    taken = self.take_input(due)?;
                    if taken.is_none() {
                        continue;
                    }
                    (execution, &mut taken)
                }
            };
            if let Some(recorded) = &self.recorded {
                self.shared.keep_input(execution.node, &recorded.arrived);
            }
            let started = *started.get_or_insert_with(|| self.shared.untyped().now());
            self.shared.untyped().emit_started(execution, started);
            self.tasks.start(&self.shared, execution, input, started);
        }
        self.tasks.launch();
        Ok(())
    }

    /// The next execution to start, if one is due. A join with a kept slot copies the slot's value, which may panic.
    #[inline]
    fn next_due(&mut self) -> Result<Option<Due<ErasedToken>>, End> {
        match self.net().features().kept {
            0 => Ok(self.frontier.next_due()),
            _ => self.next_due_caught(),
        }
    }

    fn next_due_caught(&mut self) -> Result<Option<Due<ErasedToken>>, End> {
        let Some(node) = self.frontier.next_node() else { return Ok(None) };
        let due = caught_now(|| self.frontier.next_due());
        due.map_err(|panic| match self.frontier.live(node) {
            Some(join) => End::failed(panicked(self.net(), join, panic)),
            None => End::at_exit(FailureKind::Panic, panic, Vec::new()),
        })
    }

    /// Starts one execution at once.
    pub(crate) fn start(&mut self, execution: Execution, input: ErasedToken) {
        let started = self.shared.untyped().now();
        self.shared.untyped().emit_started(execution, started);
        self.tasks.start(&self.shared, execution, &mut Some(input), started);
    }

    /// The token that a handler takes; `None` if the entry took the exhausted route instead.
    #[inline]
    fn take_input(&mut self, due: Due<ErasedToken>) -> Result<Option<ErasedToken>, End> {
        let Due { execution, input, exhausted } = due;
        let token = match input {
            Input::One(token) => Some(token),
            Input::Slots(slots) => {
                let net = self.net();
                if let Some(recorded) = &mut self.recorded {
                    clear_unfilled_slots(net, execution.node, &slots, &mut recorded.arrived);
                }
                self.shared.graph_type().join(execution.node, slots)
            }
        };
        let Some(token) = token else {
            let from = self.net().name(execution.node).to_owned();
            return Err(self.unsound(Some(execution), Violation::NotInTable { from }));
        };
        if let Some(limit) = exhausted {
            self.exhaust(execution, limit, token)?;
            return Ok(None);
        }
        Ok(Some(token))
    }

    fn exhaust(&mut self, execution: Execution, limit: Limit, token: ErasedToken) -> Result<(), End> {
        let node = self.shared.untyped().node(execution);
        self.shared.untyped().emit_rare(EventKind::NodeExhausted(node));
        let step = caught_now(|| self.shared.graph_type().exhausted(execution.node, limit, token));
        let Some(step) = step.map_err(|panic| End::failed(panicked(self.net(), execution, panic)))? else {
            return Err(End::failed(beyond_bounds(self.net(), execution, limit)));
        };
        // The step is not recorded, because a replay takes the same route from the same input. Its tokens are encoded only for
        // `input_of`.
        if self.recorded.is_some()
            && let Err(error) = self.encode_tokens(&step)
        {
            let kind = FailureKind::Journal;
            return Err(End::failed(failure(self.net(), execution, kind, error.to_string(), Vec::new())));
        }
        self.complete(execution, step)
    }
}
