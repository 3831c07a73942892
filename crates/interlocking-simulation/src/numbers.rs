//! The payloads: each is a number computed from its origin, so that a wrong input shows in all later payloads.

use crate::choice::Choice;
use crate::mix::{mix, mix_text};
use crate::world::Gathered;
use interlocking_core::failure::{Failure, NodeError};
use interlocking_core::net::{AlternativeIndex, NodeIndex, PlaceIndex};
use interlocking_core::run_id::RunId;
use interlocking_reference_model::generate::Dice;
use interlocking_runtime::ChildFailure;
use interlocking_runtime::journal::By;
use interlocking_runtime::observer::Observation;

/// The number for no value, which may go to an optional slot, and which a join gets for a slot that it did not wait
/// for.
pub(crate) const NOTHING: u64 = u64::MAX;

/// The number of a token: from the execution that made it, that execution's input, and the branch.
pub(crate) fn sent(choice: &Choice, input: &[u64], extra: u64, branch: usize) -> u64 {
    if choice.way.as_ref().is_some_and(|way| way.nothing.contains(&branch)) {
        return NOTHING;
    }
    mix(&[choice.number, mix(input), extra, branch as u64])
}

/// The number of a token along a route, which the run takes without the handler: an optional slot gets no value.
pub(crate) fn along_route(to_optional_slot: bool, number: u64) -> u64 {
    if to_optional_slot { NOTHING } else { number }
}

/// The number of a token along an exhausted route.
pub(crate) fn exhausted(node: NodeIndex, input: &[u64]) -> u64 {
    mix(&[0xe8, node.into(), mix(input)])
}

/// The number along an edge's exhausted route, in place of the token that would have gone along the edge.
pub(crate) fn spent(edge: AlternativeIndex, token: u64) -> u64 {
    mix(&[0x5e, edge.into(), token])
}

/// The number of a token along the route of a failure, or of a timeout.
pub(crate) fn failed(route: AlternativeIndex, failure: &Failure) -> u64 {
    let Failure { node, visit, attempt, kind, .. } = failure;
    mix(&[0xfa, route.into(), mix_text(node), (*visit).into(), (*attempt).into(), mix_text(&format!("{kind:?}"))])
}

/// The input of an advisory node.
pub(crate) fn spawned(choice: &Choice, place: PlaceIndex) -> u64 {
    mix(&[choice.number, 0xad, place.into()])
}

/// The report of an advisory node.
pub(crate) fn report(choice: &Choice, input: u64, extra: u64) -> u64 {
    mix(&[choice.number, 0x4e, input, extra])
}

/// The question of a human node.
pub(crate) fn question(choice: &Choice, input: &[u64]) -> u64 {
    mix(&[choice.number, 0x9e, mix(input)])
}

/// A person's answer.
pub(crate) fn answer(seed: u64, run: &RunId, by: &By) -> u64 {
    mix(&[seed, 0xa5, mix_text(run.as_str()), mix_text(&by.to_string())]) >> 2
}

/// The entries of the children of a run at `level`; few children have children of their own.
pub(crate) fn items(choice: &Choice, level: usize) -> Vec<u64> {
    let mut items = choice.items.clone();
    items.truncate(if level == 0 { 3 } else { usize::from(choice.number.is_multiple_of(3)) });
    items
}

/// Whether a map runs the child of this item anew in each of its executions, although it may adopt.
pub(crate) fn is_anew(item: u64) -> bool {
    item.is_multiple_of(2)
}

/// How many children must succeed before a map's handler has enough.
pub(crate) fn enough(choice: &Choice) -> usize {
    1 + (choice.number / 7 % 3) as usize
}

/// The results of children, as one number.
pub(crate) fn gathered(children: &[Gathered]) -> u64 {
    let number = |child: &Gathered| match &child.result {
        Ok(number) => *number,
        Err(failure) => mix_text(failure),
    };
    mix(&children.iter().map(number).collect::<Vec<_>>())
}

/// A short description of a failed child.
pub(crate) fn in_a_word(failure: &ChildFailure) -> String {
    match failure {
        ChildFailure::Failed(failure) => format!("{:?} of {}", failure.kind, failure.node),
        ChildFailure::Cancelled => "cancelled".to_owned(),
        ChildFailure::TooDeep { .. } => "too deep".to_owned(),
        other => format!("{other}"),
    }
}

/// An observer's new sum after an outcome; an error if the observer fails.
pub(crate) fn observed(sum: u64, failing: usize, seen: &Observation) -> Result<u64, NodeError> {
    let json = mix_text(&serde_json::to_string(&seen.0)?);
    if Dice::new(json).percent(failing / 2) {
        return Err("the observer cannot look".into());
    }
    Ok(mix(&[sum, json]))
}
