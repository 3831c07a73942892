//! Placeholders in a cassette for values that differ from run to run.

use std::path::Path;

use serde_json::Value;

use crate::program::Redactor;

const OPEN: &str = "⟦";
const CLOSE: &str = "⟧";
/// The placeholder for [`OPEN`] itself.
const LITERAL: &str = "open";
const WORKSPACE: &str = "workspace";

/// The named values and the secrets of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Placeholders {
    named: Vec<(String, String)>,
    redactor: Redactor,
}

/// The values for one turn: those of the run, and its workspace.
#[derive(Debug)]
pub(super) struct Varying<'a> {
    /// The texts to look for. The longest comes first, so that a text that begins with another is found as a whole.
    needles: Vec<Needle>,
    workspace: Option<String>,
    placeholders: &'a Placeholders,
}

#[derive(Debug)]
struct Needle {
    value: String,
    replacement: String,
    /// Whether the value is a path, which is found only where it is not the beginning of a longer name.
    is_path: bool,
}

/// A placeholder without a value in this run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoValue(pub(super) String);

impl Placeholders {
    pub(super) fn name(&mut self, name: String, value: String) {
        self.named.push((name, value));
    }

    pub(super) fn redact(&mut self, redactor: Redactor) {
        self.redactor = redactor;
    }

    pub(super) fn of(&self, workspace: Option<&Path>) -> Varying<'_> {
        let text = |path: &Path| path.to_str().filter(|path| path.len() > 1).map(str::to_owned);
        let spellings = workspace.into_iter().flat_map(|path| {
            let resolved = std::fs::canonicalize(path).ok();
            [text(path), resolved.as_deref().and_then(text)].into_iter().flatten()
        });
        let paths = spellings.map(|value| Needle { value, replacement: placeholder(WORKSPACE), is_path: true });
        let named = self.named.iter().map(|(name, value)| Needle {
            value: value.clone(),
            replacement: placeholder(name),
            is_path: false,
        });
        let mut needles: Vec<_> = paths.chain(named).filter(|needle| !needle.value.is_empty()).collect();
        needles.sort_by_key(|needle| std::cmp::Reverse(needle.value.len()));
        needles.push(Needle { value: OPEN.to_owned(), replacement: placeholder(LITERAL), is_path: false });
        Varying { needles, workspace: workspace.and_then(text), placeholders: self }
    }
}

fn placeholder(name: &str) -> String {
    format!("{OPEN}{name}{CLOSE}")
}

