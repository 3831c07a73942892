//! Answers and messages to a run from outside.

use super::{Facts, Oracle, number, same};
use crate::numbers::answer;
use interlocking_core::net::NodeIndex;
use interlocking_runtime::journal::{By, LetterBody, Posted, RecordedPayload};

impl Oracle<'_> {
    /// Checks an answer. The node of the question may have been cancelled meanwhile.
    pub(super) fn answered(
        &mut self,
        by: &By,
        letter: u64,
        said: &RecordedPayload,
        facts: &Facts<'_>,
    ) -> Result<(), String> {
        let posted = self.letter(letter, facts)?;
        let LetterBody::Answer { to, answer: written } = &posted.letter.body else {
            return Err("the letter is no answer".to_owned());
        };
        let said = number(said)?;
        same("the answer", said.to_string().as_str(), &**written)?;
        same("the answer", said, answer(self.world.seed, &self.run, by))?;
        self.seen.answers += 1;
        match self.asked.get_mut(by) {
            Some(open @ None) if to == by => {
                *open = Some(said);
                Ok(())
            }
            other => Err(format!("{by} is answered, and its question is {other:?}")),
        }
    }

    pub(super) fn received(
        &mut self,
        node: &str,
        letter: u64,
        message: &RecordedPayload,
        missed: bool,
        facts: &Facts<'_>,
    ) -> Result<(), String> {
        let posted = self.letter(letter, facts)?;
        let LetterBody::Message { node: to, message: written } = &posted.letter.body else {
            return Err("the letter is no message".to_owned());
        };
        same("the addressee", to.as_str(), node)?;
        let message = number(message)?;
        same("the message", message.to_string().as_str(), &**written)?;
        let node = self.net.node_named(node).ok_or("there is no such event node")?;
        let is_lost = self.net.row(node).transient && !self.is_waited_for(usize::from(node));
        same("whether it is missed", missed, is_lost)?;
        if missed {
            self.seen.missed += 1;
            return Ok(());
        }
        self.mailbox.push_back((usize::from(node), message));
        self.seen.received += 1;
        Ok(())
    }

    /// Whether a token lies in a region that an edge of the event node clears, or a map runs to which the node may add
    /// items.
    fn is_waited_for(&self, node: usize) -> bool {
        let marking = self.state.marking();
        let adds_to = &self.net.row(node as NodeIndex).adds_to;
        let is_at_work = |map: &usize| adds_to.iter().any(|name| name == self.net.name(*map as NodeIndex));
        self.rules.nodes[node].ways.iter().any(|way| way.clears & marking != 0) || self.running.keys().any(is_at_work)
    }

    /// The letter of this number; checks that letters are received in order, each once.
    fn letter<'f>(&mut self, number: u64, facts: &Facts<'f>) -> Result<&'f Posted, String> {
        if number <= self.letters {
            return Err(format!("letter {number} is received after letter {}", self.letters));
        }
        self.letters = number;
        let posted = facts.letters.iter().find(|posted| posted.number == number);
        posted.ok_or_else(|| format!("there is no letter {number}"))
    }
}
