//! What a project's checks of its source go by, as configuration.

use crate::{StubMarkers, UnreadableMarker};
use serde::{Deserialize, Serialize};

/// What a project's checks of its source go by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SourceRules {
    /// What a stub's body consists of, as Rust expressions; `todo!()` and `unimplemented!()` by default (TC-05).
    #[serde(alias = "stub_markers")]
    pub stub_markers: Vec<String>,
    /// What the name of a property test begins with; `prop_` by default (TC-12).
    #[serde(alias = "property_prefix")]
    pub property_prefix: String,
    /// What code may contain although a verdict on code with it can be talked round, each as a refusal names it: `unsafe`,
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
    /// The markers, read.
    ///
    /// # Errors
    ///
    /// [`UnreadableMarker`] for the first that is no Rust expression.
    pub fn markers(&self) -> Result<StubMarkers, UnreadableMarker> {
        StubMarkers::parse(self.stub_markers.iter().map(String::as_str))
    }
}
