//! Ordinary functions that derived code calls, so that what it writes stays small.

use crate::graph::Value;
use serde::de::Error as _;
use serde::{Deserializer, Serializer};

/// Writes a payload.
///
/// # Errors
///
/// The serializer's.
pub fn store<T: Value, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.serialize(serializer)
}

/// Reads a payload.
///
/// # Errors
///
/// The deserializer's.
pub fn load<'de, T: Value, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(deserializer)
}

/// No payload of this graph lies in that place.
///
/// # Errors
///
/// Always.
pub fn unknown_place<'de, T, D: Deserializer<'de>>(place: u16) -> Result<T, D::Error> {
    Err(D::Error::custom(format_args!("the graph has no place {place}")))
}
