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
    deserialize_output::<T>(output).err().into_iter().collect()
}

/// Deserializes `output` as a `T`.
///
/// It is read from its text, as the payloads of a journal are, so that the code which reads a `T` is compiled once for both.
///
/// # Errors
///
/// The place and the message of the first error.
pub fn deserialize_output<T: DeserializeOwned>(output: &Value) -> Result<T, SchemaViolation> {
    let text = output.to_string();
    serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(&text)).map_err(|error| violation(&error))
}

fn violation(error: &serde_path_to_error::Error<serde_json::Error>) -> SchemaViolation {
    let (path, error) = (pointer(error.path()), error.inner());
    let message = error.to_string();
    // The position is one in the text made here, which the agent does not see.
    let position = format!(" at line {} column {}", error.line(), error.column());
    SchemaViolation { path, message: message.strip_suffix(&position).unwrap_or(&message).to_owned() }
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
