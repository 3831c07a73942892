//! The results of children that maps and graph nodes got.

use super::Followed;
use crate::numbers::{enough, in_a_word};
use crate::oracle::Oracle;
use crate::world::Gathered;
use interlocking_core::frontier::Execution;
use interlocking_core::run_id::RunId;
use interlocking_core::table::Quorum;
use interlocking_runtime::ChildFailure;
use interlocking_runtime::journal::By;

fn cancelled() -> Result<u64, String> {
    Err(in_a_word(&ChildFailure::Cancelled))
}

impl Followed<'_> {
    /// Checks that the handler of a map or graph node whose outcome counts got the real results of its children.
    pub(super) fn children(&self) -> Result<(), String> {
        for ((run, by), all) in &self.gathered {
            let Some(oracle) = self.runs.get(run) else { continue };
            let Some(node) = self.account.net(run).node_named(&by.node) else { continue };
            if oracle.outcomes.contains_key(&(node, by.visit, by.attempt)) {
                all.last().into_iter().flatten().try_for_each(|child| self.child(child))?;
                self.quorum(run, by, all)?;
            }
        }
        for (of, number) in &self.given {
            let is_child = |(child, _): &(&RunId, &Oracle<'_>)| self.account.started_by(child).as_ref() == Some(of);
            let exit = self.runs.iter().find(is_child).and_then(|(_, oracle)| oracle.exit);
            if exit != Some(*number) {
                let (run, by) = of;
                return Err(format!("{by} of {run} was given {number}, and its child came to {exit:?}"));
            }
        }
        Ok(())
    }

    /// Checks that a map's decision about its quorum was right, and that its handler got the same results ever after.
    fn quorum(&self, run: &RunId, by: &By, all: &[Vec<Gathered>]) -> Result<(), String> {
        let Some(oracle) = self.runs.get(run) else { return Ok(()) };
        let Some(node) = self.account.net(run).node_named(&by.node) else { return Ok(()) };
        let Some(last) = all.last() else { return Ok(()) };
        let Some(quorum) = self.account.net(run).row(node).quorum else {
            return match last.iter().any(|child| !self.runs.contains_key(&child.run) && child.result == cancelled()) {
                true => Err(format!("{by} of {run} has no quorum, and a child that never began")),
                false => Ok(()),
            };
        };
        let Some((reached, ended, _)) = oracle.decisions.get(by) else {
            return Err(format!("{by} of {run} went on without a decision"));
        };
        let execution = Execution { node, visit: by.visit, attempt: by.attempt };
        let count = match quorum {
            Quorum::AtLeast(count) => count as usize,
            Quorum::Enough => enough(&self.account.ended.history.world.choice(self.account.level(run), run, execution)),
        };
        let had_ended = |child: &&Gathered| ended.contains(&child.run);
        let succeeded = last.iter().filter(had_ended).filter(|child| child.result.is_ok()).count();
        let pending = last.iter().filter(|child| !had_ended(child)).count();
        let is_right = match (reached, quorum) {
            (true, _) => succeeded == count,
            (false, Quorum::AtLeast(_)) => succeeded + pending < count,
            (false, Quorum::Enough) => succeeded < count && pending == 0,
        };
        if !is_right {
            return Err(format!("{by} of {run} decided {reached} for {count} with {succeeded}, and {pending} left"));
        }
        match oracle.seen.retried > 0 || all.iter().all(|given| given == last) {
            true => Ok(()),
            false => Err(format!("{by} of {run} was given first one thing and then another: {all:?}")),
        }
    }

    fn child(&self, child: &Gathered) -> Result<(), String> {
        let Some(oracle) = self.runs.get(&child.run) else {
            // The child was never started, and has no records.
            let unbegun = [ChildFailure::TooDeep { limit: 0 }, ChildFailure::Cancelled].map(|it| Err(in_a_word(&it)));
            return match unbegun.contains(&child.result) {
                true => Ok(()),
                false => Err(format!("{child:?} has no records")),
            };
        };
        let expected = match &oracle.ended {
            None => return Err(format!("{child:?} has not ended")),
            Some((Some(failure), _)) => Err(in_a_word(&ChildFailure::Failed(Box::new(failure.clone())))),
            Some((None, true)) => Err(in_a_word(&ChildFailure::Cancelled)),
            Some((None, false)) => oracle.exit.ok_or_else(|| "nothing at the exit".to_owned()),
        };
        if child.result == expected { Ok(()) } else { Err(format!("{child:?} has ended with {expected:?}")) }
    }
}
