//! Checks the other effects of an outcome: side effects, memory, messages, advisory nodes.

use super::{Oracle, number, same};
use crate::choice::Choice;
use crate::{body::addressee, world::EVENT};
use interlocking_core::frontier::Execution;
use interlocking_runtime::journal::{By, NodeOutcome};

impl Oracle<'_> {
    pub(super) fn effects(
        &mut self,
        sequence: u64,
        by: &By,
        execution: Execution,
        choice: &Choice,
        outcome: &NodeOutcome,
    ) -> Result<(), String> {
        if choice.once && !self.once.contains(&(by.node.clone(), by.visit, "effect".to_owned())) {
            return Err(format!("{by} has an effect that is not recorded"));
        }
        self.remember(by, execution, choice, outcome)?;
        self.send(choice, outcome)?;
        self.spawn(sequence, choice, outcome)
    }

    fn remember(
        &mut self,
        by: &By,
        execution: Execution,
        choice: &Choice,
        outcome: &NodeOutcome,
    ) -> Result<(), String> {
        let group = self.net.row(execution.node).memory.as_ref().map(|memory| memory.group.clone());
        match (&outcome.memory, choice.adds, group) {
            (Some(memory), Some(adds), Some(group)) => {
                self.seen.memories += 1;
                same("the memory group", &memory.group, &group)?;
                let sum = self.sums.entry(group).or_default();
                *sum += adds;
                same("the memory", number(&memory.value)?, *sum)
            }
            (None, None, _) => Ok(()),
            other => Err(format!("{by} has memory {other:?}")),
        }
    }

    fn send(&mut self, choice: &Choice, outcome: &NodeOutcome) -> Result<(), String> {
        let to = addressee(self.world, self.level, &self.run, self.parent.clone());
        let expected = choice.sends.zip(to).map(|(number, to)| (to, EVENT.to_owned(), number));
        let posted = outcome
            .posted
            .iter()
            .map(|message| number(&message.message).map(|number| (message.to.clone(), message.node.clone(), number)));
        let posted = posted.collect::<Result<Vec<_>, String>>()?;
        self.seen.sent += posted.len();
        same("the messages", posted, expected.into_iter().collect())
    }
}
