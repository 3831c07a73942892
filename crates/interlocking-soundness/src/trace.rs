//! A path in words: `entry → types → {skeleton, adversary} → gate`.
//!
//! Executions are shown in layers: each is one layer after the latest execution whose token it takes.

use crate::model::{Failing, Firing, Model, Role};
use crate::search::Taken;
use crate::verdict::{Rule, Step};
use std::collections::HashMap;

/// The executions of a path by name.
pub(crate) fn steps(model: &Model<'_>, path: &[Taken]) -> Vec<Step> {
    let firing = |taken: &Taken| &model.nodes[taken.node as usize].firings[taken.firing as usize];
    let steps =
        path.iter().enumerate().filter(|(_, taken)| !model.is_choice(taken.node as usize)).map(|(at, taken)| {
            let chosen = |place: &usize| {
                let choice = path[at..].iter().find(|later| {
                    model.is_choice(later.node as usize) && later.node as usize == model.consumer(*place)
                });
                choice.map_or(*place, |choice| firing(choice).produces.first().copied().unwrap_or(model.exit()))
            };
            let places = firing(taken).produces.iter().map(chosen);
            let mut to: Vec<String> = places.map(|place| model.place_name(place).to_owned()).collect();
            to.extend(std::iter::repeat_n(interlocking_core::table::EXIT.to_owned(), firing(taken).exits));
            let Firing { exhausted, failing, .. } = *firing(taken);
            let [timed_out, failed] = [Failing::TimedOut, Failing::Failed].map(|one| failing == Some(one));
            let none = blank(model, path, at).into_iter().map(|place| model.place_name(place).to_owned()).collect();
            Step { node: model.node_name(taken.node as usize).to_owned(), to, none, exhausted, timed_out, failed }
        });
    steps.collect()
}

/// The optional slots that an execution fills without a value, directly or by the choices of its branches.
fn blank(model: &Model<'_>, path: &[Taken], at: usize) -> Vec<usize> {
    let firing = |taken: &Taken| &model.nodes[taken.node as usize].firings[taken.firing as usize];
    let choices = firing(&path[at]).produces.iter().filter_map(|&place| {
        let is_its = |later: &&Taken| later.node as usize == model.consumer(place);
        path[at..].iter().find(|later| model.is_choice(later.node as usize) && is_its(later))
    });
    let firings = std::iter::once(&path[at]).chain(choices).map(firing);
    let blank = firings.flat_map(|firing| firing.blank.iter().copied());
    blank.filter(|&place| model.net.places()[place].optional).collect()
}

/// The path in words, with the violation at its end.
pub(crate) fn in_words(model: &Model<'_>, path: &[Taken], rule: &Rule) -> String {
    let mut words = vec!["entry".to_owned()];
    for layer in layers(model, path) {
        let names: Vec<String> = layer.iter().map(|&at| name(model, path, at)).collect();
        words.push(set(&names));
    }
    let end = match rule {
        Rule::DoubleToken { place, .. } => format!(" → {place}, which holds a token already"),
        Rule::LiveAtExit { .. } => " → exit".to_owned(),
        Rule::StarvedJoin { join, missing } => format!(" → {join}, which still needs {}", slots(missing)),
        Rule::Deadlock { joins, missing } => format!(" → {}, which still need {}", set(joins), quoted(missing)),
        Rule::SharedWorkspace { nodes, .. } => format!(" → {}", set(nodes)),
        Rule::NoWayOut { .. } => ", from where no way leads to exit".to_owned(),
        Rule::UnboundedCycle { .. } | Rule::NeverRuns { .. } | Rule::ExitUnreachable => String::new(),
    };
    words.join(" → ") + &end
}

/// The executions of a path by their position in it.
fn layers(model: &Model<'_>, path: &[Taken]) -> Vec<Vec<usize>> {
    let mut layers: Vec<Vec<usize>> = Vec::new();
    // By place, the layer after the layer that filled it last.
    let mut ready: HashMap<usize, usize> = HashMap::new();
    for (at, taken) in path.iter().enumerate() {
        let node = &model.nodes[taken.node as usize];
        let inputs = node.places.clone().filter_map(|place| ready.get(&place).copied());
        // A message takes no token, so it comes after all earlier executions.
        let layer = if node.role == Role::Event { layers.len() } else { inputs.max().unwrap_or(0) };
        let is_choice = model.is_choice(taken.node as usize);
        for &place in &node.firings[taken.firing as usize].produces {
            ready.insert(place, layer + usize::from(!is_choice));
        }
        if is_choice {
            continue;
        }
        if layers.len() <= layer {
            layers.resize(layer + 1, Vec::new());
        }
        layers[layer].push(at);
    }
    layers
}

fn name(model: &Model<'_>, path: &[Taken], at: usize) -> String {
    let taken = path[at];
    let node = &model.nodes[taken.node as usize];
    let name = model.node_name(taken.node as usize);
    let firing = &node.firings[taken.firing as usize];
    match firing.failing {
        Some(Failing::TimedOut) => format!("{name} (timed out)"),
        Some(Failing::Failed) => format!("{name} (failed)"),
        None if firing.exhausted => format!("{name} (exhausted)"),
        None if node.role == Role::Event => format!("{name} (message)"),
        None if !blank(model, path, at).is_empty() => format!("{name} (none)"),
        None => name.to_owned(),
    }
}

fn set(names: &[String]) -> String {
    match names {
        [one] => one.clone(),
        several => format!("{{{}}}", several.join(", ")),
    }
}

/// The slots of one join, without its name.
fn slots(places: &[String]) -> String {
    let slot = |place: &String| place.split_once('.').map_or(place.clone(), |(_, slot)| slot.to_owned());
    quoted(&places.iter().map(slot).collect::<Vec<_>>())
}

/// `a`, `b` and `c`.
pub(crate) fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match &quoted[..] {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
