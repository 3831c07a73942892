//! The usage that a result reports, and whether its cost is known.

use serde_json::Value;

use super::line::{ModelUsage, Outcome};
use crate::agent::usage::{Cost, Usage};

/// The usage since the previous result. The result's totals cannot be used, because they accumulate over resumes and
/// forks. The cost is a lower bound unless [`is_priced`].
pub(super) fn since_the_last(result: &Outcome) -> Usage {
    match &result.model_usage_since_last_result {
        Some(models) => models.values().map(of_a_model).sum(),
        // The result also reports tokens elsewhere, but not money.
        None => {
            let tokens =
                |name| result.usage.as_ref().and_then(|usage| usage.get(name)).and_then(Value::as_u64).unwrap_or(0);
            let cached = tokens("cache_read_input_tokens").saturating_add(tokens("cache_creation_input_tokens"));
            Usage {
                input_tokens: tokens("input_tokens").saturating_add(cached),
                output_tokens: tokens("output_tokens"),
                ..Usage::default()
            }
        }
    }
}

/// Whether the cost is known of every model since the previous result.
pub(super) fn is_priced(result: &Outcome) -> bool {
    let models = result.model_usage_since_last_result.as_ref();
    models.is_some_and(|models| models.values().all(|model| cost(model).is_some()))
}

/// The cost of a model's calls; none if there is none, or an invalid one.
fn cost(model: &ModelUsage) -> Option<Cost> {
    Cost::from_dollars(model.cost_usd?).ok()
}

fn of_a_model(model: &ModelUsage) -> Usage {
    let cached = model.cache_read_input_tokens.saturating_add(model.cache_creation_input_tokens);
    Usage {
        input_tokens: model.input_tokens.saturating_add(cached),
        output_tokens: model.output_tokens,
        cost: cost(model).unwrap_or(Cost::ZERO),
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::results::Results;
    use super::*;
    use serde_json::json;

    fn of(all: &[Value]) -> Usage {
        let mut results = Results::default();
        all.iter().for_each(|result| results.add(serde_json::from_value(result.clone()).unwrap()));
        results.usage()
    }

    fn used(input: u64, output: u64, dollars: f64) -> Value {
        json!({ "total_cost_usd": 99.0, "model_usage_since_last_result": { "claude-haiku-5-5": {
            "inputTokens": input, "outputTokens": output, "cacheReadInputTokens": 4, "cacheCreationInputTokens": 3, "costUSD": dollars,
        } } })
    }

    #[test]
    fn all_results_of_a_call_are_summed_up_and_its_totals_are_not_believed() {
        let usage = of(&[used(10, 7, 0.25), used(20, 1, 0.5)]);
        assert_eq!(usage.to_string(), "$0.75 in 1 call, 44 tokens in, 8 tokens out");
    }

    #[test]
    fn a_call_that_used_nothing_is_priced() {
        let usage = of(&[json!({ "model_usage_since_last_result": {} })]);
        assert_eq!(usage, Usage { calls: 1, ..Usage::default() });
    }

    #[test]
    fn a_call_that_was_killed_or_gives_only_totals_is_not_priced() {
        assert_eq!(of(&[]), Usage { calls: 1, unpriced_calls: 1, ..Usage::default() });
        let usage = json!({ "input_tokens": 10, "output_tokens": 7, "cache_read_input_tokens": 4 });
        let usage = of(&[json!({ "total_cost_usd": 1.0, "usage": usage })]);
        assert_eq!(usage.to_string(), "at least $0.00 in 1 call, 14 tokens in, 7 tokens out");
    }

    #[test]
    fn a_call_of_which_one_model_has_no_price_is_not_priced() {
        let mut without = used(10, 7, 0.25);
        without["model_usage_since_last_result"]["unknown"] = json!({ "inputTokens": 5 });
        for usage in
            [of(&[without]), of(&[used(10, 7, -1.0), used(0, 0, 0.25)]), of(&[used(10, 7, 0.25), used(5, 0, 2e9)])]
        {
            assert_eq!(usage.unpriced_calls, 1);
            assert_eq!(usage.cost, Cost::from_dollars(0.25).unwrap());
        }
    }
}
