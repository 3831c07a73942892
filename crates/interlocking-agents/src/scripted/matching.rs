//! Chooses the turn of a script for a prompt.

use super::no_match::{NoMatch, Unfit, UnfitTurn};
use super::script::{Script, ScriptTurn, Times};
use crate::agent::turn::Turn;

/// The index of the first turn that matches.
pub(super) fn choose(script: &Script, used: &[u32], turn: &Turn) -> Result<usize, NoMatch> {
    let mut turns = Vec::new();
    for (index, candidate) in script.turns.iter().enumerate() {
        let reasons = unfit(candidate, used[index], turn);
        if reasons.is_empty() {
            return Ok(index);
        }
        turns.push(UnfitTurn { line: candidate.line, reasons });
    }
    Err(NoMatch {
        script: script.name.clone(),
        role: turn.role.clone(),
        session: turn.session.kind(),
        prompt: turn.prompt.clone(),
        turns,
    })
}

/// Whether the turn is for agents with this role.
pub(super) fn is_for(candidate: &ScriptTurn, role: Option<&str>) -> bool {
    candidate.agent.is_none() || candidate.agent.as_deref() == role
}

fn unfit(candidate: &ScriptTurn, used: u32, turn: &Turn) -> Vec<Unfit> {
    let mut reasons = Vec::new();
    if let Times::AtMost(times) = candidate.times
        && used >= times
    {
        reasons.push(Unfit::UsedUp { times });
    }
    if let Some(agent) = &candidate.agent
        && !is_for(candidate, turn.role.as_deref())
    {
        reasons.push(Unfit::OtherAgent { agent: agent.clone() });
    }
    if let Some(session) = candidate.session
        && turn.session.kind() != session
    {
        reasons.push(Unfit::OtherSession { session });
    }
    let lacking = candidate.contains.iter().filter(|text| !turn.prompt.contains(text.as_str()));
    reasons.extend(lacking.map(|text| Unfit::Lacks { text: text.clone() }));
    reasons
}