impl Varying<'_> {
    /// The text with placeholders instead of values, and without secrets.
    pub(super) fn encoded(&self, text: &str) -> String {
        let text = self.placeholders.redactor.text(text);
        let mut next: Vec<_> = self.needles.iter().map(|needle| needle.find(&text, 0)).collect();
        let (mut encoded, mut at) = (String::with_capacity(text.len()), 0);
        // The first match in the text; of several at the same position, the first in the list.
        while let Some((which, found)) = next
            .iter()
            .enumerate()
            .filter_map(|(which, found)| Some((which, (*found)?)))
            .min_by_key(|(_, found)| *found)
        {
            let needle = &self.needles[which];
            encoded.push_str(&text[at..found]);
            encoded.push_str(&needle.replacement);
            at = found + needle.value.len();
            for (needle, next) in self.needles.iter().zip(&mut next) {
                if next.is_some_and(|next| next < at) {
                    *next = needle.find(&text, at);
                }
            }
        }
        encoded.push_str(&text[at..]);
        encoded
    }

    /// The text with values instead of placeholders.
    pub(super) fn decoded(&self, text: &str) -> Result<String, NoValue> {
        let (mut decoded, mut rest) = (String::with_capacity(text.len()), text);
        while let Some((before, after)) = rest.split_once(OPEN) {
            let (name, after) = after.split_once(CLOSE).unwrap_or((after, ""));
            decoded.push_str(before);
            decoded.push_str(self.value_of(name).ok_or_else(|| NoValue(name.to_owned()))?);
            rest = after;
        }
        decoded.push_str(rest);
        Ok(decoded)
    }

    fn value_of(&self, name: &str) -> Option<&str> {
        let named = self.placeholders.named.iter().find(|(known, _)| known == name);
        match name {
            LITERAL => Some(OPEN),
            WORKSPACE => self.workspace.as_deref(),
            _ => named.map(|(_, value)| value.as_str()),
        }
    }

    /// The bytes without secrets; they need not be UTF-8.
    pub(super) fn redacted<'b>(&self, bytes: &'b [u8]) -> std::borrow::Cow<'b, [u8]> {
        self.placeholders.redactor.bytes(bytes)
    }

    pub(super) fn encoded_value(&self, value: Value) -> Value {
        let encoded = mapped(value, &|text| Ok::<_, std::convert::Infallible>(self.encoded(text)));
        match encoded {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    pub(super) fn decoded_value(&self, value: Value) -> Result<Value, NoValue> {
        mapped(value, &|text| self.decoded(text))
    }
}

impl Needle {
    fn find(&self, text: &str, from: usize) -> Option<usize> {
        let mut from = from;
        loop {
            let found = from + text.get(from..)?.find(&self.value)?;
            let end = found + self.value.len();
            if !self.is_path || !continues_name(&text[end..]) {
                return Some(found);
            }
            from = end;
        }
    }
}

/// Whether `after` continues the name before it: `/tmp/one` is not found in `/tmp/one-more` or `/tmp/one.bak`, but it
/// is found before the full stop of a sentence.
fn continues_name(after: &str) -> bool {
    let is_name = |character: char| character.is_alphanumeric() || character == '_' || character == '-';
    after.strip_prefix('.').unwrap_or(after).starts_with(is_name)
}

/// Applies `change` to every text in a value, including the names of fields.
fn mapped<E>(value: Value, change: &impl Fn(&str) -> Result<String, E>) -> Result<Value, E> {
    Ok(match value {
        Value::String(text) => Value::String(change(&text)?),
        Value::Array(values) => {
            Value::Array(values.into_iter().map(|value| mapped(value, change)).collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| Ok((change(&name)?, mapped(value, change)?)))
                .collect::<Result<_, E>>()?,
        ),
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Secret;
    use serde_json::json;

    fn run(id: &str) -> Placeholders {
        let mut placeholders = Placeholders::default();
        placeholders.name("run".to_owned(), id.to_owned());
        placeholders
    }

    #[test]
    fn values_of_one_run_become_those_of_another() {
        let (then, now) = (run("run-1234"), run("run-99"));
        let (then, now) = (then.of(Some(Path::new("/no/such/one"))), now.of(Some(Path::new("/another"))));
        let text =
            "In /no/such/one/a.md, not /no/such/one-more or /no/such/one.bak, (/no/such/one.) branch x-run-1234.";
        let encoded = then.encoded(text);
        assert_eq!(
            encoded,
            "In ⟦workspace⟧/a.md, not /no/such/one-more or /no/such/one.bak, (⟦workspace⟧.) branch x-⟦run⟧."
        );
        assert_eq!(then.decoded(&encoded).unwrap(), text);
        assert_eq!(
            now.decoded(&encoded).unwrap(),
            "In /another/a.md, not /no/such/one-more or /no/such/one.bak, (/another.) branch x-run-99."
        );
        let value = json!({ "/no/such/one": ["run-1234", 1, null] });
        assert_eq!(now.decoded_value(then.encoded_value(value)).unwrap(), json!({ "/another": ["run-99", 1, null] }));
    }

    #[test]
    fn what_looks_like_a_placeholder_stays_what_it_is() {
        let placeholders = run("run-1234");
        let varying = placeholders.of(None);
        for text in ["⟦run⟧", "⟦", "⟧⟦⟧", "⟦⟦run-1234⟧ ⟦open⟧", ""] {
            assert_eq!(varying.decoded(&varying.encoded(text)).unwrap(), text);
        }
        assert_eq!(varying.encoded("⟦run⟧"), "⟦open⟧run⟧");
    }

    #[test]
    fn a_placeholder_without_a_value_is_named() {
        let placeholders = Placeholders::default();
        let varying = placeholders.of(None);
        assert_eq!(varying.decoded("a ⟦run⟧"), Err(NoValue("run".to_owned())));
        assert_eq!(varying.decoded("⟦workspace⟧"), Err(NoValue("workspace".to_owned())));
        assert_eq!(varying.decoded("a ⟦ru"), Err(NoValue("ru".to_owned())));
    }

    #[test]
    fn the_longest_value_wins_and_secrets_are_gone() {
        let mut placeholders = run("run-1");
        placeholders.name("more".to_owned(), "run-1-more".to_owned());
        placeholders.name("empty".to_owned(), String::new());
        placeholders.redact(Redactor::new(&[Secret::new("a-canary")]));
        assert_eq!(placeholders.of(None).encoded("run-1-more run-1 a-canary"), "⟦more⟧ ⟦run⟧ [redacted]");
    }
}
