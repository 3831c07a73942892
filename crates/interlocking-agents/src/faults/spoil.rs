//! Corrupts answers.

use serde_json::{Value, json};

use super::fault::Fault;
use crate::agent::turn::{Reply, Turn};
use crate::schema::Schema;

/// The replacement for invalid UTF-8 in a text.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// The reply with its answer corrupted by `fault`.
pub(super) fn corrupted(reply: Reply, fault: &Fault, turn: &Turn) -> Reply {
    let silent = |reply: Reply| Reply { output: None, decisions: Vec::new(), ..reply };
    match fault {
        Fault::NoOutput => silent(reply),
        Fault::InvalidJson => {
            let whole = reply.output.as_ref().map_or_else(|| "{\"answer\": true}".to_owned(), Value::to_string);
            Reply { text: Some(half(&whole)), ..silent(reply) }
        }
        Fault::BrokenOutput => Reply { output: Some(invalid_value(turn.schema.as_deref())), ..silent(reply) },
        Fault::Output(output) => Reply { output: Some(output.clone()), ..silent(reply) },
        Fault::HugeOutput { bytes } => huge(reply, *bytes),
        Fault::LossyText => {
            let mut reply = reply;
            let inputs = reply.decisions.iter_mut().map(|decision| &mut decision.input);
            for value in reply.output.iter_mut().chain(inputs) {
                each_text(value, &mut |text| *text = lossy(text));
            }
            Reply { text: reply.text.as_deref().map(lossy), ..reply }
        }
        _ => reply,
    }
}

/// The first half of a text, as if the answer had been cut off. The result is never valid JSON.
fn half(text: &str) -> String {
    let cut: String = text.chars().take(text.chars().count() / 2).collect();
    if serde_json::from_str::<Value>(&cut).is_ok() { format!("{{{cut}") } else { cut }
}

/// A value that the schema forbids; null if it forbids none of the values that are tried.
fn invalid_value(schema: Option<&Schema>) -> Value {
    let tried = [json!({ "unexpected": [null] }), json!([]), json!({}), json!(""), json!(-0.5), Value::Null];
    let broken = tried.into_iter().find(|value| schema.is_some_and(|schema| !schema.violations(value).is_empty()));
    broken.unwrap_or(Value::Null)
}

/// Pads the first text of the output, and the text of the answer, to `bytes` bytes each. The output stays valid if its
/// texts have no length limit.
fn huge(mut reply: Reply, bytes: usize) -> Reply {
    let mut padded = false;
    if let Some(output) = &mut reply.output {
        each_text(output, &mut |text| {
            if !std::mem::replace(&mut padded, true) {
                pad(text, bytes);
            }
        });
    }
    pad(reply.text.get_or_insert_default(), bytes);
    reply
}

fn pad(text: &mut String, bytes: usize) {
    text.extend(std::iter::repeat_n('x', bytes.saturating_sub(text.len())));
}

/// The text as decoded from bytes of which one is invalid.
pub(super) fn lossy(text: &str) -> String {
    let (before, after): (Vec<_>, Vec<_>) = {
        let middle = text.chars().count() / 2;
        (text.chars().take(middle).collect(), text.chars().skip(middle).collect())
    };
    before.into_iter().chain([REPLACEMENT]).chain(after).collect()
}

/// Applies `change` to every text in a value, except the names of fields.
fn each_text(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, change)),
        Value::Object(fields) => fields.values_mut().for_each(|field| each_text(field, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
