//! Checking outputs against a Rust type, which may accept less than its schema.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use crate::schema::SchemaViolation;

/// Checks whether `output` deserializes as a `T`, for [`Conversation::with_check`](crate::Conversation::with_check). A
/// type whose parts have fallible constructors (a path inside the workspace, a branch name) refuses more than its
/// schema.
///
/// Empty if `output` is valid; otherwise the place and the message of the first error.
pub fn deserializes_as<T: DeserializeOwned>(output: &Value) -> Vec<SchemaViolation> {
    match serde_path_to_error::deserialize::<_, T>(output) {
        Ok(_) => Vec::new(),
        Err(error) => vec![SchemaViolation { path: pointer(error.path()), message: error.inner().to_string() }],
    }
}

/// Converts a path to a JSON pointer (RFC 6901).
fn pointer(path: &serde_path_to_error::Path) -> String {
    let token = |segment: &Segment| match segment {
        Segment::Map { key } => Some(format!("/{}", key.replace('~', "~0").replace('/', "~1"))),
        Segment::Seq { index } => Some(format!("/{index}")),
        Segment::Enum { variant } => Some(format!("/{variant}")),
        Segment::Unknown => None,
    };
    path.iter().filter_map(token).collect()
}
