//! Agents' fields for prose should describe. Code in them is reported: it belongs in files.

use serde::Serialize;
use serde_json::Value;

/// The one field that is code: a mutant's change, which is only tried.
const IS_CODE: &str = "edit";

/// How many lines of code make a text count as code: a single line may be a name or a call.
const LINES: usize = 2;

/// Where lines of code are in an agent's output, each place as a path of fields (HY-08).
pub fn code_among_words(said: &impl Serialize) -> Vec<String> {
    let mut found = Vec::new();
    // An output that cannot be written as JSON is not an agent's.
    look(&serde_json::to_value(said).unwrap_or_default(), "", &mut found);
    found
}

fn look(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.lines().filter(|line| is_code(line)).count() >= LINES => found.push(at.to_owned()),
        Value::Array(elements) => {
            elements.iter().enumerate().for_each(|(index, element)| look(element, &format!("{at}[{index}]"), found));
        }
        Value::Object(fields) => {
            for (name, field) in fields.iter().filter(|(name, _)| *name != IS_CODE) {
                let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                look(field, &at, found);
            }
        }
        _ => {}
    }
}

/// Whether a line reads as one of a program, or opens or closes a block of one.
fn is_code(line: &str) -> bool {
    const BEGINS: [&str; 13] = [
        "```", "fn ", "pub ", "let ", "use ", "impl ", "struct ", "#[", "def ", "class ", "import ", "return ",
        "assert",
    ];
    let line = line.trim();
    line.ends_with([';', '{', '}']) || BEGINS.iter().any(|begin| line.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// HY-08: lines of code are found in every field, and prose is not taken for code; a mutant's change is code by its nature.
    #[test]
    fn lines_of_code_are_found_among_words() {
        let code = "fn push(&mut self) {\n    self.items.push(1);\n}";
        let said = json!({
            "behavior": code,
            "examples": [{"input": "push 1", "expected": "Ok(())"}, {"input": "As follows:\n```rust\nstack.push(1)\n```"}],
            "analysis": "It holds; nothing is lost.\nUse a vector: it is enough.\n- `push` returns `Ok(())`;",
            "survivors": [{"edit": {"original": code, "replacement": code}, "description": "def pop(self):\n    return 1"}],
            "signature": "pub fn push(&mut self) -> Result<(), Full>",
        });
        assert_eq!(code_among_words(&said), ["behavior", "examples[1].input", "survivors[0].description"]);
    }
}
