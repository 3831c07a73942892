//! Reads payloads from JSON.
//!
//! All of them are read with one kind of deserializer: each kind costs a graph the code for all of its payloads.

use interlocking_core::graph::{Graph, Token};
use interlocking_core::net::PlaceIndex;
use serde::de::DeserializeOwned;
use std::fmt;

/// Reads JSON text; an error says at which field it does not parse.
pub(crate) fn read<T: DeserializeOwned>(json: &str) -> Result<T, String> {
    serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(json)).map_err(|error| error.to_string())
}

/// Reads the token of a place.
pub(crate) fn read_token<G: Graph>(place: PlaceIndex, json: &str) -> Result<G::Token, Unreadable> {
    let mut track = serde_path_to_error::Track::new();
    let mut json = serde_json::Deserializer::from_str(json);
    G::Token::deserialize(place, serde_path_to_error::Deserializer::new(&mut json, &mut track))
        .map_err(|error| Unreadable { path: track.path().to_string(), reason: error.to_string() })
}

/// Why a payload cannot be read.
pub(crate) struct Unreadable {
    /// The field that cannot be read.
    pub(crate) path: String,
    pub(crate) reason: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at `{}`: {}", self.path, self.reason)
    }
}
