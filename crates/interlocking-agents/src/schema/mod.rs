//! Compiled JSON schemas, and the violations of a value.

pub(crate) mod strict;

use std::fmt;

use jsonschema::Validator;
use jsonschema::error::{ValidationError, ValidationErrorKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// The longest message of a violation, in characters; validators quote the whole invalid value.
const LONGEST_MESSAGE: usize = 400;

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
    /// JSON pointer into the value, such as `/chapters/0/title`; empty for the whole value.
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

    /// All violations of the schema by `output`, sorted by place; empty if it is valid.
    pub fn violations(&self, output: &Value) -> Vec<SchemaViolation> {
        let mut violations: Vec<_> =
            self.validator.iter_errors(output).map(|error| SchemaViolation::of(&error)).collect();
        violations.sort_by(|one, other| one.path.cmp(&other.path));
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
        for hint in nearest_branch(error) {
            message.push_str(&format!("; {hint}"));
        }
        Self { path: error.instance_path().as_str().to_owned(), message }
    }
}

/// For a value that fits no branch of a `oneOf` or `anyOf`: the violations of the branch that was probably meant.
///
/// "Not valid under any of the schemas" does not help to correct the value. The intended branch is the only one without
/// a violation of a constant (`{"kind": "tag", …}`), or else the only one without a violation by the value as a whole
/// (`{"Tag": {…}}`). If neither identifies a single branch, the result is empty.
fn nearest_branch(error: &ValidationError<'_>) -> Vec<SchemaViolation> {
    let branches = match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => context,
        _ => return Vec::new(),
    };
    let about_a_constant = |complaint: &ValidationError<'_>| {
        matches!(complaint.kind(), ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. })
    };
    let about_the_whole = |complaint: &ValidationError<'_>| complaint.instance_path() == error.instance_path();
    only_branch_without(branches, about_a_constant)
        .or_else(|| only_branch_without(branches, about_the_whole))
        .map(|complaints| complaints.iter().map(SchemaViolation::of).collect())
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
