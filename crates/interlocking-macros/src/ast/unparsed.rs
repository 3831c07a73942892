//! The attributes that did not parse.

/// The attributes that may have been given, but did not parse.
#[derive(Default)]
pub(crate) struct Unparsed {
    everything: bool,
    keys: Vec<String>,
}

impl Unparsed {
    /// Records that the attribute `key` was given in a form that did not parse.
    pub(crate) fn add(&mut self, key: &str) {
        self.keys.push(key.to_owned());
    }

    /// Records that any attribute may have been meant.
    pub(crate) fn add_everything(&mut self) {
        self.everything = true;
    }

    /// Whether the attribute `key` may have been given.
    pub(crate) fn may_include(&self, key: &str) -> bool {
        self.everything || self.keys.iter().any(|other| other == key)
    }

    /// Whether the node may have edges that did not parse.
    pub(crate) fn may_include_edges(&self) -> bool {
        ["goto", "fork", "exhausted", "timed_out", "failed"].into_iter().any(|key| self.may_include(key))
    }
}
