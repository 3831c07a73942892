//! Compiled JSON schemas, and the violations of a value.

pub(crate) mod strict;

use std::fmt;

use jsonschema::Validator;
use jsonschema::error::{ValidationError, ValidationErrorKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::drivers::shortened::{LONGEST_REASON, shorten};

/// The longest message of a violation, in characters; validators quote the whole invalid value.
const LONGEST_MESSAGE: usize = 400;

/// The maximum length of the hints that are added to a message, in bytes.
const LONGEST_HINTS: usize = 1_000;

/// How many violations are listed, and how many bytes of them: they are sent to the model, reported and stored. A small
/// value can have very many.
const MOST: usize = 50;
const MOST_BYTES: usize = 16 * 1024;

/// A JSON schema with its compiled validator. Make one per type and share it in an `Arc`.
///
/// The original schema is kept for agents that pass it on. Dialects differ (Claude Code accepts only draft-07 with an
/// object at the root), so an agent converts [`as_value`](Self::as_value) to what its program accepts, or offers
/// [`decisions`](Self::decisions) instead. The answer is always validated against the original schema.
pub struct Schema {
    value: Value,
    validator: Validator,
}

/// Why a text or value is not a usable JSON schema.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemaError {
    /// The text is not JSON.
    #[error("the schema is not JSON: {reason}")]
    NotJson {
        /// The parser's message.
        reason: String,
    },
    /// The JSON is not a schema, or refers to a schema outside itself (nothing is ever fetched).
    #[error("not a JSON schema, at `{path}`: {reason}")]
    NotASchema {
        /// JSON pointer into the schema; empty for its root.
        path: String,
        /// What is wrong at that place.
        reason: String,
    },
}

/// One violation of a schema by a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaViolation {
    /// JSON pointer into the value, such as `/chapters/0/title`; empty for the whole value. A very long one is cut.
    pub path: String,
    /// What is wrong at that place.
    pub message: String,
}

impl Schema {
    /// Compiles a schema.
    pub fn new(value: Value) -> Result<Self, SchemaError> {
        match jsonschema::validator_for(&value) {
            Ok(validator) => Ok(Self { value, validator }),
            Err(error) => Err(SchemaError::NotASchema {
                path: error.instance_path().as_str().to_owned(),
                reason: shortened(&error.to_string()),
            }),
        }
    }

    /// Parses and compiles a schema.
    pub fn from_text(text: &str) -> Result<Self, SchemaError> {
        let value = serde_json::from_str(text).map_err(|error| SchemaError::NotJson { reason: error.to_string() })?;
        Self::new(value)
    }

    /// The schema as given.
    pub fn as_value(&self) -> &Value {
        &self.value
    }

    /// The violations of the schema by `output`, sorted by place; empty if it is valid.
    ///
    /// At most 50 are listed, 16 KiB in all; if there are more, one more violation at the end says so. Long places and
    /// messages are cut in the middle.
    pub fn violations(&self, output: &Value) -> Vec<SchemaViolation> {
        let all = self.validator.iter_errors(output).map(|error| SchemaViolation::of(&error));
        let (mut violations, are_more) = first(all);
        violations.sort_by(|one, other| one.path.cmp(&other.path));
        violations.extend(are_more.then(SchemaViolation::that_there_are_more));
        violations
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Schema").field(&self.value).finish()
    }
}

impl fmt::Display for SchemaViolation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(formatter, "at the root: {}", self.message)
        } else {
            write!(formatter, "at `{}`: {}", self.path, self.message)
        }
    }
}

impl SchemaViolation {
    fn of(error: &ValidationError<'_>) -> Self {
        let mut message = shortened(&error.to_string());
        message.push_str(&hints(nearest_branch(error)));
        Self { path: shortened(error.instance_path().as_str()), message }
    }

    fn that_there_are_more() -> Self {
        Self { path: String::new(), message: "there are more violations than are listed here".to_owned() }
    }
}

/// As many of these violations as are listed, in their order; if there are more, one more at the end says so.
pub(crate) fn limited(violations: Vec<SchemaViolation>) -> Vec<SchemaViolation> {
    let (mut listed, are_more) = first(violations.into_iter());
    listed.extend(are_more.then(SchemaViolation::that_there_are_more));
    listed
}

/// The violations that are listed, and whether there are more.
fn first(violations: impl Iterator<Item = SchemaViolation>) -> (Vec<SchemaViolation>, bool) {
    let (mut listed, mut bytes) = (Vec::new(), 0);
    for mut violation in violations {
        shorten(&mut violation.path, LONGEST_REASON);
        shorten(&mut violation.message, LONGEST_REASON);
        bytes += violation.path.len() + violation.message.len();
        if listed.len() == MOST || (bytes > MOST_BYTES && !listed.is_empty()) {
            return (listed, true);
        }
        listed.push(violation);
    }
    (listed, false)
}

/// These violations as the end of a message, cut to a readable length.
fn hints(complaints: &[ValidationError<'_>]) -> String {
    let mut hints = String::new();
    for complaint in complaints {
        hints.push_str(&format!("; {}", SchemaViolation::of(complaint)));
        if hints.len() > LONGEST_HINTS {
            let end = hints.floor_char_boundary(LONGEST_HINTS);
            hints.truncate(end);
            hints.push_str(" …");
            break;
        }
    }
    hints
}

/// For a value that fits no branch of a `oneOf` or `anyOf`: the violations of the branch that was probably meant.
///
/// "Not valid under any of the schemas" does not help to correct the value. The intended branch is the only one without
/// a violation of a constant (`{"kind": "tag", …}`), or else the only one without a violation by the value as a whole
/// (`{"Tag": {…}}`). If neither identifies a single branch, the result is empty.
fn nearest_branch<'e>(error: &'e ValidationError<'_>) -> &'e [ValidationError<'static>] {
    let branches = match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => context,
        _ => return &[],
    };
    let about_a_constant = |complaint: &ValidationError<'_>| {
        matches!(complaint.kind(), ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. })
    };
    let about_the_whole = |complaint: &ValidationError<'_>| complaint.instance_path() == error.instance_path();
    only_branch_without(branches, about_a_constant)
        .or_else(|| only_branch_without(branches, about_the_whole))
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn only_branch_without<'e, 'v>(
    branches: &'e [Vec<ValidationError<'v>>],
    telling: impl Fn(&ValidationError<'v>) -> bool,
) -> Option<&'e Vec<ValidationError<'v>>> {
    let mut left = branches.iter().filter(|complaints| !complaints.iter().any(&telling));
    match (left.next(), left.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

fn shortened(message: &str) -> String {
    match message.char_indices().nth(LONGEST_MESSAGE) {
        // The message begins with the value and ends with the violation, so the middle is cut out.
        Some(_) => {
            let characters: Vec<char> = message.chars().collect();
            let head: String = characters[..LONGEST_MESSAGE / 2].iter().collect();
            let tail: String = characters[characters.len() - LONGEST_MESSAGE / 2..].iter().collect();
            format!("{head} … {tail}")
        }
        None => message.to_owned(),
    }
}

/// Visits every reference in a schema.
pub(crate) fn for_each_reference(schema: &mut Value, visit: &mut impl FnMut(&mut String)) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| for_each_reference(item, visit)),
        Value::Object(fields) => {
            for (keyword, value) in fields {
                match value {
                    Value::String(reference) if keyword == "$ref" => visit(reference),
                    other => for_each_reference(other, visit),
                }
            }
        }
        _ => {}
    }
}
