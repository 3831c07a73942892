//! Converts an answer to a reply.

use genai::chat::ToolCall;
use serde_json::{Map, Value};

use super::call::Answer;
use super::failure::Spent;
use super::prompt::Form;
use super::settings::HttpPrices;
use crate::agent::TurnContext;
use crate::agent::event::AgentEvent;
use crate::agent::turn::Reply;
use crate::agent::usage::{Cost, Usage};
use crate::conversation::decision::Decision;
use crate::drivers::prose;
use crate::sessions::session::SessionId;

/// The reply of the agent; its text is also reported as an event.
pub(super) fn reply(context: &TurnContext<'_>, answer: Answer, form: &Form, session: SessionId, usage: Usage) -> Reply {
    let Answer { text, calls, .. } = answer;
    let output = match form {
        Form::Text => None,
        Form::Schema(schema) => schema.read(text.trim()),
        Form::Tools(_) => None,
        Form::Prompted(schema) => prose::find(&text, schema),
    };
    let decisions: Vec<_> = calls.into_iter().map(|call| decision(call, form)).collect();
    let is_spoken = output.is_none() && !text.trim().is_empty();
    if is_spoken {
        context.emit(AgentEvent::Text { text: text.clone() });
    }
    for Decision { tool, input } in &decisions {
        context.emit(AgentEvent::ToolUse { name: tool.clone(), input: input.clone() });
    }
    let text = is_spoken.then_some(text);
    Reply { output, decisions, text, ..Reply::new(session, usage) }
}

/// The text of an answer that is kept in the session. Tool calls are described in words: then they need no tool result,
/// and fit a later turn with other tools or without tools.
pub(super) fn history_text(answer: &Answer) -> String {
    let calls = answer.calls.iter().map(|call| format!("[called `{}` with {}]", call.fn_name, call.fn_arguments));
    let text = (!answer.text.trim().is_empty()).then(|| answer.text.clone());
    text.into_iter().chain(calls).collect::<Vec<_>>().join("\n\n")
}

fn decision(call: ToolCall, form: &Form) -> Decision {
    let input = match call.fn_arguments {
        // Some models send nothing for a tool without parameters.
        Value::Null => Value::Object(Map::new()),
        Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
        input => input,
    };
    let Form::Tools(tools) = form else { return Decision { tool: call.fn_name, input } };
    let called = tools.iter().find(|offered| offered.tool.name == call.fn_name);
    let input = called.map_or_else(|| input.clone(), |offered| offered.input.undo(input.clone()));
    Decision { tool: call.fn_name, input }
}

/// The usage of a failed call.
pub(super) fn spent(spent: &Spent, prices: Option<&HttpPrices>) -> Usage {
    match spent {
        Spent::Nothing => Usage { calls: 1, ..Usage::default() },
        Spent::Unknown => Usage { calls: 1, unpriced_calls: 1, ..Usage::default() },
        Spent::Counted(counted) => usage(counted, prices),
    }
}

pub(super) fn usage(counted: &genai::chat::Usage, prices: Option<&HttpPrices>) -> Usage {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
    let (input, output) = (count(counted.prompt_tokens), count(counted.completion_tokens));
    let cached = counted.prompt_tokens_details.as_ref().and_then(|details| count(details.cached_tokens)).unwrap_or(0);
    let cost = match (prices, input, output) {
        (Some(prices), Some(input), Some(output)) => prices.cost(input, cached.min(input), output),
        _ => None,
    };
    Usage {
        calls: 1,
        input_tokens: input.unwrap_or(0),
        output_tokens: output.unwrap_or(0),
        cost: cost.unwrap_or_default(),
        unpriced_calls: u32::from(cost.is_none()),
    }
}

impl HttpPrices {
    fn cost(&self, input: u64, cached: u64, output: u64) -> Option<Cost> {
        let of_cached = self.cached_input.unwrap_or(self.input);
        // Exact for any number of tokens that a model can count.
        let dollars = (input - cached) as f64 * self.input + cached as f64 * of_cached + output as f64 * self.output;
        Cost::from_dollars(dollars / 1e6).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_for_a_million_tokens() {
        let counted = |cached| genai::chat::Usage {
            prompt_tokens: Some(1_000_000),
            prompt_tokens_details: Some(genai::chat::PromptTokensDetails {
                cached_tokens: cached,
                ..Default::default()
            }),
            completion_tokens: Some(200_000),
            ..Default::default()
        };
        let prices = HttpPrices { input: 1.0, output: 5.0, cached_input: None };
        assert_eq!(
            usage(&counted(None), Some(&prices)).to_string(),
            "$2.00 in 1 call, 1000000 tokens in, 200000 tokens out"
        );
        let cheaper = HttpPrices { cached_input: Some(0.1), ..prices };
        assert_eq!(usage(&counted(Some(500_000)), Some(&cheaper)).cost, Cost::from_micro_dollars(1_550_000));
        let unknown = usage(&counted(None), None);
        assert_eq!((unknown.unpriced_calls, unknown.cost), (1, Cost::ZERO));
        assert_eq!(
            usage(&genai::chat::Usage::default(), Some(&prices)).unpriced_calls,
            1,
            "the provider counts nothing"
        );
    }
}
