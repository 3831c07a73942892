//! The kinds of backends that come with this crate: a line each.

use super::kind::Backends;
use super::scripted;

impl Backends {
    /// Those of this crate.
    pub fn built_in() -> Self {
        Self::none().with_files("scripted", scripted::make)
    }
}
