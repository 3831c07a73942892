//! Turns, as handlers and the driver ask for them.

use crate::context::services::UntypedServices;
use crate::event::EventKind;
use crate::tree::turns::{Asker, Queue, Turn};
use interlocking_core::frontier::Execution;
use interlocking_core::table::NodeKind;
use std::sync::Arc;
use tokio::sync::Notify;

impl UntypedServices {
    /// Waits until an execution has its turn, if its node is exclusive.
    pub(crate) async fn turn(&self, execution: Execution) -> Option<Arc<Turn>> {
        let row = self.net.row(execution.node);
        let name = row.exclusive.as_deref()?;
        let (turn, wakeup) = self.ask_for_turn(Queue::Nodes(name.into()), execution);
        let turn = Arc::new(turn);
        if let Some(wakeup) = wakeup {
            let node = self.node(execution);
            tracing::debug!(run = %self.run(), node = %node.node, exclusive = name, "waiting for its turn");
            self.emit(|| EventKind::NodeWaits { node, exclusive: name.into() });
            self.wait_for_turn(|| turn.has_come(), &wakeup, execution).await;
            tracing::debug!(run = %self.run(), node = self.net.name(execution.node), exclusive = name, "has its turn");
        }
        self.stop_if_halted().await;
        if row.kind == NodeKind::Graph {
            self.keep_turn(execution, turn.clone());
        }
        Some(turn)
    }

    /// Asks for a turn: returns the turn, or a place in the queue with the [`Notify`] that is notified once the turn may have
    /// come.
    fn ask_for_turn(&self, queue: Queue, execution: Execution) -> (Turn, Option<Arc<Notify>>) {
        self.settings.tree().turns.ask(queue, || {
            let (idle, child_slot) = (self.idle().clone(), self.settings.child_slot().cloned());
            let on_turn = Box::new(move || {
                child_slot.iter().for_each(|child_slot| child_slot.set_waiting(false));
                idle.leave(execution);
            });
            Asker { run: self.run().clone(), by: self.by(execution), on_turn }
        })
    }

    async fn wait_for_turn(&self, has_come: impl Fn() -> bool, wakeup: &Notify, execution: Execution) {
        while !has_come() {
            // If the execution that has the turn is held back, the turn does not come in this process.
            let _parked = self.settings.tree().held_back_by().map(|_| self.idle().park(execution));
            wakeup.notified().await;
        }
    }

    /// Never resolves if the tree has halted: the execution that had the turn was stopped in the middle of its work, and this
    /// one is about to be stopped.
    async fn stop_if_halted(&self) {
        if self.settings.tree().halted.is_cancelled() {
            std::future::pending::<()>().await;
        }
    }

    /// Keeps the turn of an execution until its end is absorbed.
    pub(crate) fn keep_turn(&self, execution: Execution, turn: Arc<Turn>) {
        self.notes().turns.keep(execution, turn);
    }

    /// Shares the turn of a graph node's execution with its child. The turn lasts as long as the child holds this.
    pub(crate) fn share_turn(&self, execution: Execution) -> Option<Arc<Turn>> {
        if self.net.features().exclusive { self.notes().turns.share(execution) } else { None }
    }

    /// The turns that end with an execution whose end is absorbed now: its own, and those that it has given back. They last
    /// until the returned values are dropped.
    #[inline]
    pub(crate) fn turns_of(&self, execution: Execution) -> (Option<Arc<Turn>>, Vec<Option<Turn>>) {
        self.notes.get().map_or_else(Default::default, |notes| {
            (notes.turns.take(execution), notes.run_turns.take_given_back(execution))
        })
    }

    /// An execution has ended: the turns stop waiting for sections below it.
    pub(crate) fn forget_sections_below(&self, execution: Execution) {
        if let Some(tree) = self.settings.known_tree() {
            tree.turns.forget_sections(|section| section.leads_through(self.run(), &self.by(execution)));
        }
    }

    /// Ends the turns of executions whose end is never absorbed, and those of the run.
    pub(crate) fn end_turns(&self) {
        self.end_turns_of_executions();
        if let Some(notes) = self.notes.get() {
            notes.run_turns.end();
        }
        self.forget_earlier_turns(None);
    }

    /// Ends the turns of executions whose end is never absorbed. The run keeps its own turns, because its work in them is half
    /// done.
    pub(crate) fn end_turns_of_executions(&self) {
        if let Some(notes) = self.notes.get() {
            notes.turns.end();
        }
    }

    /// The run does not ask again for the turn called `name` that it had in another process; without a name, for no such turn.
    fn forget_earlier_turns(&self, name: Option<&str>) {
        let is_it = |queue: &Queue| match queue {
            Queue::Runs(other) => name.is_none_or(|name| name == other),
            Queue::Nodes(_) => false,
        };
        if let Some(tree) = self.settings.known_tree() {
            tree.turns.forget_sections(|section| section.run.as_ref() == Some(self.run()) && is_it(&section.queue));
        }
    }

    /// Notes the turns that the run had when its process ended.
    pub(crate) fn had_turns(&self, names: Vec<String>) {
        if !names.is_empty() {
            self.notes().run_turns.had(names);
        }
    }

    /// The names of the turns that the run still has once the outcome of an execution counts.
    pub(crate) fn turns_after(&self, execution: Execution) -> Vec<String> {
        self.notes.get().map_or_else(Vec::new, |notes| notes.run_turns.after(execution))
    }

    /// Waits for the run's turn among the runs of its tree that ask under one name, unless the run has it.
    pub(crate) async fn take_turn(&self, name: &str, execution: Execution) {
        let kept = &self.notes().run_turns;
        if kept.has(name) {
            return;
        }
        let queue = Queue::Runs(name.to_owned().into());
        let (turn, wakeup) = self.ask_for_turn(queue.clone(), execution);
        if let Some(wakeup) = wakeup {
            // Another execution of the run may have asked before, and the run has its turn then.
            self.wait_for_turn(|| turn.has_come() || kept.has(name), &wakeup, execution).await;
        }
        self.stop_if_halted().await;
        if turn.has_come() {
            kept.keep(name, turn);
            self.settings.tree().turns.wake_run(&queue, self.run());
        }
    }

    /// Gives the run's turn back. It ends when the outcome of the execution `by` is absorbed.
    pub(crate) fn give_turn_back(&self, name: &str, by: Execution) {
        let kept = &self.notes().run_turns;
        if !kept.has(name) {
            self.forget_earlier_turns(Some(name));
        }
        kept.give_back(name, by);
    }
}
