//! Whose turn it is, as handlers and the driver ask.

use crate::context::services::UntypedServices;
use crate::event::EventKind;
use crate::tree::turns::{Asker, Queue, Turn};
use interlocking_core::frontier::Execution;
use interlocking_core::table::NodeKind;
use std::sync::Arc;
use tokio::sync::Notify;

impl UntypedServices {
    /// Waits until it is the turn of an execution, if its node is exclusive.
    pub(crate) async fn turn(&self, execution: Execution) -> Option<Arc<Turn>> {
        let row = self.net.row(execution.node);
        let name = row.exclusive.as_deref()?;
        let (turn, told) = self.ask_for_turn(Queue::Nodes(name.into()), execution);
        let turn = Arc::new(turn);
        if let Some(told) = told {
            let node = self.node(execution);
            tracing::debug!(run = %self.run(), node = %node.node, exclusive = name, "waiting for its turn");
            self.emit(|| EventKind::NodeWaits { node, exclusive: name.into() });
            self.until_it_comes(&turn, &told, execution).await;
            tracing::debug!(run = %self.run(), node = self.net.name(execution.node), exclusive = name, "has its turn");
        }
        self.unless_halted().await;
        if row.kind == NodeKind::Graph {
            self.keep_turn(execution, turn.clone());
        }
        Some(turn)
    }

    /// Asks for a turn: gives it, or a place in the queue with what is told once it may have come.
    fn ask_for_turn(&self, queue: Queue, execution: Execution) -> (Turn, Option<Arc<Notify>>) {
        self.settings.tree().turns.ask(queue, || {
            let (idle, child_slot) = (self.idle().clone(), self.settings.child_slot().cloned());
            let goes_on = Box::new(move || {
                child_slot.iter().for_each(|child_slot| child_slot.set_waiting(false));
                idle.leave(execution);
            });
            Asker { run: self.run().clone(), by: self.by(execution), goes_on }
        })
    }

    async fn until_it_comes(&self, turn: &Turn, told: &Notify, execution: Execution) {
        while !turn.has_come() {
            // Whoever has the turn may be held back, and then it does not come in this process.
            let _parked = self.settings.tree().held_back_by().map(|_| self.idle().park(execution));
            told.notified().await;
        }
    }

    /// Goes on only if the tree does: whoever had the turn was stopped in the middle otherwise, and this one is about to be.
    async fn unless_halted(&self) {
        if self.settings.tree().halted.is_cancelled() {
            std::future::pending::<()>().await;
        }
    }

    /// The turn of an execution lasts until its end is absorbed.
    pub(crate) fn keep_turn(&self, execution: Execution, turn: Arc<Turn>) {
        self.notes().turns.keep(execution, turn);
    }

    /// The turn of a graph node's execution, which lasts as long as its child holds this.
    pub(crate) fn share_turn(&self, execution: Execution) -> Option<Arc<Turn>> {
        if self.net.features().exclusive { self.notes().turns.share(execution) } else { None }
    }

    /// The turns that end with an execution whose end is absorbed now: its own, and those that it has given back. They last until these
    /// are dropped.
    #[inline]
    pub(crate) fn turns_of(&self, execution: Execution) -> (Option<Arc<Turn>>, Vec<Option<Turn>>) {
        self.notes
            .get()
            .map_or_else(Default::default, |notes| (notes.turns.of(execution), notes.run_turns.of(execution)))
    }

    /// An execution has come to an end: whoever waits for a section below it waits no longer.
    pub(crate) fn leads_to_no_section(&self, execution: Execution) {
        if let Some(tree) = self.settings.known_tree() {
            tree.turns.give_up(|section| section.passes(self.run(), &self.by(execution)));
        }
    }

    /// Ends the turns of executions whose end nobody absorbs any more, and those of the run.
    pub(crate) fn end_turns(&self) {
        self.end_turns_of_executions();
        if let Some(notes) = self.notes.get() {
            notes.run_turns.end();
        }
        self.asks_no_more(None);
    }

    /// Ends the turns of executions whose end nobody absorbs any more. The run keeps its own: what it does in them is done in part.
    pub(crate) fn end_turns_of_executions(&self) {
        if let Some(notes) = self.notes.get() {
            notes.turns.end();
        }
    }

    /// The run does not ask again for the turn of this name that it had in another process; without a name, for none.
    fn asks_no_more(&self, name: Option<&str>) {
        let is_it = |queue: &Queue| match queue {
            Queue::Runs(other) => name.is_none_or(|name| name == other),
            Queue::Nodes(_) => false,
        };
        if let Some(tree) = self.settings.known_tree() {
            tree.turns.give_up(|section| section.run.as_ref() == Some(self.run()) && is_it(&section.queue));
        }
    }

    /// The run had these turns when its process ended.
    pub(crate) fn had_turns(&self, names: Vec<String>) {
        if !names.is_empty() {
            self.notes().run_turns.had(names);
        }
    }

    /// The names of the turns that the run has once what came of an execution counts.
    pub(crate) fn turns_after(&self, execution: Execution) -> Vec<String> {
        self.notes.get().map_or_else(Vec::new, |notes| notes.run_turns.after(execution))
    }

    /// Waits until it is the run's turn among those of its tree that ask under one name, unless it has it.
    pub(crate) async fn take_turn(&self, name: &str, execution: Execution) {
        let kept = &self.notes().run_turns;
        if kept.has(name) {
            return;
        }
        let (turn, told) = self.ask_for_turn(Queue::Runs(name.to_owned().into()), execution);
        if let Some(told) = told {
            self.until_it_comes(&turn, &told, execution).await;
        }
        self.unless_halted().await;
        kept.keep(name, turn);
    }

    /// The run's turn ends when the outcome of an execution is absorbed.
    pub(crate) fn give_turn_back(&self, name: &str, by: Execution) {
        let kept = &self.notes().run_turns;
        if !kept.has(name) {
            self.asks_no_more(Some(name));
        }
        kept.give_back(name, by);
    }
}
