//! What maps and graph nodes were given.

use super::Followed;
use crate::numbers::in_a_word;
use crate::oracle::Oracle;
use crate::world::Gathered;
use interlocking_core::run_id::RunId;
use interlocking_runtime::ChildFailure;

impl Followed<'_> {
    /// What the handler of a map or graph node, whose outcome counts, was given is what its children came to.
    pub(super) fn children(&self) -> Result<(), String> {
        for ((run, by), all) in &self.gathered {
            let Some(oracle) = self.runs.get(run) else { continue };
            let Some(node) = self.account.net(run).node_named(&by.node) else { continue };
            if oracle.outcomes.contains_key(&(node, by.visit, by.attempt)) {
                all.last().into_iter().flatten().try_for_each(|child| self.child(child))?;
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

    fn child(&self, child: &Gathered) -> Result<(), String> {
        let Some(oracle) = self.runs.get(&child.run) else {
            // It was never begun, and has no records.
            return match child.result == Err(in_a_word(&ChildFailure::TooDeep { limit: 0 })) {
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
