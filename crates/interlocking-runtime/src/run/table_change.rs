//! The differences between two routing tables, in the terms of the graph's attributes.

use interlocking_core::table::{NodeRow, Table};
use serde_json::Value;

/// The differences, one line each; empty if there are none.
pub(crate) fn differences(then: &Table, now: &Table) -> Vec<String> {
    let mut lines = Vec::new();
    if then.graph != now.graph {
        lines.push(format!("the graph was `{}` and is `{}`", then.graph, now.graph));
    }
    if then.output != now.output {
        lines.push(format!("its output was `{}` and is `{}`", then.output, now.output));
    }
    for row in &then.nodes {
        match now.node(&row.name) {
            None => lines.push(format!("node `{}` is gone", row.name)),
            Some(present) => differing_rows(row, present, &mut lines),
        }
    }
    let added = now.nodes.iter().filter(|row| then.node(&row.name).is_none());
    lines.extend(added.map(|row| format!("node `{}` is new", row.name)));
    // Places and alternatives are identified by their position, so the order of nodes matters.
    let names = |table: &Table| table.nodes.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
    if lines.is_empty() && names(then) != names(now) {
        lines.push(format!("the nodes stand in another order: it was {}", names(then).join(", ")));
    }
    lines
}

fn differing_rows(then: &NodeRow, now: &NodeRow, lines: &mut Vec<String>) {
    let attributes = |row: &NodeRow| match serde_json::to_value(row) {
        Ok(Value::Object(attributes)) => attributes,
        _ => serde_json::Map::new(),
    };
    let (then_all, now_all) = (attributes(then), attributes(now));
    let mut keys: Vec<&String> = then_all.keys().chain(now_all.keys()).collect();
    keys.sort();
    keys.dedup();
    for key in keys {
        let (was, is) = (then_all.get(key), now_all.get(key));
        if was != is {
            lines.push(format!("node `{}`: `{key}` was {} and is {}", then.name, shown(was), shown(is)));
        }
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None => "not given".to_owned(),
        Some(Value::Array(several)) => {
            several.iter().map(|one| format!("`{}`", word(one))).collect::<Vec<_>>().join(", ")
        }
        Some(one) => format!("`{}`", word(one)),
    }
}

/// A part of a row, spelled like the graph's attributes.
fn word(value: &Value) -> String {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    match value {
        Value::String(text) => text.clone(),
        Value::Object(part) => match (text("to"), text("name").or(text("group")), text("type"), part.get("at_most")) {
            (Some(to), ..) => {
                let times = part.get("times").map(|times| format!(", times = {times}")).unwrap_or_default();
                let route =
                    part.get("exhausted").map(|route| format!(", exhausted({})", word(route))).unwrap_or_default();
                let cancels = part.get("cancels").and_then(Value::as_array);
                let cancels = cancels.map(|names| names.iter().map(word).collect::<Vec<_>>().join(", "));
                let cancels = cancels.map(|names| format!(", cancels({names})")).unwrap_or_default();
                format!("{to}{times}{route}{cancels}")
            }
            (_, Some(name), Some(ty), _) => {
                let way = ["latched", "optional"].into_iter().find(|&way| part.get(way).is_some());
                format!("{name}: {ty}{}", way.map(|way| format!(" {way}")).unwrap_or_default())
            }
            (.., Some(limit)) => limit.to_string(),
            _ => value.to_string(),
        },
        _ => value.to_string(),
    }
}
