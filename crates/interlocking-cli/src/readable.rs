//! Results as lines for people at a terminal; programs get JSON.

use serde_json::Value;

/// JSON text as lines for people: strings unquoted, one line for each field, items with a dash, nested values indented. Text that
/// is not JSON is returned unchanged.
pub(crate) fn readable(json: &str) -> String {
    let Ok(value) = serde_json::from_str(json) else { return json.to_owned() };
    let mut lines = Vec::new();
    push(&value, "", &mut lines);
    lines.join("\n")
}

/// Appends the lines of a value, each after `indent`.
fn push(value: &Value, indent: &str, lines: &mut Vec<String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                push_behind(&format!("{indent}{name}:"), value, &format!("{indent}  "), lines);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                push_behind(&format!("{indent}-"), item, &format!("{indent}  "), lines);
            }
        }
        Value::String(text) => lines.extend(text.lines().map(|line| format!("{indent}{line}"))),
        other => lines.push(format!("{indent}{other}")),
    }
}

/// Appends a value: after `begun` on the same line if the value fits there, and on indented lines below otherwise.
fn push_behind(begun: &str, value: &Value, indent: &str, lines: &mut Vec<String>) {
    let mut own = Vec::new();
    push(value, "", &mut own);
    let is_short = match value {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => own.len() == 1,
    };
    if is_short {
        lines.push(format!("{begun} {}", own.concat()));
        return;
    }
    lines.push(begun.to_owned());
    lines.extend(own.iter().map(|line| format!("{indent}{line}").trim_end().to_owned()));
}

#[test]
fn a_result_is_lines_for_people() {
    let json =
        r#"{"text": "One\nTwo", "tags": ["a", {"of": null, "by": []}], "costs": {"money": 1.5}, "short": "yes"}"#;
    let lines = [
        "text:",
        "  One",
        "  Two",
        "tags:",
        "  - a",
        "  -",
        "    of: null",
        "    by: []",
        "costs:",
        "  money: 1.5",
        "short: yes",
    ];
    let mut found: Vec<_> = readable(json).lines().map(str::to_owned).collect();
    let mut expected = lines.map(str::to_owned).to_vec();
    // Sorted, as the order of keys depends on the features of serde_json.
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(readable("\"a text\""), "a text");
    assert_eq!(readable("no JSON"), "no JSON");
}
