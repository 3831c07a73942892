//! The final answer of a script's turn: its output, its decisions and its text, with `$HEAD` replaced.

use serde_json::Value;

use super::script::ScriptTurn;
use crate::conversation::decision::Decision;

/// The placeholder for the hash of the commit that is checked out in the workspace after the turn's actions.
const HEAD: &str = "$HEAD";

/// The answer of a turn.
pub(super) struct Answer {
    pub(super) output: Option<Value>,
    pub(super) decisions: Vec<Decision>,
    pub(super) text: Option<String>,
}

impl Answer {
    pub(super) fn of(turn: &ScriptTurn) -> Self {
        Self { output: turn.output.clone(), decisions: turn.decisions.clone(), text: turn.text.clone() }
    }

    /// Whether the answer contains the placeholder.
    pub(super) fn mentions_head(&mut self) -> bool {
        let mut is_mentioned = false;
        self.for_each_text(&mut |text| is_mentioned |= text.contains(HEAD));
        is_mentioned
    }

    pub(super) fn replace_head(&mut self, hash: &str) {
        self.for_each_text(&mut |text| *text = text.replace(HEAD, hash));
    }

    fn for_each_text(&mut self, each: &mut dyn FnMut(&mut String)) {
        let inputs = self.decisions.iter_mut().map(|decision| &mut decision.input);
        self.output.iter_mut().chain(inputs).for_each(|value| in_value(value, each));
        self.text.iter_mut().for_each(each);
    }
}

/// Visits the texts of a value; names of fields are left as they are.
fn in_value(value: &mut Value, each: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter_mut().for_each(|item| in_value(item, each)),
        Value::Object(fields) => fields.values_mut().for_each(|field| in_value(field, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
