//! The configuration of a project's source checks.

use crate::{StubMarkers, UnreadableMarker};
use serde::{Deserialize, Serialize};

/// The configuration of a project's source checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SourceRules {
    /// The Rust expressions that make a body a stub; `todo!()` and `unimplemented!()` by default (TC-05).
    #[serde(alias = "stub_markers")]
    pub stub_markers: Vec<String>,
    /// The prefix of the names of property tests; `prop_` by default (TC-12).
    #[serde(alias = "property_prefix")]
    pub property_prefix: String,
    /// Constructs that code may contain although they could falsify a verdict, each as a refusal names it: `unsafe`,
    /// `std::process`, `#[no_mangle]`.
    pub allow: Vec<String>,
}

impl Default for SourceRules {
    fn default() -> Self {
        Self {
            stub_markers: StubMarkers::default().texts().map(str::to_owned).collect(),
            property_prefix: "prop_".to_owned(),
            allow: Vec::new(),
        }
    }
}

impl SourceRules {
    /// The parsed stub markers.
    ///
    /// # Errors
    ///
    /// [`UnreadableMarker`] for the first marker that is not a Rust expression.
    pub fn markers(&self) -> Result<StubMarkers, UnreadableMarker> {
        StubMarkers::parse(self.stub_markers.iter().map(String::as_str))
    }
}
