//! What a schema cannot say about a Rust type.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use crate::schema::SchemaViolation;

/// Whether `output` is a `T`, as a check for [`Conversation::with_check`](crate::Conversation::with_check): a type
/// whose parts have fallible constructors (a path inside the workspace, a branch name) refuses more than its schema.
///
/// Empty when it is; otherwise the place and the words of the first refusal.
pub fn deserializes_as<T: DeserializeOwned>(output: &Value) -> Vec<SchemaViolation> {
    match serde_path_to_error::deserialize::<_, T>(output) {
        Ok(_) => Vec::new(),
        Err(error) => vec![SchemaViolation { path: pointer(error.path()), message: error.inner().to_string() }],
    }
}

/// As a JSON pointer (RFC 6901).
fn pointer(path: &serde_path_to_error::Path) -> String {
    let token = |segment: &Segment| match segment {
        Segment::Map { key } => Some(format!("/{}", key.replace('~', "~0").replace('/', "~1"))),
        Segment::Seq { index } => Some(format!("/{index}")),
        Segment::Enum { variant } => Some(format!("/{variant}")),
        Segment::Unknown => None,
    };
    path.iter().filter_map(token).collect()
}
