//! Finds the output that a model wrote into a text.

use std::collections::VecDeque;

use serde_json::Value;

use crate::drivers::json_lines;
use crate::schema::Schema;

/// The longest text, in bytes, in which JSON between words is searched for.
pub(crate) const LONGEST: usize = 1 << 20;

/// The output in a text: the last JSON document that is valid under the schema, or else the last document. A text can
/// contain several, because a model may quote others, or begin to answer and be asked again.
///
/// A document is the text as a whole, or else the contents of a fenced block, or else an object or array anywhere.
pub(crate) fn find(text: &str, schema: &Schema) -> Option<Value> {
    // The blocks are parsed one at a time, because each takes far more memory as a value than as text.
    let fenced = || first_valid(last_blocks(text).into_iter().rev().filter_map(json_lines::value), schema);
    let scattered = || first_valid(scattered(text).into_iter().rev(), schema);
    json_lines::value(text).or_else(fenced).or_else(scattered)
}

/// The first document that is valid under the schema, or else the first document. At most two are held at once.
fn first_valid(documents: impl Iterator<Item = Value>, schema: &Schema) -> Option<Value> {
    let mut first = None;
    for document in documents {
        if schema.violations(&document).is_empty() {
            return Some(document);
        }
        first.get_or_insert(document);
    }
    first
}

/// The contents of the last fenced blocks, in order.
fn last_blocks(text: &str) -> VecDeque<&str> {
    /// More blocks than any answer has, for a text that consists of empty ones.
    const MOST_BLOCKS: usize = 10_000;
    let mut last = VecDeque::new();
    for block in fenced(text) {
        if last.len() == MOST_BLOCKS {
            last.pop_front();
        }
        last.push_back(block);
    }
    last
}

/// The contents of blocks between lines of three backticks; the first line may say `json`.
fn fenced(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once("```")?;
        let (language, block) = after.split_once('\n')?;
        // A fence with another language is skipped; it may also be the end of a block that was cut off.
        let (block, next) = match language.trim() {
            "" | "json" | "JSON" => block.split_once("```").unwrap_or((block, "")),
            _ => ("", block),
        };
        rest = next;
        Some(block)
    })
}

/// Every object and array that is not inside another one.
fn scattered(text: &str) -> Vec<Value> {
    /// The search stops after this many attempts, for a text that is full of braces but not JSON.
    const ATTEMPTS: usize = 10_000;
    let mut found = Vec::new();
    if text.len() > LONGEST {
        return found;
    }
    let mut at = 0;
    for _ in 0..ATTEMPTS {
        let Some(next) = text[at..].find(['{', '[']) else { break };
        at += next;
        let mut documents = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        match documents.next() {
            Some(Ok(document)) => {
                found.push(document);
                at += documents.byte_offset();
            }
            _ => at += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        Schema::new(json!({ "type": "object", "required": ["sum"], "properties": { "sum": { "type": "integer" } } }))
            .unwrap()
    }

    #[test]
    fn the_output_is_found_wherever_it_stands() {
        for (text, expected) in [
            (r#"{"sum": 3}"#, Some(json!({ "sum": 3 }))),
            ("\n {\"sum\": 3}\n", Some(json!({ "sum": 3 }))),
            ("I added.\n```json\n{\"sum\": 3}\n```\n", Some(json!({ "sum": 3 }))),
            ("```\n{\"sum\": 3}\n```", Some(json!({ "sum": 3 }))),
            ("```json\n{\"sum\": 3}", Some(json!({ "sum": 3 }))),
            ("```rust\nfn main() {}\n```\n```json\n{\"sum\": 3}\n```", Some(json!({ "sum": 3 }))),
            ("It is {\"sum\": 3}, of [1, 2].", Some(json!({ "sum": 3 }))),
            ("See [1], [sic]: {\"sum\": 3}", Some(json!({ "sum": 3 }))),
            (" true\n", Some(json!(true))),
            ("{\"sum\": {\"sum\": 3", None),
            ("half: {\"sum\": 3}{\"sum\": 4}", Some(json!({ "sum": 4 }))),
            ("half: {\"sum{\"sum\": 4}", Some(json!({ "sum": 4 }))),
            ("```json\n{\"sum\": 3}\n```\n```json\n{\"sum\": \"no\"}\n```", Some(json!({ "sum": 3 }))),
            ("```json\n{\"total\": 3}\n```", Some(json!({ "total": 3 }))),
            ("Three.", None),
            ("", None),
        ] {
            assert_eq!(find(text, &schema()), expected, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_one_huge_document_is_no_answer() {
        for before in ["", "so: ", "```json\n", "\""] {
            assert_eq!(find(&format!("{before}[{}[]]", "[],".repeat(5_000_000)), &schema()), None, "{before}");
        }
    }

    #[test]
    fn a_text_full_of_braces_takes_no_time() {
        assert_eq!(find(&"{\"a".repeat(100_000), &schema()), None);
        for (braces, expected) in [(9_999, Some(json!({ "sum": 3 }))), (10_000, None)] {
            assert_eq!(find(&("{ ".repeat(braces) + r#"{"sum": 3}"#), &schema()), expected, "after {braces} braces");
        }
    }
}
