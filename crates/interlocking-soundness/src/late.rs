//! Reorders a path with late choices, so that each branch chooses immediately, as in a run.
//!
//! A token that waits for its choice does not block places that it would block after the choice. So a search with late
//! choices finds a violation exactly where there is one, but perhaps not the right one: with the choices in order, an
//! earlier step may break a rule.

use crate::model::{Model, Outcome, Role, State};
use crate::search::{Broken, Taken};

/// The path with each choice directly after its fork, up to where it breaks a rule; `broken` is the rule that the end
/// of `path` breaks.
pub(crate) fn in_order(model: &Model<'_>, broken: Broken, path: &[Taken]) -> (Broken, Vec<Taken>) {
    let mut way = Vec::new();
    for (at, &taken) in path.iter().enumerate().filter(|(_, taken)| !model.is_choice(taken.node as usize)) {
        way.push(taken);
        for &place in produces(model, taken) {
            let rest = &path[at + 1..];
            let choice = rest.iter().position(|later| later.node as usize == model.consumer(place));
            let again = rest.iter().position(|later| produces(model, *later).contains(&place));
            let choice = choice.filter(|&choice| again.is_none_or(|again| choice < again));
            way.extend(choice.map(|choice| rest[choice]).filter(|choice| model.is_choice(choice.node as usize)));
        }
    }
    let (mut broken, mut way) = up_to_broken(model, broken, way);
    // For a branch that has not chosen, takes a choice that leaves the violation unchanged, if there is such a choice.
    for at in (0..way.len()).rev() {
        let choices = produces(model, way[at]).iter().map(|&place| model.consumer(place));
        for (next, choice) in (at + 1..).zip(choices.filter(|&node| model.is_choice(node))) {
            if next >= way.len() {
                break;
            }
            if way[next].node as usize != choice {
                let others = (0..model.nodes[choice].firings.len()).map(|firing| {
                    let chosen = Taken { node: choice as u32, firing: firing as u32 };
                    up_to_broken(model, broken.clone(), [&way[..next], &[chosen], &way[next..]].concat())
                });
                let others: Vec<_> = others.collect();
                let alike = others.iter().position(|(found, other)| *found == broken && other.len() > way.len());
                match others.into_iter().nth(alike.unwrap_or_default()) {
                    Some(other) => (broken, way) = other,
                    None => break,
                }
            }
        }
    }
    (broken, way)
}

/// Whether a run can take this path, and breaks `broken` at its end. With late choices, a path may be impossible in a
/// run: a token that waits for its choice did not get cleared, or did not fill a join, where it would have in a run.
pub(crate) fn is_taken(model: &Model<'_>, broken: &Broken, way: &[Taken]) -> bool {
    let mut state = model.start();
    for (at, &taken) in way.iter().enumerate() {
        let (index, node) = (taken.node as usize, &model.nodes[taken.node as usize]);
        let is_due = model.pending(&state, true).is_none_or(|choice| choice == index);
        // An event's exhausted firing is accepted: the search knows that messages came too often, as it also counts
        // those that change nothing.
        let firing = &node.firings[taken.firing as usize];
        let may_fire = (node.role == Role::Event && firing.exhausted) || model.may_fire(index, firing, &state);
        if !(is_due && may_fire && model.is_enabled(index, &state)) {
            return false;
        }
        let is_last = at + 1 == way.len();
        let from = model.table_node(index);
        match after(model, &state, taken) {
            Outcome::State(next) => state = next,
            Outcome::DoubleToken { place } => {
                return is_last && *broken == Broken::DoubleToken { from, place: model.table_place(place) };
            }
            Outcome::LiveAtExit { .. } => return is_last && *broken == Broken::LiveAtExit { from },
            Outcome::End { .. } => return false,
        }
    }
    let enabled = model.enabled(&state);
    match broken {
        Broken::Stuck { .. } => enabled.iter().all(|&index| model.is_event(index)),
        Broken::Beside { nodes } => nodes.iter().all(|node| enabled.contains(node)),
        Broken::DoubleToken { .. } | Broken::LiveAtExit { .. } => false,
    }
}

/// The path up to the first step that breaks a rule of tokens, and that rule; the whole path and `broken` if no step
/// does.
fn up_to_broken(model: &Model<'_>, broken: Broken, mut way: Vec<Taken>) -> (Broken, Vec<Taken>) {
    let mut state = model.start();
    for (at, taken) in way.iter().enumerate() {
        let from = model.table_node(taken.node as usize);
        let broken = match after(model, &state, *taken) {
            Outcome::State(next) => {
                state = next;
                continue;
            }
            Outcome::DoubleToken { place } => Broken::DoubleToken { from, place: model.table_place(place) },
            Outcome::LiveAtExit { .. } => Broken::LiveAtExit { from },
            Outcome::End { .. } => break,
        };
        way.truncate(at + 1);
        return (broken, way);
    }
    (broken, way)
}

/// The state before the last execution of a path, or after it where that execution breaks no rule.
pub(crate) fn state_at_end(model: &Model<'_>, way: &[Taken]) -> State {
    let mut state = model.start();
    for taken in way {
        let Outcome::State(next) = after(model, &state, *taken) else { break };
        state = next;
    }
    state
}

fn after(model: &Model<'_>, state: &State, taken: Taken) -> Outcome {
    let (index, node) = (taken.node as usize, &model.nodes[taken.node as usize]);
    let started = model.started(index, state);
    model.fire(index, &node.firings[taken.firing as usize], started.as_ref().unwrap_or(state))
}

fn produces<'m>(model: &'m Model<'_>, taken: Taken) -> &'m [usize] {
    &model.nodes[taken.node as usize].firings[taken.firing as usize].produces
}
